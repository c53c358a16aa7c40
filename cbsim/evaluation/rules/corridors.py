"""`Corridors`: drivable strips of a network: its lanes, and the lanelets of its exits through intersections."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats, Ints
from cbsim.geometry.polyline import direction, left_of
from cbsim.road.curve import LaneCurve
from cbsim.road.lanelets import LaneletKind, build_lanelets
from cbsim.road.line_index import LineIndex
from cbsim.road.matching import Line
from cbsim.road.roadmap import RoadMap
from cbsim.spec.road import PointId

__all__ = ["Corridors", "corridors"]


GAP = 1.5  # [m] largest gap between neighbouring lanes; wider ones have room for a car
HAIRPIN = 2.0  # [m] to either side, over which a bend is measured that may be too tight for a car
BEND = 0.5  # [m] to either side, over which curvature is averaged
ALONG = np.cos(np.radians(45.0))  # cosine of the largest angle between neighbouring lanes


class Strip(NamedTuple):
    """A line with a width."""

    stations: Floats
    samples: Floats
    headings: Floats
    width: float


class Corridors:
    """Drivable lines of a network: whole lanes, then lanelets of exits that are not U-turns.

    Parameters
    ----------
    roadmap : RoadMap

    Raises
    ------
    ModelError
        If the network has more exits than lanelets are made of.

    Attributes
    ----------
    lines : list of LaneCurve or Lanelet
    names : list of str
        ``lane 1.2``, ``the way from 1.2.3 to 4.5.6``.
    segments : ndarray of int, shape (lines, 2)
        Segments or zones where each begins and ends.
    turns : ndarray, shape (u, 2)
        Ends of all U-turns [m].
    half_widths : ndarray, shape (lines + 1,)
        [m]; nan for row -1, which stands for none.
    """

    def __init__(self, roadmap: RoadMap) -> None:
        self._roadmap = roadmap
        ways = [one for one in build_lanelets(roadmap) if one.kind is not LaneletKind.LANE]
        through = [way for way in ways if way.kind is not LaneletKind.U_TURN and len(way.samples) > 1]
        self._ways = through
        self.lines: list[Line] = [*roadmap.lanes, *through]
        self.names = [f"lane {lane}" for lane in roadmap.lanes]
        self.names += [f"the way from {way.source} to {way.target}" for way in through]
        ends = [(lane.id[0], lane.id[0]) for lane in roadmap.lanes]
        ends += [(way.source.segment, way.target.segment) for way in through]
        self.segments: Ints = np.array(ends, np.int64).reshape(-1, 2)
        turning = [way for way in ways if way.kind is LaneletKind.U_TURN]
        rows = [roadmap.rows[point] for way in turning for point in (way.source, way.target)]
        self.turns: Floats = roadmap.positions[rows].reshape(-1, 2)
        self.half_widths: Floats = np.array([0.5 * line.width for line in self.lines] + [np.nan])

    @cached_property
    def index(self) -> LineIndex:
        """Spatial index of the lines."""
        return LineIndex(self.lines)

    @cached_property
    def tables(self) -> list[Floats]:
        """Places, directions and stations of the samples of each line, shapes (m, 5) [m]."""
        columns = ((line.samples, direction(np.asarray(line.headings)), line.stations) for line in self.lines)
        return [np.column_stack(one) for one in columns]

    @cached_property
    def centrelines(self) -> NDArray[np.object_]:
        """Centrelines of the lines, as shapely's, shape (lines,)."""
        import shapely

        places = (line.samples if len(line.samples) > 1 else np.repeat(line.samples, 2, axis=0) for line in self.lines)
        return np.array([shapely.LineString(one) for one in places], object)

    @lru_cache(maxsize=8)  # noqa: B019 - few entries, which live as long as the network
    def widened(self, slack: float, reach: float) -> LineIndex:
        """Index of the lines, widened by a slack [m] on both sides and extended straight by a reach [m] at both ends.

        The strips between neighbouring lanes follow after the lines.
        """
        gaps = [gap._replace(width=gap.width + 2.0 * slack) for gap in self.gaps]
        return LineIndex([*(_extended(line, slack, reach) for line in self.lines), *gaps])

    @cached_property
    def gaps(self) -> list[Strip]:
        """Narrow strips between neighbouring lanes of one direction, which lane changes cross."""
        ordered = sorted(self._roadmap.lane_rows.items())
        pairs = [
            (self._roadmap.lanes[one], self._roadmap.lanes[other])
            for (lane, one), (next_lane, other) in itertools.pairwise(ordered)
            if next_lane == (lane[0], lane[1] + 1)
        ]
        return [gap for here, there in pairs for gap in _between(here, there)]

    @cached_property
    def _middles(self) -> tuple[Floats, Floats, Floats]:
        """Offsets of the lines in the stations, these, and `middle` there; nan where there is none."""
        first, stations, _ = self.bends(BEND)
        middles = np.full(len(stations), np.nan)
        rows, specs = self._roadmap.lane_rows, self._roadmap.lane_specs
        starts = np.searchsorted(stations, first).tolist()
        for (segment, number), here in rows.items():
            for beside in (number - 1, number + 1):
                there = rows.get((segment, beside))
                if there is None or specs[here].left_boundary or specs[there].left_boundary:
                    continue
                found = _half_way(self._roadmap.lanes[here], self._roadmap.lanes[there])
                part = slice(starts[here], starts[here] + len(found))
                middles[part] = np.fmin(middles[part], found)
        return first, stations, middles

    def middle(self, line: Ints, station: Floats) -> Floats:
        """Distance of a line's centre from the middle of an unmarked road on its left, shape (n,) [m]; nan on others.

        The middle is half way to the centre of the lane of the other direction, where neither states a marking there.
        """
        first, stations, middles = self._middles
        return np.asarray(middles[np.searchsorted(stations, first[line] + station).clip(max=len(middles) - 1)])

    @lru_cache(maxsize=8)  # noqa: B019 - as above
    def bends(self, reach: float) -> tuple[Floats, Floats, Floats]:
        """Bounds of the lines' deviation from their tangents within a reach [m] of each sample.

        Returns
        -------
        first : ndarray, shape (lines,)
            Offset of each line's stations in `stations`.
        stations : ndarray, shape (m,)
            Stations of all samples, increasing over all lines.
        bends : ndarray, shape (m,)
            Upper bounds [m]: reach times the change of heading within it, in both directions.
        """
        lengths = np.array([line.stations[-1] + 1.0 for line in self.lines])
        first = np.concatenate([[0.0], np.cumsum(lengths)[:-1]]) if len(lengths) else lengths
        stations = [line.stations + start for line, start in zip(self.lines, first, strict=True)]
        bends = [_bends(line, reach) for line in self.lines]
        return first, np.concatenate([np.empty(0), *stations]), np.concatenate([np.empty(0), *bends])

    def bend(self, line: Ints, station: Floats, reach: float) -> Floats:
        """Interpolate the `bends` at given stations, shape (n,) [m]."""
        first, stations, bends = self.bends(reach)
        return np.asarray(bends[np.searchsorted(stations, first[line] + station).clip(max=len(bends) - 1)])

    @lru_cache(maxsize=8)  # noqa: B019 - as above
    def hairpins(self, radius: float) -> Floats:
        """Places where lanes bend, over 4 m, more tightly than a radius [m], shape (h, 2) [m]."""
        found = []
        for lane in self._roadmap.lanes:
            low, high = (np.interp(lane.stations + way, lane.stations, lane.headings) for way in (-HAIRPIN, HAIRPIN))
            found.append(lane.samples[np.abs(high - low) * radius > 2.0 * HAIRPIN])
        return np.concatenate([np.empty((0, 2)), *found])

    @lru_cache(maxsize=8)  # noqa: B019 - as above
    def _bend_speeds(self, sideways: float, along: float) -> tuple[Floats, Floats, Floats]:
        first, stations, _ = self.bends(BEND)
        speeds = [_bend_speed(line, sideways, along) for line in self.lines]
        return first, stations, np.concatenate([np.empty(0), *speeds])

    @lru_cache(maxsize=8)  # noqa: B019 - as above
    def _way_speeds(self, sideways: float, along: float) -> tuple[Floats, Floats, Floats]:
        first, stations, squares = self._bend_speeds(sideways, along)
        squares = squares * squares
        roadmap, starts = self._roadmap, np.searchsorted(stations, first).tolist()
        for point, square in self._slowest(squares, starts):
            row = roadmap.row(point)
            lane = int(roadmap.lane_of_row[row])
            if lane >= 0:
                curve = roadmap.lanes[lane]
                at = float(curve.waypoint_stations[row - int(roadmap.offsets[lane])])
                part = slice(starts[lane], starts[lane] + int(np.searchsorted(curve.stations, at + 1e-9)))
                bound = square + 2.0 * along * (at - (stations[part] - first[lane]))
                squares[part] = np.minimum(squares[part], bound)
        return first, stations, np.sqrt(np.maximum(squares, 0.0))

    def _slowest(self, squares: Floats, starts: list[int]) -> list[tuple[PointId, float]]:
        """Points of lanes with the square of the speed that stop lines, exits and ends of lanes allow there [m²/s²]."""
        roadmap, count = self._roadmap, len(self._roadmap.lanes)
        found = [(stop.point, 0.0) for lane in roadmap.network.lanes for stop in lane.stops if roadmap.has(stop.point)]
        for start, way in zip(starts[count:], self._ways, strict=True):
            found.append((way.source, float(squares[start : start + len(way.stations)].min())))
        leads_on = {way.source for way in roadmap.exits}
        lasts = [roadmap.ids[row - 1] for row in roadmap.offsets[1:].tolist()]
        return found + [(point, 0.0) for point in lasts if point not in leads_on]

    def way_speed(self, line: Ints, station: Floats, sideways: float, along: float) -> Floats:
        """Speed that bends, stop lines, ends of lanes and the slowest exit ahead on a line allow, shape (n,) [m/s].

        Parameters
        ----------
        line : ndarray of int, shape (n,)
            Rows of `lines`.
        station : ndarray, shape (n,)
            [m]
        sideways : float
            Acceleration in a bend [m/s²], of the mean curvature over 1 m.
        along : float
            Acceleration behind it, and deceleration before it [m/s²].
        """
        first, stations, speeds = self._way_speeds(sideways, along)
        lengths = np.array([one.stations[-1] for one in self.lines])
        where = first[line] + np.clip(station, 0.0, lengths[line])
        return np.asarray(speeds[np.searchsorted(stations, where).clip(max=len(speeds) - 1)])


def _bends(line: Line, reach: float) -> Floats:
    turned = [
        np.abs(np.interp(line.stations + way, line.stations, line.headings) - line.headings) for way in (-reach, reach)
    ]
    return np.asarray(reach * np.maximum(*turned))


def _bend_speed(line: Line, sideways: float, along: float) -> Floats:
    low, high = (np.interp(line.stations + way, line.stations, line.headings) for way in (-BEND, BEND))
    square = sideways * 2.0 * BEND / np.maximum(np.abs(high - low), 1e-9)
    gained = 2.0 * along * line.stations
    square = np.minimum.accumulate(square - gained) + gained
    square = np.minimum.accumulate((square + gained)[::-1])[::-1] - gained
    return np.asarray(np.sqrt(np.maximum(square, 0.0)))


def _half_way(here: LaneCurve, there: LaneCurve) -> Floats:
    """Half of the way to a lane of the other direction on the left of each sample, shape (n,) [m]; nan elsewhere."""
    import shapely

    found = np.full(len(here.stations), np.nan)
    if min(len(here.samples), len(there.samples)) < 2:
        return found
    line = shapely.LineString(there.samples)
    foot = shapely.line_locate_point(line, shapely.points(here.samples))
    across = shapely.get_coordinates(shapely.line_interpolate_point(line, foot)) - here.samples
    apart = np.hypot(*across.T)
    turned = here.headings - np.interp(foot, there.stations, there.headings)
    is_left = (across * left_of(direction(here.headings))).sum(axis=1) > ALONG * apart
    near = is_left & (apart - 0.5 * (here.width + there.width) <= GAP) & (np.cos(turned) < -ALONG)
    near &= (foot > 0.0) & (foot < line.length)
    found[near] = 0.5 * apart[near]
    return found


def _between(here: LaneCurve, there: LaneCurve) -> Iterator[Strip]:
    """Draw the strips between the edges of two lanes where they run side by side, at most `GAP` apart."""
    import shapely

    if min(len(here.samples), len(there.samples)) < 2:
        return
    line = shapely.LineString(there.samples)
    foot = shapely.line_locate_point(line, shapely.points(here.samples))
    beside = shapely.get_coordinates(shapely.line_interpolate_point(line, foot))
    across = beside - here.samples
    apart = np.hypot(*across.T)
    gap = apart - 0.5 * (here.width + there.width)
    turned = here.headings - np.interp(foot, there.stations, there.headings)
    near = (gap > 0.0) & (gap <= GAP) & (np.cos(turned) > ALONG) & (foot > 0.0) & (foot < line.length)
    share = (0.5 * (here.width + gap) / np.maximum(apart, 1e-9))[:, None]
    middle = here.samples + share * across
    changes = np.flatnonzero(np.diff(np.concatenate([[False], near, [False]]).astype(np.int8)))
    for first, stop in changes.reshape(-1, 2).tolist():
        if stop - first > 1:
            part = slice(first, stop)
            yield Strip(here.stations[part], middle[part], here.headings[part], float(gap[part].max()))


def _extended(line: Line, slack: float, reach: float) -> Strip:
    if len(line.samples) < 2:
        return Strip(line.stations, line.samples, line.headings, line.width + 2.0 * slack)
    first, last = (reach * direction(line.headings[end]) for end in (0, -1))
    return Strip(
        np.concatenate([[line.stations[0] - reach], line.stations, [line.stations[-1] + reach]]),
        np.concatenate([[line.samples[0] - first], line.samples, [line.samples[-1] + last]]),
        np.concatenate([line.headings[:1], line.headings, line.headings[-1:]]),
        line.width + 2.0 * slack,
    )


@lru_cache(maxsize=8)
def corridors(roadmap: RoadMap) -> Corridors:
    """Corridors of a map, cached."""
    return Corridors(roadmap)
