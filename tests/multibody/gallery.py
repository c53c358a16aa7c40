"""Mechanisms that tests share, built by short definitions (dojo.md §1.4)."""

from __future__ import annotations

from itertools import cycle

import numpy as np

from cbsim.multibody import (
    Box,
    Floating,
    Mechanism,
    Origin,
    Prototype,
    Revolute,
    SolverOptions,
    Sphere,
    contact_constraint,
)
from cbsim.spec.mechanism.joints import PROTOTYPES

KINDS = tuple(PROTOTYPES)
EXACT = SolverOptions(rtol=1e-13, btol=1e-12)
X, Y, Z = np.eye(3)


def pendulum(**options):
    """A rod on a pin, at rest when it hangs."""
    joint = {k: options.pop(k) for k in ("spring", "damper", "joint_limits", "spring_offset") if k in options}
    origin, rod = Origin(), Box(0.1, 0.1, 1.0, mass=1.0).body(name="rod")
    pin = Revolute(origin, rod, X, parent_vertex=(0, 0, 1.1), child_vertex=(0, 0, 0.5), name="pin", **joint)
    return Mechanism(origin, [rod], [pin], **options)


def chain(count=2, side=0.05, **options):
    """Rods on pins, one below the other."""
    origin = Origin()
    rods = [Box(side, side, 1.0, mass=1.0).body(name=f"rod {i}") for i in range(count)]
    joints = []
    for i, rod in enumerate(rods):
        up, vertex = (rods[i - 1], (0, 0, -0.5)) if i else (origin, (0, 0, 0))
        joints.append(Revolute(up, rod, X, parent_vertex=vertex, child_vertex=(0, 0, 0.5), name=f"pin {i}"))
    return Mechanism(origin, rods, joints, **options)


def snake(kind="Revolute", count=5, axes=(X,), *, spring=0.0, damper=0.0, offset=None, **options):
    """A floating row of boxes; with axes x, y, z in turn it is the twister."""
    origin = Origin()
    boxes = [Box(1.0, 0.15, 0.1, mass=1.0).body(name=f"box {i}") for i in range(count)]
    joints = [Floating(origin, boxes[0], name="base")]
    for i, axis in zip(range(1, count), cycle(axes), strict=False):
        joints.append(
            Prototype(
                kind, boxes[i - 1], boxes[i], axis, parent_vertex=-0.5 * X, child_vertex=0.5 * X, spring=spring,
                damper=damper, orientation_offset=offset, name=f"joint {i}",
            )
        )  # fmt: skip
    return Mechanism(origin, boxes, joints, **options)


def block(side=0.5, friction=0.8, contact_type="nonlinear", **options):
    """A cube with a contact at every corner."""
    origin, cube = Origin(), Box(side, side, side, mass=1.0).body(name="cube")
    e = side / 2
    corners = [(x, y, z) for x in (-e, e) for y in (-e, e) for z in (-e, e)]
    contacts = contact_constraint(
        cube, Z, friction_coefficient=friction, contact_origin=corners, name="corner", contact_type=contact_type
    )
    return Mechanism(origin, [cube], [Floating(origin, cube, name="base")], contacts, **options)


def ball(radius=0.5, friction=0.8, mass=1.0, contact_type="nonlinear", **options):
    """A sphere above the ground."""
    origin, sphere = Origin(), Sphere(radius, mass=mass).body(name="ball")
    contacts = contact_constraint(
        sphere, Z, friction_coefficient=friction, contact_radius=radius, name="foot", contact_type=contact_type
    )
    return Mechanism(origin, [sphere], [Floating(origin, sphere, name="base")], contacts, **options)


def point(friction, contact_type="nonlinear", **options):
    """A mass with a contact at its centre, that cannot roll."""
    return ball(radius=0.0 + 1e-9, friction=friction, contact_type=contact_type, **options)


def fourbar(closing="Revolute", lengths=(1.0, 1.0, 1.0, 1.0), **options):
    """Two chains of two rods from one pivot, their ends joined; the last joint closes the loop."""
    origin = Origin()
    rods = [Box(0.1, 0.1, length, mass=1.0).body(name=f"rod {i}") for i, length in enumerate(lengths)]
    joints = []
    for i, rod in enumerate(rods):
        up, vertex = (rods[i - 1], (0, 0, -lengths[i - 1] / 2)) if i % 2 else (origin, (0, 0, 0))
        joints.append(Revolute(up, rod, X, parent_vertex=vertex, child_vertex=(0, 0, lengths[i] / 2), name=f"pin {i}"))
    joints.append(
        Prototype(
            closing, rods[1], rods[3], X, parent_vertex=(0, 0, -lengths[1] / 2), child_vertex=(0, 0, -lengths[3] / 2),
            name="tip",
        )
    )  # fmt: skip
    return Mechanism(origin, rods, joints, **options)


def angles_of(mechanism, states):
    """Coordinates of chains of pins along a trajectory."""
    from cbsim.multibody import maximal_to_minimal

    return np.array([maximal_to_minimal(mechanism, z)[::2] for z in states])
