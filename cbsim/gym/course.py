"""`Course`: what environments need of a World that never changes: agents, lanelets, pieces of road."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats, Ints
from cbsim.errors import UsageError
from cbsim.evaluation.rules.comfort import WINDOW
from cbsim.geometry.polyline import direction
from cbsim.road.lanelets import LaneletKind, Lanelets
from cbsim.spec.objects import WheelType
from cbsim.world.world import World

__all__ = ["STOP_LINE", "Course", "RoadPieces"]

STOP_LINE = len(LaneletKind)  # kind of a piece of road that is a stop line
PIECE_LENGTH, LINE_LENGTH = 5.0, 0.5  # [m] of pieces of road at most, cut at samples 1 m apart; of stop lines
CELL, EDGE = 8.0, 25.0  # [m] width of cells; distance of their middle from the road up to which they have pieces
MOST_NUMBERS = 1 << 24  # in all lists of pieces: 64 MiB


@dataclass(frozen=True, slots=True, eq=False)
class RoadPieces:
    """Lists of the pieces of road nearest to the middles of the cells of a grid.

    Attributes
    ----------
    grid : ndarray, shape (5,)
        Least x and y, width of a cell [m], columns and rows.
    cells : ndarray of int, shape (columns · rows,)
        List of each cell; -1 where no road is near.
    lists : ndarray of float32, shape (lists, 7, count)
        Place relative to the middle of the cell, length, width [m], direction, kind; nearest first, zeros after the
        last.
    """

    grid: Floats
    cells: Ints
    lists: NDArray[np.float32]


class Course:
    """Agents of a World, and its road as kernels take it.

    Parameters
    ----------
    world : World
        With a road network.
    agents : sequence of str, optional
        Objects that take commands; by default all.

    Attributes
    ----------
    names : tuple of str
        Of the agents.
    rows : ndarray of int, shape (agents, 3)
        Rows of the body, in the table of vehicles and in `others`.
    others : ndarray of int, shape (n,)
        Rows of solid bodies, agents included.
    half_lengths : ndarray, shape (agents,)
        [m]
    levers : bool
        Whether the agents have skid wheels, and so are steered by levers.
    samples : ndarray, shape (m, 4)
        Of centrelines: place [m], heading [rad], station on the lanelet [m].
    offsets : ndarray of int, shape (n + 1,)
        First sample of each lanelet.
    numbers : ndarray, shape (n, 4)
        Of lanelets: width, length [m], speed limit [m/s], 1 with a stop line at the end.
    weights : ndarray, shape (3, k)
        Of the quadratic fit over a second that the rule `comfort` makes, and of its derivatives.

    Raises
    ------
    UsageError
        If there is no road, no such object, or agents have different kinds of wheels.
    """

    def __init__(self, world: World, agents: Sequence[str] | None = None) -> None:
        self.world = world
        chosen = [world.bodies[row].name for row in world.vehicle_rows] if agents is None else list(agents)
        if not chosen:
            raise UsageError(f"'{world.name}' has no object that takes commands, so nothing to learn")
        if len(set(chosen)) < len(chosen):
            raise UsageError(f"an agent is named twice: {', '.join(chosen)}")
        vehicles = [world.vehicle(name) for name in chosen]
        bodies = world.constants.vehicle_body[vehicles]
        self.names = tuple(chosen)
        self.others: Ints = np.flatnonzero(world.shapes.solid).astype(np.int64)
        places = np.where(np.isin(bodies, self.others), np.searchsorted(self.others, bodies), -1)
        self.rows: Ints = np.ascontiguousarray(np.stack([bodies, vehicles, places], axis=1).astype(np.int64))
        self.half_lengths: Floats = np.ascontiguousarray(0.5 * world.shapes.size[bodies, 1])
        kinds = {_steered_by_levers(world, int(row)) for row in bodies}
        if len(kinds) > 1:
            raise UsageError(
                "agents have skid and conventional wheels, whose actions differ: choose 'agents' of one kind"
            )
        self.levers = kinds.pop()
        lanelets = self.lanelets
        tables = lanelets.points, lanelets.headings[:, None], lanelets.stations[:, None]
        self.samples: Floats = np.ascontiguousarray(np.concatenate(tables, axis=1))
        self.offsets: Ints = np.ascontiguousarray(lanelets.offsets.astype(np.int64))
        numbers = lanelets.widths, lanelets.lengths, lanelets.limits, lanelets.stops.astype(float)
        self.numbers: Floats = np.ascontiguousarray(np.stack(numbers, axis=1))
        self.weights = _fit_weights(world.step)

    @cached_property
    def lanelets(self) -> Lanelets:
        """Lanelets of the road network."""
        return self.world.road.lanelets

    def pieces(self, count: int) -> RoadPieces:
        """List the nearest pieces of road of every cell.

        Parameters
        ----------
        count : int
            Pieces in a list.
        """
        table = road_pieces(self.lanelets)
        width = CELL
        while True:
            low = table[:, :2].min(axis=0) - EDGE
            size = np.ceil((table[:, :2].max(axis=0) + EDGE - low) / width).astype(np.int64)
            columns, rows = np.meshgrid(np.arange(size[0]), np.arange(size[1]))
            middles = low + width * (np.stack([columns.ravel(), rows.ravel()], axis=1) + 0.5)
            near = np.flatnonzero([_is_near(middle, table, EDGE + width) for middle in middles])
            if len(near) * 7 * count <= MOST_NUMBERS:
                break
            width *= 2.0
        cells, lists = np.full(len(middles), -1, np.int64), np.zeros((len(near), 7, count), np.float32)
        for number, cell in enumerate(near.tolist()):
            places = table[:, :2] - middles[cell]
            order = np.argsort((places * places).sum(axis=1), kind="stable")[:count]
            cells[cell] = number
            lists[number, :2, : len(order)] = places[order].T
            lists[number, 2:, : len(order)] = table[order, 2:].T
        return RoadPieces(np.array([*low, width, *size], float), cells, lists)


def _is_near(middle: Floats, table: Floats, reach: float) -> bool:
    away = np.abs(table[:, :2] - middle).max(axis=1)
    return bool(away.min() <= reach)


def road_pieces(lanelets: Lanelets) -> Floats:
    """Cut centrelines into pieces, and add stop lines: place, length, width [m], direction and kind, shape (n, 7)."""
    found = []
    for row in range(len(lanelets)):
        here = lanelets.samples_of(row)
        points, stations = lanelets.points[here], lanelets.stations[here]
        count = max(1, int(np.ceil(lanelets.lengths[row] / (PIECE_LENGTH - 1.0))))
        cuts = np.unique(np.searchsorted(stations, np.linspace(0.0, stations[-1], count + 1)[:-1]))
        for first, last in zip(cuts, [*cuts[1:], len(points) - 1], strict=True):
            along = points[last] - points[first]
            length = float(np.sqrt((along * along).sum()))
            if length > 0.0:
                middle = 0.5 * (points[first] + points[last])
                found.append([*middle, length, lanelets.widths[row], *along / length, float(lanelets.kinds[row])])
        if lanelets.stops[row]:
            ahead = direction(lanelets.headings[here][-1])
            found.append([*points[-1], LINE_LENGTH, lanelets.widths[row], *ahead, float(STOP_LINE)])
    return np.array(found, float).reshape(-1, 7)


def _steered_by_levers(world: World, row: int) -> bool:
    wheels = world.scene.actors[row].item.wheels
    return wheels is not None and wheels.type is WheelType.SKID


def _fit_weights(step: float) -> Floats:
    """Weights (3, n) of `cbsim.evaluation.rules.comfort.quadratic_fit` at the middle of a window of one second."""
    half = max(1, round(0.5 * WINDOW / step))
    times = np.arange(-half, half + 1) * step
    count, second, fourth = len(times), float((times * times).sum()), float((times * times * times * times).sum())
    spread = count * fourth - second * second
    weights = (
        (fourth - second * times * times) / spread,
        times / second,
        2.0 * (count * times * times - second) / spread,
    )
    return np.ascontiguousarray(np.stack(weights))
