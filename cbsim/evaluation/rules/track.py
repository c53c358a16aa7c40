"""`Track`: motion of one object during a batch, with the step before it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry.kernels.planar import planar_into
from cbsim.geometry.polyline import left_of
from cbsim.world.motion import MOTION

__all__ = ["Track", "planar"]


@dataclass(frozen=True, eq=False)
class Track:
    """The motion of one object over n steps; row 0 is the step before them, or the first step itself at the start.

    Attributes
    ----------
    steps : ndarray, shape (n + 1,)
        Step numbers.
    step : float
        [s]
    motion : ndarray, shape (n + 1, 13)
        As in `cbsim.recording.batch.MOTION`.
    width, length : float
        Of its footprint [m].
    """

    steps: Floats
    step: float
    motion: Floats
    width: float
    length: float

    def part(self, start: int, end: int) -> Track:
        """Return the steps `start` to `end` of the batch, with the one before them."""
        rows = slice(start, end + 1)
        return Track(self.steps[rows], self.step, self.motion[rows], self.width, self.length)

    @property
    def positions(self) -> Floats:
        """Positions of the centre, shape (n + 1, 3) [m]."""
        return self.motion[:, MOTION["position"]]

    @property
    def centres(self) -> Floats:
        """Horizontal positions of the centre, shape (n + 1, 2) [m]."""
        return self.motion[:, 0:2]

    @cached_property
    def times(self) -> Floats:
        """Times, shape (n + 1,) [s]."""
        return np.asarray(self.steps * self.step)

    @cached_property
    def _planar(self) -> Floats:
        return planar(self.motion)

    @cached_property
    def headings(self) -> Floats:
        """Headings, shape (n + 1,) [rad]."""
        return np.asarray(self._planar[:, 0])

    @cached_property
    def ahead(self) -> Floats:
        """Unit vectors forward, shape (n + 1, 2)."""
        return np.asarray(self._planar[:, 1:3])

    @cached_property
    def speeds(self) -> Floats:
        """Magnitudes of the velocity, shape (n + 1,) [m/s]."""
        return np.asarray(self._planar[:, 3])

    @cached_property
    def fronts(self) -> Floats:
        """Middle of the front bumper, shape (n + 1, 2) [m]."""
        return np.asarray(self.centres + 0.5 * self.length * self.ahead)

    def corners(self, rows: np.ndarray) -> Floats:
        """Corners of the footprint at some rows, shape (k, 4, 2) [m]: front left, front right, rear right, left."""
        ahead = 0.5 * self.length * self.ahead[rows]
        aside = 0.5 * self.width * left_of(self.ahead[rows])
        offsets = np.stack([ahead + aside, ahead - aside, -ahead - aside, -ahead + aside], axis=1)
        return np.asarray(self.centres[rows][:, None] + offsets)


def planar(motion: Floats) -> Floats:
    """Headings [rad], unit vectors along them, and speeds [m/s] of bodies, shape (n, 13) → (n, 4)."""
    out = np.empty((len(motion), 4))
    planar_into(np.array(motion, float, order="C"), out)  # a copy: one type of array
    return out
