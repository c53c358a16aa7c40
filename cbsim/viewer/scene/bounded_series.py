"""Time series in bounded memory, indexed by step."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["BoundedSeries"]

Value = TypeVar("Value")


class BoundedSeries(Generic[Value]):
    """Values ordered by step; every second value is dropped when there are too many.

    Parameters
    ----------
    capacity : int
        Largest number of values kept, at least 2.
    ends : callable, optional
        Tells whether a value only ends what the previous one began; it is kept as long as that one is.

    Examples
    --------
    >>> speeds = BoundedSeries[float](capacity=100)
    >>> speeds.insert(0, 1.5)
    >>> speeds.insert(20, 2.5)
    >>> speeds.latest(19.9), speeds.latest(-1.0)
    (1.5, None)
    """

    def __init__(self, capacity: int, ends: Callable[[Value], bool] = lambda _: False) -> None:
        self.capacity, self._ends = capacity, ends
        self._steps: list[float] = []
        self._values: list[Value] = []

    def __len__(self) -> int:
        return len(self._values)

    @property
    def values(self) -> list[Value]:
        """All kept values, in order."""
        return self._values

    def insert(self, step: float, value: Value) -> None:
        """Insert a value; of several values at one step, the last one wins."""
        place = bisect_right(self._steps, step)
        self._steps.insert(place, step)
        self._values.insert(place, value)
        if len(self._values) > self.capacity:
            self.thin()

    def thin(self) -> None:
        """Drop every second value but never the newest; an ending value stays with the value it ends."""
        begun = [place for place, value in enumerate(self._values) if not self._ends(value)]
        stay, kept = set(begun[::-2]), list[int]()
        for place, value in enumerate(self._values):
            if place in stay or (self._ends(value) and kept and kept[-1] in stay):
                kept.append(place)
        self._steps, self._values = [self._steps[k] for k in kept], [self._values[k] for k in kept]

    def count(self, step: float) -> int:
        """Return the number of values up to a step."""
        return bisect_right(self._steps, step)

    def latest(self, step: float) -> Value | None:
        """Return the last value up to a step, or None."""
        count = self.count(step)
        return self._values[count - 1] if count else None
