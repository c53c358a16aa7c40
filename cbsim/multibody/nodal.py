"""Velocities of joints and of bodies at a node itself, where those of a state are differences over the step before it.

A joint's rates turn into motions of its child as its point does: v_P = v_a + ω_a × r_P + R_a Aᵀ ṡ, ω_b = ω_a + R_b ω,
v_b = v_P − ω_b × R_b p_b, with ω along the joint's free axes in the child's frame (docs/theory/joints_and_loops.md §8,
for h → 0).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.model import Model
from cbsim.geometry.linear import times
from cbsim.geometry.pose import conjugate, multiply, rotate

__all__ = ["body_velocities", "joint_rates"]

WHOLE = 1e-9  # scalar of a rotation below which two free rotations leave the third component undetermined


class _Joint(NamedTuple):
    """A link at a node: its parent's row (or the world), the arms to the joint's point, axes, relative rotation."""

    parent: Floats  # x, v, q, w as a row of a state, with w in the world
    arm: Floats  # from the parent's centre of mass to the joint's point, in the world
    vertex: Floats  # from the child's centre of mass to it, in the world
    slides: Floats  # free directions, in the world
    axes: Floats  # of free rotations, in the child's frame
    normal: Floats  # the constrained one of two
    relative: Floats


WORLD = np.array([0.0] * 6 + [1.0] + [0.0] * 6)


def body_velocities(model: Model, x: Floats, z: Floats) -> None:
    """Write to rows of a state (bodies, 13), poses done, the velocities at the node of a minimal state's rates."""
    first = 0
    for b in range(model.links):
        seen, row, dof = _look(model, b, z), z[model.link[b, c.BODY]], int(model.link[b, c.DOF])
        rates = x[first + dof : first + 2 * dof]
        first += 2 * dof
        slides = len(seen.slides)
        spin = times(rates[slides:], seen.axes)
        if len(seen.axes) == 2:  # what keeps the joint on its constraint: s ω₃ + r₁ ω₂ − r₂ ω₁ = 0
            s, (r1, r2) = seen.relative[0], times(seen.axes, seen.relative[1:])
            third = (r2 * rates[slides] - r1 * rates[slides + 1]) / s if abs(s) > WHOLE else 0.0
            spin = spin + third * seen.normal
        turning = seen.parent[10:] + rotate(row[6:10], spin)
        point = seen.parent[3:6] + np.cross(seen.parent[10:], seen.arm) + times(rates[:slides], seen.slides)
        row[3:6] = point - np.cross(turning, seen.vertex)
        row[10:] = rotate(conjugate(row[6:10]), turning)


def joint_rates(model: Model, z: Floats, x: Floats) -> None:
    """Write to a minimal state, coordinates done, the rates at the node of a state's velocities (bodies, 13)."""
    first = 0
    for b in range(model.links):
        seen, row, dof = _look(model, b, z), z[model.link[b, c.BODY]], int(model.link[b, c.DOF])
        turning = rotate(row[6:10], row[10:])
        apart = row[3:6] + np.cross(turning, seen.vertex) - seen.parent[3:6] - np.cross(seen.parent[10:], seen.arm)
        spin = rotate(conjugate(row[6:10]), turning - seen.parent[10:])
        x[first + dof : first + 2 * dof] = np.concatenate([times(seen.slides, apart), times(seen.axes, spin)])
        first += 2 * dof


def _look(model: Model, b: int, z: Floats) -> _Joint:
    link, joint = model.link[b], model.joint[b]
    child, above = z[link[c.BODY]], int(link[c.PARENT])
    parent = (z[model.link[above, c.BODY]] if above >= 0 else WORLD).copy()
    parent[10:] = rotate(parent[6:10], parent[10:])
    vertex = rotate(child[6:10], joint[c.CHILD_VERTEX : c.CHILD_VERTEX + 3])
    slides = joint[c.SLIDE_AXES : c.SLIDE_AXES + 9].reshape(3, 3)[: link[c.N_TRANS]]
    axes = joint[c.TURN_AXES : c.TURN_AXES + 9].reshape(3, 3)
    offset = conjugate(joint[c.ORIENTATION : c.ORIENTATION + 4])
    relative = multiply(offset, multiply(conjugate(parent[6:10]), child[6:10]))
    return _Joint(
        parent, child[:3] + vertex - parent[:3], vertex, rotate(parent[6:10], slides), axes[: link[c.N_ROT]], axes[2],
        relative,
    )  # fmt: skip
