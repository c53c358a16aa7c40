"""Motion of a robot's frames over time, with interpolation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from cbsim.arrays import Floats

__all__ = ["Track", "slerp"]


def slerp(p: ArrayLike, q: ArrayLike, share: ArrayLike) -> Floats:
    """Spherical linear interpolation from p to q along the shorter arc.

    Parameters
    ----------
    p, q : array_like, shape (..., 4)
        Unit quaternions.
    share : array_like, shape (...)
        0 gives p, 1 gives q.

    Notes
    -----
    sin((1 − s) θ) / sin θ · p + sin(s θ) / sin θ · q with cos θ = p · q. A time step rotates a body by
    2 asin(h |w| / 2), less than half a turn, so the shorter arc is the actual one.
    """
    a, b, s = np.asarray(p, float), np.asarray(q, float), np.asarray(share, float)[..., None]
    cosine = (a * b).sum(-1, keepdims=True)
    b, cosine = np.where(cosine < 0.0, -b, b), np.minimum(np.abs(cosine), 1.0)
    angle = np.arccos(cosine)
    near = angle < 1e-6
    sine = np.where(near, 1.0, np.sin(angle))
    one = np.where(near, 1.0 - s, np.sin((1.0 - s) * angle) / sine)
    other = np.where(near, s, np.sin(s * angle) / sine)
    return np.asarray(one * a + other * b)


@dataclass(frozen=True, eq=False)
class Track:
    """A sampled motion.

    Attributes
    ----------
    times : ndarray, shape (n,)
        Increasing [s].
    x : ndarray, shape (n, bodies, 3)
        Positions [m].
    q : ndarray, shape (n, bodies, 4)
        Orientations, scalar first, body to world.
    """

    times: Floats
    x: Floats
    q: Floats

    def sample(self, times: ArrayLike) -> tuple[Floats, Floats]:
        """Interpolate positions (m, bodies, 3) and orientations (m, bodies, 4) at times (m,), clamped to the ends.

        At a node the result is bitwise equal to it; times within a millionth of a step count as the node.
        """
        at = np.clip(np.asarray(times, float), self.times[0], self.times[-1])
        if len(self.times) == 1:
            return np.repeat(self.x, len(at), axis=0), np.repeat(self.q, len(at), axis=0)
        after = np.clip(np.searchsorted(self.times, at), 1, len(self.times) - 1)
        before = after - 1
        share = ((at - self.times[before]) / (self.times[after] - self.times[before]))[:, None]
        node = np.where(share[:, 0] > 0.5, after, before)
        between = (np.abs(share - np.round(share)) > 1e-6)[..., None]
        x = self.x[before] + share[..., None] * (self.x[after] - self.x[before])
        q = slerp(self.q[before], self.q[after], share)
        return np.where(between, x, self.x[node]), np.where(between, q, self.q[node])
