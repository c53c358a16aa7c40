"""What a planner may show of its thoughts: lines, points and texts in the world, for people who look.

A planner that has a method ``draw()`` returns some of these; it is called after `plan` while somebody looks, and
never otherwise. What it shows goes to the screen alone: it changes no bit of the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cbsim.errors import UsageError

__all__ = ["Dots", "Drawing", "Line", "Text", "drawings_of"]

MOST = 2000  # drawings at once
POINTS = 20_000  # points of one drawing


@dataclass(frozen=True, eq=False)
class _Places:
    points: ArrayLike
    """(n, 2) or (n, 3) [m]."""
    colour: Sequence[int] | None = field(default=None, kw_only=True)
    """Red, green, blue from 0 to 255; without, that of planners."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", _places(self.points, type(self).__name__))
        if self.colour is not None:
            object.__setattr__(self, "colour", _colour(self.colour))

    @property
    def places(self) -> NDArray[np.float64]:
        """The points (n, 3) [m]."""
        return np.asarray(self.points, float)


@dataclass(frozen=True, eq=False)
class Line(_Places):
    """A line through points (n, 2) or (n, 3) [m]; `width` in points of the screen."""

    width: float = 2.0
    closed: bool = False


@dataclass(frozen=True, eq=False)
class Dots(_Places):
    """Points (n, 2) or (n, 3) [m]; `size` in points of the screen."""

    size: float = 4.0


@dataclass(frozen=True, eq=False)
class Text(_Places):
    """A line of text at a point (2,) or (3,) [m]."""

    text: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "text", str(self.text).splitlines()[0][:200] if str(self.text) else "")


Drawing = Line | Dots | Text


def drawings_of(shown: object) -> tuple[Drawing, ...]:
    """Check what a planner's `draw` returned.

    Raises
    ------
    UsageError
        If it is no sequence of drawings.
    """
    if shown is None:
        return ()
    given = [shown] if isinstance(shown, Line | Dots | Text) else shown
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise UsageError(f"draw() returned {type(shown).__name__}, expected a list of Line, Dots and Text")
    for one in given[:MOST]:
        if not isinstance(one, Line | Dots | Text):
            raise UsageError(f"draw() returned a {type(one).__name__} among its drawings, expected Line, Dots or Text")
    return tuple(given[:MOST])


def _places(value: ArrayLike, who: str) -> NDArray[np.float64]:
    try:
        points = np.atleast_2d(np.asarray(value, float))[:POINTS]
    except (TypeError, ValueError):
        points = np.full((1, 1), np.nan)
    if not points.size:
        return np.zeros((0, 3))
    if points.ndim != 2 or points.shape[1] not in {2, 3} or not np.isfinite(points).all():
        raise UsageError(f"{who}: points are {str(value)[:60]}, expected (n, 2) or (n, 3) finite numbers")
    return np.pad(points, ((0, 0), (0, 3 - points.shape[1])))


def _colour(value: Sequence[int]) -> tuple[int, int, int]:
    try:
        red, green, blue = (min(max(int(part), 0), 255) for part in value)
    except (TypeError, ValueError):
        raise UsageError(f"a colour is {value!r}, expected three numbers from 0 to 255") from None
    return red, green, blue
