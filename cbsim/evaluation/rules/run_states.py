"""`RunStates`: when vehicles had to stand, by the mission's clock and E-stops, and when they began anew."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats, Ints
from cbsim.recording.batch import Header
from cbsim.world.events.run_control import RunControl, Timeline
from cbsim.world.traffic.events import HAPPENED

__all__ = ["RunStates"]

SLACK = 1e-9  # [s]


class RunStates:
    """Run states of a run so far, from the events of its batches.

    Parameters
    ----------
    header : Header

    Attributes
    ----------
    control : RunControl
        Of the header.
    """

    def __init__(self, header: Header) -> None:
        self.control: RunControl = header.run_control
        self._step = header.step
        self._happened: dict[int, int] = {}
        self._restarts = {one.event: one for one in self.control.restarts}
        self._timelines: dict[int, Timeline] = {}

    def take(self, events: Ints) -> list[tuple[int, int]]:
        """Note the events of a batch; return the restarts among them: step before it, and row of the body."""
        found = []
        if self.control:
            for step, _, number, _ in events[events[:, 1] == HAPPENED].tolist():
                self._happened[number] = step
                if number in self._restarts:
                    found.append((step, self._restarts[number].row))
            self._timelines = {}
        return sorted(found)

    def timeline(self, row: int) -> Timeline:
        """Run states of a vehicle; always RUN for others."""
        if row not in self._timelines:
            self._timelines[row] = self.control.timeline(row, self._happened, self._step)
        return self._timelines[row]

    def run(self, row: int) -> float | None:
        """Time of RUN of a mission with a clock [s], infinite before it; None without a clock."""
        start = self.timeline(row).start
        return start - self.control.alarm if start > 0.0 else None

    def has_to_stand(self, row: int, times: Floats) -> NDArray[np.bool_]:
        """Whether a vehicle was not free to move in the steps that ended at some times [s], shape (n,)."""
        timeline = self.timeline(row)
        found = (times <= timeline.start + SLACK) & (timeline.start > 0.0)
        for begin, end in timeline.halts(np.inf):
            found |= (times > begin + SLACK) & (times <= end + SLACK)
        return np.asarray(found)

    def mission_time(self, row: int, time: float) -> float:
        """Time of the mission's clock at a time of the run [s]."""
        return self.timeline(row).mission_time(time)
