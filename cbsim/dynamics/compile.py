"""Compilation of a mechanism: tables for kernels from its description."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats, Ints
from cbsim.dynamics.detection.collider_tables import make_collider_tables
from cbsim.dynamics.detection.kernels.tables import ColliderTables
from cbsim.dynamics.graph import Elimination, eliminate, labels_of
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.least_mass import least_masses
from cbsim.dynamics.model import Model
from cbsim.dynamics.spanning_tree import SpanningTree, span
from cbsim.errors import ModelError
from cbsim.spec.mechanism.bodies import Body
from cbsim.spec.mechanism.collisions import (
    Collision,
    SphereBoxCollision,
    SphereCapsuleCollision,
    SphereHalfSpaceCollision,
    SphereSphereCollision,
    StringCollision,
    tangents_of,
)
from cbsim.spec.mechanism.contacts import ContactConstraint, ForceContact, ImpactContact, LinearContact
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.joints import JointConstraint

__all__ = ["Compiled", "compile_mechanism"]

LIGHTEST = 1e-9  # mass [kg] below which residuals are not scaled further
LEAST_COMPLIANCE = 1e-9  # of friction limited by a force, as a share of the compliance 1 / m of its body
LAWS = {ImpactContact: c.IMPACT, LinearContact: c.LINEAR, ForceContact: c.BOXED}  # others have the round cone


class Compiled(NamedTuple):
    """A compiled mechanism.

    Attributes
    ----------
    model : Model
        Tables.
    spanning : Spanning
        Joints of the rows of `Model.link`: links, then loop joints.
    system : Elimination
        Order of elimination, fill-in, and the number of every block.
    inputs : int
        Size of an input vector.
    colliders : ColliderTables or None
        Colliders, if there are any.
    """

    model: Model
    spanning: SpanningTree
    system: Elimination
    inputs: int
    colliders: ColliderTables | None

    @property
    def touching(self) -> bool:
        """Whether there are inequalities: contacts, colliders, rows."""
        model = self.model
        return bool(len(model.contact) or len(model.row_link) or self.colliders is not None)

    @property
    def fed(self) -> NDArray[np.bool_]:
        """Inputs (inputs,) that are target velocities of motors, and so may be NaN."""
        fed = np.zeros(self.inputs, bool)
        at = self.model.row_link[:, c.ROW_INPUT]
        fed[at[(self.model.row_link[:, c.KIND] == c.DRIVE) & (at >= 0)]] = True
        return fed

    @property
    def rows(self) -> tuple[int, ...]:
        """Joint of each row of `Model.link`."""
        return self.spanning.links + self.spanning.loop_joints


def compile_mechanism(spec: MechanismSpec) -> Compiled:
    """Make the tables of a mechanism.

    Raises
    ------
    ModelError
        Names the part in error.
    """
    spanning = span(spec)
    rows = spanning.links + spanning.loop_joints
    links = len(spanning.links)
    row_of: dict[object, int] = {spec.joints[j].child: b for b, j in enumerate(spanning.links)}
    first = np.concatenate([[0], np.cumsum([joint.dof for joint in spec.joints])]).astype(int).tolist()
    link = np.zeros((len(rows), c.LINK_COLUMNS), np.int64)
    table = np.zeros((len(rows), c.JOINT_COLUMNS))
    place = {body: i for i, body in enumerate(spec.bodies)}
    for row, j in enumerate(rows):
        joint = spec.joints[j]
        parent = row_of.get(joint.parent, -1)
        is_chord = row >= links
        slides, turns = joint.translational.free, joint.rotational.free
        link[row, c.PARENT], link[row, c.UP] = parent, -1 if is_chord else parent
        link[row, c.CHILD], link[row, c.BODY] = row_of[joint.child], place[joint.child]
        link[row, c.N_TRANS], link[row, c.N_ROT] = slides, turns
        link[row, c.DOF] = 6 - joint.dof if is_chord else joint.dof
        link[row, c.INPUT] = first[j]
        link[row, c.FLAGS] = _flags(joint, is_chord)
        link[row, c.VELOCITIES] = sum(1 << drive.coordinate for drive in joint.drives if drive.is_fed)
        _write_body(table[row], joint.child)
        if joint.child.kinematic:  # kinematic: coordinates but no unknowns; forces on it have no effect
            link[row, c.DOF], table[row, c.MASS] = 0, 0.0
            link[row, c.FLAGS] |= c.KINEMATIC
        _write_joint(table[row], joint)
    table[:, c.TREE_MASS], table[:, c.FINENESS] = _tree_masses(link, table[:, c.MASS], links)
    if not (table[links:, c.DAMPER] > 0.0).any():  # else all are implicit: a loop may be cut at any of its joints
        table[:links, c.LEAST_MASS] = least_masses(links, link, table)
    loop_joints = [(int(link[row, c.PARENT]), int(link[row, c.CHILD])) for row in range(links, len(rows))]
    contact_link, contact = _contacts(spec, row_of)
    row_link, numbers = _rows(spec, rows, links, first)
    couples = {(int(row[c.ONE]), int(row[c.OTHER])) for row in contact_link if row[c.OTHER] >= 0}
    driven = {loop_joints[b - links] for b in row_link[:, c.ROW_LINK] if b >= links}
    ties = sorted(couples | {ends for ends in driven if ends[0] >= 0})
    system = eliminate(link[:links, c.UP].tolist(), loop_joints, ties)
    for pair in contact_link:
        if pair[c.OTHER] >= 0:
            pair[c.ONE_OTHER] = system.blocks[int(pair[c.ONE]), int(pair[c.OTHER])]
            pair[c.OTHER_ONE] = system.blocks[int(pair[c.OTHER]), int(pair[c.ONE])]
    between = [
        [system.blocks.get(key, -1) for key in ((links + i, b), (links + i, a), (b, links + i), (a, links + i))]
        for i, (a, b) in enumerate(loop_joints)
    ]
    for row in row_link:
        ends = int(link[row[c.ROW_LINK], c.CHILD]), int(link[row[c.ROW_LINK], c.PARENT])
        if row[c.ROW_LINK] < links:
            link[row[c.ROW_LINK], c.FLAGS] |= c.ROWED
        elif ends[1] >= 0:
            row[c.ROW_OUT], row[c.ROW_BACK] = system.blocks[ends], system.blocks[ends[::-1]]
    for row in range(links):
        link[row, c.FLAGS] |= c.FREE * _is_free(link[row], table[row])
    model = Model(
        links, link, table, np.array(between, np.int64).reshape(-1, 4), system.program, system.fan, system.pair,
        len(system.blocks), contact_link, contact, row_link, numbers,
    )  # fmt: skip
    return Compiled(model, spanning, system, first[-1], make_collider_tables(spec, model))


def _flags(joint: JointConstraint, is_chord: bool) -> int:
    turned = bool((joint.rotational.orientation_offset != (1.0, 0.0, 0.0, 0.0)).any())
    flags = c.OFFSET * turned + c.LOOP_JOINT * is_chord
    if joint.dof:
        damped = joint.damper or (joint.spring and joint.implicit_spring)
        flags += c.SPRUNG * joint.spring + c.DAMPED * (damped and not is_chord)  # dampers of loop joints are rows
    return int(flags)


def _is_free(link: Ints, row: Floats) -> bool:
    """Whether a link floats in the world without anything that needs axes of its own."""
    plain = not link[c.FLAGS] & (c.OFFSET | c.DAMPED | c.ROWED) and link[c.PARENT] < 0 and link[c.DOF] == 6
    return bool(plain and not row[c.PARENT_VERTEX : c.CHILD_VERTEX + 3].any())


def _tree_masses(link: Ints, mass: Floats, links: int) -> tuple[Floats, Floats]:
    """Mass of the connected part of each row's child, and the scale of its residuals.

    A part that cannot move counts as infinite.
    """
    label = labels_of(links, link[:, [c.PARENT, c.CHILD]].tolist())
    total, freedoms = np.zeros(links), np.zeros(links)
    np.add.at(total, label, mass[:links])
    np.add.at(freedoms, label, link[:links, c.DOF])
    total[freedoms == 0.0] = np.inf
    of_rows = total[label[link[:, c.CHILD]]]
    return of_rows, 1.0 / np.clip(of_rows, LIGHTEST, 1.0)


def _write_body(row: Floats, body: Body) -> None:
    """Mass and inertia of the body that a joint carries."""
    inertia = body.inertia
    row[c.MASS] = body.mass
    row[c.INERTIA : c.INERTIA + 3] = np.diag(inertia)
    row[c.INERTIA + 3 : c.INERTIA + 6] = inertia[0, 1], inertia[0, 2], inertia[1, 2]


def _write_joint(row: Floats, joint: JointConstraint) -> None:
    """Vertices, axes, spring and damper of a joint."""
    slide, turn = joint.translational, joint.rotational
    for what in ("spring", "damper"):
        ours, theirs = getattr(slide, what), getattr(turn, what)
        if slide.free and turn.free and ours != theirs:
            raise ModelError(
                f"its translation and its rotation have different {what}s, {ours:g} and {theirs:g}: they share one",
                subject=f"joint '{joint.name}'",
            )
    half = slide if slide.free else turn
    row[c.PARENT_VERTEX : c.PARENT_VERTEX + 3], row[c.CHILD_VERTEX : c.CHILD_VERTEX + 3] = slide.vertices
    row[c.ORIENTATION : c.ORIENTATION + 4] = turn.orientation_offset
    row[c.SLIDE_AXES : c.SLIDE_AXES + 9] = np.concatenate([slide.masks.free, slide.masks.constrained]).ravel()
    row[c.TURN_AXES : c.TURN_AXES + 9] = np.concatenate([turn.masks.free, turn.masks.constrained]).ravel()
    row[c.SPRING], row[c.DAMPER] = half.spring, half.damper
    row[c.IMPLICIT] = half.spring if joint.implicit_spring else 0.0
    row[c.SPRING_OFFSET : c.SPRING_OFFSET + slide.free] = slide.spring_offset
    row[c.SPRING_OFFSET + 3 : c.SPRING_OFFSET + 3 + turn.free] = turn.spring_offset


def _rows(spec: MechanismSpec, rows: tuple[int, ...], links: int, first: Sequence[int]) -> tuple[Ints, Floats]:
    """Rows for every finite bound and every drive of every joint's coordinates, and for dampers of loop joints."""
    which: list[tuple[int, ...]] = []
    numbers: list[tuple[float, ...]] = []
    for b, j in enumerate(rows):
        joint = spec.joints[j]
        at = 0
        for half in (joint.translational, joint.rotational):
            for sign, values in zip((1.0, -1.0), half.joint_limits or ((), ()), strict=True):
                for k, value in enumerate(values):
                    if np.isfinite(value):
                        which.append((b, at + k, c.STOP, -1, -1, -1))
                        numbers.append((sign, float(value), np.inf, *joint.stop_softness))
            for k in range(half.free if b >= links and half.damper else 0):
                which.append((b, at + k, c.DRIVE, -1, -1, -1))
                numbers.append((1.0, 0.0, np.inf, 1.0, 1.0 / half.damper))
            at += half.free
        for drive in joint.drives:
            fed = first[j] + drive.coordinate if drive.is_fed else -1
            which.append((b, drive.coordinate, c.DRIVE, fed, -1, -1))
            numbers.append((1.0, drive.target, drive.max_force, 1.0, drive.cfm))
    return (
        np.array(which, np.int64).reshape(-1, c.ROW_LINK_COLUMNS),
        np.array(numbers, float).reshape(-1, c.ROW_COLUMNS),
    )


def _contacts(spec: MechanismSpec, row_of: dict[object, int]) -> tuple[Ints, Floats]:
    """Rows of the contacts."""
    whole = np.zeros((len(spec.contacts), c.CONTACT_LINK_COLUMNS), np.int64)
    floats = np.zeros((len(spec.contacts), c.CONTACT_COLUMNS))
    for i, contact in enumerate(spec.contacts):
        model = contact.model
        whole[i, c.LAW] = next((law for kind, law in LAWS.items() if isinstance(model, kind)), c.NONLINEAR)
        whole[i, c.ONE] = row_of[contact.parent]
        whole[i, c.OTHER] = row_of.get(contact.child, -1)
        floats[i, c.MU] = model.mu
        floats[i, c.ONE_MINUS_ERP], floats[i, c.CFM] = 1.0 - model.softness[0], model.softness[1]
        floats[i, c.RESTITUTION] = model.restitution
        if contact.parent.mass > 0.0:
            floats[i, c.LEAST_COMPLIANCE] = LEAST_COMPLIANCE / contact.parent.mass
        whole[i, c.SHAPE] = _write_collision(floats[i], model.collision, contact)
    return whole, floats


def _write_collision(row: Floats, collision: Collision, contact: ContactConstraint) -> int:
    """Write a pair's numbers; its shape's number is returned."""
    origin, plane, extent = (slice(k, k + 3) for k in (c.ORIGIN, c.PLANE, c.EXTENT))
    if isinstance(collision, SphereHalfSpaceCollision):
        row[c.NORMAL : c.NORMAL + 3] = collision.contact_normal
        row[c.TANGENTS : c.TANGENTS + 6] = tangents_of(collision.contact_normal).ravel()
        row[origin], row[c.RADIUS], row[plane] = (
            collision.contact_origin,
            collision.contact_radius,
            collision.contact_offset,
        )
        return c.HALF_SPACE
    if isinstance(collision, SphereSphereCollision):
        row[origin], row[plane] = collision.origin_parent, collision.origin_child
        row[c.RADIUS], row[c.OTHER_RADIUS] = collision.radius_parent, collision.radius_child
        return c.SPHERE
    if isinstance(collision, SphereCapsuleCollision):
        a, b = collision.origin_capsule_a, collision.origin_capsule_b
        row[origin], row[plane], row[extent] = collision.origin_sphere, 0.5 * (a + b), 0.5 * (b - a)
        row[c.RADIUS], row[c.OTHER_RADIUS] = collision.radius_sphere, collision.radius_capsule
        return c.CAPSULE
    if isinstance(collision, SphereBoxCollision):
        a, b = collision.origin_box_a, collision.origin_box_b
        row[origin], row[plane], row[extent] = collision.origin_sphere, 0.5 * (a + b), 0.5 * np.abs(b - a)
        row[c.RADIUS] = collision.radius_sphere
        return c.BOX
    if isinstance(collision, StringCollision):
        row[origin], row[plane] = collision.origin_parent, collision.origin_child
        row[c.OTHER_RADIUS] = collision.length
        return c.STRING
    raise ModelError(f"no kernel knows {type(collision).__name__}", subject=f"contact '{contact.name}'")
