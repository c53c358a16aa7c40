"""Motion of a robot's frames over time, and what lies between two nodes of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Track", "slerp"]

Array = NDArray[np.float64]


def slerp(p: ArrayLike, q: ArrayLike, share: ArrayLike) -> Array:
    """Turn evenly from p to q, the shorter way.

    Parameters
    ----------
    p, q : array_like, shape (..., 4)
        Unit quaternions.
    share : array_like, shape (...)
        0 gives p, 1 gives q.

    Notes
    -----
    sin((1 − s) θ) / sin θ · p + sin(s θ) / sin θ · q with cos θ = p · q. A step of a mechanism turns a body by
    2 asin(h |w| / 2), less than half a turn, so the shorter way is the one it took.
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
    """Nodes of a motion.

    Attributes
    ----------
    times : ndarray, shape (n,)
        Rising [s].
    x : ndarray, shape (n, bodies, 3)
        Positions [m].
    q : ndarray, shape (n, bodies, 4)
        Orientations, scalar first, body to world.
    """

    times: Array
    x: Array
    q: Array

    def sample(self, times: ArrayLike) -> tuple[Array, Array]:
        """Positions (m, bodies, 3) and orientations (m, bodies, 4) at times (m,); outside, those of the nearer end.

        At a node it is that node, bit for bit; times within a millionth of a step of it count as there.
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
