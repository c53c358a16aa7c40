"""`LaneCurve`: the centre line of a lane as a smooth curve, with arc length, headings, edges and area.

Waypoints are sparse, up to 300 m apart in DARPA's own files, and only nominally in the middle of the lane. Vehicles
follow the curve through them, and positions are matched to it. Curves of all lanes are computed in one call. They do
not continue across exits, except in closed lanes, which have an exit from their last waypoint to their first.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from cbsim.arrays import Bools, Floats, Ints
from cbsim.geometry import elementary as math
from cbsim.geometry.polyline import direction, distinct, heading, left_of, smooth, wrap
from cbsim.road.edge import edge
from cbsim.spec.road import Lane

if TYPE_CHECKING:
    from shapely import Polygon

    from cbsim.road.line_index import LinePoints

__all__ = ["COINCIDENT", "DEFAULT_WIDTH", "LaneCurve", "lane_curves", "lane_width"]

COINCIDENT = 0.05  # [m] distance up to which consecutive waypoints coincide
SAMPLE_STEP = 1.0  # [m] largest distance of samples
CLEAR = 1e-6  # [m] least distance of samples from the ends of a part
DEFAULT_WIDTH = 3.6576  # [m] 12 ft, for lanes without a width
SEAM_TURN = np.radians(135.0)  # largest change of heading at the seam of a closed lane
BUFFER_LIMIT = 4096  # samples of a self-intersecting lane up to which its area is exact
WIDTH_LIMIT = 1000.0  # [m] larger widths count as errors of the file


@dataclass(frozen=True, eq=False)
class LaneCurve:
    """A lane's centre line.

    Attributes
    ----------
    id : tuple of int
        Segment and number.
    numbers : tuple of int
        Waypoint numbers in the direction of travel.
    points : ndarray, shape (n, 2)
        Waypoints [m].
    waypoint_rows : ndarray, shape (n,)
        Index of the sample at each waypoint.
    stations : ndarray, shape (m,)
        Arc length at each sample [m].
    samples : ndarray, shape (m, 2)
        On the curve, at most 1 m apart; a closed lane's last repeats its first [m].
    headings : ndarray, shape (m,)
        Of the tangent, continuous along the lane [rad].
    curvatures : ndarray, shape (m, 2)
        Right before and right behind each sample, positive to the left [1/m].
    width : float
        [m]
    closed : bool
        True for a closed lane.
    """

    id: tuple[int, int]
    numbers: tuple[int, ...]
    points: Floats
    waypoint_rows: Ints
    stations: Floats
    samples: Floats
    headings: Floats
    curvatures: Floats
    width: float
    closed: bool
    _is_compiled: bool = field(default=False, init=False, repr=False)

    def __str__(self) -> str:
        return f"{self.id[0]}.{self.id[1]}"

    @property
    def length(self) -> float:
        """Arc length [m]; of a closed lane, that of the loop."""
        return float(self.stations[-1])

    @cached_property
    def waypoint_stations(self) -> Floats:
        """Arc length at each waypoint, shape (n,) [m]."""
        return self.stations[self.waypoint_rows]

    @cached_property
    def left(self) -> Floats:
        """Left edge, row i beside sample i, loops in tight bends cut off, shape (m, 2) [m]."""
        return edge(self.samples, self.headings, 0.5 * self.width)

    @cached_property
    def right(self) -> Floats:
        """Right edge, shape (m, 2) [m]."""
        return edge(self.samples, self.headings, -0.5 * self.width)

    @cached_property
    def polygon(self) -> Polygon:
        """The lane's area; empty for a lane of one waypoint."""
        import shapely

        if len(self.samples) < 2:
            return shapely.Polygon()
        if self.closed:
            outer, inner = (shapely.Polygon(side) for side in (self.left, self.right))
            ring = outer.symmetric_difference(inner) if outer.is_valid and inner.is_valid else None
            if isinstance(ring, shapely.Polygon):
                return ring
        else:
            strip = shapely.Polygon(np.concatenate([self.left, self.right[::-1]]))
            if strip.is_valid:
                return strip
        coarse = np.append(
            np.arange(0, len(self.samples) - 1, 1 + len(self.samples) // BUFFER_LIMIT), len(self.samples) - 1
        )
        return shapely.LineString(self.samples[coarse]).buffer(0.5 * self.width, cap_style="flat")

    def at(self, stations: ArrayLike, offsets: ArrayLike = 0.0) -> tuple[Floats, Floats]:
        """Compute points beside the curve.

        Parameters
        ----------
        stations : array_like, shape (...)
            Arc length [m]; beyond the ends the lane continues straight, a closed one repeats.
        offsets : array_like, shape (...)
            Distance to the left of the curve [m].

        Returns
        -------
        positions : ndarray, shape (..., 2)
            [m]
        headings : ndarray, shape (...)
            Of the lane there, in (-π, π] [rad].
        """
        along_it: Any = stations
        aside: Any = offsets
        if isinstance(along_it, float) and isinstance(aside, float) and len(self.samples) > 1:
            return (self._points.at if self._is_compiled else self._at)(float(along_it), float(aside))
        station, offset = np.broadcast_arrays(np.asarray(stations, float), np.asarray(offsets, float))
        if len(self.samples) < 2:
            along = np.broadcast_to(direction(self.headings[0]), (*station.shape, 2))
            return self.samples[0] + station[..., None] * along + offset[..., None] * left_of(along), heading(along)
        if self.closed:
            station = np.mod(station, self.length)
        row = np.clip(np.searchsorted(self.stations, station, side="right") - 1, 0, len(self.stations) - 2)
        share = ((station - self.stations[row]) / (self.stations[row + 1] - self.stations[row]))[..., None]
        blend = np.clip(share, 0.0, 1.0)
        along = (1.0 - blend) * direction(self.headings[row]) + blend * direction(self.headings[row + 1])
        along /= math.hypot(along[..., 0], along[..., 1])[..., None]
        base = self.samples[row] + blend * (self.samples[row + 1] - self.samples[row])
        base = base + (station - np.clip(station, 0.0, self.length))[..., None] * along
        return base + offset[..., None] * left_of(along), heading(along)

    def between(self, begin: float, end: float) -> tuple[Floats, Floats]:
        """Cut a part out of the curve: its two ends and the samples between them.

        Parameters
        ----------
        begin, end : float
            Arc length [m].

        Returns
        -------
        points : ndarray, shape (m, 2)
            As `at` gives them; those of samples are not computed [m].
        headings : ndarray, shape (m,)
            Continuous along the lane [rad].
        """
        inner = (self.stations > begin + CLEAR) & (self.stations < end - CLEAR)
        stations = np.concatenate([[begin], self.stations[inner], [end]])
        first, last = self.at(float(begin), 0.0)[0], self.at(float(end), 0.0)[0]
        points = np.concatenate([first[None], self.samples[inner], last[None]])
        return points, np.interp(stations, self.stations, self.headings)

    def compile_points(self) -> None:
        """Compute single points by a kernel from now on, with the same results; planners ask for one in every step."""
        object.__setattr__(self, "_is_compiled", True)

    @cached_property
    def _points(self) -> LinePoints:
        from cbsim.road.line_index import LinePoints  # needs numba, without which files are read and linted

        samples = np.column_stack([self.samples, direction(self.headings)])
        return LinePoints(self.stations.copy(), samples, self.closed)

    @cached_property
    def _rows(self) -> tuple[list[float], list[list[float]]]:
        """Stations, and positions and directions of the samples, as plain numbers."""
        return self.stations.tolist(), np.column_stack([self.samples, direction(self.headings)]).tolist()

    def _at(self, station: float, offset: float) -> tuple[Floats, Any]:
        """Compute one point, as `at` does, with the same bits."""
        stations, rows = self._rows
        if self.closed:
            station %= stations[-1]
        row = min(max(bisect_right(stations, station) - 1, 0), len(stations) - 2)
        x, y, east, north = rows[row]
        next_x, next_y, next_east, next_north = rows[row + 1]
        blend = min(max((station - stations[row]) / (stations[row + 1] - stations[row]), 0.0), 1.0)
        east, north = (1.0 - blend) * east + blend * next_east, (1.0 - blend) * north + blend * next_north
        length = math.hypot(east, north)
        east, north = east / length, north / length
        beyond = station - min(max(station, 0.0), stations[-1])
        x, y = x + blend * (next_x - x) + beyond * east, y + blend * (next_y - y) + beyond * north
        angle = np.pi - (np.pi - math.atan2(-east, north)) % (2.0 * np.pi)
        return np.array([x - offset * north, y + offset * east]), np.float64(angle)


def lane_width(lane: Lane) -> float:
    """Width of a lane [m]: 12 ft if the file gives none, 0 or an implausible one."""
    return lane.width if lane.width and 0.0 < lane.width < WIDTH_LIMIT else DEFAULT_WIDTH


def lane_curves(lanes: Sequence[Lane], points: Floats, offsets: Ints) -> tuple[LaneCurve, ...]:
    """Compute the curves of lanes.

    Parameters
    ----------
    lanes : sequence of Lane
        Each with at least one waypoint.
    points : ndarray, shape (n, 2)
        All their waypoints [m].
    offsets : ndarray, shape (k + 1,)
        First waypoint of each lane, and n.
    """
    if not lanes:
        return ()
    keep = distinct(points, offsets, COINCIDENT)
    closed = np.array([_asks_to_close(lane) for lane in lanes])
    kept = points[keep]
    kept_before = np.concatenate([[0], np.cumsum(keep)])
    bounds = kept_before[offsets]
    closed &= _can_close(kept, bounds)
    vertex = kept_before[1:] - 1  # index of the kept point of each waypoint
    kept, bounds, shift = _with_seams(kept, bounds, closed)
    samples = smooth(kept, bounds, closed, SAMPLE_STEP)
    rows = samples.knots[vertex + np.repeat(shift, np.diff(offsets))]
    for shared in (samples.points, samples.headings, samples.curvatures, samples.stations):
        shared.flags.writeable = False  # curves hold views of these
    curves = []
    for k, lane in enumerate(lanes):
        own, part = slice(offsets[k], offsets[k + 1]), slice(samples.offsets[k], samples.offsets[k + 1])
        curves.append(
            LaneCurve(
                id=(lane.segment, lane.number),
                numbers=lane.points.numbers,
                points=points[own],
                waypoint_rows=rows[own] - part.start,
                stations=samples.stations[part],
                samples=samples.points[part],
                headings=samples.headings[part],
                curvatures=samples.curvatures[part],
                width=lane_width(lane),
                closed=bool(closed[k]),
            )
        )
    return tuple(curves)


def _asks_to_close(lane: Lane) -> bool:
    first, last = lane.points.numbers[0], lane.points.numbers[-1]
    own = (lane.segment, lane.number)
    return any(e.source == (*own, last) and e.target == (*own, first) for e in lane.exits)


def _can_close(points: Floats, offsets: Ints) -> Bools:
    """Whether lines can be closed: three points, and no reversal on the way back to the first."""
    able = np.diff(offsets) >= 3
    first, last = offsets[:-1][able], offsets[1:][able] - 1
    seam = points[first] - points[last]
    turns = heading(seam) - heading(np.stack([points[last] - points[last - 1], points[first + 1] - points[first]]))
    sharpest = np.abs(wrap(turns)).max(axis=0)
    able[able] = (sharpest < SEAM_TURN) | (math.hypot(*seam.T) < COINCIDENT)
    return able


def _with_seams(points: Floats, offsets: Ints, closed: Bools) -> tuple[Floats, Ints, Ints]:
    """Make the last vertex of closed lines equal to the first: moved if it coincides already, else added.

    Returns
    -------
    points, offsets : ndarray
        The new set of lines.
    shift : ndarray, shape (k,)
        Number of rows by which each line moved.
    """
    first, last = offsets[:-1], offsets[1:] - 1
    near = math.hypot(*(points[first] - points[last]).T) < COINCIDENT
    moved = points.copy()
    moved[last[closed & near]] = points[first[closed & near]]
    adds = closed & ~near
    grown = np.insert(moved, offsets[1:][adds], points[first[adds]], axis=0)
    shift = np.concatenate([[0], np.cumsum(adds)])
    return grown, offsets + shift, shift[:-1]
