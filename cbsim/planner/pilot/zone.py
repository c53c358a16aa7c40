"""Free driving across a zone: into a spot, out of it backwards, to an exit; within the perimeter, off other spots."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbsim.planner.pilot.kernels.ground import best_of, candidates_into, distances_into, mark_into
from cbsim.planner.pilot.moves import Pose, Word
from cbsim.planner.pilot.rig import Rig
from cbsim.road.roadmap import RoadMap

__all__ = ["Ground", "across"]

Floats = NDArray[np.float64]

BACK_OUT = (0.95, 1.6, 2.3)  # of its length straight back out of a spot
SWING = (0.8, 1.5)  # [rad] of turn backwards after that
STRAIGHT = (0.0, 4.0, 9.0, 16.0, 25.0, 40.0)  # [m] before the first bend and after the last
RADII = (1.0, 1.6)  # of the smallest circle
SPOT_WIDTH = 3.0  # [m] where the file gives none
HEAD = 1.5  # [m] that a spot goes on beyond its second point; one does not leave it that way
MARGIN = 0.3  # [m] at either side of a spot that is not counted
CELL, CELLS = 0.25, 400_000  # [m] of the raster, and how many cells at most


@dataclass(frozen=True, eq=False)
class Ground:
    """Where one drives freely, as a raster.

    Attributes
    ----------
    origin : tuple of float
        Its lower left corner [m].
    cell : float
        [m]
    outside : ndarray, shape (columns, rows)
        Distance from the area [m]; cells at the rim hold for everything beyond.
    spot : ndarray of int, shape (columns, rows)
        Number of the parking spot there; 0 for none.
    """

    origin: tuple[float, float]
    cell: float
    outside: Floats
    spot: NDArray[np.int64]

    @classmethod
    def of(cls, roadmap: RoadMap, index: int) -> Ground:
        """Draw the zone at an index of the network's zones."""
        area, zone = roadmap.zone_areas[index], roadmap.network.zones[index]
        if area.is_empty:
            return cls.open()
        low, high = np.array(area.bounds[:2]) - 8.0, np.array(area.bounds[2:]) + 8.0
        cell = max(CELL, math.sqrt(float(np.prod(high - low)) / CELLS))
        size = np.ceil((high - low) / cell).astype(int) + 1
        outside, spots, corner = np.empty(size), np.zeros(size, np.int64), (float(low[0]), float(low[1]))
        distances_into(*corner, cell, _sides(area), outside)
        for spot in zone.spots:
            rows = [row for row, point in enumerate(roadmap.ids) if point[:2] == (zone.number, spot.number)]
            if len(rows) == 2:
                entry, place = roadmap.positions[rows]
                end = place + HEAD * (place - entry) / max(float(np.hypot(*(place - entry))), 1e-9)
                half = 0.5 * (spot.width or SPOT_WIDTH) - MARGIN
                mark_into(*corner, cell, *map(float, (*entry, *end)), half, spot.number, spots)
        return cls(corner, cell, outside, spots)

    @classmethod
    def open(cls) -> Ground:
        """Land without bounds."""
        return cls((0.0, 0.0), 1.0, np.zeros((1, 1)), np.zeros((1, 1), np.int64))

    def spot_at(self, x: float, y: float) -> int:
        """Give the number of the spot that a place lies in; 0 if in none."""
        column, row = round((x - self.origin[0]) / self.cell), round((y - self.origin[1]) / self.cell)
        inside = 0 <= column < self.spot.shape[0] and 0 <= row < self.spot.shape[1]
        return int(self.spot[column, row]) if inside else 0


def _sides(area: Any) -> Floats:
    """Sides (n, 4) [m] of all rings of an area."""
    import shapely

    rings = shapely.get_rings(shapely.get_parts(area))
    sides = [np.array([(*a, *b) for a, b in pairwise(shapely.get_coordinates(ring).tolist())]) for ring in rings]
    return np.concatenate(sides)


def across(
    ground: Ground,
    start: Pose,
    goal: Pose,
    rig: Rig,
    *,
    run_in: float = 0.0,
    leaving: int = 0,
    parking: int = 0,
) -> tuple[float, Word] | None:
    """Find a way across a zone.

    Parameters
    ----------
    ground : Ground
    start, goal : Pose
    rig : Rig
    run_in : float
        Straight way into the spot at the goal, at least [m].
    leaving, parking : int
        Spots that one comes out of and goes into; 0 for none.

    Returns
    -------
    (cost, word) or None
        Cost in metres of way.

    Notes
    -----
    Candidates, the shortest first: back out if need be, a straight, one of Dubins' ways, a straight. Looking ends when
    the next is longer than the best one's cost.
    """
    ways, many = _starts(rig, leaving)
    far = 1.2 * math.hypot(goal[0] - start[0], goal[1] - start[1])
    straights = np.array([length for length in STRAIGHT if length <= max(far, STRAIGHT[1])])
    room = 20 * len(many) * len(straights) ** 2
    words, arcs, lengths = np.empty((room, 7, 2)), np.empty(room, np.int64), np.empty(room)
    ends, radii = (np.array(start, float), np.array(goal, float)), rig.radius * np.array(RADII)
    count = candidates_into(
        *ends, ways, many, straights, radii, float(run_in), np.empty((6, 3, 2)), words, arcs, lengths
    )
    order = np.argsort(lengths[:count], kind="stable")
    body, frame = (rig.nose, rig.tail, 0.5 * rig.vehicle.width), (*ground.origin, ground.cell)
    best, cost = best_of(order, words, arcs, lengths, *ends, leaving, parking, body, frame, ground.outside, ground.spot)
    if best < 0:
        return None
    return float(cost), tuple((bend, length) for bend, length in words[best, : arcs[best]].tolist())


def _starts(rig: Rig, leaving: int) -> tuple[Floats, NDArray[np.int64]]:
    """Ways to begin, as words of up to two arcs: out of a spot backwards, else as one comes or backing up a little."""
    words: list[Word] = [] if leaving else [()]
    for back in BACK_OUT if leaving else BACK_OUT[:1]:
        straight = (0.0, -back * rig.vehicle.length)
        words.append((straight,))
        for swing in SWING if leaving else ():
            words += [(straight, (bend / rig.radius, -swing * rig.radius)) for bend in (1.0, -1.0)]
    table = np.zeros((len(words), 2, 2))
    for row, word in zip(table, words, strict=True):
        row[: len(word)] = np.array(word).reshape(-1, 2)
    return table, np.array([len(word) for word in words])
