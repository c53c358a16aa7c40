"""``u_turn``: an object turns round within a distance of both ends of a U-turn."""

from __future__ import annotations

import numpy as np

from cbsim.arrays import Floats
from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.corridors import corridors
from cbsim.evaluation.rules.rule import Check, Invariant
from cbsim.evaluation.rules.track import Track
from cbsim.geometry.polyline import direction
from cbsim.recording.batch import Batch
from cbsim.road.lanelets import LaneletKind, build_lanelets
from cbsim.spec.scenario import Expectation
from cbsim.world.motion import MOTION

__all__ = ["UTurn"]

BEGUN, DONE = np.radians(60.0), np.radians(30.0)  # from the first lane, and from the second
NEAR, AROUND = 60.0, 15.0  # [m] from a U-turn, within which turning round may belong to it, and does so
MOVES = 0.1  # [m/s] along its heading, above which an object is in a gear


class UTurn(Invariant):
    """From 60° off its lane until within 30° of the other, the footprint is `within` of the entry or the exit (A.12).

    A U-turn is an exit of the network from a lane to the one opposite. It is done once the object has turned round, in
    a lane of the other's road or within 15 m of the ends; who follows another road before has made an ordinary turn.
    Changes of gear are told.
    """

    def __init__(self, expectation: Expectation, context: Context) -> None:
        super().__init__(expectation, context)
        roadmap = self.require_roadmap("U-turns need")
        self.within = self.number("within")
        lanelets = build_lanelets(roadmap)
        rows = np.flatnonzero(lanelets.kinds == LaneletKind.U_TURN)
        self.names = [lanelets.names[row] for row in rows]
        ends = lanelets.ends[rows]
        self.ends: Floats = roadmap.positions[ends]
        headings = roadmap.headings[ends]
        self.along: Floats = direction(headings.ravel()).reshape(-1, 2, 2)
        self.roads = [tuple(roadmap.ids[row].segment for row in pair) for pair in ends.tolist()]
        self.corridors = corridors(roadmap)
        self._lanes = len(roadmap.lanes)
        self._road = -1  # segment of the lane that the object was in last
        self.current, self._has_turned, self._elsewhere = -1, False, 0.0
        self.gear, self.changes = 0, 0
        self.told: list[str] = []
        self._excess: tuple[float, str] | None = None

    def see(self, batch: Batch) -> None:
        """Follow each U-turn from its begin to its end."""
        track = self.track(batch)
        self.time = float(track.times[-1])
        if not len(self.ends):
            return
        away = np.linalg.norm(track.centres[1:, None, None] - self.ends, axis=3).min(axis=2)
        before, after = ((track.ahead[1:, None] * self.along[:, k]).sum(axis=2) for k in (0, 1))
        turning = (before < np.cos(BEGUN)) & (after < np.cos(DONE)) & (away <= NEAR)
        begins = (turning & self._came_by(track)).any(axis=1)
        match = self.context.on_corridor(self.row, track)
        in_lane = (match.lane >= 0) & (match.lane < self._lanes) & (np.abs(match.heading_error) < DONE)
        roads = np.where(in_lane, self.corridors.segments[match.lane, 0] if len(self.corridors.segments) else -1, -1)
        if self.current < 0 and not begins.any():
            known = roads[roads >= 0]
            self._road = int(known[-1]) if len(known) else self._road
            return
        forward = (track.motion[1:, MOTION["velocity"]][:, :2] * track.ahead[1:]).sum(axis=1)
        for step in range(len(turning)):
            row, road = 1 + step, int(roads[step])
            if self.current < 0 and begins[step]:
                self._begin(track, row, turning[step])
            if self.current >= 0:
                self._follow(track, row, bool(turning[step, self.current]), float(forward[step]))
                has_turned = bool(after[step, self.current] >= np.cos(DONE))
                self._end(track, row, road, has_turned, float(away[step, self.current]))
            self._road = road if road >= 0 else self._road
            if self.failure is not None:
                self.decided = True
                return

    def forget(self) -> None:
        """End the U-turn."""
        self.current, self._road, self.gear = -1, -1, 0

    def _begin(self, track: Track, row: int, turning: np.ndarray) -> None:
        """Find the U-turn that the object begins, from the road that it was on."""
        came_by = (track.ahead[row - 1] * self.along[:, 0]).sum(axis=1) >= np.cos(BEGUN)
        here = [k for k in np.flatnonzero(turning & came_by).tolist() if self._road in (-1, self.roads[k][0])]
        if here:
            self.current, self.changes, self._has_turned, self._elsewhere = here[0], 0, False, 0.0
            self._excess = None

    def _follow(self, track: Track, row: int, turning: bool, forward: float) -> None:
        """Measure how far the footprint is from both ends while the object turns."""
        gear = int(np.sign(forward)) if abs(forward) > MOVES else 0
        self.changes += turning and gear != 0 and self.gear not in (0, gear)
        self.gear = gear or self.gear
        if not turning or self._has_turned or self._excess is not None:
            return
        corners = track.corners(np.array([row]))[0]
        gaps = np.linalg.norm(corners[:, None] - self.ends[self.current], axis=2).min(axis=1)
        if gaps.max() > self.within + 1e-9:
            time, (x, y) = float(track.times[row]), track.centres[row].tolist()
            where = f"was {gaps.max():.2f} m from both ends of the U-turn {self.names[self.current]}"
            self._excess = time, f"{where} at {time:.2f} s at ({x:.2f}, {y:.2f}), expected {self.within:g} m at most"

    def _end(self, track: Track, row: int, road: int, has_turned: bool, away: float) -> None:
        """End the manoeuvre: the object is in the other lane, or on another road, or back in its own direction."""
        self._has_turned |= has_turned
        name, goal = self.names[self.current], self.roads[self.current][1]
        if has_turned and (road == goal or away <= AROUND):
            plural = "" if self.changes == 1 else "s"
            self.told.append(f"{name} with {self.changes} change{plural} of gear")
            self.failure, self.current = self._excess, -1
            return
        elsewhere = road >= 0 and (road not in self.roads[self.current] or not self._opposes(track, row))
        way = float(np.hypot(*(track.centres[row] - track.centres[row - 1])))
        self._elsewhere = self._elsewhere + way if elsewhere else 0.0
        if self._elsewhere > self.length or away > NEAR or not self._opposes(track, row):
            self.current = -1

    def _opposes(self, track: Track, row: int) -> bool:
        """Whether the object is not back in the direction of the first lane."""
        return bool(track.ahead[row] @ self.along[self.current, 0] < np.cos(BEGUN))

    def _came_by(self, track: Track) -> np.ndarray:
        """Whether the object was less than 60° off the first lane of each U-turn a step ago, shape (n, u)."""
        return np.asarray((track.ahead[:-1, None] * self.along[:, 0]).sum(axis=2) >= np.cos(BEGUN))

    def kept(self) -> Check:
        """Pass if every U-turn had room, and there were enough."""
        many = f"{len(self.told)} U-turn{'' if len(self.told) == 1 else 's'}"
        within = f"within the U-turn {self.names[self.current]}" if self.current >= 0 else ""
        return self.enough(len(self.told), many, f"{many}: {', '.join(self.told)}" if self.told else many, within)
