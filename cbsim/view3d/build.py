"""Conversion of mechanisms to solids: shapes, and optionally contacts, joint axes and body frames.

Mechanisms belong to a higher layer, so this module defines protocols for what it needs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

import numpy as np

from cbsim.arrays import Floats
from cbsim.errors import ModelError
from cbsim.spec.mechanism.bodies import Body, Origin
from cbsim.spec.mechanism.colliders import Collider, HalfSpace
from cbsim.spec.mechanism.collisions import (
    Collision,
    SphereBoxCollision,
    SphereCapsuleCollision,
    SphereHalfSpaceCollision,
    SphereSphereCollision,
    StringCollision,
)
from cbsim.spec.mechanism.contacts import ContactConstraint
from cbsim.spec.mechanism.joints import JointConstraint
from cbsim.spec.mechanism.shapes import matrix
from cbsim.view3d import tessellate
from cbsim.view3d.scene import Floor, Kind, Robot, Solid
from cbsim.view3d.shapes import Color, inertia_box, triad, triangles_of
from cbsim.view3d.tessellate import Triangles
from cbsim.view3d.track import Track

__all__ = ["MechanismLike", "StorageLike", "robot_of", "size_of", "solids_of", "track_of"]

MARKER_SCALE = 1.02  # markers are enlarged by this factor, to avoid z-fighting with shapes of the same radius
CONTACT: Color = (0.9, 0.3, 0.25, 0.55)
TURN: Color = (0.95, 0.6, 0.1, 1.0)
SLIDE: Color = (0.1, 0.6, 0.75, 1.0)
BONE: Color = (0.56, 0.6, 0.66, 1.0)
INERTIA: Color = (0.3, 0.5, 0.8, 0.45)


class MechanismLike(Protocol):
    """The part of `cbsim.multibody.Mechanism` that is used."""

    @property
    def origin(self) -> Origin: ...  # noqa: D102
    @property
    def bodies(self) -> tuple[Body, ...]: ...  # noqa: D102
    @property
    def joints(self) -> tuple[JointConstraint, ...]: ...  # noqa: D102
    @property
    def contacts(self) -> tuple[ContactConstraint, ...]: ...  # noqa: D102
    @property
    def colliders(self) -> tuple[Collider, ...]: ...  # noqa: D102
    @property
    def timestep(self) -> float: ...  # noqa: D102
    @property
    def pose(self) -> Floats: ...  # noqa: D102


class StorageLike(Protocol):
    """The part of `cbsim.multibody.Storage` that is used."""

    @property
    def x(self) -> Floats: ...  # noqa: D102
    @property
    def q(self) -> Floats: ...  # noqa: D102


def robot_of(mechanism: MechanismLike, name: str) -> Robot:
    """Create a robot from a mechanism in its current state."""
    pose = np.array(mechanism.pose)
    return Robot(name, tuple(body.name for body in mechanism.bodies), pose[:, :3], pose[:, 6:10])


def track_of(mechanism: MechanismLike, storage: StorageLike, name: str) -> Track:
    """Create a track from a storage; row k is at k times the mechanism's time step.

    Raises
    ------
    ModelError
        If the storage belongs to another mechanism, is empty, or contains values that are not finite.
    """
    if not hasattr(storage, "q"):
        raise ModelError(f"{storage!r} is no Storage: generate_storage makes one of states", subject=f"robot '{name}'")
    x, q = np.array(storage.x, float), np.array(storage.q, float)
    count = len(mechanism.bodies)
    if x.ndim != 3 or not len(x) or x.shape[1:] != (count, 3) or q.shape != (len(x), count, 4):
        raise ModelError(
            f"the storage has positions {x.shape}, expected (steps, {count}, 3)", subject=f"robot '{name}'"
        )
    bad = ~(np.isfinite(x).all(-1) & np.isfinite(q).all(-1))
    if bad.any():
        k, i = np.argwhere(bad)[0]
        who = f"body '{mechanism.bodies[i].name}'"
        raise ModelError(f"row {k} of the storage holds what is no number", subject=who)
    return Track(np.asarray(mechanism.timestep * np.arange(len(x)), float), x, q)


def size_of(mechanism: MechanismLike) -> float:
    """Length scale of markers [m]: the largest extent of joints, contacts and shapes."""
    reach = [float(np.linalg.norm(vertex)) for joint in mechanism.joints for vertex in joint.translational.vertices[1:]]
    for body in mechanism.bodies:
        reach += [float(np.linalg.norm(part.vertices, axis=1).max()) for part, _ in triangles_of(body.shape)]
        reach.append(float(np.sqrt(np.trace(body.inertia) / body.mass)))
    return float(max(reach, default=1.0))


def solids_of(
    mechanism: MechanismLike,
    name: str,
    *,
    color: Color | None = None,
    show_contact: bool = False,
    show_joint: bool = False,
    show_frame: bool = False,
    show_inertia: bool | None = None,
) -> dict[str, Solid]:
    """Create all solids of a mechanism, named ``robot/body/kind_number``, or ``robot/kind_number`` in the world.

    Parameters
    ----------
    show_inertia : bool or None
        By default only for bodies with nothing else to draw. Bodies without a shape show their colliders, or else rods
        to their joints and contacts.

    Notes
    -----
    Half-spaces are not solids; the ground is the scene's floor.
    """
    found = dict[str, Solid]()
    count = Counter[str]()
    size = size_of(mechanism)

    def add(body: Body | Origin | None, kind: Kind, parts: Iterable[tuple[Triangles, Color]]) -> None:
        frame = f"{name}/{body.name}" if isinstance(body, Body) else ""
        stem = f"{frame or name}/{kind}"
        for part, tint in parts:
            count[stem] += 1
            found[f"{stem}_{count[stem]}"] = Solid(frame, kind, part, tint)

    ends = _ends(mechanism)
    nodes: tuple[Body | Origin, ...] = (mechanism.origin, *mechanism.bodies)
    for node in nodes:
        shapes = list(triangles_of(node.shape)) or _skin(mechanism, node)
        add(node, "shape", ((part, color or tint) for part, tint in shapes))
        if not isinstance(node, Body):
            continue
        bones = [] if shapes else _skeleton(ends[node])
        add(node, "shape", ((bone, color or BONE) for bone in bones))
        if show_inertia or (show_inertia is None and not shapes and not bones):
            add(
                node, "inertia", [(inertia_box(node.mass, node.inertia), INERTIA if shapes or bones else color or BONE)]
            )
        if show_frame:
            add(node, "frame", ((axis, (*tint, 1.0)) for axis, tint in triad(0.5 * size, 0.012 * size)))
    if show_contact:
        for contact in mechanism.contacts:
            for body, part in _contact_parts(contact.model.collision, contact.parent, contact.child, 0.04 * size):
                add(body, "contact", [(part, CONTACT)])
    if show_joint:
        for joint in mechanism.joints:
            add(joint.parent, "joint", _axes(joint, size))
    return found


def _skin(mechanism: MechanismLike, node: Body | Origin) -> list[tuple[Triangles, Color]]:
    """Surfaces of a body's colliders."""
    solid = (k.shape for k in mechanism.colliders if k.owner is node and not isinstance(k.shape, HalfSpace))
    return [part for shape in solid for part in triangles_of(shape)]


def _ends(mechanism: MechanismLike) -> Mapping[Body, list[Floats]]:
    """Positions (3,) of joints and contacts in each body's frame [m]."""
    ends = defaultdict[Body, list[Floats]](list)
    for joint in mechanism.joints:
        for body, vertex in zip((joint.parent, joint.child), joint.translational.vertices, strict=True):
            if isinstance(body, Body):
                ends[body].append(vertex)
    for contact in mechanism.contacts:
        if isinstance(contact.model.collision, SphereHalfSpaceCollision):
            ends[contact.parent].append(contact.model.collision.contact_origin)
    return ends


def _skeleton(ends: list[Floats]) -> list[Triangles]:
    """Rods from a body's centre of mass to its joints and contacts; empty if all are at the centre."""
    longest = max((float(np.linalg.norm(end)) for end in ends), default=0.0)
    return [rod(np.zeros(3), end, 0.08 * longest) for end in ends if np.linalg.norm(end) > 1e-6]


def along(direction: Floats) -> Floats:
    """Rotation matrix (3, 3) that turns the z axis into a direction."""
    z = direction / np.linalg.norm(direction)
    return matrix(np.array(Floor(normal=(float(z[0]), float(z[1]), float(z[2]))).quaternion))


def rod(a: Floats, b: Floats, radius: float) -> Triangles:
    """Capsule between two sphere centres."""
    return tessellate.capsule(radius, float(np.linalg.norm(b - a))).moved(along(b - a), 0.5 * (a + b))


def _ball(centre: Floats, radius: float) -> Triangles:
    return tessellate.sphere(MARKER_SCALE * radius).moved(np.eye(3), centre)


def _contact_parts(
    collision: Collision, parent: Body, child: Any, least: float
) -> Iterator[tuple[Body | Origin, Triangles]]:
    """Contact geometry in body frames; points are spheres of radius `least` [m]."""
    match collision:
        case SphereHalfSpaceCollision():
            yield parent, _ball(collision.contact_origin, collision.contact_radius or least)
        case SphereSphereCollision():
            yield parent, _ball(collision.origin_parent, collision.radius_parent or least)
            yield child, _ball(collision.origin_child, collision.radius_child or least)
        case SphereCapsuleCollision():
            yield parent, _ball(collision.origin_sphere, collision.radius_sphere or least)
            yield child, rod(collision.origin_capsule_a, collision.origin_capsule_b, collision.radius_capsule or least)
        case SphereBoxCollision():
            yield parent, _ball(collision.origin_sphere, collision.radius_sphere or least)
            edges = np.abs(collision.origin_box_b - collision.origin_box_a)
            middle = 0.5 * (collision.origin_box_a + collision.origin_box_b)
            yield child, tessellate.box(edges).moved(np.eye(3), middle)
        case StringCollision():
            yield parent, _ball(collision.origin_parent, least)
            yield child, _ball(collision.origin_child, least)
        case _:
            raise ModelError("is not drawn: show_contact=False leaves contacts out", subject=type(collision).__name__)


def _axes(joint: JointConstraint, size: float) -> Iterator[tuple[Triangles, Color]]:
    """Arrows along a joint's free directions, a sphere if all are free; nothing for a floating base.

    A joint whose directions are all driven by motors is not a floating base.
    """
    slide, turn = joint.translational, joint.rotational
    at = slide.vertices[0]
    if slide.free == 3 and turn.free == 3 and not joint.drives:
        return
    frame = matrix(turn.orientation_offset)
    for half, base, tint in ((slide, np.eye(3), SLIDE), (turn, frame, TURN)):
        if half.free == 3:
            yield _ball(at, 0.05 * size), tint
            continue
        for axis in half.masks.free:
            arrow = tessellate.arrow(0.4 * size, 0.012 * size, 0.03 * size)
            yield arrow.moved(along(base @ axis), at), tint
    if joint.dof == 0:
        yield tessellate.box(np.full(3, 0.08 * size)).moved(frame, at), BONE
