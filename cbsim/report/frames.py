"""Frames of a report: selected steps, stored as quantised values, with measured errors.

Frames are every k-th step, the first, the last, and steps with events. The page interpolates linearly between frames;
the resulting error is measured over all steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats, Ints
from cbsim.geometry.polyline import wrap

__all__ = ["MISSING", "Motion", "Quantised", "frames_of", "interpolation_error", "quantise", "unwrapped"]

MISSING = -(2**31)  # sentinel for a missing value
MOST = 2**30  # differences of two values fit into 32 bits


@dataclass(frozen=True, slots=True)
class Quantised:
    """Values as integer multiples of a unit.

    Attributes
    ----------
    counts : ndarray of int32, shape (n,)
        `MISSING` where there is no value.
    unit : float
        The unit; the rounding error is at most half of it.
    """

    counts: NDArray[np.int32]
    unit: float

    @property
    def values(self) -> Floats:
        """Values (n,), nan where missing."""
        return np.where(self.counts == MISSING, np.nan, self.counts * self.unit)


@dataclass(frozen=True, eq=False)
class Motion:
    """Motion of one body: `x`, `y` [m] and unwrapped `heading` [rad], each (n,); nan where it is absent."""

    x: Floats
    y: Floats
    heading: Floats

    def at(self, rows: Ints) -> Motion:
        """Select rows."""
        return Motion(self.x[rows], self.y[rows], self.heading[rows])

    @property
    def turns(self) -> bool:
        """Whether the body moves at all, or is absent at times."""
        there = self.there
        if not there.all():
            return bool(there.any())
        return any(bool(np.ptp(column) > 0.0) for column in (self.x, self.y, self.heading) if len(column))

    @property
    def there(self) -> NDArray[np.bool_]:
        """Where it is there, shape (n,)."""
        return np.isfinite(self.x)


def unwrapped(heading: Floats) -> Floats:
    """Remove the turns by a full circle from headings (n,) [rad], of which some may be nan."""
    found, there = heading.copy(), np.isfinite(heading)
    found[there] = np.unwrap(heading[there])
    return found


def quantise(values: Floats, unit: float) -> Quantised:
    """Round to multiples of a unit, which is enlarged by powers of ten if the values are too large.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Values that are not finite count as missing.
    """
    known = np.isfinite(values)
    largest = float(np.abs(values[known]).max(initial=0.0))
    while largest / unit > MOST:
        unit *= 10.0
    counts = np.full(len(values), MISSING, np.int32)
    counts[known] = np.round(values[known] / unit).astype(np.int32)
    return Quantised(counts, unit)


def frames_of(steps: int, stride: int, events: Ints) -> Ints:
    """Rows to keep: every stride-th, the last, and marked ones."""
    if not steps:
        return np.zeros(0, np.int64)
    kept = np.zeros(steps, bool)
    kept[::stride] = True
    kept[-1] = True
    kept[events[(events >= 0) & (events < steps)]] = True
    return np.flatnonzero(kept)


def interpolation_error(times: Floats, frames: Ints, motion: Motion) -> tuple[float, float]:
    """Measure the largest error of linear interpolation between frames: position [m] and heading [rad]."""
    if len(frames) == len(times):
        return 0.0, 0.0
    kept = motion.at(frames)
    x, y, turned = (np.interp(times, times[frames], column) for column in (kept.x, kept.y, kept.heading))
    off = np.hypot(x - motion.x, y - motion.y)
    known = np.isfinite(off)
    return float(off[known].max(initial=0.0)), float(np.abs(wrap((turned - motion.heading)[known])).max(initial=0.0))
