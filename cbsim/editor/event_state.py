"""State of the timeline of events in an editor session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cbsim.editor.documents.event_edits import ArgumentPath
from cbsim.spec.event_order import earliest_times
from cbsim.spec.events import Event, Place
from cbsim.spec.scenario import Scenario

__all__ = ["EventState", "clock_of", "end_of", "in_steps"]

LONGEST_WAIT = 10.0  # [s] of the timeline behind the last event of a scenario without a duration


@dataclass
class EventState:
    """What is selected, dragged and known of the events of a scenario.

    Attributes
    ----------
    row : int or None
        Number of the selected event.
    time : float or None
        Where it would be dragged to [s].
    place : (ArgumentPath, Place) or None
        Place of it that is being dragged, and where to.
    happened : dict
        Name of an event → when it came true in the last trial run [s].
    ran : bytes
        Text of the last trial run.
    first_lane : int
        First lane that is shown.
    """

    row: int | None = None
    time: float | None = None
    place: tuple[ArgumentPath, Place] | None = None
    happened: Mapping[str, float] = field(default_factory=dict)
    ran: bytes = b""
    first_lane: int = 0

    def keep_valid(self, document: object) -> None:
        """Forget a selected event that a document does not have."""
        spec = getattr(document, "spec", None)
        count = len(spec.events) if isinstance(spec, Scenario) else 0
        if self.row is not None and self.row >= count:
            self.row = None


def end_of(spec: Scenario) -> float:
    """End of the timeline [s]: that of the run, or a while after the last event."""
    if spec.duration is not None:
        return spec.duration
    return max(earliest_times(spec.events).values(), default=0.0) + LONGEST_WAIT


def clock_of(events: Sequence[Event], row: int) -> tuple[ArgumentPath, float] | None:
    """Return the argument by which an event can be dragged along the timeline, and the time [s] that it counts from.

    It is the time of a condition ``time``, or the delay of an ``after``; None for other conditions.
    """
    event, times = events[row], earliest_times(events)
    if event.when.kind == "time":
        return ArgumentPath(row, "at"), 0.0
    delay = event.when["delay"]
    if event.when.kind == "after" and isinstance(delay, float) and row in times:
        return ArgumentPath(row, "delay"), times[row] - delay
    return None


def in_steps(time: float, step: float) -> float:
    """Round a time to whole steps of a run [s]."""
    return max(round(round(time / step) * step, 9), 0.0)
