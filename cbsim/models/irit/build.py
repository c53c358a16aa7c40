"""Kinematic walker as a mechanism moved by its gait: body, hips on ball joints, shins on hinges."""

from __future__ import annotations

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry import elementary as math
from cbsim.geometry.linear import norm
from cbsim.models.irit.anatomy import Anatomy, Part
from cbsim.models.irit.gait import Gait
from cbsim.models.irit.motion import Walk
from cbsim.spec.mechanism.bodies import Body, Origin
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.mesh import Mesh
from cbsim.spec.mechanism.model_description import ModelDescription
from cbsim.spec.mechanism.prototypes import Floating, Revolute, Spherical
from cbsim.spec.mechanism.shapes import CombinedShapes, EmptyShape, Shape

__all__ = ["body_of", "coordinates_of", "kinematic_description", "shape_of"]

PLAIN = (0.75, 0.75, 0.75, 1.0)


def shape_of(part: Part, centre: Floats) -> Shape:
    """Shape of a part about its centre of mass."""
    meshes: list[Shape] = []
    for piece in part.pieces:
        count = len(piece.triangles)
        corners = (piece.triangles - centre).reshape(-1, 3)
        faces = np.arange(3 * count).reshape(-1, 3)
        meshes.append(Mesh(vertices=corners, faces=faces, color=piece.color or PLAIN))
    if not meshes:
        return EmptyShape()
    return meshes[0] if len(meshes) == 1 else CombinedShapes(meshes)


def body_of(part: Part, density: float) -> Body:
    """Body of a part at its centre of mass, in cbsim's axes."""
    lump = part.lump
    return Body(density * lump.mass, density * lump.inertia, shape_of(part, lump.centre), name=part.name)


def coordinates_of(state: Floats) -> tuple[float, ...]:
    """Coordinates (6,) of a floating body: its place [m] and its rotation vector [rad]."""
    w, axis = float(state[6]), state[7:10]
    sine = float(norm(axis))
    turn = axis * (2.0 * math.atan2(sine, w) / sine if sine > 1e-12 else 2.0)
    return (*map(float, state[:3]), *map(float, turn))


def kinematic_description(
    anatomy: Anatomy, gait: Gait, period: float, density: float, timestep: float
) -> ModelDescription:
    """Build the description of a walker without dynamics."""
    origin = Origin()
    bodies = [body_of(part, density) for part in anatomy.parts]
    centres = np.array([part.lump.centre for part in anatomy.parts])
    walk = Walk(gait, period, centres)
    limbs = anatomy.limbs
    joints = [Floating(origin, bodies[0], name="free")]
    for k, leg in enumerate(anatomy.walker.legs):
        hip, shin = 1 + 2 * k, 2 + 2 * k
        root, knee = limbs.root[k], limbs.knee[k]
        joints.append(
            Spherical(
                bodies[0], bodies[hip], parent_vertex=root - centres[0], child_vertex=root - centres[hip],
                name=f"root {leg.name}",
            )
        )  # fmt: skip
        joints.append(
            Revolute(
                bodies[hip], bodies[shin], limbs.rest.hip[k, :, 1], parent_vertex=knee - centres[hip],
                child_vertex=knee - centres[shin], name=f"knee {leg.name}",
            )
        )  # fmt: skip
    spec = MechanismSpec(origin, bodies, joints, timestep=timestep)
    return ModelDescription(spec, {"free": coordinates_of(walk.first[0])}, motion=walk)
