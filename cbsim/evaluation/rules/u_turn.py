"""``u_turn``: an object turns round within a distance of both ends of a U-turn."""

from __future__ import annotations

import numpy as np

from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.corridors import corridors
from cbsim.evaluation.rules.rule import Check, Rule
from cbsim.evaluation.rules.track import Track
from cbsim.geometry.polyline import direction
from cbsim.recording.batch import Batch
from cbsim.road.lanelets import LaneletKind, build_lanelets
from cbsim.spec.scenario import Expectation
from cbsim.world.motion import MOTION
from cbsim.world.tables import Floats

__all__ = ["UTurn"]

BEGUN, DONE = np.radians(60.0), np.radians(30.0)  # from the first lane, and from the second
NEAR = 60.0  # [m] from a U-turn, within which turning round belongs to it
MOVES = 0.1  # [m/s] along its heading, above which an object is in a gear


class UTurn(Rule):
    """From 60° off its lane until within 30° of the other, the footprint is `within` of the entry or the exit (A.12).

    A U-turn is an exit of the network from a lane to the one opposite. Changes of gear are told.
    """

    def __init__(self, expectation: Expectation, context: Context) -> None:
        super().__init__(expectation, context)
        if context.roadmap is None:
            raise self.wrong("U-turns need a road network")
        self.within, self.at_least = self.number("within"), int(self.number("at_least", 0))
        lanelets = build_lanelets(context.roadmap)
        rows = np.flatnonzero(lanelets.kinds == LaneletKind.U_TURN)
        self.names = [lanelets.names[row] for row in rows]
        ends = lanelets.ends[rows]
        self.ends: Floats = context.roadmap.positions[ends]
        headings = context.roadmap.headings[ends]
        self.along: Floats = direction(headings.ravel()).reshape(-1, 2, 2)
        self.corridors = corridors(context.roadmap)
        self.current = -1
        self.gear, self.changes = 0, 0
        self.told: list[str] = []
        self.time = 0.0
        self.failure: tuple[float, str] | None = None

    def see(self, batch: Batch) -> None:
        """Follow each U-turn from its begin to its end."""
        track = self.track(batch)
        self.time = float(track.times[-1])
        if not len(self.ends):
            return
        away = np.linalg.norm(track.centres[1:, None, None] - self.ends, axis=3)
        before, after = ((track.ahead[1:, None] * self.along[:, k]).sum(axis=2) for k in (0, 1))
        turning = (before < np.cos(BEGUN)) & (after < np.cos(DONE)) & (away.min(axis=2) <= NEAR)
        forward = (track.motion[:, MOTION["velocity"]][:, :2] * track.ahead).sum(axis=1)
        for step in range(len(turning)):
            self._look(track, step, turning[step], after[step], float(forward[1 + step]))
            if self.decided:
                return

    def _look(self, track: Track, step: int, turning: np.ndarray, after: np.ndarray, forward: float) -> None:
        row = 1 + step
        if self.current < 0:
            here = np.flatnonzero(turning & self._came_by(track, row))
            if not len(here):
                return
            self.current, self.changes = int(here[0]), 0
        elif not turning[self.current]:
            if after[self.current] >= np.cos(DONE):
                plural = "" if self.changes == 1 else "s"
                self.told.append(f"{self.names[self.current]} with {self.changes} change{plural} of gear")
            self.current = -1
            return
        gear = int(np.sign(forward)) if abs(forward) > MOVES else 0
        self.changes += gear != 0 and self.gear not in (0, gear)
        self.gear = gear or self.gear
        corners = track.corners(np.array([row]))[0]
        gaps = np.linalg.norm(corners[:, None] - self.ends[self.current], axis=2).min(axis=1)
        if gaps.max() > self.within + 1e-9:
            time, (x, y) = float(track.times[row]), track.centres[row].tolist()
            where = f"was {gaps.max():.2f} m from both ends of the U-turn {self.names[self.current]}"
            self.failure = time, f"{where} at {time:.2f} s at ({x:.2f}, {y:.2f}), expected {self.within:g} m at most"
            self.decided = True

    def _came_by(self, track: Track, row: int) -> np.ndarray:
        """Whether the object has just turned off the first lane of each U-turn: it was less than 60° off a step ago."""
        before = (track.ahead[row - 1] * self.along[:, 0]).sum(axis=1)
        return np.asarray(before >= np.cos(BEGUN))

    def result(self) -> Check:
        """Pass if every U-turn had room, and there were enough."""
        if self.failure is not None:
            return self.check(False, *self.failure)
        many = f"{len(self.told)} U-turn{'' if len(self.told) == 1 else 's'}"
        if self.current >= 0 and len(self.told) + 1 >= self.at_least:
            name = self.names[self.current]
            return self.check(
                None, self.time, f"undecided: the run ends at {self.time:.2f} s, within the U-turn {name}"
            )
        if len(self.told) < self.at_least:
            return self.check(False, self.time, f"{many}, expected {self.at_least} at least")
        return self.check(True, self.time, f"{many}: {', '.join(self.told)}" if self.told else many)
