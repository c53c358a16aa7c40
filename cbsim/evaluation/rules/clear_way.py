"""`ClearWay`: whether an object is slower than a clear way allows, and what hinders it."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Bools, Floats, Ints
from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.corridors import corridors
from cbsim.evaluation.rules.limits import CAP, Limits
from cbsim.evaluation.rules.track import Track
from cbsim.geometry.polyline import dot
from cbsim.recording.batch import Batch
from cbsim.road.matching import Match
from cbsim.world.motion import ABSENT_BELOW, MOTION

__all__ = ["ClearWay"]

SLOW, SHARE = 0.5, 0.5  # [m/s], share of what the way allows; who is slower than either loses time
SIDEWAYS, ONWARD = 2.2, 1.5  # [m/s²] in bends and along the way, of what the way allows
STILL = 0.1  # [m/s] slower counts as rest
QUEUE = 10.0  # [m] behind a car ahead, where one may stand (Rules 2006, queueing)
SAFETY_AREA = 30.0  # [m] before a junction, and around the car (Evaluation Criteria 2007, A.9)
BESIDE, CROSSING = 2.5, 10.0  # [m] to either side of the way ahead: in it; close to it
PARALLEL = np.cos(np.radians(30.0))  # who moves along the way beside it does not hinder
ONWARD_ANGLE = np.radians(45.0)  # heading errors above it: manoeuvres, where only SLOW counts
U_TURN = 15.0  # [m] around both ends of a U-turn likewise (A.12)


class ClearWay:
    """The way ahead of an object: the speed that it allows, and others in it.

    Parameters
    ----------
    context : Context
        With a road network; without a mission, limits are 30 mph.
    row : int
        Of the object.
    """

    def __init__(self, context: Context, row: int) -> None:
        assert context.roadmap is not None
        self.context, self.row, self.roadmap = context, row, context.roadmap
        self.corridors = corridors(context.roadmap)
        self.limits = None if context.mission is None else Limits(context.roadmap, context.mission)

    def loses_time(self, track: Track, batch: Batch) -> Bools:
        """Find the steps at which the object is too slow for a way that is clear, shape (n,)."""
        speeds = track.speeds[1:]
        match = self.context.on_corridor(self.row, track)
        slow = speeds < np.maximum(SLOW, SHARE * self._allowed(track, match))
        rows = np.flatnonzero(slow)
        if len(rows):
            slow[rows] = ~self._hindered(track, batch, rows)
        return np.asarray(slow)

    def _allowed(self, track: Track, match: Match) -> Floats:
        """Speed that limits, bends, stop lines and ends of lanes ahead allow, shape (n,) [m/s]; 0 in manoeuvres."""
        found = np.zeros(len(match.lane))
        on = (match.lane >= 0) & (np.abs(match.heading_error) < ONWARD_ANGLE)
        if len(self.corridors.turns):
            east, north = (track.centres[1:, k, None] - self.corridors.turns[:, k] for k in (0, 1))
            on &= np.sqrt(east * east + north * north).min(axis=1) > U_TURN
        line, front = match.lane[on], match.station[on] + 0.5 * track.length
        limit = np.full(len(line), CAP) if self.limits is None else self.limits.high[line]
        found[on] = np.minimum(limit, self.corridors.way_speed(line, front, SIDEWAYS, ONWARD))
        return found

    @cached_property
    def _junctions(self) -> Floats:
        """Stop lines and exits, shape (j, 2) [m]."""
        stops = {stop.point for lane in self.roadmap.network.lanes for stop in lane.stops}
        points = stops | {way.source for way in self.roadmap.exits}
        rows = sorted(self.roadmap.rows[point] for point in points if self.roadmap.has(point))
        return np.asarray(self.roadmap.positions[rows].reshape(-1, 2))

    def _hindered(self, track: Track, batch: Batch, rows: Ints | NDArray[np.intp]) -> Bools:
        """Find the steps at which others hinder the object, shape (k,)."""
        motion = batch.motion[rows][:, self.context.others(self.row, batch)]
        if not motion.shape[1]:
            return np.zeros(len(rows), bool)
        ahead, front, speeds = track.ahead[1 + rows], track.fronts[1 + rows], track.speeds[1 + rows]
        (face_x, face_y), (front_x, front_y) = ahead.T[..., None], front.T[..., None]
        way_x, way_y = motion[..., 0] - front_x, motion[..., 1] - front_y
        along, across = way_x * face_x + way_y * face_y, np.abs(way_x * -face_y + way_y * face_x)
        there = motion[..., 2] > ABSENT_BELOW
        speed_x, speed_y = (motion[..., MOTION["velocity"]][..., k] for k in (0, 1))
        pace = np.hypot(speed_x, speed_y)
        gap = along - self._half_lengths(batch)
        in_way = there & (along > 0.0) & (across < BESIDE)
        allowed = np.sqrt(2.0 * ONWARD * np.maximum(gap - QUEUE, 0.0))
        hindered = in_way & (gap < SAFETY_AREA) & (speeds[:, None] >= SHARE * allowed)
        same = np.abs(speed_x * face_x + speed_y * face_y) > PARALLEL * pace
        near = there & (pace > STILL) & (np.hypot(way_x, way_y) <= SAFETY_AREA)
        hindered |= near & (along > 0.0) & (across < CROSSING) & ~same
        free_space = (self.roadmap.zone_at(track.centres[1 + rows]) >= 0) | self._at_junction(front, ahead)
        return np.asarray(np.any(hindered | (near & free_space[:, None]), axis=1))

    def _half_lengths(self, batch: Batch) -> Floats:
        rows = self.context.recorded(batch)
        return 0.5 * self.context.footprints(rows[rows != self.row])[:, 1]

    def _at_junction(self, front: Floats, ahead: Floats) -> Bools:
        """Whether a stop line or an exit lies ahead within the safety area, or right behind the bumper."""
        way = self._junctions - front[:, None]
        along = dot(way, ahead[:, None])
        return np.asarray(np.any((np.hypot(way[..., 0], way[..., 1]) <= SAFETY_AREA) & (along > -QUEUE), axis=1))
