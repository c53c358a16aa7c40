"""Parameters: the numbers of a mechanism that may be identified, by the names of its parts; and changing them.

A parameter is a quantity of a part, `("block", "mass")` or `("leg", "damper")`, of one number or several. Each of its
numbers is that many of the tables that kernels read, which is what its gradient is taken by
(`cbsim.multibody.parameter_gradients`), and one field of the description, which is what `with_parameters` replaces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cbsim.arrays import Floats
from cbsim.errors import ModelError, did_you_mean
from cbsim.multibody.coordinates import get_minimal_state, set_minimal_state
from cbsim.multibody.mechanism import Mechanism
from cbsim.spec.mechanism.bodies import Body, Bond, Node, Origin
from cbsim.spec.mechanism.colliders import Collider, ConvexHull
from cbsim.spec.mechanism.contacts import ContactConstraint
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.joints import JointConstraint
from cbsim.spec.mechanism.mesh import Mesh
from cbsim.spec.mechanism.shapes import Sphere
from cbsim.spec.mechanism.values import array

__all__ = ["Parameter", "changed", "chosen", "floats", "parameters_of", "with_parameters"]

UPPER = np.triu_indices(3)  # xx xy xz yy yz zz


class Parameter(NamedTuple):
    """A quantity of a part of a mechanism.

    Attributes
    ----------
    part : str
        Name of a body, a joint, a contact or a collider.
    quantity : str
        A body's ``mass`` [kg], ``inertia`` (xx, xy, xz, yy, yz, zz) [kg m²] and ``center_of_mass`` (3) [m], how far it
        moves from where it is against all that is attached; a joint's ``spring``, ``damper``, ``spring_offset``,
        ``max_force`` of its drives, ``parent_vertex`` and ``child_vertex``; a contact's ``friction_coefficient`` and
        what its collision has, such as ``contact_origin``, ``contact_radius`` and ``contact_offset``; a collider's
        ``friction_coefficient`` or ``friction_force``, ``position_offset``, and the lengths of its shape, such as
        ``r`` and ``h``, or its ``scale``.
    values : tuple of float
        Those of the mechanism; ignored in choices of parameters.
    """

    part: str
    quantity: str
    values: tuple[float, ...] = ()


Choice = Sequence[Parameter | tuple[str, str]]


def floats(mechanism: Mechanism, joint: JointConstraint) -> bool:
    """Whether a joint leaves its body free in the world, about its centre of mass: it has no geometry of its own."""
    apart = np.abs(joint.translational.vertices).max() > 0.0
    row = mechanism.row_of[mechanism.place_of[joint]]
    return joint.dof == 6 and isinstance(joint.parent, Origin) and not apart and row < mechanism.compiled.model.links


def _of_body(body: Body) -> Iterator[tuple[str, Any]]:
    yield "mass", body.mass
    yield "inertia", body.inertia[UPPER]
    yield "center_of_mass", np.zeros(3)


def _of_joint(mechanism: Mechanism, joint: JointConstraint) -> Iterator[tuple[str, Any]]:
    is_chord = mechanism.row_of[mechanism.place_of[joint]] >= mechanism.compiled.model.links
    half = joint.translational if joint.translational.free else joint.rotational
    if joint.dof:
        yield "spring", half.spring
        if half.damper or not (is_chord or floats(mechanism, joint)):
            yield "damper", half.damper
        yield "spring_offset", np.concatenate([joint.translational.spring_offset, joint.rotational.spring_offset])
    if joint.drives and all(np.isfinite(drive.max_force) for drive in joint.drives):
        yield "max_force", [drive.max_force for drive in joint.drives]
    if not floats(mechanism, joint):
        yield "parent_vertex", joint.translational.vertices[0]
        yield "child_vertex", joint.translational.vertices[1]


def _of_contact(contact: ContactConstraint) -> Iterator[tuple[str, Any]]:
    model = contact.model
    if "friction_coefficient" in model.__dataclass_fields__:
        yield "friction_coefficient", model.mu
    for name in model.collision.__dataclass_fields__:
        if name != "contact_normal":  # three numbers that are tied
            yield name, getattr(model.collision, name)


def _of_collider(collider: Collider) -> Iterator[tuple[str, Any]]:
    if collider.friction_force is None:
        yield "friction_coefficient", collider.friction_coefficient
    else:
        yield "friction_force", collider.friction_force
    shape = collider.shape
    yield "position_offset", shape.position_offset
    for name in shape.LENGTHS:
        yield name, getattr(shape, name)
    if isinstance(shape, (ConvexHull, Mesh)) or (isinstance(shape, Sphere) and np.ptp(shape.scale) > 0.0):
        yield "scale", shape.scale


def _of(mechanism: Mechanism, part: Node) -> dict[str, Floats]:
    found: Iterator[tuple[str, Any]]
    if isinstance(part, Body):
        found = _of_body(part)
    elif isinstance(part, JointConstraint):
        found = _of_joint(mechanism, part)
    elif isinstance(part, ContactConstraint):
        found = _of_contact(part)
    elif isinstance(part, Collider):
        found = _of_collider(part)
    else:
        found = iter(())
    return {name: np.atleast_1d(np.asarray(value, float)) for name, value in found}


def parameters_of(mechanism: Mechanism) -> tuple[Parameter, ...]:
    """List the parameters of a mechanism with their values: of bodies, of joints, of contacts, of colliders.

    Not among them: the vertices of a base that floats about its centre of mass, dampers of 0 there and at joints that
    close loops, limits of drives that have none, and contact normals.
    """
    parts: tuple[Node, ...] = (
        *mechanism.bodies, *mechanism.joints, *mechanism.contacts, *mechanism.colliders,
    )  # fmt: skip
    return tuple(
        Parameter(part.name, quantity, tuple(values.tolist()))
        for part in parts
        for quantity, values in _of(mechanism, part).items()
    )


def chosen(mechanism: Mechanism, parameters: Choice | None) -> tuple[Parameter, ...]:
    """Return parameters with the values that the mechanism has; all, if None.

    Raises
    ------
    ModelError
        If there is no such part or quantity; with the nearest name.
    """
    if parameters is None:
        return parameters_of(mechanism)
    if not isinstance(parameters, (list, tuple)):
        raise ModelError(f"are {parameters!r}, expected a sequence of (part, quantity)", subject="parameters")
    return tuple(_find(mechanism, given) for given in parameters)


def _find(mechanism: Mechanism, given: Parameter | tuple[str, str]) -> Parameter:
    if not isinstance(given, tuple) or len(given) < 2 or not all(isinstance(name, str) for name in given[:2]):
        raise ModelError(f"a parameter is {given!r}, expected (part, quantity)", subject="parameters")
    name, quantity = given[:2]
    part = mechanism.by_name.get(name)
    if part is None:
        hint = did_you_mean(name, mechanism.by_name)
        raise ModelError(f"there is no part {name!r} in the mechanism {hint}".rstrip(), subject="parameters")
    quantities = _of(mechanism, part)
    if quantity not in quantities:
        hint = did_you_mean(quantity, quantities)
        raise ModelError(f"has no parameter {quantity!r} here {hint}".rstrip(), subject=f"'{name}'")
    return Parameter(name, quantity, tuple(quantities[quantity].tolist()))


def with_parameters(mechanism: Mechanism, values: Mapping[tuple[str, str], ArrayLike]) -> Mechanism:
    """Make a mechanism like another with other parameters; that one stays as it is.

    Parameters
    ----------
    values : mapping
        From (part, quantity) to a number or as many as the quantity has. ``center_of_mass`` takes all joints and
        contacts of a body along, (but the joint of a floating base, whose coordinates are the centre of mass's); the
        inertia stays the one about it.

    Returns
    -------
    Mechanism
        With parts of its own of the same names, the same minimal state and the same inputs.

    Raises
    ------
    ModelError
        If there is no such part or quantity, or its value cannot be.

    Examples
    --------
    >>> from cbsim.multibody import Body, Floating, Mechanism, Origin, with_parameters
    >>> origin, stone = Origin(), Body(1.0, [[1, 0, 0], [0, 1, 0], [0, 0, 1]], name="stone")
    >>> mechanism = Mechanism(origin, [stone], [Floating(origin, stone)])
    >>> with_parameters(mechanism, {("stone", "mass"): 2.0}).bodies[0].mass
    2.0
    """
    if not isinstance(values, Mapping):
        raise ModelError(f"are {values!r}, expected a mapping from (part, quantity)", subject="parameters")
    made = Mechanism.of(changed(mechanism, values))
    set_minimal_state(made, get_minimal_state(mechanism))
    made.inputs[:] = mechanism.inputs
    return made


def changed(
    mechanism: Mechanism, values: Mapping[tuple[str, str], ArrayLike], lend: Callable[[Node], Bond] = lambda _: Bond()
) -> MechanismSpec:
    """Describe a mechanism with other parameters.

    ``lend`` gives the bond of each new part, from the old one: its own if they are the same part with other numbers,
    else a new one.
    """
    wanted: dict[str, dict[str, Any]] = {}
    for key, value in values.items():
        found = _find(mechanism, key)
        given = array(value, (len(found.values),), f"'{found.part}'", found.quantity)
        wanted.setdefault(found.part, {})[found.quantity] = given
    moved = {name: changes.pop("center_of_mass") for name, changes in wanted.items() if "center_of_mass" in changes}
    spec = mechanism.spec
    bodies = {body: _body(body, wanted.get(body.name, {}), lend(body)) for body in spec.bodies}
    joints = [
        replace(_joint(mechanism, joint, wanted.get(joint.name, {}), bodies, moved), bond=lend(joint))
        for joint in spec.joints
    ]
    contacts = [
        replace(_contact(contact, wanted.get(contact.name, {}), bodies, moved), bond=lend(contact))
        for contact in spec.contacts
    ]
    origin = Origin(spec.origin.shape, bond=lend(spec.origin))
    colliders = [
        replace(_collider(k, wanted.get(k.name, {}), bodies, origin, moved), bond=lend(k)) for k in spec.colliders
    ]
    return MechanismSpec(
        origin, list(bodies.values()), joints, contacts, spec.timestep, spec.gravity, spec.input_scaling, colliders
    )


def _body(body: Body, changes: Mapping[str, Floats], bond: Bond) -> Body:
    inertia = np.array(body.inertia)
    if "inertia" in changes:
        inertia[UPPER] = changes["inertia"]
        inertia.T[UPPER] = changes["inertia"]
    mass = float(changes["mass"][0]) if "mass" in changes else body.mass
    return replace(body, mass=mass, inertia=inertia, bond=bond)


def _joint(
    mechanism: Mechanism,
    joint: JointConstraint,
    changes: Mapping[str, Floats],
    bodies: Mapping[Body, Body],
    moved: Mapping[str, Floats],
) -> JointConstraint:
    slide, turn = joint.translational, joint.rotational
    vertices = [changes.get("parent_vertex", slide.vertices[0]), changes.get("child_vertex", slide.vertices[1])]
    if not floats(mechanism, joint):
        vertices = [v - moved.get(end.name, 0.0) for v, end in zip(vertices, (joint.parent, joint.child), strict=True)]
    both: dict[str, Any] = {name: float(changes[name][0]) for name in ("spring", "damper") if name in changes}
    offset, free = changes.get("spring_offset", np.r_[slide.spring_offset, turn.spring_offset]), slide.free
    slide = replace(slide, vertices=tuple(vertices), spring_offset=offset[:free], **(both if free else {}))
    turn = replace(turn, spring_offset=offset[free:], **(both if turn.free else {}))
    forces = changes.get("max_force", [drive.max_force for drive in joint.drives])
    drives = tuple(replace(drive, max_force=float(f)) for drive, f in zip(joint.drives, forces, strict=True))
    parent = bodies[joint.parent] if isinstance(joint.parent, Body) else joint.parent
    child = bodies[joint.child]
    return replace(joint, parent=parent, child=child, translational=slide, rotational=turn, drives=drives)


def _contact(
    contact: ContactConstraint,
    changes: Mapping[str, Floats],
    bodies: Mapping[Body, Body],
    moved: Mapping[str, Floats],
) -> ContactConstraint:
    model, collision = contact.model, contact.model.collision
    own: dict[str, Any] = {}
    for name in collision.__dataclass_fields__:
        value = changes.get(name, getattr(collision, name))
        end = _carrier(contact, name)
        if end is not None:
            value = value - moved.get(end.name, 0.0)
        own[name] = float(value[0]) if np.shape(value) == (1,) else value
    rough: dict[str, Any] = {}
    if "friction_coefficient" in changes:
        rough["friction_coefficient"] = float(changes["friction_coefficient"][0])
    model = replace(model, collision=replace(collision, **own), **rough)
    child = bodies[contact.child] if isinstance(contact.child, Body) else contact.child
    return replace(contact, model=model, parent=bodies[contact.parent], child=child)


def _collider(
    collider: Collider,
    changes: Mapping[str, Floats],
    bodies: Mapping[Body, Body],
    origin: Origin,
    moved: Mapping[str, Floats],
) -> Collider:
    rough: dict[str, Any] = {
        k: float(changes[k][0]) for k in ("friction_coefficient", "friction_force") if k in changes
    }
    shape: dict[str, Any] = {k: v if len(v) > 1 else float(v[0]) for k, v in changes.items() if k not in rough}
    owner = bodies[collider.owner] if isinstance(collider.owner, Body) else origin
    offset = shape.get("position_offset", collider.shape.position_offset) - moved.get(collider.owner.name, 0.0)
    changed = collider.shape.replaced(**(shape | {"position_offset": offset}))
    return replace(collider, owner=owner, shape=changed, **rough)


def _carrier(contact: ContactConstraint, name: str) -> Body | None:
    """Body in whose frame a point of a collision stands; None where it is not a point, or one of the world."""
    if name in {"contact_origin", "origin_parent", "origin_sphere"}:
        return contact.parent
    on_child = name == "origin_child" or name.startswith(("origin_capsule", "origin_box"))
    return contact.child if on_child and isinstance(contact.child, Body) else None
