"""Free driving across a zone: into a spot, out of it backwards, to an exit; within the perimeter, off other spots."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cbsim.planner.pilot.moves import Pose, Word, advance, dubins, end_of, three_point
from cbsim.planner.pilot.rig import Rig
from cbsim.road.roadmap import RoadMap

__all__ = ["Ground", "across"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

BACK_OUT = (0.95, 1.6, 2.3)  # of its length straight back out of a spot
SWING = (0.8, 1.5)  # [rad] of turn backwards after that
STRAIGHT = (0.0, 4.0, 9.0, 16.0, 25.0, 40.0)  # [m] before the first bend and after the last
RADII = (1.0, 1.6)  # of the smallest circle
TIGHT = 2.0  # [m] of way that the smallest circle is worth
GEAR_CHANGE = 6.0  # [m] of way that one is worth
OUTSIDE = 60.0  # [m] of way that each metre beyond the perimeter is worth
ON_SPOT = 6.0  # [m] of way for each metre driven over another spot
SPOT_WIDTH = 3.0  # [m] where the file gives none
HEAD = 1.5  # [m] that a spot goes on beyond its second point; one does not leave it that way
MARGIN = 0.3  # [m] at either side of a spot that is not counted
IN_LINE = math.cos(0.25)  # of the angle to the direction in which one passes an entry or exit
SAMPLE = 0.7  # [m] distance of the footprints looked at
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
        import shapely

        area, zone = roadmap.zone_areas[index], roadmap.network.zones[index]
        if area.is_empty:
            return cls.open()
        low, high = np.array(area.bounds[:2]) - 8.0, np.array(area.bounds[2:]) + 8.0
        cell = max(CELL, math.sqrt(float(np.prod(high - low)) / CELLS))
        size = np.ceil((high - low) / cell).astype(int) + 1
        x, y = (low[k] + cell * np.arange(size[k]) for k in (0, 1))
        cells = np.asarray(shapely.points(*np.meshgrid(x, y, indexing="ij")))
        shapely.prepare(area)
        spots = np.zeros(cells.shape, np.int64)
        for spot in zone.spots:
            rows = [row for row, point in enumerate(roadmap.ids) if point[:2] == (zone.number, spot.number)]
            if len(rows) == 2:
                entry, place = roadmap.positions[rows]
                head = HEAD * (place - entry) / max(float(np.hypot(*(place - entry))), 1e-9)
                line = shapely.LineString([entry, place + head])
                outline = line.buffer(0.5 * (spot.width or SPOT_WIDTH) - MARGIN, cap_style="flat")
                shapely.prepare(outline)
                spots[shapely.intersects(outline, cells)] = spot.number
        return cls((float(low[0]), float(low[1])), cell, np.asarray(shapely.distance(area, cells)), spots)

    @classmethod
    def open(cls) -> Ground:
        """Land without bounds."""
        return cls((0.0, 0.0), 1.0, np.zeros((1, 1)), np.zeros((1, 1), np.int64))

    def spot_at(self, x: float, y: float) -> int:
        """Give the number of the spot that a place lies in; 0 if in none."""
        column, row = round((x - self.origin[0]) / self.cell), round((y - self.origin[1]) / self.cell)
        inside = 0 <= column < self.spot.shape[0] and 0 <= row < self.spot.shape[1]
        return int(self.spot[column, row]) if inside else 0

    def cost(self, points: Floats, gate: Bools, exempt: Bools, own: tuple[int, ...]) -> float:
        """Weigh footprints along a way.

        Parameters
        ----------
        points : ndarray, shape (m, 8, 2)
            [m]
        gate : ndarray of bool, shape (m,)
            Where it passes the end of its way, and may stand outside.
        exempt : ndarray of bool, shape (m,)
            Where it is on its way into or out of its own spot.
        own : tuple of int
            Spots it may use for that.
        """
        rows = np.rint((points - self.origin) / self.cell).astype(np.int64)
        np.clip(rows, 0, np.array(self.outside.shape) - 1, out=rows)
        strayed = float(np.where(gate, 0.0, self.outside[rows[..., 0], rows[..., 1]].max(axis=1)).max())
        spots = self.spot[rows[..., 0], rows[..., 1]]
        on_own = np.isin(spots, own) & exempt[:, None]
        on_spot = ((spots > 0) & ~on_own).any(axis=1)
        return OUTSIDE * strayed + ON_SPOT * SAMPLE * float(np.count_nonzero(on_spot))


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
    best: tuple[float, Word] | None = None
    for length, word in sorted(_candidates(start, goal, rig, run_in, leaving), key=lambda pair: pair[0]):
        if best is not None and length >= best[0]:
            break
        outlines, poses, piece = _outlines(rig, start, word)
        gate = _passing(poses, start, rig) | _passing(poses, goal, rig)
        exempt = (piece < (_backing(word) if leaving else 0)) | (piece >= (len(word) - 1 if parking else len(word)))
        cost = length + ground.cost(outlines, gate, exempt, (leaving, parking))
        if best is None or cost < best[0]:
            best = cost, word
    return best


def _candidates(start: Pose, goal: Pose, rig: Rig, run_in: float, leaving: int) -> Iterator[tuple[float, Word]]:
    """Ways and their lengths, gear changes and tight bends counted."""
    far = 1.2 * math.hypot(goal[0] - start[0], goal[1] - start[1])
    straights = [length for length in STRAIGHT if length <= max(far, STRAIGHT[1])]
    for out, first, last, wide in itertools.product(_starts(rig, leaving), straights, straights, RADII):
        begin = end_of(start, (*out, (0.0, first)))
        into = run_in + last
        end, radius = advance(goal, 0.0, -into), wide * rig.radius
        for middle in itertools.chain(dubins(begin, end, radius), three_point(begin, end, radius)):
            word = (*out, (0.0, first), *middle, (0.0, into))
            length = math.fsum(abs(part) for _, part in word)
            changes = bool(out) + (2 if middle[1][1] < 0.0 else 0)
            yield length + GEAR_CHANGE * changes + (TIGHT if wide == RADII[0] else 0.0), word


def _starts(rig: Rig, leaving: int) -> Iterator[Word]:
    """Ways to begin: out of a spot backwards, else as one comes, or after backing up a little."""
    if not leaving:
        yield ()
    for back in BACK_OUT if leaving else BACK_OUT[:1]:
        straight = (0.0, -back * rig.vehicle.length)
        yield (straight,)
        for swing in SWING if leaving else ():
            for curvature in (1.0 / rig.radius, -1.0 / rig.radius):
                yield straight, (curvature, -swing * rig.radius)


def _backing(word: Word) -> int:
    """How many pieces a word drives backwards first."""
    return next((k for k, (_, length) in enumerate(word) if length >= 0.0), len(word))


def _passing(poses: Floats, end: Pose, rig: Rig) -> Bools:
    """Tell which poses (3, m) are so near to an end of the way, and so much in line with it, that they pass it."""
    near = np.hypot(poses[0] - end[0], poses[1] - end[1]) < rig.nose + SAMPLE
    return np.asarray(near & (np.cos(poses[2] - end[2]) > IN_LINE))


def _outlines(rig: Rig, start: Pose, word: Word) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Corners and middles of the sides of the body along a word (m, 8, 2) [m], poses (3, m), and the piece of each."""
    columns = []
    x, y, heading = start
    for curvature, length in word:
        along = np.linspace(0.0, length, math.ceil(abs(length) / SAMPLE) + 1)
        turned = heading + curvature * along
        if curvature:
            part = np.stack([np.cos(turned) - math.cos(heading), np.sin(turned) - math.sin(heading)]) / curvature
        else:
            part = np.stack([-along * math.sin(heading), along * math.cos(heading)])
        columns.append(np.stack([x + part[0], y + part[1], turned]))
        x, y, heading = (float(value) for value in columns[-1][:, -1])
    poses = np.concatenate(columns, axis=1)
    sine, cosine = np.sin(poses[2])[:, None], np.cos(poses[2])[:, None]
    half, middle = 0.5 * rig.vehicle.width, 0.5 * (rig.nose - rig.tail)
    ahead = np.array([rig.nose, rig.nose, rig.nose, middle, -rig.tail, -rig.tail, -rig.tail, middle])
    left = np.array([half, 0.0, -half, -half, -half, 0.0, half, half])
    outlines = [poses[0][:, None] - ahead * sine - left * cosine, poses[1][:, None] + ahead * cosine - left * sine]
    return np.stack(outlines, axis=-1), poses, np.repeat(np.arange(len(columns)), [c.shape[1] for c in columns])
