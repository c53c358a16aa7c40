"""Laser scanners against Embree (embreex and Open3D): 200 boxes on the ground, 181 beams and 64 × 1024.

    pip install embreex trimesh open3d
    taskset -c 0 python benchmarks/bench_lasers.py

Both sides get the same scene and the same rays, on one core. "Moved" means that all bodies stand elsewhere: Embree has
to build its tree again from triangles that are given to it, cbsim takes the new poses. Pairs are taken in turn, A B
A B; the peer of a row is the faster of the two at that row. Before a ratio, 99.99 % of the returns within 100 m have
to lie within 1 cm of Embree's. In a sweep the sensor moves from beam to beam: cbsim finds the poses and the rays of
each scan; Embree's side is given the poses and turns the beams into the world by numpy, since no two scans have the
same rays. It cannot move bodies meanwhile: its scene stands, or is built once per scan.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from itertools import cycle
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from common import show

from cbsim.geometry.pose import heading_quaternion, rotate
from cbsim.sensing.caster import Caster
from cbsim.sensing.kernels.scans import scans_into
from cbsim.sensing.laser_tables import acquire_scratch, laser_tables_of
from cbsim.sensing.scenery import static_scenery_of
from cbsim.spec.command import Command
from cbsim.spec.objects import Controller, Kind, MeshFile, ShapeKind, TrafficObject, Triple
from cbsim.spec.sensor import SensorConf
from cbsim.world.compile import compile_world
from cbsim.world.scene import Actor, Scene
from cbsim.world.snapshot import Snapshot
from cbsim.world.world import World

BODIES, EXTENT, REACH = 200, 100.0, 100.0
CUBE = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
FACES = np.array([
    [0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4],
    [1, 5, 7], [1, 7, 3],
])  # fmt: skip
PEERS: dict[str, Callable[[np.ndarray], Callable[[np.ndarray, np.ndarray], Callable[[], np.ndarray]]]] = {}


def embreex_scene(triangles: np.ndarray) -> Callable[[np.ndarray, np.ndarray], Callable[[], np.ndarray]]:
    """Build a scene of embreex; it takes origins and directions and gives something to time."""
    from embreex import rtcore_scene
    from embreex.mesh_construction import TriangleMesh

    scene = rtcore_scene.EmbreeScene()
    TriangleMesh(scene, triangles)

    def prepare(origins: np.ndarray, directions: np.ndarray) -> Callable[[], np.ndarray]:
        return lambda: scene.run(origins, directions, query="DISTANCE")

    return prepare


def open3d_scene(triangles: np.ndarray) -> Callable[[np.ndarray, np.ndarray], Callable[[], np.ndarray]]:
    """Build a scene of Open3D on one thread."""
    import open3d

    scene = open3d.t.geometry.RaycastingScene(nthreads=1)
    corners = open3d.core.Tensor(triangles.reshape(-1, 3))
    scene.add_triangles(corners, open3d.core.Tensor(np.arange(3 * len(triangles), dtype=np.uint32).reshape(-1, 3)))

    def prepare(origins: np.ndarray, directions: np.ndarray) -> Callable[[], np.ndarray]:
        rays = open3d.core.Tensor(np.concatenate([origins, directions], axis=1))
        return lambda: np.asarray(scene.cast_rays(rays, nthreads=1)["t_hit"].numpy())

    return prepare


def ball(rng: np.random.Generator, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Crumpled ball of 320 triangles in a box of that size."""
    import trimesh

    made = trimesh.creation.icosphere(subdivisions=2)
    vertices = made.vertices * rng.uniform(0.8, 1.0, (len(made.vertices), 1))
    vertices -= 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))
    return vertices / np.ptp(vertices, axis=0) * size, made.faces


def make_world(conf: SensorConf, meshes: int = 0) -> World:
    """Make a bot with one laser among boxes, some of them meshes instead."""
    rng = np.random.default_rng(3)
    item = TrafficObject(Kind.AUTONOMOUS, "bot", controller=Controller.SENSOR, size=Triple(1.7, 3.7, 2.0))
    actors = [Actor(item, confs=(("scan", conf),))]
    for k in range(BODIES):
        place = np.zeros(2)
        while np.hypot(*place) < 8.0:
            place = rng.uniform(-EXTENT, EXTENT, 2)
        size, at, turn = rng.uniform((1.5, 3, 1), (2.5, 6, 3)), Triple(*place, 0.0), Triple(0, 0, rng.uniform(-3, 3))
        if k < meshes:
            vertices, faces = ball(rng, size)
            file = MeshFile("")
            at = Triple(*place, 0.5 * size[2])
            item = TrafficObject(Kind.MESH, f"m{k}", shape=ShapeKind.MESH, position_offset=at, vertices=file,
                                 indices=file, orientation_offset=turn)  # fmt: skip
            actors.append(Actor(item, mesh=(vertices, faces)))
        else:
            item = TrafficObject(Kind.STATIC, f"b{k}", size=Triple(*size), position_offset=at, orientation_offset=turn)
            actors.append(Actor(item))
    return compile_world(Scene("bench", tuple(actors)))


def triangles_of(world: World, positions: np.ndarray, orientations: np.ndarray) -> np.ndarray:
    """Collect the triangles (n, 3, 3) of all bodies but the bot, and of the ground, in the world."""
    shapes = world.shapes
    parts = [500.0 * np.array([[[-1, -1, 0], [1, -1, 0], [1, 1, 0]], [[-1, -1, 0], [1, 1, 0], [-1, 1, 0]]])]
    for body in range(1, len(positions)):
        corners = shapes.triangles[shapes.first[body] : shapes.last[body]]
        if shapes.kind[body] == ShapeKind.BOX:
            corners = (CUBE * shapes.size[body])[FACES]
        parts.append(rotate(orientations[body], corners) + positions[body])
    return np.concatenate(parts).astype(np.float32)


class Side(NamedTuple):
    """One way to scan: what to time with bodies at rest and moved, where the ranges of the former are, and the rays.

    `aim` makes the rays anew where every scan has others: a sensor that moves while it scans.
    """

    still: Callable[[], Any]
    moved: Callable[[], Any]
    ranges: Callable[[], np.ndarray]
    rays: tuple[np.ndarray, np.ndarray]
    aim: Callable[[], tuple[np.ndarray, np.ndarray]] | None = None


def at_once(world: World, snapshot: Snapshot) -> Side:
    """Scan with all beams at one instant, as a call from Python with the poses of all bodies."""
    sensor, state = world.sensors[0], snapshot.state
    pose = np.concatenate([state.position[0] + sensor.mount.position, sensor.mount.orientation])
    poses, cast = _two_poses(state.position, state.orientation), Caster(world, sensor).cast
    directions, turn = rotate(pose[3:], sensor.directions).reshape(-1, 3), cycle(poses)
    return Side(
        lambda: cast(pose, *poses[0]),
        lambda: cast(pose, *next(turn)),
        lambda: cast(pose, *poses[0]).reshape(-1).copy(),
        (np.tile(pose[:3], (len(directions), 1)), directions),
    )


def swept(world: World, snapshot: Snapshot) -> Side:
    """Scan beam by beam while the bot drives and turns."""
    tables, sensor, state = laser_tables_of(world), world.sensors[0], snapshot.state
    layers, beams = sensor.directions.shape[:2]
    width = tables.sizes[0] // layers
    standing = world.static_caches.of(snapshot)
    surroundings = static_scenery_of(world, standing, tables.groups)
    scratch = acquire_scratch(world, standing)
    poses, sweep = np.empty((1, 7)), np.empty((beams, 7))
    begins = np.zeros(1, np.int64)
    readings, seen = np.empty(layers * beams), np.empty(layers * beams, bool)
    jobs, indices = np.array([[0, 0, 0, -1, 0, -1, 0]]), np.array([math.floor(snapshot.time * 10 + 1e-9)])
    states = [snapshot.copy(), snapshot.copy()]
    for each, (p, q) in zip(states, _two_poses(state.position, state.orientation), strict=True):
        each.state.position[:], each.state.orientation[:] = p, q

    def scan(now: Snapshot) -> None:
        scans_into(
            world.pack, world.layout.sizes, world.first.blocks, now.blocks, tables.pack, surroundings,
            (jobs, begins, indices, np.array([10.0]), indices), tables.keys(0), np.empty(0), scratch,
            (poses, sweep.reshape(-1), readings, seen),
        )  # fmt: skip

    scan(states[0])
    turn = cycle(states)

    def aim() -> tuple[np.ndarray, np.ndarray]:
        directions = rotate(sweep[:, 3:], sensor.directions).reshape(-1, 3)
        return np.tile(sweep[:, :3], (layers, 1)).astype(np.float32), directions.astype(np.float32)

    return Side(
        lambda: scan(states[0]),
        lambda: scan(next(turn)),
        lambda: scratch[0][-tables.sizes[0] :].reshape(layers, width)[:, :beams].reshape(-1).copy(),
        aim(),
        aim,
    )


def _two_poses(positions: np.ndarray, orientations: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Poses as they are, and with every body but the bot moved and turned a little."""
    shift = np.array([0.3, -0.2, 0.0]) * (np.arange(len(positions)) > 0)[:, None]
    turned = orientations.copy()
    yaw = 2.0 * np.arctan2(orientations[1:, 3], orientations[1:, 0]) + 0.05
    turned[1:] = heading_quaternion(yaw)
    return [(positions.copy(), orientations.copy()), (positions + shift, turned)]


def pairs(ours: Callable[[], Any], theirs: Callable[[], Any], budget: float = 0.04, count: int = 9) -> list[np.ndarray]:
    """Time both in turn; seconds per call (count,) of each."""
    found = []
    loops = []
    for work in (ours, theirs):
        work()
        began = perf_counter()
        work()
        loops.append(max(1, int(budget / max(perf_counter() - began, 1e-6))))
    for _ in range(count):
        row = []
        for work, n in zip((ours, theirs), loops, strict=True):
            began = perf_counter()
            for _ in range(n):
                work()
            row.append((perf_counter() - began) / n)
        found.append(row)
    return list(np.array(found).T)


def their_work(
    side: Side, build: Callable[..., Any], triangles: np.ndarray, rays: tuple[np.ndarray, np.ndarray], state: str
) -> Callable[[], Any]:
    """Make what is timed of a peer: the cast, and whatever else a new scan takes it."""
    standing = build(triangles) if state == "standing" else None
    aim = side.aim
    if standing is not None and aim is None:
        return standing(*rays)  # type: ignore[no-any-return]

    def work() -> Any:
        prepare = standing or build(triangles)
        return prepare(*(aim() if aim else rays))()

    return work


def compare(name: str, side: Side, triangles: np.ndarray, gates: tuple[float, float]) -> bool:
    """Print both figures and ratios of one row against the faster peer; False if a gate is missed."""
    origins, directions = (np.ascontiguousarray(part, np.float32) for part in side.rays)
    met = True
    side.still()
    ranges = side.ranges()
    for state, work, gate in (("standing", side.still, gates[0]), ("moved", side.moved, gates[1])):
        best: tuple[float, str, list[np.ndarray]] | None = None
        for peer, build in PEERS.items():
            prepare = build(triangles)
            true = np.asarray(prepare(origins, directions)())
            near = (true < 99.0) & (ranges < 99.0)
            seen = (true < 99.0) | (ranges < 99.0)
            good = (np.abs(ranges[near] - true[near]) < 0.01).sum() / max(seen.sum(), 1)
            if good < 0.9999:
                print(f"{name}: only {100 * good:.3f} % of {seen.sum()} returns agree with {peer}; no ratio")
                return False
            times = pairs(work, their_work(side, build, triangles, (origins, directions), state))
            if best is None or median(times[1]) < best[0]:
                best = median(times[1]), f"{peer}, {100 * good:.3f} % agree", times
        assert best is not None
        ours, other = best[2]
        ratios = sorted(other / ours)
        rays = len(directions)
        show(f"{name}, {state}: cbsim", [rays / t / 1e6 for t in ours], "M rays/s", f"{1e6 * median(ours):.1f} us")
        show(f"{name}, {state}: {best[1]}", [rays / t / 1e6 for t in other], "M rays/s", f"{1e6 * best[0]:.1f} us")
        verdict = "" if median(ratios) >= gate else f"  MISSES {gate:g} x"
        met &= not verdict
        print(f"{name}, {state}: {ratios[0]:.2f} / {median(ratios):.2f} / {ratios[-1]:.2f} x{verdict}\n")
    return met


def main() -> int:
    try:
        import embreex  # noqa: F401

        PEERS["embreex"] = embreex_scene
    except ImportError:
        pass
    try:
        import open3d  # noqa: F401

        PEERS["Open3D"] = open3d_scene
    except (ImportError, OSError):
        pass
    if not PEERS:
        print("SKIP peer absent: pip install embreex open3d")
        return 0
    flat = SensorConf(position=Triple(0, 0, 2.0), max_range=REACH, scan_time=0.0)
    around = {"start_angle": -math.pi, "end_angle": math.pi, "beams": 1024}
    layers = {**around, "layer_pitches": tuple(np.radians(np.linspace(-24.8, 2.0, 64)))}
    met = True
    for fan, fields in (("181", {}), ("64 x 1024", layers)):
        one = fan == "181"
        for what, more, meshes, gates in (
            ("level", {}, 0, (4.0, 100.0) if one else (15.0, 20.0)),
            ("pitched 8 deg", {"pitch": math.radians(-8.0)}, 0, (1.0, 2.0) if one else (30.0, 30.0)),
            ("20 % meshes", {}, 40, (1.0, 2.0)),
            ("swept", {"scan_time": 0.013 if one else 0.1, "rate": 10.0}, 0, (1.0, 2.0)),
        ):
            fields_of = {name: getattr(flat, name) for name in ("position", "max_range")}
            world = make_world(SensorConf(**{**fields_of, **fields, **more}), meshes)
            snapshot = world.start
            if what == "swept":
                from cbsim.simulation.loop import step

                for _ in range(40):
                    snapshot = step(world, snapshot, {"bot": Command(throttle=0.6, steering=0.3)})
            side = (swept if what == "swept" else at_once)(world, snapshot)
            triangles = triangles_of(world, snapshot.state.position, snapshot.state.orientation)
            met &= compare(f"{fan} {what}", side, triangles, gates)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
