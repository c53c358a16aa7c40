"""Mechanical energy of a maximal state, at the half step before it, the time of its velocities."""

from __future__ import annotations

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry import elementary as math
from cbsim.geometry.elementary import square
from cbsim.geometry.linear import norm, times
from cbsim.geometry.pose import conjugate, multiply, rotate
from cbsim.spec.mechanism.bodies import Body
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.joints import JointConstraint
from cbsim.spec.mechanism.state import step_quaternion

__all__ = ["mechanical_energy"]


def mechanical_energy(spec: MechanismSpec, z: Floats) -> float:
    """Kinetic and potential energy [J] of a maximal state (bodies, 13).

    Notes
    -----
    The kinetic energy follows from the velocities between the previous node and this one, the potential energy is the
    mean of both nodes. Both belong to the middle of the step, so that errors of first order in its length cancel.
    """
    h, mass = spec.timestep, np.array([body.mass for body in spec.bodies])
    inertia = np.array([body.inertia for body in spec.bodies])
    v, w = z[:, 3:6], z[:, 10:13]
    kinetic = 0.5 * (times(mass, (v * v).sum(axis=1)) + np.einsum("bij,bi,bj->", inertia, w, w))
    before = z.copy()
    before[:, :3] -= h * v
    before[:, 6:10] = multiply(z[:, 6:10], step_quaternion(-w, h))
    return float(kinetic + 0.5 * (_potential(spec, mass, before) + _potential(spec, mass, z)))


def _potential(spec: MechanismSpec, mass: Floats, z: Floats) -> float:
    total = -float(times(mass, times(z[:, :3], spec.gravity)))
    for joint in spec.joints:
        if joint.spring:
            slide, turn = joint.translational, joint.rotational
            shift, vector = _coordinates(spec, joint, z)
            total += 0.5 * slide.spring * float(square(shift - slide.spring_offset).sum())
            total += 0.5 * turn.spring * float(square(vector - turn.spring_offset).sum())
    return total


def _coordinates(spec: MechanismSpec, joint: JointConstraint, z: Floats) -> tuple[Floats, Floats]:
    """Free coordinates of a joint: translations, and a rotation vector (docs/theory/joints_and_loops.md §2)."""
    child = z[spec.bodies.index(joint.child)]
    x, q = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
    if isinstance(joint.parent, Body):
        parent = z[spec.bodies.index(joint.parent)]
        x, q = parent[:3], parent[6:10]
    vertices = joint.translational.vertices
    apart = rotate(conjugate(q), child[:3] + rotate(child[6:10], vertices[1]) - x) - vertices[0]
    turned = multiply(conjugate(joint.rotational.orientation_offset), multiply(conjugate(q), child[6:10]))
    length = float(norm(turned[1:]))
    vector = turned[1:] * (2.0 * math.atan2(length, turned[0]) / length if length > 1e-8 else 2.0)
    return times(joint.translational.masks.free, apart), times(joint.rotational.masks.free, vector)
