"""Layout of events on a timeline: marks at their times, in lanes in which nothing overlaps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cbsim.spec.event_order import awaited, earliest_times, known_times
from cbsim.spec.events import Event

__all__ = ["Layout", "Mark", "TimeAxis", "lay_out"]

RADIUS, GAP = 6.0, 5.0  # [points] of a mark, and between it and its name
INDENT = 16.0  # [points] of an event of no certain time behind one that it waits for
APART = 10.0  # [points] between what stands in a lane


class TimeAxis(NamedTuple):
    """Scale of a timeline: its end [s], and where it begins and ends [pixels]."""

    end: float
    left: float
    right: float

    def x(self, time: float) -> float:
        """Pixel of a time."""
        return self.left + (self.right - self.left) * min(max(time / self.end, 0.0), 1.0)

    def time(self, x: float) -> float:
        """Time of a pixel, within the run."""
        return self.end * min(max((x - self.left) / (self.right - self.left), 0.0), 1.0)


@dataclass(frozen=True)
class Mark:
    """An event on the timeline.

    Attributes
    ----------
    row : int
        Number of the event.
    time : float or None
        When it comes true at the earliest [s]; None if it waits for itself.
    is_known : bool
        Whether it comes true exactly then.
    happened : float or None
        When it came true in a trial run [s].
    lane : int
    x, happened_x : float
        Where its mark is, and that of the trial run; the latter is the former without one [pixels].
    text_x : float
        Where its name begins.
    left, right : float
        What it covers of its lane.
    awaits : tuple of int
        Events that it waits for.
    """

    row: int
    time: float | None
    is_known: bool
    happened: float | None
    lane: int
    x: float
    happened_x: float
    text_x: float
    left: float
    right: float
    awaits: tuple[int, ...]


class Layout(NamedTuple):
    """Marks by the numbers of their events, and the number of lanes."""

    marks: tuple[Mark, ...]
    lanes: int


def lay_out(
    events: Sequence[Event],
    axis: TimeAxis,
    width_of: Callable[[str], float],
    points: float = 1.0,
    happened: Mapping[str, float] | None = None,
) -> Layout:
    """Place events on a timeline.

    Parameters
    ----------
    events : sequence of Event
    axis : TimeAxis
    width_of : callable
        Width of a name [pixels].
    points : float
        Pixels per point.
    happened : mapping, optional
        Name of an event → when it came true in a trial run [s].

    Returns
    -------
    Layout
        Events of the same time stand below each other in their order, each below those that it waits for.
    """
    times, known = earliest_times(events), known_times(events)
    numbers = {event.name: row for row, event in enumerate(events)}
    order = list(times)
    order = sorted(order, key=lambda row: times[row]) + [row for row in range(len(events)) if row not in times]
    taken: list[list[tuple[float, float]]] = []
    marks: dict[int, Mark] = {}
    for row in order:
        time = times.get(row)
        actual = (happened or {}).get(events[row].name)
        awaits = tuple(dict.fromkeys(numbers[name] for name, _ in awaited(events[row]) if name in numbers))
        beside = [marks[other].x + INDENT * points for other in awaits if other in marks]
        x = max([axis.x(time or 0.0), *(beside if row not in known else ())])
        happened_x = x if actual is None else axis.x(actual)
        first, last = min(x, happened_x), max(x, happened_x)
        wide, side, apart = width_of(events[row].name), RADIUS * points, GAP * points
        left, right, text_x = first - side, last + side + apart + wide, last + side + apart
        if right > axis.right + side:
            left, right, text_x = first - side - apart - wide, last + side, first - side - apart - wide
        above = max((marks[other].lane + 1 for other in awaits if other in marks), default=0)
        lane = _free_lane(taken, above, left, right, APART * points)
        taken[lane].append((left, right))
        marks[row] = Mark(row, time, row in known, actual, lane, x, happened_x, text_x, left, right, awaits)
    return Layout(tuple(marks[row] for row in range(len(events))), len(taken))


def _free_lane(taken: list[list[tuple[float, float]]], first: int, left: float, right: float, apart: float) -> int:
    """Find the first lane in which a span is free; adds one if there is none."""
    lane = first
    while lane < len(taken) and any(left < end + apart and start < right + apart for start, end in taken[lane]):
        lane += 1
    while lane >= len(taken):
        taken.append([])
    return lane
