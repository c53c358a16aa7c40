"""`Standing`: other objects that stand, since when, and the lanes that they block."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry.polyline import direction, left_of
from cbsim.geometry.pose import heading
from cbsim.recording.batch import Batch, Header
from cbsim.road.curve import LaneCurve
from cbsim.road.roadmap import RoadMap
from cbsim.world.motion import ABSENT_BELOW, MOTION

__all__ = ["Blocked", "Standing", "footprint", "nearest"]

STILL = 0.1  # [m/s] slower counts as rest
PARKED_FOR = 10.0  # [s] at rest, after which a car counts as parked (the delay of A.6)
SAFETY_AREA = 30.0  # [m] before a stop line, where cars that stand are a queue (Evaluation Criteria 2007, A.9)
NOT_OBSTACLES = ("mesh",)  # drivable meshes lie on the road; a header does not tell them from others


class Blocked(NamedTuple):
    """A lane that a standing object narrows.

    Attributes
    ----------
    row : int
        Of the object.
    lane : int
        Row of the lane in the map.
    begin, end : float
        Stations of its rear and front [m].
    room : float
        Width of the lane that is left beside it, on the wider side [m].
    """

    row: int
    lane: int
    begin: float
    end: float
    room: float


class Standing:
    """Objects at rest beside and ahead of one that moves.

    Parameters
    ----------
    header : Header
        Of the run or the recording.
    roadmap : RoadMap
    """

    def __init__(self, header: Header, roadmap: RoadMap) -> None:
        self._header, self.roadmap = header, roadmap
        self._moving = np.array(header.moving, np.int64)
        self._last_moved = np.full(len(self._moving), -np.inf)  # [s] -inf: never yet
        self._batch: Batch | None = None
        self._props = self._static()
        self._bounds = _bounds(roadmap.lanes)
        self._lines: dict[int, Any] = {}
        self._resting: dict[int, tuple[bytes, Floats]] = {}  # pose and footprint of who rests, by row

    def _static(self) -> list[tuple[int, Floats]]:
        """Rows and footprints of all objects that never move."""
        objects, moving = self._header.objects, set(self._header.moving)
        rows = [objects.row_of(k) for k, one in enumerate(objects.single) if one.get("type") not in NOT_OBSTACLES]
        return [(row, self._footprint(row, _pose(objects[row]))) for row in rows if row not in moving]

    def _footprint(self, row: int, pose: Floats) -> Floats:
        """Corners (4, 2) [m] of an object with a pose (7,)."""
        width, length = footprint(self._header, row)
        ahead = direction(heading(pose[3:7]))
        along, aside = 0.5 * length * ahead, 0.5 * width * left_of(ahead)
        return np.asarray(pose[:2] + np.stack([along + aside, along - aside, -along - aside, -along + aside]))

    def _resting_footprint(self, row: int, pose: Floats) -> Floats:
        """Corners of an object that rests, computed anew only where its pose (7,) is another one."""
        key = pose.tobytes()
        known = self._resting.get(row)
        if known is None or known[0] != key:
            known = self._resting[row] = key, self._footprint(row, pose)
        return known[1]

    def see(self, batch: Batch) -> None:
        """Take the next steps; any number of rules may do so for the same batch."""
        if batch is self._batch:
            return
        if self._batch is not None:
            self._last_moved = self._moved(len(self._batch.hashes) - 1)
        self._batch = batch
        rows = self._moving if batch.rows is None else batch.rows
        self._columns = np.searchsorted(self._moving, rows)
        motion = batch.motion
        square = np.einsum("nmk,nmk->nm", motion[:, :, MOTION["velocity"]], motion[:, :, MOTION["velocity"]])
        stirs = (square >= STILL * STILL) | (motion[:, :, 2] <= ABSENT_BELOW)
        latest = np.where(stirs, np.arange(len(stirs))[:, None], -1)
        self._latest = np.maximum.accumulate(latest, axis=0)

    def _moved(self, step: int) -> Floats:
        """Time at which each moving row moved last, as known at a step of the batch, shape (rows,) [s]."""
        assert self._batch is not None
        found = self._last_moved.copy()
        index = self._latest[step]
        times = self._batch.steps * self._header.step
        known = index >= 0
        found[self._columns[known]] = times[index[known]]
        return found

    def parked(self, row: int, step: int, place: Floats, reach: float) -> list[Blocked]:
        """Lanes near a place that objects block which never move, or have stood for ten seconds or from the start.

        Cars in the safety area of a stop line are a queue.

        Parameters
        ----------
        row : int
            Of the object that asks.
        step : int
            Of the batch, from 0.
        place : ndarray, shape (2,)
            [m]
        reach : float
            [m]
        """
        found = [one for prop, corners in self._props for one in self._near(prop, corners, place, reach)]
        assert self._batch is not None
        if not len(self._columns):
            return found
        motion = self._batch.motion[step]
        now = float(self._batch.steps[step] * self._header.step)
        since = self._moved(step)[self._columns]
        near = np.abs(motion[:, :2] - place).max(axis=1) <= reach
        stands = (now - since >= PARKED_FOR - 1e-9) & near & (self._moving[self._columns] != row)
        for column in np.flatnonzero(stands).tolist():
            other = int(self._moving[self._columns[column]])
            corners = self._resting_footprint(other, motion[column, :7])
            found += [one for one in self._near(other, corners, place, reach) if not self._queues(one)]
        return found

    def _near(self, row: int, corners: Floats, place: Floats, reach: float) -> tuple[Blocked, ...]:
        if np.abs(corners - place).max(axis=1).min() > reach:
            return ()
        return self._lanes(row, corners.tobytes())

    @lru_cache(maxsize=1024)  # noqa: B019 - objects that stand, of one run
    def _lanes(self, row: int, corners: bytes) -> tuple[Blocked, ...]:
        """Lanes that a footprint touches."""
        import shapely

        places = np.frombuffer(corners).reshape(4, 2)
        found = []
        low, high = self._bounds
        beside = (places.max(axis=0) < low) | (places.min(axis=0) > high)
        for lane in np.flatnonzero(~beside.any(axis=1)).tolist():
            curve = self.roadmap.lanes[lane]
            half = 0.5 * curve.width
            if lane not in self._lines:
                self._lines[lane] = shapely.LineString(curve.samples)
            stations = shapely.line_locate_point(self._lines[lane], shapely.points(places))
            middles, headings = curve.at(stations)
            offsets = ((places - middles) * left_of(direction(headings))).sum(axis=1)
            room = (
                half - max(min(float(offsets.max()), half), -half),
                half + max(min(float(offsets.min()), half), -half),
            )
            if max(room) < curve.width and stations.max() > 0.0 and stations.min() < curve.length:
                found.append(Blocked(row, lane, float(stations.min()), float(stations.max()), max(room)))
        return tuple(found)

    def _queues(self, one: Blocked) -> bool:
        """Whether a stop line of its lane is close ahead of a car."""
        curve = self.roadmap.lanes[one.lane]
        numbers = {
            stop.point.point for lane in self.roadmap.network.lanes for stop in lane.stops if stop.point[:2] == curve.id
        }
        lines = [s for number, s in zip(curve.numbers, curve.waypoint_stations, strict=True) if number in numbers]
        return any(-1.0 <= line - one.end <= SAFETY_AREA for line in lines)


def _bounds(lanes: Sequence[LaneCurve]) -> tuple[Floats, Floats]:
    """Least and largest coordinates (lanes, 2) of places on lanes [m]; infinite for a lane without length."""
    low, high = np.full((len(lanes), 2), np.inf), np.full((len(lanes), 2), -np.inf)
    for lane, curve in enumerate(lanes):
        if len(curve.samples) > 1:
            half = 0.5 * curve.width
            low[lane], high[lane] = curve.samples.min(axis=0) - half, curve.samples.max(axis=0) + half
    return low, high


def footprint(header: Header, row: int) -> tuple[float, float]:
    """Width and length of an object on the ground [m]; 0 where the header has none."""
    size = header.objects[row].get("size") or [0.0, 0.0, 0.0]
    return float(size[0]), float(size[1])


def nearest(curve: LaneCurve, place: Floats) -> tuple[float, Floats, Floats]:
    """Nearest point of a lane: its station [m], the point (2,) [m] and the direction (2,) there."""
    import shapely

    station = float(shapely.line_locate_point(shapely.LineString(curve.samples), shapely.Point(place)))
    point, along = curve.at(station)
    return station, point, direction(along)


def _pose(item: dict[str, Any]) -> Floats:
    return np.array([*item["position"], *item["orientation"]], np.float64)
