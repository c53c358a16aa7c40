"""Streets of a generated city: a jittered grid of nodes, smooth centrelines between them, and lanes.

Everything here is metres in a plane, x east and y north. Sides of a node are numbered clockwise from north, so that a
right turn adds one. Centre lines run east or north, and the lanes of a street are listed from the left of its centre
line to the right, which is north to south, or west to east, as road networks number them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from cbsim.arrays import Floats
from cbsim.errors import UsageError

__all__ = ["LANE_WIDTH", "SIDES", "Grid", "LaneLine", "Node", "Plan", "Street", "build_grid"]

NORTH, EAST, SOUTH, WEST = SIDES = range(4)
LANE_WIDTH = 12 * 0.3048  # [m] twelve feet
CORNER = 5.5  # [m] from the kerb of the crossing street to the end of a lane; a right turn then has 7 m of radius
JITTER = 0.04  # of a block: how far a node lies off the grid
TURN = np.radians(8.0)  # the grid is turned by at most that, so that streets do not run along the axes
STUB = 0.6  # of a block: length of a dead end
STUBS = 0.3  # of the border's open sides have a dead end
SAMPLES = 65  # points of a centre line before it is cut into waypoints


@dataclass(frozen=True, slots=True)
class Plan:
    """What a city is generated from; lengths in metres."""

    columns: int = 4
    rows: int = 4
    block: float = 120.0
    lanes: int = 1
    two_way: bool = True
    zones: int = 1
    seed: int = 1
    spacing: float = 20.0

    def __post_init__(self) -> None:
        smallest = 2.0 * self.setback + 20.0
        limits = {
            "columns": (self.columns, 1, 1000),
            "rows": (self.rows, 1, 1000),
            "lanes": (self.lanes, 1, 4),
            "block": (self.block, max(smallest, (self.setback + 10.0) / STUB), 1000.0),
            "spacing": (self.spacing, 2.0, 200.0),
            "zones": (self.zones, 0, 2 * (self.columns + self.rows)),
        }
        for name, (value, least, most) in limits.items():
            if not least <= value <= most:
                raise UsageError(f"{name} is {value!r}, expected {least:g} to {most:g}")

    @property
    def setback(self) -> float:
        """Distance from a node to the ends of the lanes that meet there [m]."""
        return self.lanes * LANE_WIDTH + CORNER


@dataclass(frozen=True, slots=True)
class LaneLine:
    """One lane of a street.

    Attributes
    ----------
    number : int
        From 1, left to right across the street.
    forward : bool
        True along the centre line, False against it.
    rank : int
        0 for the lane furthest left in its own direction of travel.
    points : ndarray, shape (n, 2)
        In the direction of travel [m].
    """

    number: int
    forward: bool
    rank: int
    points: Floats


@dataclass(frozen=True, slots=True)
class Street:
    """One block of street; `start` and `end` are nodes, or None at a dead end.

    Attributes
    ----------
    two_way : bool
        False where all lanes run the same way.
    parking : bool
        True for a dead end that leads to a parking zone.
    """

    name: str
    start: tuple[int, int] | None
    end: tuple[int, int] | None
    lanes: tuple[LaneLine, ...]
    two_way: bool
    parking: bool = False

    def leaving(self, *, at_start: bool) -> list[LaneLine]:
        """Lanes that lead away from one end, left to right."""
        return sorted((one for one in self.lanes if one.forward == at_start), key=lambda one: one.rank)

    def arriving(self, *, at_start: bool) -> list[LaneLine]:
        """Lanes that lead to one end, left to right."""
        return sorted((one for one in self.lanes if one.forward != at_start), key=lambda one: one.rank)

    @property
    def dead_end(self) -> bool | None:
        """True if the dead end is where the centre line starts, False if where it ends, None if there is none."""
        return None if self.start is not None and self.end is not None else self.start is None


@dataclass(slots=True)
class Node:
    """A crossing: its place, the directions of its two streets, and the street on each side."""

    position: Floats
    tangents: tuple[Floats, Floats]  # north, east
    arms: dict[int, int] = field(default_factory=dict)

    def outward(self, side: int) -> Floats:
        """Direction of the street on one side, away from the node: a unit vector, shape (2,)."""
        tangent = self.tangents[side % 2]
        return tangent if side in (NORTH, EAST) else -tangent


@dataclass(frozen=True, slots=True)
class Grid:
    """Nodes by column and row, and streets in the order of their numbers."""

    plan: Plan
    nodes: dict[tuple[int, int], Node]
    streets: list[Street]


def build_grid(plan: Plan, random: np.random.Generator) -> Grid:
    """Generate the nodes and streets of a city."""
    nodes = _nodes(plan, random)
    grid = Grid(plan, nodes, [])
    for key, side in _blocks(plan):
        _add_street(grid, key, side, _neighbour(key, side))
    stubs, parking = _stubs(plan, nodes, random)
    for key, side in stubs:
        _add_street(grid, key, side, None, parking=(key, side) in parking)
    return grid


def _nodes(plan: Plan, random: np.random.Generator) -> dict[tuple[int, int], Node]:
    """Place the nodes, and take the directions of streets from their neighbours so that streets cross smoothly."""
    shape = (plan.columns, plan.rows)
    flat = np.stack(np.meshgrid(np.arange(plan.columns), np.arange(plan.rows), indexing="ij"), axis=-1) * plan.block
    angle = random.uniform(-TURN, TURN)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    middle = flat.reshape(-1, 2).mean(axis=0)
    places = (flat - middle + random.uniform(-JITTER, JITTER, (*shape, 2)) * plan.block) @ turn.T
    nodes = {}
    for column, row in np.ndindex(shape):
        east = places[min(column + 1, plan.columns - 1), row] - places[max(column - 1, 0), row]
        north = places[column, min(row + 1, plan.rows - 1)] - places[column, max(row - 1, 0)]
        tangents = (_unit(north, turn[:, 1]), _unit(east, turn[:, 0]))
        nodes[column, row] = Node(places[column, row], tangents)
    return nodes


def _unit(vector: Floats, otherwise: Floats) -> Floats:
    length = float(np.hypot(*vector))
    return vector / length if length > 0.0 else otherwise


def _blocks(plan: Plan) -> Iterator[tuple[tuple[int, int], int]]:
    """Blocks of the streets that run east, from north to south, then of those that run north, from west to east."""
    for row in reversed(range(plan.rows)):
        yield from (((column, row), EAST) for column in range(plan.columns - 1))
    for column in range(plan.columns):
        yield from (((column, row), NORTH) for row in range(plan.rows - 1))


def _neighbour(key: tuple[int, int], side: int) -> tuple[int, int]:
    column, row = key
    return (column + (side == EAST) - (side == WEST), row + (side == NORTH) - (side == SOUTH))


def _stubs(
    plan: Plan, nodes: dict[tuple[int, int], Node], random: np.random.Generator
) -> tuple[list[tuple[tuple[int, int], int]], set[tuple[tuple[int, int], int]]]:
    """Choose the open sides of the border that get a dead end, and those of them that lead to a parking zone."""
    open_sides = [(key, side) for key in nodes for side in SIDES if _neighbour(key, side) not in nodes]
    order = [open_sides[k] for k in random.permutation(len(open_sides))]
    parking = set(order[: plan.zones])
    chosen = parking | {one for one in order[plan.zones :] if random.random() < STUBS}
    chosen.update([] if chosen else order[:1])  # a ring without a dead end has two directions that never meet
    for key, node in nodes.items():  # a crossing needs two streets at least, to be left
        missing = [one for one in order if one[0] == key and one not in chosen]
        have = len([one for one in chosen if one[0] == key]) + len(node.arms)
        chosen.update(missing[: max(0, 2 - have)] if plan.columns * plan.rows > 1 else missing)
    return [one for one in open_sides if one in chosen], parking


def _add_street(
    grid: Grid, key: tuple[int, int], side: int, other: tuple[int, int] | None, *, parking: bool = False
) -> None:
    """Add the street on one side of a node, and link it to the nodes that it joins."""
    plan, node = grid.plan, grid.nodes[key]
    two_way = plan.two_way or other is None or _on_border(plan, key, side)
    outward = node.outward(side)
    if other is None:
        curve = node.position + np.linspace(0.0, STUB * plan.block, SAMPLES)[:, None] * outward
        cuts = (plan.setback, 0.0)
    else:
        curve = _hermite(node.position, outward, grid.nodes[other].position, grid.nodes[other].outward(side))
        cuts = (plan.setback, plan.setback)
    away = side in (NORTH, EAST)
    start, end = (key, other) if away else (other, key)
    curve, cuts = (curve, cuts) if away else (curve[::-1], cuts[::-1])
    lanes = tuple(_lanes(plan, curve, cuts, two_way=two_way, forward=_runs_forward(key, side)))
    kind, line = ("Street", key[1]) if side % 2 else ("Avenue", key[0])
    number = len(grid.streets)
    grid.streets.append(Street(f"{kind}_{line + 1}_{number + 1}", start, end, lanes, two_way, parking))
    node.arms[side] = number
    if other is not None:
        grid.nodes[other].arms[(side + 2) % 4] = number


def _on_border(plan: Plan, key: tuple[int, int], side: int) -> bool:
    """Return whether a street is part of the ring around the city, which stays two-way so that no car is trapped."""
    line, last = (key[1], plan.rows - 1) if side % 2 else (key[0], plan.columns - 1)
    return line in (0, last)


def _runs_forward(key: tuple[int, int], side: int) -> bool:
    """Alternate the directions of one-way streets."""
    return (key[1] if side % 2 else key[0]) % 2 == 0


def _hermite(start: Floats, leave: Floats, end: Floats, arrive: Floats) -> Floats:
    """Cubic from point to point with given unit directions, shape (SAMPLES, 2)."""
    t = np.linspace(0.0, 1.0, SAMPLES)[:, None]
    chord = float(np.hypot(*(end - start)))
    return np.asarray(
        (2 * t**3 - 3 * t**2 + 1) * start
        + (t**3 - 2 * t**2 + t) * chord * leave
        + (3 * t**2 - 2 * t**3) * end
        + (t**3 - t**2) * chord * arrive
    )


def _lanes(plan: Plan, curve: Floats, cuts: tuple[float, float], *, two_way: bool, forward: bool) -> Iterator[LaneLine]:
    """Lay lanes beside a centre line, from its left to its right."""
    stations, cut = _cut(plan, curve, cuts)
    along = np.gradient(curve, axis=0)
    along /= np.hypot(along[:, 0], along[:, 1])[:, None]
    left = np.stack([-along[:, 1], along[:, 0]], axis=1)
    count = 2 * plan.lanes if two_way else plan.lanes
    for k in range(count):
        offset = (0.5 * (count - 1) - k) * LANE_WIDTH
        runs = k >= plan.lanes if two_way else forward
        edge = curve + offset * left
        points = np.stack([np.interp(cut, stations, edge[:, axis]) for axis in (0, 1)], axis=1)
        left_most = plan.lanes if two_way and runs else 0
        rank = k - left_most if runs else (plan.lanes if two_way else count) - 1 - k
        yield LaneLine(k + 1, runs, rank, points if runs else points[::-1])


def _cut(plan: Plan, curve: Floats, cuts: tuple[float, float]) -> tuple[Floats, Floats]:
    """Stations of the samples of a curve, and of its waypoints between the cuts at both ends [m]."""
    steps = np.hypot(*np.diff(curve, axis=0).T)
    stations = np.concatenate([[0.0], np.cumsum(steps)])
    first, last = cuts[0], float(stations[-1]) - cuts[1]
    count = max(2, round((last - first) / plan.spacing) + 1)
    return stations, np.linspace(first, last, count)
