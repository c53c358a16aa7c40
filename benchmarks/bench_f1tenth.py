"""Cars with 1080-beam scanners on f1tenth's example map: `step` and `sense` against f1tenth_gym's `Simulator.step`.

    F1TENTH=<checkout of f1tenth_gym> python benchmarks/bench_f1tenth.py

Both sides move one or ten cars through 0.01 s, look for collisions, and scan with noise of 1 cm. The peer traces rays
in the distance field of its bitmap; here the same bitmap's outline, simplified to half a cell, stands as walls. Needs
pillow, pyyaml, scikit-image and scipy. The gate: at the same poses, 99 % of the beams agree within two cells.
"""

from __future__ import annotations

import importlib.util
import itertools
import math
import os
import statistics
import sys
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from common import show

import cbsim
from cbsim.spec.command import Command
from cbsim.spec.objects import Controller, Kind, ShapeKind, Steering, TrafficObject, Triple, Wheels
from cbsim.spec.sensor import SensorConf
from cbsim.world.compile import compile_world
from cbsim.world.scene import Actor, Scene, Settings
from cbsim.world.world import World

STEP, BEAMS, FIELD, REACH = 0.01, 1080, 4.7, 30.0
CAR = Triple(0.31, 0.58, 0.2)
PARAMETERS = {  # of the peer's default car
    "mu": 1.0489, "C_Sf": 4.718, "C_Sr": 5.4562, "lf": 0.15875, "lr": 0.17145, "h": 0.074, "m": 3.74, "I": 0.04712,
    "s_min": -0.4189, "s_max": 0.4189, "sv_min": -3.2, "sv_max": 3.2, "v_switch": 7.319, "a_max": 9.51, "v_min": -5.0,
    "v_max": 20.0, "width": CAR.x, "length": CAR.y,
}  # fmt: skip
STEPS, PAIRS = 60, 7


def peer(checkout: Path, poses: np.ndarray) -> Any:
    """Make the peer's simulator, without the gym package around it."""
    for name in ("f110_gym", "f110_gym.envs"):
        module = types.ModuleType(name)
        module.__path__ = [str(checkout / "gym" / Path(*name.split(".")))]
        sys.modules[name] = module
    from f110_gym.envs.base_classes import Integrator, RaceCar, Simulator

    RaceCar.scan_simulator = None
    made = Simulator(PARAMETERS, len(poses), 1, time_step=STEP, integrator=Integrator.RK4)
    for agent in made.agents:
        agent.scan_rng = np.random.default_rng(1)
    made.set_map(str(checkout / "examples" / "example_map.yaml"), ".png")
    made.reset(poses)
    return made


def walls(checkout: Path) -> list[tuple[np.ndarray, np.ndarray]]:
    """Outline the occupied cells of the example map: both ends [m] of every straight piece."""
    import yaml
    from PIL import Image
    from skimage.measure import approximate_polygon, find_contours

    meta = yaml.safe_load((checkout / "examples" / "example_map.yaml").read_text())
    picture = np.array(Image.open(checkout / "examples" / "example_map.png").transpose(Image.FLIP_TOP_BOTTOM))
    occupied = np.pad((picture <= 128).astype(float), 1)
    pieces = []
    for contour in find_contours(occupied, 0.5):
        corners = approximate_polygon(contour, 0.5)[:, ::-1] - 0.5
        corners = corners * meta["resolution"] + np.array(meta["origin"][:2])
        pieces += list(itertools.pairwise(corners))
    return pieces


def ours(pieces: list[tuple[np.ndarray, np.ndarray]], poses: np.ndarray) -> World:
    """Make a world of the same walls and cars."""
    conf = SensorConf(
        beams=BEAMS, start_angle=-FIELD / 2, end_angle=FIELD / 2, max_range=REACH, rate=1.0 / STEP, range_sigma=0.01,
        position=Triple(0.0, 0.0, 0.1),
    )  # fmt: skip
    actors = []
    for k, (x, y, theta) in enumerate(poses):
        item = TrafficObject(
            Kind.AUTONOMOUS, f"car {k}", controller=Controller.SENSOR, size=CAR, position_offset=Triple(x, y, 0.0),
            orientation_offset=Triple(0.0, 0.0, theta - math.pi / 2), wheels=Wheels(radius=0.05, width=0.04),
            steering=Steering(20.0, 7.0), parameters=(("mass", 3.74), ("wheelbase", 0.33)),
        )  # fmt: skip
        actors.append(Actor(item, confs=(("scan", conf),)))
    for k, (a, b) in enumerate(pieces):
        middle, along = 0.5 * (a + b), b - a
        item = TrafficObject(
            Kind.STATIC, f"wall {k}", shape=ShapeKind.BOX, size=Triple(0.001, float(np.hypot(*along)), 1.0),
            position_offset=Triple(*map(float, middle), 0.0),
            orientation_offset=Triple(0.0, 0.0, math.atan2(-along[0], along[1])),
        )  # fmt: skip
        actors.append(Actor(item))
    return compile_world(Scene("f1tenth", tuple(actors), settings=Settings(step=STEP)))


def agreement(world: World, poses: np.ndarray, cell: float) -> float:
    """Share of beams without noise that agree within two cells, cars left out."""
    from f110_gym.envs.base_classes import RaceCar

    equal = []
    for k, pose in enumerate(poses):
        theirs = RaceCar.scan_simulator.scan(pose, None)
        mine = cbsim.sense(world, world.start)[f"car {k}/scan"].ranges[0]
        equal.append(np.abs(np.minimum(mine, REACH) - np.minimum(theirs, REACH)) < 2.0 * cell + 0.05)
    return float(np.mean(equal))


def rate(work: Callable[[], None]) -> float:
    """Calls per second of CPU time."""
    began = time.process_time()
    for _ in range(STEPS):
        work()
    return STEPS / (time.process_time() - began)


def compare(checkout: Path, pieces: list[tuple[np.ndarray, np.ndarray]], poses: np.ndarray) -> None:
    """Run pairs of both sides, and print the ratio."""
    simulator, world = peer(checkout, poses), ours(pieces, poses)
    share = agreement(world, poses[:1], 0.0625)
    if share < 0.99:
        sys.exit(f"the scans differ: only {share:.2%} of the beams agree within two cells")
    controls = np.tile([0.02, 1.0], (len(poses), 1))
    commands = {f"car {k}": Command(throttle=0.1, steering=0.05) for k in range(len(poses))}
    state = [world.start]

    def mine() -> None:
        state[0] = cbsim.step(world, state[0], commands)
        cbsim.sense(world, state[0])

    def theirs() -> None:
        simulator.step(controls)

    rate(theirs), rate(mine)
    pairs = [(rate(theirs), rate(mine)) for _ in range(PAIRS)]
    ratio = statistics.median(b / a for a, b in pairs)
    show(f"f1tenth, {len(poses)} cars", [a for a, _ in pairs], "steps/s", f"{share:.2%} of beams agree")
    show(f"cbsim, {len(poses)} cars, {len(pieces)} walls", [b for _, b in pairs], "steps/s", f"{ratio:.1f} x")


def main() -> None:
    checkout = Path(os.environ.get("F1TENTH", ""))
    missing = [name for name in ("PIL", "skimage", "scipy", "yaml") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"SKIP peer absent: {', '.join(missing)}")
        return
    if not (checkout / "examples" / "example_map.png").exists():
        print("SKIP peer absent: F1TENTH names no checkout of f1tenth_gym")
        return
    track = np.loadtxt(checkout / "examples" / "example_waypoints.csv", delimiter=";", skiprows=3)
    pieces = walls(checkout)
    for cars in (1, 10):
        rows = track[:: len(track) // cars][:cars] if cars > 1 else track[:1]
        following = track[(np.searchsorted(track[:, 0], rows[:, 0]) + 1) % len(track)]
        theta = np.arctan2(following[:, 2] - rows[:, 2], following[:, 1] - rows[:, 1])
        compare(checkout, pieces, np.column_stack([rows[:, 1], rows[:, 2], theta]))


if __name__ == "__main__":
    main()
