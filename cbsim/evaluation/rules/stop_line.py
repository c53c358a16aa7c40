"""``stop_line``: an object stops before every stop line that it crosses."""

from __future__ import annotations

import numpy as np

from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.gates import Beside, Gates
from cbsim.evaluation.rules.rule import Check, Invariant
from cbsim.evaluation.rules.track import Track
from cbsim.geometry.polyline import direction
from cbsim.recording.batch import Batch
from cbsim.road.roadmap import RoadMap
from cbsim.spec.road import PointId
from cbsim.spec.scenario import Expectation

__all__ = ["STILL", "StopLine"]

STILL = 0.1  # [m/s] slower counts as rest (the threshold of Team AnnieWAY, Urban Challenge 2007)
SLACK = 0.01  # [m] tolerance of a bumper beyond the line
TELL = 10.0  # [m] stops up to this distance before the line are reported
FACING = 0.5  # cosine of 60°: driving along the line or in the opposite direction needs no stop


class StopLine(Invariant):
    """The front bumper comes to rest within a metre before the line (DARPA 2006 and 2007, A.8), and not over it.

    A stop line goes through its waypoint, across the lane. After backing away from the line, an object has to stop
    again.
    """

    def __init__(self, expectation: Expectation, context: Context) -> None:
        super().__init__(expectation, context)
        self.within = self.number("within")
        roadmap = self.require_roadmap("stop lines need")
        self.points = stop_points(roadmap)
        rows = [roadmap.rows[point] for point in self.points]
        widths = [roadmap.lanes[lane].width for lane in roadmap.lane_of_row[rows]] if rows else []
        headings = roadmap.headings[rows]
        self.gates = Gates(roadmap.positions[rows] + SLACK * direction(headings), headings, np.array(widths))
        self.rested: set[int] = set()
        self.stood: dict[int, float] = {}  # distance of the last rest before each line [m]
        self.crossed = 0

    def see(self, batch: Batch) -> None:
        """Track the front bumper past nearby lines."""
        track = self.track(batch)
        self.time = float(track.times[-1])
        near = self.gates.near(track, max(self.within, TELL) + self.gates.half_widths.max(initial=0.0))
        if not len(near):
            return
        beside = self.gates.beside(track, near)
        for column, gate in enumerate(near.tolist()):
            one = Beside(*(values[:, column : column + 1] for values in beside))
            self._watch(track, one, gate)
            if self.decided:
                return

    def forget(self) -> None:
        """Forget the rests before lines."""
        self.rested.clear()
        self.stood.clear()

    def _watch(self, track: Track, beside: Beside, gate: int) -> None:
        """Process one line: rests before it, departures and crossings."""
        along, half = beside.along[:, 0], self.gates.half_widths[gate]
        in_front = (along <= 0.0) & (along >= -self.within)
        on_lane = np.abs(beside.across[:, 0]) <= half
        in_front &= on_lane & (beside.facing[:, 0] >= FACING)
        rests = np.flatnonzero(in_front & (track.speeds < STILL))
        leaves = np.flatnonzero((along < -self.within) | ~on_lane)
        last = -1
        for row, _, part in zip(*beside.crossings(self.gates.half_widths[gate : gate + 1], FACING), strict=True):
            known = gate in self.rested and not np.any(leaves <= row)
            since = max([last, *leaves[leaves <= row].tolist()[-1:]])
            self.crossed += 1
            if not (known or np.any((rests > since) & (rests <= row))):
                self._stand(track, along, on_lane, gate, int(row))
                self._fail(track, gate, int(row), float(part))
                return
            self.rested.discard(gate)
            last = int(row)
        self._stand(track, along, on_lane, gate, len(along))
        since = max([last, *leaves.tolist()[-1:]])
        if len(leaves):
            self.rested.discard(gate)
        if np.any(rests > since):
            self.rested.add(gate)

    def _stand(self, track: Track, along: np.ndarray, on_lane: np.ndarray, gate: int, until: int) -> None:
        """Note the distance of the last rest before the line, for messages."""
        stands = np.flatnonzero((track.speeds < STILL) & on_lane & (along < 0.0) & (along > -TELL))
        if len(stands := stands[stands <= until]):
            self.stood[gate] = -float(along[stands[-1]])

    def _fail(self, track: Track, gate: int, row: int, part: float) -> None:
        time = float(track.times[row] + part * (track.times[row + 1] - track.times[row]))
        speed = float(track.speeds[row] + part * (track.speeds[row + 1] - track.speeds[row]))
        where = f", after standing {self.stood[gate]:.2f} m before it" if gate in self.stood else ""
        asked = f"expected a stop with the front bumper within {self.within:g} m before it"
        point = self.points[gate]
        self.fail(time, f"crossed the stop line {point} at {time:.2f} s with {speed:.2f} m/s{where}, {asked}")

    def kept(self) -> Check:
        """Pass if the object stopped at every line that it crossed, and crossed enough of them."""
        lines = f"{self.crossed} stop line{'' if self.crossed == 1 else 's'}"
        kept = f"stopped at each of {lines} that it crossed"
        return self.enough(self.crossed, f"crossed {lines} in the whole run", kept)


def stop_points(roadmap: RoadMap) -> list[PointId]:
    """Waypoints with a stop line, each once, in file order."""
    stops = (stop.point for lane in roadmap.network.lanes for stop in lane.stops)
    known = dict.fromkeys(point for point in stops if roadmap.has(point))
    return [point for point in known if roadmap.lane_of_row[roadmap.rows[point]] >= 0]
