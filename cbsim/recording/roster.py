"""`Roster`: which car a row of a flow holds at which step, and so what it is called."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple, overload

import numpy as np

from cbsim.arrays import Ints
from cbsim.errors import UsageError
from cbsim.recording.header import Header
from cbsim.recording.object_motion import TrafficEvent
from cbsim.recording.objects import Objects, PooledRows, unknown_name
from cbsim.world.traffic.events import APPEARED, HAPPENED, KINDS, LEFT

__all__ = ["END", "NamesAt", "Roster", "Span", "named_events"]

END = 2**62  # steps


class Span(NamedTuple):
    """Steps in which a row holds one car: from `first` on, before `stop`."""

    row: int
    first: int
    stop: int


class Roster:
    """Cars of flows, by the order in which they appear: the seventeenth of the flow *west* is ``west 17``.

    Parameters
    ----------
    objects : Objects
        Of the header.

    Attributes
    ----------
    reused : set of int
        Rows that have held more than one car.
    """

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._flows = {pool.name: pool for pool in objects.pools if pool.is_flow}
        self._is_flow = [(pool.first, pool.stop) for pool in self._flows.values()]
        self._steps: dict[int, list[int]] = {}
        self._numbers: dict[int, list[int]] = {}
        self._spans: dict[tuple[str, int], Span] = {}
        self.reused: set[int] = set()

    def take(self, events: Ints) -> None:
        """Note the events of a batch, in the order of time."""
        for step, kind, row, number in events[events[:, 1] <= LEFT].tolist():
            if not self.is_flow(row):
                continue
            key = self._objects.pool_of(row).name, number
            if kind == APPEARED:
                self._steps.setdefault(row, []).append(step)
                self._numbers.setdefault(row, []).append(number)
                if len(self._numbers[row]) > 1:
                    self.reused.add(row)
                self._spans[key] = Span(row, step, END)
            elif key in self._spans:
                self._spans[key] = self._spans[key]._replace(stop=step)

    def is_flow(self, row: int) -> bool:
        """Whether a row is that of a flow, which holds one car after another."""
        return any(first <= row < stop for first, stop in self._is_flow)

    def name(self, row: int, step: int) -> str:
        """Name of who is in a row at a step."""
        steps = self._steps.get(row)
        if steps is None:
            return self._objects.names[row]
        at = max(bisect_right(steps, step) - 1, 0)
        return f"{self._objects.pool_of(row).name} {self._numbers[row][at]}"

    def names_at(self, step: int) -> NamesAt:
        """Names by rows at a step."""
        return NamesAt(self, step)

    def names_over(self, row: int, steps: Ints) -> list[str]:
        """Names of who is in a row of a flow at each of some steps."""
        if row not in self._steps:
            return [self._objects.names[row]] * len(steps)
        pool, numbers = self._objects.pool_of(row).name, self._numbers[row]
        at = np.maximum(np.searchsorted(self._steps[row], steps, side="right") - 1, 0)
        known = [f"{pool} {number}" for number in numbers]
        return [known[k] for k in at.tolist()]

    def span(self, name: str) -> Span | None:
        """Row and steps of an object or a car; None for an unknown name, and for a car that has not appeared."""
        found = self._objects.numbered(name)
        if found is not None and found[0].is_flow:
            return self._spans.get((found[0].name, found[1]))
        row = self._objects.row(name)
        return None if row is None else Span(row, 0, END)

    def require(self, name: str) -> Span:
        """Row and steps of an object or a car.

        Raises
        ------
        UsageError
            If there is no such object, or it has not appeared.
        """
        found, numbered = self.span(name), self._objects.numbered(name)
        if found is None and numbered is not None and numbered[0].is_flow:
            raise UsageError(f"no car '{name}' has appeared in this recording")
        if found is None:
            raise unknown_name("object", name, self._objects.examples)
        return found


def named_events(rows: Iterable[Sequence[int]], header: Header, roster: Roster) -> list[TrafficEvent]:
    """Give rows of events (n, 4) their times and names; the roster has taken them."""
    events, found = dict(enumerate(header.events)), []
    for step, kind, who, _ in rows:
        name = roster.name(who, step) if kind < HAPPENED else events.get(who, f"event {who}")
        found.append(TrafficEvent(step * header.step, KINDS[kind], name))
    return found


class NamesAt(Sequence[str]):
    """Names by rows at a step."""

    def __init__(self, roster: Roster, step: int) -> None:
        self._roster, self._step = roster, step
        self._names: PooledRows[str] = roster._objects.names

    def __len__(self) -> int:
        return len(self._names)

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> list[str]: ...
    def __getitem__(self, row: int | slice) -> str | list[str]:
        if isinstance(row, slice):
            return [self._roster.name(k, self._step) for k in range(*row.indices(len(self)))]
        return self._roster.name(range(len(self))[row], self._step)
