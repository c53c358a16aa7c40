"""Planned trajectories against moving obstacles: `cbsim.collision.first_contacts` and commonroad-drivability-checker.

    US101=<USA_US101-5_1_T-1.xml> python benchmarks/bench_collisions.py

75 trajectories are shifted copies of the scenario's own cars, as long as the longest of them, against all 25. The gate:
the same verdict on every trajectory. Needs commonroad-io and commonroad-drivability-checker, and numba beside them;
without the file, a scene of the same size is drawn at random (25 cars, 65 states). The peer's trajectories are made
ahead and not timed; our call is timed whole. Time is that of the process.
"""

from __future__ import annotations

import math
import os
import sys
import time
from typing import Any

import numpy as np
from common import show

from cbsim.collision import first_contacts

PAIRS, SHIFTS = 7, 75
SIZE = (1.8, 4.5)


def file_scene(path: str) -> tuple[Any, Any]:
    """Poses (obstacles, steps, 3) and sizes (obstacles, 2) of a CommonRoad file's moving obstacles."""
    from commonroad.common.file_reader import CommonRoadFileReader

    scenario, _ = CommonRoadFileReader(path).open()
    cars = scenario.dynamic_obstacles
    steps = 1 + max(car.prediction.trajectory.final_state.time_step for car in cars)
    poses = np.full((len(cars), steps, 3), np.nan)
    for k, car in enumerate(cars):
        for state in (car.initial_state, *car.prediction.trajectory.state_list):
            poses[k, state.time_step] = (*state.position, state.orientation - 0.5 * math.pi)
    shapes = [car.obstacle_shape for car in cars]
    return poses, np.array([(shape.width, shape.length) for shape in shapes])


def drawn_scene() -> tuple[Any, Any]:
    """Draw a scene of the same size: cars in six lanes at their own speeds, swaying a little."""
    rng = np.random.default_rng(1)
    time_ = 0.1 * np.arange(65)
    poses = np.empty((25, 65, 3))
    for k in range(25):
        sway = rng.uniform(-0.3, 0.3) * np.sin(time_ + rng.uniform(0.0, 6.0))
        poses[k, :, 0] = 3.7 * (k % 6) + sway
        poses[k, :, 1] = 14.0 * (k // 6) + rng.uniform(8.0, 14.0) * time_
        poses[k, :, 2] = rng.uniform(-0.03, 0.03)
    return poses, np.column_stack([rng.uniform(1.7, 2.2, 25), rng.uniform(4.0, 6.0, 25)])


def shifted(poses: Any) -> Any:
    """Make trajectories: cars that are there all the time, or were held where they were, shifted over the road."""
    rng = np.random.default_rng(2)
    out = []
    for k in range(SHIFTS):
        way = poses[k % len(poses)].copy()
        known = np.flatnonzero(np.isfinite(way[:, 0]))
        way[: known[0]], way[known[-1] + 1 :] = way[known[0]], way[known[-1]]
        out.append(way + np.array([rng.uniform(-8.0, 8.0), rng.uniform(-60.0, 60.0), 0.0]))
    return np.array(out)


def checker(poses: Any, sizes: Any) -> Any:
    """The peer's collision checker with every obstacle in it."""
    import commonroad_dc.pycrcc as crcc

    made = crcc.CollisionChecker()
    for way, (width, length) in zip(poses, sizes, strict=True):
        known = np.flatnonzero(np.isfinite(way[:, 0]))
        obstacle = crcc.TimeVariantCollisionObject(int(known[0]))
        for x, y, heading in way[known[0] : known[-1] + 1]:
            obstacle.append_obstacle(crcc.RectOBB(0.5 * length, 0.5 * width, heading + 0.5 * math.pi, x, y))
        made.add_collision_object(obstacle)
    return made


def objects(ways: Any) -> list[Any]:
    """The peer's trajectories."""
    import commonroad_dc.pycrcc as crcc

    made = []
    for way in ways:
        item = crcc.TimeVariantCollisionObject(0)
        for x, y, heading in way:
            item.append_obstacle(crcc.RectOBB(0.5 * SIZE[1], 0.5 * SIZE[0], heading + 0.5 * math.pi, x, y))
        made.append(item)
    return made


def rate(work: Any, count: int, repeats: int) -> float:
    """Pieces of work per second of this process."""
    began = time.process_time()
    for _ in range(repeats):
        work()
    return count * repeats / (time.process_time() - began)


def main() -> None:
    try:
        import commonroad_dc.pycrcc  # noqa: F401
    except ImportError:
        print("SKIP peer absent: commonroad-drivability-checker")
        return
    path = os.environ.get("US101")
    poses, sizes = file_scene(path) if path else drawn_scene()
    print("scene:", "the file named" if path else "drawn", f"{len(poses)} obstacles, {poses.shape[1]} states")
    made = checker(poses, sizes)
    ways = shifted(poses)
    theirs = np.array([made.collide(item) for item in objects(ways)])
    mine = first_contacts(ways, SIZE, poses, sizes)
    if not np.array_equal(mine >= 0, theirs):
        sys.exit(f"GATE FAILED: {int(((mine >= 0) != theirs).sum())} verdicts differ")
    print(f"gate: {len(ways)} verdicts alike, {int(theirs.sum())} of them contacts")
    clear = ways[mine < 0]
    for name, chosen in (("all", ways), ("collision-free", clear)):
        made_objects, pairs = objects(chosen), chosen.shape[0] * chosen.shape[1] * len(poses)
        peer, own = [], []
        for _ in range(PAIRS):
            peer.append(rate(lambda: [made.collide(item) for item in made_objects], pairs, 20) / 1e6)  # noqa: B023
            own.append(rate(lambda: first_contacts(chosen, SIZE, poses, sizes), pairs, 50) / 1e6)  # noqa: B023
        show(f"{name}: peer", peer, "M pose-obstacle pairs/s")
        show(f"{name}: cbsim", own, "M pose-obstacle pairs/s")
        show(f"{name}: ratio", [b / a for a, b in zip(peer, own, strict=True)], "x")


if __name__ == "__main__":
    main()
