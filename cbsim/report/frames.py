"""Which steps a page keeps, and in what grain: whole numbers of a stated size, and how far off the rest is.

Every k-th step is a frame, besides the first, the last, and those at which something is worth a look. Between frames
a page goes straight; how far that is from what was recorded is measured here over every step, not estimated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cbsim.geometry.polyline import wrap

__all__ = ["NOTHING", "Grain", "Motion", "between", "frames_of", "quantised"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NOTHING = -(2**31)  # stands for no value
MOST = 2**30  # differences of two values stay within 32 bits


@dataclass(frozen=True, slots=True)
class Grain:
    """Values as multiples of a unit.

    Attributes
    ----------
    counts : ndarray of int32, shape (n,)
        `NOTHING` where there is no value.
    unit : float
        What one of them is; a value is off by half of it at most.
    """

    counts: NDArray[np.int32]
    unit: float

    @property
    def values(self) -> Floats:
        """The values (n,), nan where there is none."""
        return np.where(self.counts == NOTHING, np.nan, self.counts * self.unit)


@dataclass(frozen=True, eq=False)
class Motion:
    """Where one body is: `x`, `y` [m] and `heading` [rad, without jumps], each (n,)."""

    x: Floats
    y: Floats
    heading: Floats

    def at(self, rows: Ints) -> Motion:
        """Take some of the rows."""
        return Motion(self.x[rows], self.y[rows], self.heading[rows])

    @property
    def turns(self) -> bool:
        """Whether it moves at all."""
        return any(bool(np.ptp(column) > 0.0) for column in (self.x, self.y, self.heading) if len(column))


def quantised(values: Floats, unit: float) -> Grain:
    """Round to multiples of a unit, of a larger one (in powers of ten) where the values are too far from zero.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Not finite: no value.
    """
    known = np.isfinite(values)
    largest = float(np.abs(values[known]).max(initial=0.0))
    while largest / unit > MOST:
        unit *= 10.0
    counts = np.full(len(values), NOTHING, np.int32)
    counts[known] = np.round(values[known] / unit).astype(np.int32)
    return Grain(counts, unit)


def frames_of(steps: int, stride: int, marks: Ints) -> Ints:
    """Rows to keep of a number of steps: every stride-th, the last, and those that are marked."""
    if not steps:
        return np.zeros(0, np.int64)
    kept = np.zeros(steps, bool)
    kept[::stride] = True
    kept[-1] = True
    kept[marks[(marks >= 0) & (marks < steps)]] = True
    return np.flatnonzero(kept)


def between(times: Floats, frames: Ints, motion: Motion) -> tuple[float, float]:
    """Measure what going straight between frames loses: the largest error of place [m] and of heading [rad]."""
    if len(frames) == len(times):
        return 0.0, 0.0
    kept = motion.at(frames)
    x, y, turned = (np.interp(times, times[frames], column) for column in (kept.x, kept.y, kept.heading))
    off = np.hypot(x - motion.x, y - motion.y)
    return float(off.max(initial=0.0)), float(np.abs(wrap(turned - motion.heading)).max(initial=0.0))
