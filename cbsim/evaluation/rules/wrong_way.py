"""``wrong_way``: an object does not drive against the traffic of its lane."""

from __future__ import annotations

import numpy as np

from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.lane import Lane
from cbsim.evaluation.rules.rule import Check, Measure
from cbsim.recording.batch import Batch
from cbsim.spec.scenario import Expectation

__all__ = ["WrongWay"]

AGAINST = np.radians(120.0)  # angle to a lane from which on an object drives against its traffic
AT_MOST = 2.0  # [m] nuPlan's driving direction compliance


class WrongWay(Lane):
    """The way in one piece with the centre in a lane of the opposite direction, and in none of its own, is `at_most`.

    What ``lane`` excuses is excused here: passing what stands in the lane, U-turns, zones.
    """

    def __init__(self, expectation: Expectation, context: Context) -> None:
        super().__init__(expectation, context)
        self.at_most = self.number("at_most", AT_MOST)
        self.way, self.longest = 0.0, 0.0

    def see(self, batch: Batch) -> None:
        """Add up the way against the traffic."""
        track = self.track(batch)
        self.time = float(track.times[-1])
        match = self.context.on_corridor(self.row, track)
        before = 0
        for row in self.unexcused(track, match, batch):
            against = match.lane[row - 1] >= 0 and abs(match.heading_error[row - 1]) >= AGAINST
            if row > before + 1 or not against:
                self.way = 0.0
            before = row
            if not against:
                continue
            self.way += float(np.hypot(*(track.centres[row] - track.centres[row - 1])))
            self.longest = max(self.longest, self.way)
            if self.way > self.at_most + 1e-9:
                time, (x, y) = float(track.times[row]), track.centres[row].tolist()
                lane = self.corridors.names[int(match.lane[row - 1])]
                told = f"drove {self.way:.2f} m against {lane} until {time:.2f} s at ({x:.2f}, {y:.2f})"
                self.fail(time, f"{told}, expected {self.at_most:g} m at most")
                return
        if before < len(track.steps) - 1:
            self.way = 0.0

    def forget(self) -> None:
        """End the piece against the traffic."""
        super().forget()
        self.way = 0.0

    def measures(self) -> list[Measure]:
        """Return what was measured."""
        return [Measure("longest_wrong_way", self.longest, "m")]

    def kept(self) -> Check:
        """Pass if no piece was too long."""
        return self.check(True, self.time, f"drove {self.longest:.2f} m at most against the traffic")
