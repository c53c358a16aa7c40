"""Matching of positions to lanes: a spatial index over short stretches of lane curves.

Lanes overlap where roads cross and where one road serves both directions, so a position may lie on several. The lane is
chosen by heading, in classes of a quarter turn, then by distance from the centre line, then by order of the file.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cbsim.arrays import Floats, Ints
from cbsim.geometry.polyline import beside, direction, heading, left_of, wrap

if TYPE_CHECKING:
    from shapely import STRtree

__all__ = ["NO_HEADINGS", "LaneIndex", "Line", "Match", "Stretches"]

NO_HEADINGS = np.empty(0)
STRETCH = 16  # sample intervals in one box of the index
BATCH = 20_000  # positions per query, to bound memory
TOUCH = 1e-6  # [m] tolerance at edges: a position on the edge of a lane is on it
TIE = 1e-6  # [m] distances that differ by less are equal


class Match(NamedTuple):
    """Lanes of positions, one row each.

    Attributes
    ----------
    lane : ndarray of int, shape (n,)
        Index into the map's lanes; -1 on none.
    station : ndarray, shape (n,)
        Arc length along that lane [m]; nan on none.
    offset : ndarray, shape (n,)
        Distance to the left of its centre line [m]; nan on none.
    heading_error : ndarray, shape (n,)
        Own heading less that of the lane, in (-π, π] [rad]; 0 where no headings were given, nan on none.
    """

    lane: Ints
    station: Floats
    offset: Floats
    heading_error: Floats


class Line(Protocol):
    """A curve with a width: a `LaneCurve` or a `Connector`."""

    @property
    def stations(self) -> Floats:
        """Arc length at each sample, shape (m,) [m]."""

    @property
    def samples(self) -> Floats:
        """On the curve, shape (m, 2) [m]."""

    @property
    def headings(self) -> Floats:
        """Of the tangent, shape (m,) [rad]."""

    @property
    def width(self) -> float:
        """From edge to edge [m]."""


class Stretches:
    """Short stretches of lane curves.

    Parameters
    ----------
    lanes : sequence of LaneCurve
        Lanes of one map, in its order, or other lines such as connectors.

    Attributes
    ----------
    samples, along : ndarray, shape (m, 2)
        Samples of all lanes of more than one [m], and the direction at each.
    stations : ndarray, shape (m,)
        [m]
    lane_of_row : ndarray of int, shape (m,)
    half_widths : ndarray, shape (lanes,)
        [m]
    firsts, lasts : ndarray of int, shape (s,)
        Rows of the first and the last sample of each stretch.
    """

    def __init__(self, lanes: Sequence[Line]) -> None:
        long_enough = [(index, lane) for index, lane in enumerate(lanes) if len(lane.samples) > 1]
        sizes = np.array([len(lane.samples) for _, lane in long_enough], np.int64)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        self.lane_of_row = np.repeat(np.array([index for index, _ in long_enough], np.int64), sizes)
        self.samples = np.concatenate([np.empty((0, 2)), *(lane.samples for _, lane in long_enough)])
        self.along = direction(np.concatenate([np.empty(0), *(lane.headings for _, lane in long_enough)]))
        self.stations = np.concatenate([np.empty(0), *(lane.stations for _, lane in long_enough)])
        self.half_widths = np.array([0.5 * lane.width for lane in lanes], float)
        firsts = [np.arange(start, stop - 1, STRETCH) for start, stop in itertools.pairwise(starts)]
        self.firsts = np.concatenate([np.empty(0, np.int64), *firsts])
        lasts = [np.append(first[1:], stop - 1) for first, stop in zip(firsts, starts[1:], strict=True)]
        self.lasts = np.concatenate([np.empty(0, np.int64), *lasts])

    def rows(self, stretches: Ints) -> Ints:
        """List the first rows of the intervals of stretches, shape (..., 16); a short one repeats its last interval."""
        rows = self.firsts[stretches][..., None] + np.arange(STRETCH)
        return np.asarray(np.minimum(rows, self.lasts[stretches][..., None] - 1))

    def bounds(self) -> tuple[Floats, Floats]:
        """Least and largest coordinates of the places on each stretch, shapes (s, 2) [m]."""
        rows = self.rows(np.arange(len(self.firsts)))
        corners = self.samples[np.concatenate([rows, self.lasts[:, None]], axis=1)]
        reach = self.half_widths[self.lane_of_row[self.firsts]][:, None] + TOUCH
        return corners.min(axis=1, initial=np.inf) - reach, corners.max(axis=1, initial=-np.inf) + reach


class LaneIndex:
    """Short stretches of lane curves in a spatial tree.

    Parameters
    ----------
    lanes : sequence of LaneCurve
        Lanes of one map, in its order, or other lines such as connectors.
    """

    def __init__(self, lanes: Sequence[Line]) -> None:
        import shapely

        parts = Stretches(lanes)
        self._rows, self._samples, self._along, self._stations = parts.rows, parts.samples, parts.along, parts.stations
        self._lane_of_row, self._half_widths = parts.lane_of_row, parts.half_widths
        self._firsts, self._lasts = parts.firsts, parts.lasts
        low, high = parts.bounds()
        self._tree: STRtree = shapely.STRtree(shapely.box(low[:, 0], low[:, 1], high[:, 0], high[:, 1]))

    @property
    def lane_of_stretch(self) -> Ints:
        """Index of the lane that each stretch belongs to, shape (s,)."""
        return np.asarray(self._lane_of_row[self._firsts])

    def strips(self) -> NDArray[np.object_]:
        """Draw the area of each stretch, as wide as the lane, shape (s,)."""
        import shapely

        half = self._half_widths[self._lane_of_row][:, None] * left_of(self._along)
        sizes = self._lasts - self._firsts + 1
        stretch = np.repeat(np.arange(len(sizes)), sizes)
        step = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        there = self._firsts[stretch] + step
        back = self._lasts[stretch] - step
        edges = np.concatenate([(self._samples + half)[there], (self._samples - half)[back]])
        order = np.argsort(np.concatenate([stretch, stretch]), kind="stable")
        rings = shapely.linearrings(edges[order], indices=np.repeat(np.arange(len(sizes)), 2 * sizes))
        areas = np.asarray(shapely.polygons(rings), object)
        crossed = ~shapely.is_valid(areas)
        areas[crossed] = shapely.convex_hull(areas[crossed])  # inside of a bend tighter than half the width
        return areas

    def match(self, positions: ArrayLike, headings: ArrayLike | None = None, onward: float = np.pi) -> Match:
        """Find the lane of each position.

        Parameters
        ----------
        positions : array_like, shape (n, 2)
            [m]
        headings : array_like, shape (n,), optional
            [rad]; if omitted, the nearest centre line is chosen.
        onward : float, optional
            Lanes whose direction differs by less come first [rad].
        """
        where = np.asarray(positions, float).reshape(-1, 2)
        along = None if headings is None else np.asarray(headings, float).reshape(-1)
        n = len(where)
        found = Match(np.full(n, -1), *np.full((3, n), np.nan))
        for start in range(0, n, BATCH):
            part = slice(start, start + BATCH)
            rows, match = self._match(where[part], None if along is None else along[part], onward)
            for column, values in zip(found, match, strict=True):
                column[start + rows] = values
        return found

    def _match(self, positions: Floats, headings: Floats | None, onward: float) -> tuple[Ints, Match]:
        """Rows of the positions on lanes, with lane, station and offset."""
        import shapely

        points, stretches = self._tree.query(shapely.points(positions))
        rows = self._rows(stretches)
        share, offset = beside(
            positions[points][:, None],
            self._samples[rows],
            self._samples[rows + 1],
            self._along[rows],
            self._along[rows + 1],
        )
        half = self._half_widths[self._lane_of_row[rows]]
        on = (share >= -TOUCH) & (share <= 1.0 + TOUCH) & (np.abs(offset) <= half + TOUCH)
        pair, column = np.nonzero(on)
        point, row = points[pair], rows[pair, column]
        share, offset = np.clip(share[pair, column], 0.0, 1.0), offset[pair, column]
        lane = self._lane_of_row[row]
        station = self._stations[row] + share * (self._stations[row + 1] - self._stations[row])
        along = self._along[row] + share[:, None] * (self._along[row + 1] - self._along[row])
        error = np.zeros(len(point)) if headings is None else wrap(headings[point] - heading(along))
        quarter = np.round(np.abs(error) / (0.5 * np.pi))
        order = np.lexsort((row, lane, np.round(np.abs(offset) / TIE), quarter, np.abs(error) >= onward, point))
        best = order[np.unique(point[order], return_index=True)[1]]
        return point[best], Match(lane[best], station[best], offset[best], error[best])
