"""Potential energy, and mechanical energy of a maximal state at the half step before it, the time of its velocities."""

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

__all__ = ["mechanical_energy", "potential_energy"]


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
    both = (potential_energy(spec, one[:, :3], one[:, 6:10]) for one in (before, z))
    return float(kinetic + 0.5 * math.fsum(both))


def potential_energy(spec: MechanismSpec, x: Floats, q: Floats) -> Floats:
    """Energy (...) [J] of gravity, zero at the origin, and of springs, of bodies at places (..., bodies, 3 and 4)."""
    total = -times(times(x, spec.gravity), np.array([body.mass for body in spec.bodies]))
    for joint in spec.joints:
        if joint.spring:
            slide, turn = joint.translational, joint.rotational
            shift, vector = _coordinates(spec, joint, x, q)
            total = total + 0.5 * slide.spring * square(shift - slide.spring_offset).sum(axis=-1)
            total = total + 0.5 * turn.spring * square(vector - turn.spring_offset).sum(axis=-1)
    return np.asarray(total)


def _coordinates(spec: MechanismSpec, joint: JointConstraint, x: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Free coordinates of a joint: translations, and a rotation vector (docs/theory/joints_and_loops.md §2)."""
    child = spec.bodies.index(joint.child)
    place, turn = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
    if isinstance(joint.parent, Body):
        parent = spec.bodies.index(joint.parent)
        place, turn = x[..., parent, :], q[..., parent, :]
    slides, turns = joint.translational, joint.rotational
    point = x[..., child, :] + rotate(q[..., child, :], slides.vertices[1])
    apart = rotate(conjugate(turn), point - place) - slides.vertices[0]
    turned = multiply(conjugate(turns.orientation_offset), multiply(conjugate(turn), q[..., child, :]))
    length = norm(turned[..., 1:], axis=-1, keepdims=True)
    angle = 2.0 * np.asarray(math.atan2(length, turned[..., :1]))
    vector = turned[..., 1:] * np.divide(angle, length, out=np.full_like(length, 2.0), where=length > 1e-8)
    return times(apart, slides.masks.free.T), times(vector, turns.masks.free.T)
