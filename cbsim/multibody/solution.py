"""Results of the last solve on a mechanism's own state: impulses, residuals and data by node."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

import numpy as np

from cbsim.arrays import Floats
from cbsim.dynamics.compile import Compiled
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.kernels.tables import Work
from cbsim.spec.mechanism.bodies import Body, Node
from cbsim.spec.mechanism.collisions import SphereHalfSpaceCollision
from cbsim.spec.mechanism.contacts import (
    ContactConstraint,
    ForceContact,
    ImpactContact,
    LinearContact,
    NonlinearContact,
)
from cbsim.spec.mechanism.joints import JointConstraint
from cbsim.spec.mechanism.shapes import matrix
from cbsim.spec.mechanism.state import Terms

__all__ = ["Solution"]


COLUMNS = {ImpactContact: 1, LinearContact: 6, ForceContact: 5}  # any other has the four of the round cone


def _skew(v: Floats) -> Floats:
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


class SolvedMechanism(Protocol):
    """What `Solution` reads of a mechanism."""

    pose: Floats
    compiled: Compiled
    row_of: dict[int, int]
    place_of: dict[Node, int]

    @property
    def bodies(self) -> tuple[Body, ...]: ...
    @property
    def joints(self) -> tuple[JointConstraint, ...]: ...
    @property
    def contacts(self) -> tuple[ContactConstraint, ...]: ...
    @property
    def timestep(self) -> float: ...
    @property
    def input_scaling(self) -> float: ...
    @property
    def own(self) -> Work: ...
    def joint_input(self, joint: int) -> Floats: ...


class Solution:
    """Reads the workspace of a mechanism's own state."""

    def __init__(self, mechanism: SolvedMechanism) -> None:
        self.mechanism = mechanism

    def terms_of(self, body: int) -> Callable[[], Terms]:
        """Return a function that computes the terms of a body when asked."""
        return partial(self.terms, body)

    def terms(self, body: int) -> Terms:
        """Input impulses, missing wrench and slope of a body."""
        force, torque = self.input_impulses(body)
        return Terms(force, torque, self._missing(body), self._slope(body))

    def _row(self, body: int) -> int:
        model = self.mechanism.compiled.model
        return int(np.flatnonzero(model.link[: model.links, c.BODY] == body)[0])

    def input_impulses(self, body: int) -> tuple[Floats, Floats]:
        """Impulses of all inputs on a body: force in the world, torque about its centre of mass in its frame."""
        mechanism = self.mechanism
        here = mechanism.bodies[body]
        total_force, total_torque = np.zeros(3), np.zeros(3)
        for j, joint in enumerate(mechanism.joints):
            if here not in (joint.parent, joint.child) or not joint.dof:
                continue
            force, torque, point = self._input_of(j, joint)
            sign = 1.0 if here is joint.child else -1.0
            total_force += sign * force
            total_torque += sign * (torque + np.cross(point - mechanism.pose[body, :3], force))
        return total_force, matrix(mechanism.pose[body, 6:10]).T @ total_torque

    def _input_of(self, j: int, joint: JointConstraint) -> tuple[Floats, Floats, Floats]:
        """Force and torque impulses on the child in the world, and the point where they act."""
        mechanism = self.mechanism
        slide, turn = self.half_inputs(j)
        turned = np.eye(3)
        if isinstance(joint.parent, Body):
            turned = matrix(mechanism.pose[mechanism.place_of[joint.parent], 6:10])
        child = mechanism.pose[mechanism.place_of[joint.child]]
        force, torque = turned @ slide, turned @ matrix(joint.rotational.orientation_offset) @ turn
        return force, torque, child[:3] + matrix(child[6:10]) @ joint.translational.vertices[1]

    def half_inputs(self, j: int) -> tuple[Floats, Floats]:
        """Impulses of the inputs of a joint: a force in its parent's frame, a torque in its own (`Joint.input`)."""
        mechanism = self.mechanism
        joint = mechanism.joints[j]
        u = mechanism.input_scaling * mechanism.joint_input(j)
        u[[drive.coordinate for drive in joint.drives if drive.is_fed]] = 0.0  # a velocity, no force
        slides = joint.translational.free
        return joint.translational.masks.free.T @ u[:slides], joint.rotational.masks.free.T @ u[slides:]

    def _missing(self, body: int) -> Floats:
        """Smallest wrench whose share along the joint's free motions is what the joint's equations miss."""
        row, link_work = self._row(body), self.mechanism.own.link_work
        dof = int(self.mechanism.compiled.model.link[row, c.DOF])
        if not dof:
            return np.zeros(6)
        left = link_work[row, c.LEFT : c.LEFT + 6 * dof].reshape(dof, 6)
        return np.asarray(np.linalg.pinv(left) @ link_work[row, c.MISSING : c.MISSING + dof])

    def _slope(self, body: int) -> Floats:
        """Slope of the body's own momentum balance, as `cbsim.dynamics.kernels.bodies` has it."""
        row, link_work, h = self._row(body), self.mechanism.own.link_work, self.mechanism.timestep
        out = np.zeros((6, 6))
        out[:3, :3] = self.mechanism.bodies[body].mass / h * np.eye(3)
        xx, yy, zz, xy, xz, yz = link_work[row, c.JW : c.JW + 6]
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        cosine, p = link_work[row, c.TURN], link_work[row, c.TURN + 1 : c.TURN + 4]
        turned = inertia @ p
        bent = cosine * inertia - _skew(turned) + _skew(p) @ inertia
        out[3:, 3:] = (bent @ (cosine * np.eye(3) - _skew(p)) - np.outer(turned, p)) / h
        return out

    def joint_impulses(self, j: int) -> Floats:
        """Impulses along the constrained directions of a joint (`JointConstraint.impulses`)."""
        mechanism = self.mechanism
        joint, model, link_work = mechanism.joints[j], mechanism.compiled.model, mechanism.own.link_work
        row = mechanism.row_of[j]
        if row >= model.links:
            return link_work[row, c.MULTIPLIER : c.MULTIPLIER + 6 - joint.dof].copy()
        wrench, rotation = link_work[row, c.RESIDUAL : c.RESIDUAL + 6], link_work[row, c.R2 : c.R2 + 9].reshape(3, 3)
        parent = int(model.link[row, c.PARENT])
        turned = np.eye(3) if parent < 0 else link_work[parent, c.R2 : c.R2 + 9].reshape(3, 3)
        force = joint.translational.masks.constrained @ (turned.T @ wrench[:3])
        torque = rotation.T @ wrench[3:] - np.cross(joint.translational.vertices[1], rotation.T @ wrench[:3])
        s, v = link_work[row, c.RELATIVE2], link_work[row, c.RELATIVE2 + 1 : c.RELATIVE2 + 4]
        map_ = 0.5 * (s * np.eye(3) - _skew(v)) @ joint.rotational.masks.constrained.T
        return np.concatenate([force, np.linalg.pinv(map_) @ torque])

    def drive_impulses(self, j: int) -> Floats:
        """Impulses of the drives of a joint, in their order."""
        mechanism, rows = self.mechanism, self.mechanism.compiled.model.row_link
        own = (rows[:, c.ROW_LINK] == mechanism.row_of[j]) & (rows[:, c.KIND] == c.DRIVE)
        dampers = int(own.sum()) - len(mechanism.joints[j].drives)  # of a joint that closes a loop: rows as well
        return np.asarray(mechanism.own.limit_work[own, c.ROW_FORCE][dampers:])

    def contact_impulses(self, i: int) -> Floats:
        """Impulses of a contact, as many as its law has."""
        return self._contact_columns(i, c.FORCE) * self._weights_of_friction(i)

    def contact_slacks(self, i: int) -> Floats:
        """Slacks of a contact, complementary to its impulses; without friction those of slip are 0."""
        weights = self._weights_of_friction(i)
        slacks = self._contact_columns(i, c.SLACK)
        return np.divide(slacks, weights, out=np.zeros_like(slacks), where=weights > 0.0)

    def _contact_columns(self, i: int, first: int) -> Floats:
        count = next((n for kind, n in COLUMNS.items() if isinstance(self.mechanism.contacts[i].model, kind)), 4)
        return self.mechanism.own.contact_work[i, first : first + count]

    def _weights_of_friction(self, i: int) -> Floats:
        """Return by what the solver's impulses are to be multiplied, its slacks divided (see `kernels.cones`)."""
        model = self.mechanism.contacts[i].model
        if isinstance(model, LinearContact):  # psi is a speed, the slack of its cone an impulse
            return np.array([1.0, 1.0 / model.mu if model.mu > 0.0 else 0.0, *[model.mu] * 4])
        if isinstance(model, NonlinearContact):
            return np.array([1.0, *[model.mu] * 3])
        return np.ones(next(n for kind, n in COLUMNS.items() if isinstance(model, kind)))

    def residuals(self) -> dict[str, Floats]:
        """Residuals by name: a joint's free motions (or a loop's gaps), a body's wrench, a contact's gap."""
        mechanism = self.mechanism
        out: dict[str, Floats] = {}
        for j, joint in enumerate(mechanism.joints):
            row = mechanism.row_of[j]
            dof = int(mechanism.compiled.model.link[row, c.DOF])
            out[joint.name] = mechanism.own.link_work[row, c.MISSING : c.MISSING + dof].copy()
        for i, body in enumerate(mechanism.bodies):
            out[body.name] = self._missing(i)
        for i, contact in enumerate(mechanism.contacts):
            contact_work = mechanism.own.contact_work[i]
            gap = (
                contact_work[c.GAP] - contact_work[c.SHIFT_OF_GAP] + contact_work[c.COMPLIANCE] * contact_work[c.FORCE]
            )
            left = np.array([gap - contact_work[c.SLACK], contact_work[c.SLACK] * contact_work[c.FORCE]])
            out[contact.name] = left * (contact_work[c.ACTIVE] != 0.0)
        return out

    def data(self) -> dict[str, Floats]:
        """Parameters and data of a step by name."""
        mechanism = self.mechanism
        out: dict[str, Floats] = {}
        for j, joint in enumerate(mechanism.joints):
            half = joint.translational if joint.translational.free else joint.rotational
            out[joint.name] = np.concatenate([mechanism.joint_input(j), [half.spring, half.damper]])
        for i, body in enumerate(mechanism.bodies):
            pose, inertia = mechanism.pose[i], body.inertia[np.triu_indices(3)]
            out[body.name] = np.concatenate([[body.mass], inertia, pose[3:6], pose[10:], pose[:3], pose[6:10]])
        for contact in mechanism.contacts:
            out[contact.name] = _contact_data(contact)
        return out


def _contact_data(contact: ContactConstraint) -> Floats:
    collision = contact.model.collision
    if not isinstance(collision, SphereHalfSpaceCollision):
        return np.array([contact.model.mu])
    return np.concatenate([[contact.model.mu, collision.contact_radius], collision.contact_origin])
