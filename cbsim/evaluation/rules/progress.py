"""`Progress` of an object in its mission: times at checkpoints, and its stop at the finish."""

from __future__ import annotations

import math

import numpy as np

from cbsim.errors import UsageError
from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.gates import Gates
from cbsim.evaluation.rules.track import Track
from cbsim.road.restarts import width_at
from cbsim.road.roadmap import RoadMap
from cbsim.road.route import checkpoints
from cbsim.spec.mission import Mission
from cbsim.spec.road import PointId

__all__ = ["Progress", "progress_of"]

STILL = 0.1  # [m/s] slower counts as rest
SPOT_FACING = math.cos(math.radians(30.0))  # cosine of 30°, in a spot (Evaluation Criteria 2007, C.2)
SPOT_REACH = 1.0  # [m] a checkpoint is reached by parking with the bumper this close before it


class Progress:
    """Progress along the checkpoints of a mission.

    A checkpoint is passed when the middle of the front bumper crosses the line through it, across the lane, no further
    from its middle than half the lane, with a heading within 90° of the lane's; in a parking spot within 30°, or
    when the object comes to rest within a metre before it. An object that starts above the first checkpoint, or is
    restarted above the next one, passes it.

    Parameters
    ----------
    context : Context
        With network and mission.

    Raises
    ------
    UsageError
        If there is no network or no mission, or the network lacks a checkpoint of the mission.

    Attributes
    ----------
    times : list of float
        Times at the checkpoints passed so far [s].
    stopped : float or None
        Time of rest after the last checkpoint [s].
    stop_distance : float
        Distance between last checkpoint and bumper at rest [m].
    """

    def __init__(self, context: Context) -> None:
        roadmap, mission = context.roadmap, context.mission
        if roadmap is None or mission is None or not mission.checkpoints:
            raise UsageError("a mission with checkpoints is needed, and its road network")
        self.numbers = [one.number for one in mission.checkpoints]
        self.points = _points(roadmap, mission)
        rows = [roadmap.rows[point] for point in self.points]
        self._spots = [roadmap.lane_of_row[row] < 0 for row in rows]
        widths = [width_at(roadmap, point) for point in self.points]
        self._gates = Gates(roadmap.positions[rows], np.nan_to_num(roadmap.headings[rows]), np.array(widths))
        self.times: list[float] = []
        self._has_left = False  # the spot of the newest checkpoint
        self.stopped: float | None = None
        self.stop_distance = math.inf

    @property
    def passed(self) -> bool:
        """Whether the last checkpoint has been passed."""
        return len(self.times) == len(self.points)

    def follow(self, track: Track) -> None:
        """Process the next steps of the object."""
        after = (-1, 0.0)
        if track.steps[0] == track.steps[1] and not self.passed:  # the run begins, or the object is set to a start
            self._begin(track)
        while not self.passed:
            found = self._next(track, after)
            if found is None:
                return
            row, part = after = found
            self._has_left = False
            self.times.append(float(track.times[row] + part * (track.times[row + 1] - track.times[row])))
        if self.stopped is None:
            still = np.flatnonzero((track.speeds[1:] < STILL) & (track.times[1:] >= self.times[-1]))
            if len(still):
                self.stopped = float(track.times[1 + still[0]])
                self.stop_distance = float(np.linalg.norm(track.fronts[1 + still[0]] - self._gates.places[-1]))

    def _begin(self, track: Track) -> None:
        number = len(self.times)
        beside = self._gates.beside(track, np.array([number]))
        over = 0.0 < beside.along[0, 0] <= track.length
        if over and abs(beside.across[0, 0]) <= self._gates.half_widths[number] and beside.facing[0, 0] >= 0.0:
            self.times.append(float(track.times[0]))

    def _next(self, track: Track, after: tuple[int, float]) -> tuple[int, float] | None:
        """Row, and fraction of the step after it, where the next checkpoint is passed after a given point."""
        number = len(self.times)
        beside = self._gates.beside(track, np.array([number]))
        half, spot = self._gates.half_widths[number : number + 1], self._spots[number]
        again = number > 0 and self.points[number] == self.points[number - 1]
        rows, _, parts = beside.crossings(half, SPOT_FACING if spot else 0.0)
        found = list(zip(rows.tolist(), parts.tolist(), strict=True))
        if spot:
            along, across, facing = (values[1:, 0] for values in beside)
            near = (along <= 0.0) & (along >= -SPOT_REACH) & (np.abs(across) <= half[0]) & (facing >= SPOT_FACING)
            rests = np.flatnonzero(near & (track.speeds[1:] < STILL))
            if again and not self._has_left:  # it still stands where it has parked
                left = np.flatnonzero(~near & (np.arange(len(near)) > after[0]))
                self._has_left = len(left) > 0
                rests = rests[rests > left[0]] if self._has_left else rests[:0]
            found += [(int(row), 1.0) for row in rests]
        return min((one for one in found if one > after or (one == after and not again)), default=None)


def _points(roadmap: RoadMap, mission: Mission) -> list[PointId]:
    known = checkpoints(roadmap)
    missing = [one.number for one in mission.checkpoints if one.number not in known]
    if missing:
        raise UsageError(f"the network has no checkpoint {missing[0]} of the mission")
    return [known[one.number] for one in mission.checkpoints]


def progress_of(context: Context) -> Progress | None:
    """`Progress` in the mission; None where there is none, or its checkpoints are not in the network."""
    try:
        return Progress(context)
    except UsageError:
        return None
