"""Energy and momentum of a trajectory, from what bodies have at the nodes (docs/theory/integrator.md §9)."""

from __future__ import annotations

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry.pose import conjugate, multiply, rotate
from cbsim.multibody.mechanism import Mechanism
from cbsim.multibody.storage import Storage, check_storage
from cbsim.spec.mechanism.bodies import Body
from cbsim.spec.mechanism.joints import JointConstraint

__all__ = ["kinetic_energy", "mechanical_energy", "momentum", "potential_energy"]


def kinetic_energy(mechanism: Mechanism, storage: Storage) -> Floats:
    """Kinetic energy (steps,) [J] at every node."""
    check_storage(mechanism, storage)
    mass = np.array([body.mass for body in mechanism.bodies])
    inertia = np.array([body.inertia for body in mechanism.bodies])
    moving = np.einsum("b,kbi,kbi->k", mass, storage.vl, storage.vl)
    turning = np.einsum("bij,kbi,kbj->k", inertia, storage.wl, storage.wl)
    return np.asarray(0.5 * (moving + turning))


def potential_energy(mechanism: Mechanism, storage: Storage) -> Floats:
    """Potential energy (steps,) [J] of gravity (zero at the origin) and springs, at every node."""
    check_storage(mechanism, storage)
    mass = np.array([body.mass for body in mechanism.bodies])
    total = -np.einsum("b,i,kbi->k", mass, mechanism.gravity, storage.x)
    for joint in mechanism.joints:
        slide, turn = joint.translational, joint.rotational
        if joint.spring:
            shift, vector = _coordinates(mechanism, storage, joint)
            total += 0.5 * slide.spring * ((shift - slide.spring_offset) ** 2).sum(axis=1)
            total += 0.5 * turn.spring * ((vector - turn.spring_offset) ** 2).sum(axis=1)
    return np.asarray(total)


def _coordinates(mechanism: Mechanism, storage: Storage, joint: JointConstraint) -> tuple[Floats, Floats]:
    """Free coordinates of a joint, loop joints too: translations (steps, n), rotations (steps, m)."""
    steps = len(storage)
    child = mechanism.place_of[joint.child]
    x, q = np.zeros((steps, 3)), np.tile([1.0, 0.0, 0.0, 0.0], (steps, 1))
    if isinstance(joint.parent, Body):
        parent = mechanism.place_of[joint.parent]
        x, q = storage.x[:, parent], storage.q[:, parent]
    back = conjugate(q)
    vertices = joint.translational.vertices
    point = storage.x[:, child] + rotate(storage.q[:, child], vertices[1])
    apart = rotate(back, point - x) - vertices[0]
    offset = conjugate(joint.rotational.orientation_offset)
    turned = multiply(offset, multiply(back, storage.q[:, child]))
    length = np.linalg.norm(turned[:, 1:], axis=1, keepdims=True)
    angle = 2.0 * np.arctan2(length, turned[:, :1])
    vector = np.divide(angle, length, out=np.full_like(length, 2.0), where=length > 1e-8) * turned[:, 1:]
    return apart @ joint.translational.masks.free.T, vector @ joint.rotational.masks.free.T


def mechanical_energy(mechanism: Mechanism, storage: Storage) -> Floats:
    """Kinetic plus potential energy (steps,) [J] at every node."""
    return kinetic_energy(mechanism, storage) + potential_energy(mechanism, storage)


def momentum(mechanism: Mechanism, storage: Storage) -> Floats:
    """Momentum (steps, 6) in the world at every node: linear [N s], angular about the centre of mass of all [N m s].

    Means of what comes in and what goes out; the impulses of contacts are counted whole in what goes out.
    """
    check_storage(mechanism, storage)
    mass = np.array([body.mass for body in mechanism.bodies])
    linear = storage.px.sum(axis=1)
    share = mass / mass.sum()
    arm = storage.x - np.einsum("b,kbi->ki", share, storage.x)[:, None]
    own = storage.px - share[None, :, None] * linear[:, None]
    angular = (rotate(storage.q, storage.pq) + np.cross(arm, own)).sum(axis=1)
    return np.concatenate([linear, angular], axis=1)
