"""Least mass moved by a joint's damper: a lower bound in all states.

Sought are masses μ with Σ μ |ẏ|² ≤ 2 T over the damped joints for all motions of the bodies; with them the midpoint
rule of `cbsim.dynamics.kernels.dampers` never increases energy. A body shares its mass and inertia equally among its
damped joints, and every joint is considered with its own two bodies alone: removing constraints only decreases an
effective mass (Gauss). With λ the least moment of inertia about a centre of mass, r the
arm from there to the joint's point, m the reduced mass of both bodies:

================================================  ==========================================================
joint                                             mass
================================================  ==========================================================
one rotation n, on the world                      n J n + m |n × r|²
more rotations, on the world                      least eigenvalue of J + m (r² − r rᵀ)
one rotation, on a body                           1 / (n J⁻¹ n of the child + n J⁻¹ n of the parent)
more rotations, on a body                         1 / (1/λ of the child + 1/λ of the parent)
translations, on what cannot turn                 m
one translation, on a body that can               m λ / (λ + m d²), λ of both together, d how far the centres
                                                  of mass are from each other across the translation
translations and rotations, on what cannot turn   least eigenvalue of ((m, −m r), (−m r, m r² + λ))
all others: arbitrarily small                     0
================================================  ==========================================================
"""

from __future__ import annotations

import math

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.dynamics.kernels import columns as c
from cbsim.geometry.linear import eigvalsh, norm, solve, times
from cbsim.geometry.pose import rotate

__all__ = ["least_masses"]

FLAT = 1e-12  # ratio of least to largest moment of inertia below which the least counts as zero


class _Body:
    """A share of a body: mass, inertia (3, 3) about its centre of mass, the least moment."""

    def __init__(self, row: Floats, joints: int) -> None:
        xx, yy, zz, xy, xz, yz = (row[c.INERTIA : c.INERTIA + 6] / joints).tolist()
        self.mass = float(row[c.MASS]) / joints
        self.inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        values = eigvalsh(self.inertia)
        self.least = float(values.min()) if values.min() > FLAT * values.max() else 0.0

    def about(self, axis: Floats) -> float:
        """N J⁻¹ n of a unit vector, infinite without inertia."""
        return float((axis * solve(self.inertia, axis)).sum()) if self.least > 0.0 else math.inf


def least_masses(links: int, link: Ints, joint: Floats) -> Floats:
    """Compute the masses (links,) [kg, kg m²] of the tree's joints, as if all had dampers."""
    parent, damped = link[:links, c.PARENT], joint[:links, c.DAMPER] > 0.0
    holds = damped.astype(np.int64)  # joints with dampers at each body
    for b in range(links):
        if damped[b] and parent[b] >= 0:
            holds[parent[b]] += 1
    still, turns = np.zeros(links, bool), np.zeros(links, bool)
    masses = np.zeros(links)
    for b in range(links):
        a = int(parent[b])
        still[b] = link[b, c.DOF] == 0 and (a < 0 or still[a])
        turns[b] = link[b, c.N_ROT] > 0 or (a >= 0 and turns[a])
        if link[b, c.DOF] == 0:
            continue
        child = _Body(joint[b], int(holds[b] + (not damped[b])))
        if a < 0 or still[a]:
            masses[b] = _on_world(link[b], joint[b], child)
        else:
            other = _Body(joint[a], int(holds[a] + (not damped[b])))
            masses[b] = _on_body(link[b], joint[b], child, other, bool(turns[a]))
    return masses


def _on_world(link: Ints, joint: Floats, child: _Body) -> float:
    arm = joint[c.CHILD_VERTEX : c.CHILD_VERTEX + 3]
    if link[c.N_ROT] == 0:
        return child.mass
    if link[c.N_TRANS] > 0:
        return _both(child.mass, child.least, float(norm(arm)))
    whole = child.inertia + child.mass * (float((arm * arm).sum()) * np.eye(3) - np.outer(arm, arm))
    if link[c.N_ROT] == 1:
        axis = joint[c.TURN_AXES : c.TURN_AXES + 3]
        return float((axis * times(whole, axis)).sum())
    return max(0.0, float(eigvalsh(whole).min()))


def _on_body(link: Ints, joint: Floats, child: _Body, parent: _Body, turns: bool) -> float:
    offset = joint[c.ORIENTATION : c.ORIENTATION + 4]
    if link[c.N_TRANS] == 0:
        if link[c.N_ROT] == 1:
            axis = joint[c.TURN_AXES : c.TURN_AXES + 3]
            return 1.0 / (child.about(axis) + (parent.about(rotate(offset, axis)) if turns else 0.0))
        return _beside(child.least, parent.least) if turns else child.least
    mass, arm = _beside(child.mass, parent.mass), joint[c.CHILD_VERTEX : c.CHILD_VERTEX + 3]
    if not turns:
        return mass if link[c.N_ROT] == 0 else _both(mass, child.least, float(norm(arm)))
    if link[c.N_TRANS] > 1 or link[c.N_ROT] > 0:
        return 0.0
    axis = joint[c.SLIDE_AXES : c.SLIDE_AXES + 3]
    apart = joint[c.PARENT_VERTEX : c.PARENT_VERTEX + 3] - rotate(offset, arm)
    apart = apart - float((apart * axis).sum()) * axis
    least = child.least + parent.least
    return mass * least / (least + mass * float((apart * apart).sum())) if least > 0.0 else 0.0


def _beside(one: float, other: float) -> float:
    """Reduced mass, or moment of inertia."""
    return one * other / (one + other) if one > 0.0 and other > 0.0 else 0.0


def _both(mass: float, least: float, arm: float) -> float:
    """Least eigenvalue of ((m, −m r), (−m r, m r² + λ)), a difference written as a quotient."""
    turning = mass * arm * arm + least
    half = 0.5 * (mass + turning)
    return mass * least / (half + math.sqrt(max(0.0, half * half - mass * least))) if least > 0.0 else 0.0
