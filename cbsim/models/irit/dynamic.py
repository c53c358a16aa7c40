"""Dynamic walker as a mechanism: bodies with mass, servos in joints, feet with contacts.

A hip has two axes one after the other, as its two freedoms: one upright through the root, one normal to the plane of
the leg. Between them stands a small body, the coxa, which takes a part of the hip's mass.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from cbsim.geometry.elementary import square
from cbsim.geometry.linear import norm
from cbsim.models.irit.anatomy import Anatomy
from cbsim.models.irit.build import body_of, coordinates_of
from cbsim.models.irit.gait import Gait
from cbsim.models.irit.ground import Slope
from cbsim.models.irit.motion import Walk
from cbsim.models.irit.servo import Servo
from cbsim.models.irit.terrain import terrain
from cbsim.spec.mechanism.bodies import Body, Origin
from cbsim.spec.mechanism.colliders import Collider
from cbsim.spec.mechanism.contacts import ContactConstraint, contact_constraint
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.drives import Motor
from cbsim.spec.mechanism.joints import JointConstraint
from cbsim.spec.mechanism.model_description import ModelDescription
from cbsim.spec.mechanism.prototypes import Floating, Revolute
from cbsim.spec.mechanism.shapes import EmptyShape

__all__ = ["Build", "dynamic_description"]

GRAVITY = 9.81
UP = np.array([0.0, 0.0, 1.0])
COXA = 0.1  # share of a hip's mass, and of its length as the coxa's radius
STRENGTH = 1.0  # largest torque of a motor, as a share of the whole weight times the length of the leg
SINK = 0.002  # compression of feet under the whole weight, as a share of the height: rubber
GIVE = 0.5  # [rad/s] slip of a motor at its largest torque


@dataclass(frozen=True)
class Build:
    """Parameters of a dynamic walker.

    Attributes
    ----------
    density : float
        Of its parts [kg/m³].
    friction : float
        Of its feet.
    timestep : float
        [s].
    """

    density: float
    friction: float
    timestep: float


def dynamic_description(anatomy: Anatomy, gait: Gait, period: float, build: Build) -> ModelDescription:
    """Build the description of a walker that moves by its motors."""
    origin, legs = Origin(), anatomy.walker.legs
    bodies = [body_of(part, build.density) for part in anatomy.parts]
    centres = np.array([part.lump.centre for part in anatomy.parts])
    weight = math.fsum(body.mass for body in bodies) * GRAVITY
    walk = Walk(gait, period, centres)
    all_bodies = [bodies[0]]
    joints = [Floating(origin, bodies[0], name="free")]
    for k, leg in enumerate(legs):
        torque = STRENGTH * weight * float(anatomy.limbs.upper[k] + anatomy.limbs.lower[k])
        parts, own = _leg(anatomy, k, leg.name, bodies, Motor(torque, cfm=GIVE / torque))
        all_bodies += parts
        joints += own
    sink = SINK * anatomy.height / (weight * build.timestep)
    contacts: list[ContactConstraint] = []
    colliders: list[Collider] = []
    if isinstance(gait.ground, Slope):
        contacts = _feet(anatomy, all_bodies, build.friction, gait.ground, (1.0, sink))
    else:
        colliders = terrain(anatomy, all_bodies[0], all_bodies[3::3], origin, gait.ground, build.friction)
    spec = MechanismSpec(origin, all_bodies, joints, contacts, timestep=build.timestep, colliders=colliders)
    servo = Servo(walk, build.timestep)
    start = {"free": coordinates_of(walk.first[0])}
    return ModelDescription(spec, start, behaviour=servo)


def _leg(
    anatomy: Anatomy, k: int, name: str, bodies: list[Body], motor: Motor
) -> tuple[list[Body], list[JointConstraint]]:
    """Coxa, hip and shin of a leg, and the joints that lead to them."""
    limbs = anatomy.limbs
    hip, shin = bodies[1 + 2 * k], bodies[2 + 2 * k]
    body_at = anatomy.body.lump.centre
    hip_at, shin_at = anatomy.hips[k].lump.centre, anatomy.shins[k].lump.centre
    root, knee, normal = limbs.root[k], limbs.knee[k], limbs.rest.hip[k, :, 1]
    mass, radius = COXA * hip.mass, COXA * float(limbs.upper[k])
    coxa = Body(mass, 0.4 * mass * square(radius) * np.eye(3), EmptyShape(), name=f"coxa {name}")
    rest = Body((1.0 - COXA) * hip.mass, (1.0 - COXA) * hip.inertia, hip.shape, name=hip.name)
    joints = [
        Revolute(bodies[0], coxa, UP, parent_vertex=root - body_at, drives=motor, name=f"yaw {name}"),
        Revolute(coxa, rest, normal, child_vertex=root - hip_at, drives=motor, name=f"lift {name}"),
        Revolute(
            rest, shin, normal, parent_vertex=knee - hip_at, child_vertex=knee - shin_at, drives=motor,
            name=f"knee {name}",
        ),
    ]  # fmt: skip
    return [coxa, rest, shin], joints


def _feet(
    anatomy: Anatomy, bodies: list[Body], friction: float, ground: Slope, softness: tuple[float, float]
) -> list[ContactConstraint]:
    """Contacts of the feet, and of the corners of the body, with the ground."""
    normal = np.array([-ground.right, -ground.ahead, 1.0])
    normal /= norm(normal)
    found = []
    for k, leg in enumerate(anatomy.walker.legs):
        at = anatomy.limbs.foot[k] - anatomy.shins[k].lump.centre
        found += contact_constraint(
            bodies[3 + 3 * k],
            normal,
            friction_coefficient=friction,
            contact_origin=at,
            softness=softness,
            name=f"foot {leg.name}",
        )
    low, high = anatomy.body.low, anatomy.body.high
    belly = np.array([(x, y, low[2]) for x in (low[0], high[0]) for y in (low[1], high[1])])
    found += contact_constraint(
        bodies[0],
        normal,
        friction_coefficient=friction,
        contact_origin=belly - anatomy.body.lump.centre,
        softness=softness,
        name="belly",
    )
    return found
