"""Worlds of reactive traffic on small networks: a ring, a straight road, a four-way stop, a merge."""

from __future__ import annotations

import math
from types import FunctionType
from typing import Any

import numpy as np

from cbsim.geometry.pose import heading_quaternion
from cbsim.road.roadmap import build
from cbsim.simulation.advance import advance
from cbsim.simulation.step_workspace import return_step_workspace, take_step_workspace
from cbsim.spec.road import RoadNetwork
from cbsim.spec.traffic import Driver, Pool
from cbsim.traffic.kernels.workspace import CarWorkspace, car_workspace_of
from cbsim.traffic.workspace import route_sizes
from cbsim.world.compile import compile_world
from cbsim.world.scene import Actor, Scene, Settings
from cbsim.world.snapshot import Snapshot
from cbsim.world.traffic.tables import (
    ALONG,
    BODY,
    FRONT_AXLE,
    LANELET,
    NEXT,
    REAR_AXLE,
    SPEED,
    STATION,
    UNKNOWN,
)
from cbsim.world.world import World
from tests.road.site import Site


def ring(circumference: float = 2000.0, count: int = 400) -> RoadNetwork:
    """One lane that leads from its last waypoint to its first."""
    radius = circumference / (2.0 * np.pi)
    angles = 2.0 * np.pi * np.arange(count) / count
    places = [(radius * np.cos(a), radius * np.sin(a)) for a in angles]
    return Site().lane("1.1", places, exits=[(f"1.1.{count}", "1.1.1")]).network()


def straight(length: float = 600.0) -> RoadNetwork:
    """One lane due north."""
    return Site().lane("1.1", [(0.0, 0.0), (0.0, 0.5 * length), (0.0, length)]).network()


def four_way() -> RoadNetwork:
    """Four roads of 100 m that meet at stop lines; whoever has left turns round 100 m away."""
    site, near, far, aside = Site(), 8.0, 100.0, 2.0
    arms = {1: (0.0, 1.0), 2: (1.0, 0.0), 3: (0.0, -1.0), 4: (-1.0, 0.0)}
    for arm, (dx, dy) in arms.items():
        others = [other for other in arms if other != arm]
        rx, ry = dy, -dx  # to the right of who drives out

        def at(distance: float, side: float, d: tuple[float, float] = (dx, dy), r: tuple[float, float] = (rx, ry)):
            return d[0] * distance + r[0] * side, d[1] * distance + r[1] * side

        inward, outward = f"{arm}.1", f"{arm}.2"
        exits = [(f"{inward}.2", f"{other}.2.1") for other in others]
        site.lane(inward, [at(far, -aside), at(near, -aside)], exits=exits, stops=[f"{inward}.2"])
        site.lane(outward, [at(near, aside), at(far, aside)], exits=[(f"{outward}.2", f"{inward}.1")])
    return site.network()


def cross(
    stops: tuple[int, ...] = (1, 2, 3, 4),
    far: float = 300.0,
    numbers: tuple[int, ...] = (1, 2, 3, 4),
    *,
    mirrored: bool = False,
) -> RoadNetwork:
    """Four roads that meet, numbered clockwise from the north, some with stop lines; cars leave at the ends.

    Mirrored, they are numbered counter-clockwise, and traffic keeps to the left.
    """
    site, near, aside, side = Site(metric=True), 8.0, 2.0, -1.0 if mirrored else 1.0
    arms = dict(sorted(zip(numbers, ((0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0)), strict=True)))
    for arm, (dx, dy) in arms.items():
        ways_in = [(side * (dx * along - dy * aside), dy * along + dx * aside) for along in (far, near)]
        ways_out = [(side * (dx * along + dy * aside), dy * along - dx * aside) for along in (near, far)]
        exits = [(f"{arm}.1.2", f"{other}.2.1") for other in arms if other != arm]
        site.lane(f"{arm}.1", ways_in, exits=exits, stops=[f"{arm}.1.2"] if arm in stops else [])
        site.lane(f"{arm}.2", ways_out)
    return site.network()


def grid(columns: int, rows: int | None = None, block: float = 200.0, *, stops: bool = True) -> RoadNetwork:
    """Streets of one lane each way that cross each other, block by block, with stop lines on all sides or on none."""
    site, near, aside = Site(metric=True), 9.0, 1.9
    rows = columns if rows is None else rows
    nodes = [(i, j) for i in range(columns) for j in range(rows)]
    blocks = [(a, (a[0] + di, a[1] + dj)) for a in nodes for di, dj in ((1, 0), (0, 1))]
    blocks = [pair for pair in blocks if pair[1][0] < columns and pair[1][1] < rows]
    names = {way: f"{n}.{k}" for n, (a, b) in enumerate(blocks, 1) for k, way in enumerate(((a, b), (b, a)), 1)}
    after: dict[tuple[int, int], list[tuple[tuple[int, int], tuple[int, int]]]] = {node: [] for node in nodes}
    for way in names:
        after[way[0]].append(way)
    for way, name in names.items():
        (i, j), (k, m) = way
        dx, dy = k - i, m - j
        places = [
            (block * i + dx * along + dy * aside, block * j + dy * along - dx * aside)
            for along in (near, 0.5 * block, block - near)
        ]
        exits = [(f"{name}.3", f"{names[other]}.1") for other in after[way[1]] if other[1] != way[0]]
        site.lane(name, places, exits=exits, stops=[f"{name}.3"] if stops else [])
    return site.network()


def world(
    network: RoadNetwork,
    *pools: Pool,
    drivers: tuple[Driver, ...] = (),
    actors: tuple[Actor, ...] = (),
    **settings: Any,
) -> World:
    scene = Scene("test", actors, build(network), settings=Settings(**settings), pools=pools, drivers=drivers)
    return compile_world(scene)


def run(made: World, snapshot: Snapshot | None, duration: float, each: float | None = None) -> list[Snapshot]:
    """Snapshots at the end, or every so many seconds, from the start if from none; contacts are a failure."""
    snapshot = made.start if snapshot is None else snapshot
    steps, part = round(duration / made.step), round((each or duration) / made.step)
    found = []
    for _ in range(steps // part):
        _, _, contacts = advance(made, snapshot, part)
        assert not len(contacts)
        found.append(snapshot.copy())
    return found


def put(snapshot: Snapshot, car: int, station: float, speed: float = 0.0) -> None:
    """Put a car elsewhere on the straight road, its body too: it would be swept there in a step otherwise."""
    state = snapshot.state
    state.travel[car, [STATION, SPEED]] = station, speed
    state.position[car + len(state.position) - len(state.travel), :2] = 0.0, station + 2.25


def put_on(made: World, snapshot: Snapshot, car: int, lanelet: int, station: float, speed: float = 0.0) -> None:
    """Put a car on a lanelet, its body too."""
    road, state = made.traffic.road, snapshot.state
    state.intent[car, [LANELET, NEXT]], state.travel[car, [STATION, SPEED]] = (lanelet, UNKNOWN), (station, speed)
    first, last = road.sample_offsets[lanelet], road.sample_offsets[lanelet + 1]
    along, places = road.samples[first:last, ALONG], road.samples[first:last]
    ends = [
        [np.interp(station + road.car_sizes[car, axle], along, places[:, c]) for c in range(2)]
        for axle in (REAR_AXLE, FRONT_AXLE)
    ]
    body = road.car_rows[car, BODY]
    state.position[body, :2] = np.mean(ends, axis=0)
    dx, dy = np.subtract(ends[1], ends[0])
    state.orientation[body] = heading_quaternion(np.arctan2(-dx, dy))


def part_of(block: np.ndarray, begin: int, shape: tuple[int, ...]) -> np.ndarray:
    """View a part of a flat array, as `cbsim.jit.block_view` does in kernels."""
    return block[begin : begin + math.prod(shape)].reshape(shape)


def workspace(made: World, snapshot: Snapshot) -> CarWorkspace:
    """Workspace of the cars of a Snapshot, as its last step has left it."""
    static_cache, traffic, layout = made.static_caches.of(snapshot), made.traffic, made.layout
    taken = take_step_workspace(made, static_cache)
    return_step_workspace(taken, static_cache)
    slices = getattr(car_workspace_of, "py_func", car_workspace_of)
    # views of a block are for kernels alone
    slices = FunctionType(slices.__code__, {**slices.__globals__, "block_view": part_of})
    lanelets, conflicts = len(traffic.road.lanelets), len(traffic.crossings.rules)
    sizes = route_sizes(traffic, layout)
    return slices(layout.cars, lanelets, conflicts, layout.bodies - layout.cars, sizes, *taken.tables[-2:])
