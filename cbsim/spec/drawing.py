"""Annotations of planners: lines, points and texts in the world.

A planner's optional method ``draw()`` returns a list of these; it is called after `plan` while a run is viewed or
recorded. Annotations change no bit of the run. Numbers are kept in single precision, as in recordings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cbsim.errors import UsageError

__all__ = ["Dots", "Drawing", "Line", "Text", "drawings_of"]

MOST = 2000  # drawings at once
POINTS = 20_000  # points of one drawing
LETTERS = 200  # of a text
BROADEST = 1000.0  # [points of the screen] of a line or a dot
FARTHEST = 1e9  # [m] from the origin
FEW = 6  # numbers that are looked at one by one, which takes a third of the time of array operations


@dataclass(frozen=True, eq=False)
class _Places:
    points: ArrayLike
    """(n, 2) or (n, 3) [m]."""
    colour: Sequence[int] | None = field(default=None, kw_only=True)
    """Red, green, blue from 0 to 255; by default the colour of planners."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", _places(self.points, type(self).__name__))
        if self.colour is not None:
            object.__setattr__(self, "colour", _colour(self.colour))

    @classmethod
    def of(cls, points: NDArray[np.float32], **values: Any) -> Self:
        """Make one of points (n, 3) that nobody writes to, and of checked values; in a fifth of the time of checks."""
        made = object.__new__(cls)
        object.__setattr__(made, "__dict__", {"points": points, **values})  # what is missing are defaults of the class
        return made

    @property
    def single(self) -> NDArray[np.float32]:
        """The points (n, 3) in single precision [m]."""
        return np.asarray(self.points, np.float32)  # as they are kept

    @property
    def places(self) -> NDArray[np.float64]:
        """The points (n, 3) [m]."""
        return np.asarray(self.points, float)


@dataclass(frozen=True, eq=False)
class Line(_Places):
    """A line through points (n, 2) or (n, 3) [m]; `width` in points of the screen."""

    width: float = 2.0
    closed: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "width", _breadth(self.width, "Line: width"))


@dataclass(frozen=True, eq=False)
class Dots(_Places):
    """Points (n, 2) or (n, 3) [m]; `size` in points of the screen."""

    size: float = 4.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "size", _breadth(self.size, "Dots: size"))


@dataclass(frozen=True, eq=False)
class Text(_Places):
    """A line of text at a point (2,) or (3,) [m]."""

    text: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        line = next(iter(str(self.text).splitlines()), "")
        object.__setattr__(self, "text", "".join(sign if sign.isprintable() else " " for sign in line[:LETTERS]))


Drawing = Line | Dots | Text


def drawings_of(shown: object) -> tuple[Drawing, ...]:
    """Check what a planner's `draw` returned.

    Raises
    ------
    UsageError
        If it is not a sequence of drawings.
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


def _places(value: ArrayLike, who: str) -> NDArray[np.float32]:
    try:
        points = np.asarray(value, float)  # `places` is a copy
        points = points[:POINTS] if points.ndim > 1 else points.reshape(1, -1)
    except (TypeError, ValueError):
        points = np.full((1, 1), np.nan)
    if not points.size:
        return np.zeros((0, 3), np.float32)
    if points.size <= FEW:
        is_near = all(-FARTHEST <= number <= FARTHEST for number in points.reshape(-1).tolist())
    else:
        is_near = bool(np.maximum.reduce(np.abs(points), axis=None) <= FARTHEST)  # nan if any is
    if points.ndim != 2 or points.shape[1] not in {2, 3} or not is_near:
        raise UsageError(f"{who}: points are {str(value)[:60]}, expected (n, 2) or (n, 3) numbers up to {FARTHEST:g} m")
    places = np.zeros((len(points), 3), np.float32)
    places[:, : points.shape[1]] = points
    return places


def _breadth(value: float, what: str) -> float:
    try:
        breadth = float(value)
    except (TypeError, ValueError):
        breadth = -1.0
    if not 0.0 <= breadth <= BROADEST:
        raise UsageError(f"{what} is {value!r}, expected a number of points from 0 to {BROADEST:g}")
    return float(np.float32(breadth))


def _colour(value: Sequence[int]) -> tuple[int, int, int]:
    try:
        red, green, blue = (min(max(int(part), 0), 255) for part in value)
    except (TypeError, ValueError):
        raise UsageError(f"a colour is {value!r}, expected three numbers from 0 to 255") from None
    return red, green, blue
