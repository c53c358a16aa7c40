"""`Series`: what was told now and then in a run, found by the step it was told at, in bounded room."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["Series"]

Value = TypeVar("Value")


class Series(Generic[Value]):
    """Values by their steps, in order; when they are too many, every second of them is dropped.

    Parameters
    ----------
    most : int
        Values that are kept, 2 at least.
    ends : callable, optional
        Tells whether a value only ends what the one before it began: it is kept as long as that one is.

    Examples
    --------
    >>> speeds = Series[float](most=100)
    >>> speeds.put(0, 1.5)
    >>> speeds.put(20, 2.5)
    >>> speeds.newest(19.9), speeds.newest(-1.0)
    (1.5, None)
    """

    def __init__(self, most: int, ends: Callable[[Value], bool] = lambda _: False) -> None:
        self.most, self._ends = most, ends
        self._steps: list[float] = []
        self._values: list[Value] = []

    def __len__(self) -> int:
        return len(self._values)

    @property
    def values(self) -> list[Value]:
        """All that are kept, in order."""
        return self._values

    def put(self, step: float, value: Value) -> None:
        """Take a value in; of those told at one step, the last is found."""
        place = bisect_right(self._steps, step)
        self._steps.insert(place, step)
        self._values.insert(place, value)
        if len(self._values) > self.most:
            self.thin()

    def thin(self) -> None:
        """Drop every second value, never the newest; what ends something goes and stays with it."""
        begun = [place for place, value in enumerate(self._values) if not self._ends(value)]
        stay, kept = set(begun[::-2]), list[int]()
        for place, value in enumerate(self._values):
            if place in stay or (self._ends(value) and kept and kept[-1] in stay):
                kept.append(place)
        self._steps, self._values = [self._steps[k] for k in kept], [self._values[k] for k in kept]

    def count(self, step: float) -> int:
        """Count the values up to a step."""
        return bisect_right(self._steps, step)

    def newest(self, step: float) -> Value | None:
        """Find what was told last up to a step; None if nothing was."""
        count = self.count(step)
        return self._values[count - 1] if count else None
