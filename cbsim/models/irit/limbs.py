"""Inverse kinematics of a walker's legs: position of the knee, and rotations of hip and shin from rest.

A leg lies in a plane through its root and its foot. In the plane the triangle root, knee, foot has sides a and b and
the distance d of the foot; the plane stands upright, or leans about the line from root to foot as it does at rest.
Everything works on arrays of legs (…, legs, 3), in any frame whose z is up.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cbsim.arrays import Floats
from cbsim.geometry import elementary as math
from cbsim.geometry.linear import norm

__all__ = ["Limbs", "Posture", "cross", "unit"]

TINY = 1e-12


def unit(vectors: Floats) -> Floats:
    """Vectors (…, 3) made of length one; zero stays."""
    lengths = np.sqrt((vectors * vectors).sum(axis=-1, keepdims=True))
    return np.asarray(vectors / np.where(lengths > 0.0, lengths, 1.0))


def cross(a: Floats, b: Floats) -> Floats:
    """Cross products (…, 3); numpy's own takes several times as long for few of them."""
    x, y, z = a[..., 0], a[..., 1], a[..., 2]
    u, v, w = b[..., 0], b[..., 1], b[..., 2]
    out = np.empty(np.broadcast_shapes(a.shape, b.shape))
    out[..., 0], out[..., 1], out[..., 2] = y * w - z * v, z * u - x * w, x * v - y * u
    return out


class Posture(NamedTuple):
    """Postures of legs.

    Attributes
    ----------
    yaw : ndarray (…, legs)
        Direction of the foot from the root, seen from above [rad].
    lift : ndarray
        Elevation of the hip part above the horizontal [rad], of a leg whose plane stands upright.
    bend : ndarray
        Angle inside the knee [rad]; π is straight.
    knee : ndarray (…, legs, 3)
        Positions of the knees.
    hip, shin : ndarray (…, legs, 3, 3)
        Axes of the two parts as columns: along it, normal to the plane of the leg, and the third.
    """

    yaw: Floats
    lift: Floats
    bend: Floats
    knee: Floats
    hip: Floats
    shin: Floats


@dataclass(frozen=True, eq=False)
class Limbs:
    """Legs at rest.

    Attributes
    ----------
    root, knee, foot : ndarray, shape (legs, 3)
        Points of each leg at rest.
    """

    root: Floats
    knee: Floats
    foot: Floats

    @cached_property
    def upper(self) -> Floats:
        """Length a (legs,) from root to knee [m]."""
        return np.asarray(norm(self.knee - self.root, axis=1))

    @cached_property
    def lower(self) -> Floats:
        """Length b (legs,) from knee to foot [m]."""
        return np.asarray(norm(self.foot - self.knee, axis=1))

    @property
    def reach(self) -> tuple[Floats, Floats]:
        """Least and largest distance (legs,) of a foot from its root."""
        return np.abs(self.upper - self.lower), self.upper + self.lower

    @cached_property
    def lean(self) -> Floats:
        """Angle (legs,) by which the plane of a leg is turned about the line to its foot, from upright [rad]."""
        along = unit(self.foot - self.root)
        _, up = self._upright(along)
        out = self.knee - self.root
        out = out - (out * along).sum(axis=1, keepdims=True) * along
        aside = (out * cross(along, up)).sum(axis=1)
        angle = math.atan2(aside, (out * up).sum(axis=1))
        straight = norm(out, axis=1) <= 1e-9 * self.upper
        return np.asarray(np.where(straight | (np.abs(angle) < 1e-9), 0.0, angle))

    @cached_property
    def rest(self) -> Posture:
        """The legs as they are at rest."""
        return self.posture(self.foot)

    def _upright(self, along: Floats) -> tuple[Floats, Floats]:
        """Return the normal of the upright plane through directions (…, legs, 3), and what is up in it across them."""
        flat = math.hypot(along[..., 0], along[..., 1])
        below = flat < TINY  # a foot straight under its root: as the leg points at rest
        rest = self.foot - self.root
        resting = math.hypot(rest[:, 0], rest[:, 1])
        resting = np.where(resting < TINY, 1.0, resting)
        safe = np.where(below, 1.0, flat)
        c = np.where(below, rest[:, 0] / resting, along[..., 0] / safe)
        s = np.where(below, rest[:, 1] / resting, along[..., 1] / safe)
        normal = np.stack([s, -c, np.zeros_like(c)], axis=-1)
        return normal, cross(normal, along)

    def distance(self, foot: Floats) -> Floats:
        """Distance (…, legs) of feet from their roots."""
        arm = foot - self.root
        return np.asarray(np.sqrt((arm * arm).sum(axis=-1)))

    def reaches(self, foot: ArrayLike, slack: float = 1e-9) -> NDArray[np.bool_]:
        """Whether legs reach feet (…, legs, 3)."""
        distance, (low, high) = self.distance(np.asarray(foot, float)), self.reach
        return np.asarray((distance >= low - slack * high) & (distance <= high * (1.0 + slack)))

    def posture(self, foot: ArrayLike) -> Posture:
        """Posture of legs with feet at (…, legs, 3); out of reach, legs point there, straight or folded."""
        arm = np.asarray(foot, float) - self.root
        (low, high), a, b = self.reach, self.upper, self.lower
        length = np.sqrt((arm * arm).sum(axis=-1))
        d = np.clip(length, np.maximum(low, TINY * high), high)
        along = arm / np.where(length > TINY, length, 1.0)[..., None]
        along = np.where((length > TINY)[..., None], along, (0.0, 0.0, -1.0))
        at_root = math.acos(np.clip((a * a + d * d - b * b) / (2.0 * a * d), -1.0, 1.0))
        bend = math.acos(np.clip((a * a + b * b - d * d) / (2.0 * a * b), -1.0, 1.0))
        normal, up = self._upright(along)
        yaw = math.atan2(normal[..., 0], -normal[..., 1])
        lean_c, lean_s = math.cos(self.lean)[:, None], math.sin(self.lean)[:, None]
        out = lean_c * up + lean_s * cross(along, up)
        normal = lean_c * normal + lean_s * cross(along, normal)
        toward = math.cos(at_root)[..., None] * along + math.sin(at_root)[..., None] * out
        knee = self.root + a[:, None] * toward
        down = (d[..., None] * along - a[:, None] * toward) / b[:, None]
        lift = math.atan2(along[..., 2], math.hypot(along[..., 0], along[..., 1])) + at_root
        return Posture(yaw, lift, bend, knee, _axes(toward, normal), _axes(down, normal))


def _axes(along: Floats, normal: Floats) -> Floats:
    return np.stack([along, normal, cross(along, normal)], axis=-1)
