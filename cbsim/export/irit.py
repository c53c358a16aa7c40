"""Conversion of IRIT walkers to robots: links and joints of the dynamic walker.

URDF has triangles in separate files only. A body is therefore written as its bounding box, and hips and shins as
cylinders along them of the same volume.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np

from cbsim.arrays import Floats
from cbsim.errors import Location, Problem, Problems, Severity
from cbsim.export.urdf import robot_of
from cbsim.models.irit.anatomy import DENSITY, Anatomy, Part
from cbsim.models.irit.description import anatomy_of, period_of
from cbsim.models.irit.dynamic import Build, dynamic_description
from cbsim.models.irit.gait import Gait
from cbsim.models.irit.ground import FLAT
from cbsim.models.irit.poses import quaternion_of
from cbsim.spec.irit.objects import IritFile
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.shapes import Box, Cylinder, Shape
from cbsim.spec.urdf import Robot

__all__ = ["robot_of_walker"]

STEP = 0.01  # [s]; robots do not depend on it
NOWHERE = (math.nan, math.nan)


def robot_of_walker(spec: IritFile, problems: Problems) -> Robot:
    """Make a robot of a walker.

    Parameters
    ----------
    spec : IritFile
    problems : Problems
        Gets a warning (W930) for what URDF cannot hold: its gait, servos and triangles.

    Raises
    ------
    FileError
        Of a file without a walker (E080).
    """
    anatomy = anatomy_of(spec)
    place = anatomy.walker.location
    gait = Gait(anatomy, FLAT, anatomy.walker.gait, (True, True), NOWHERE)
    made = dynamic_description(anatomy, gait, period_of(anatomy, {}), Build(DENSITY, 0.8, STEP)).spec
    lost = Problems()
    robot = robot_of(_plain(made, anatomy), lost, name=Path(spec.path).stem or "walker")
    for problem in lost:
        problems.add(replace(problem, location=place))
    for what in ("the gait, and the servos of its joints", "triangles: boxes and cylinders stand for them"):
        problems.add(_loss(what, place))
    return robot


def _loss(what: str, place: Location) -> Problem:
    return Problem(Severity.WARNING, "W930", f"URDF cannot hold {what}", place)


def _plain(spec: MechanismSpec, anatomy: Anatomy) -> MechanismSpec:
    """Leave contacts and servos out, and give bodies shapes that URDF has."""
    limbs = anatomy.limbs
    shapes = {anatomy.body.name: _box(anatomy.body)}
    for k, (hip, shin) in enumerate(zip(anatomy.hips, anatomy.shins, strict=True)):
        shapes[hip.name] = _bone(hip, limbs.root[k], limbs.knee[k])
        shapes[shin.name] = _bone(shin, limbs.knee[k], limbs.foot[k])
    bodies = {body: replace(body, shape=shapes.get(body.name)) for body in spec.bodies}
    joints = [
        replace(joint, parent=bodies.get(joint.parent, joint.parent), child=bodies[joint.child], drives=())
        for joint in spec.joints
    ]
    return replace(spec, bodies=tuple(bodies.values()), joints=joints, contacts=())


def _box(part: Part) -> Shape:
    sizes = np.maximum(part.high - part.low, 1e-6)
    return Box(*map(float, sizes), position_offset=0.5 * (part.low + part.high) - part.lump.centre)


def _bone(part: Part, start: Floats, end: Floats) -> Shape:
    """Cylinder from start to end with the volume of a part."""
    length = float(np.linalg.norm(end - start))
    radius = math.sqrt(part.lump.mass / (math.pi * length))
    along = (end - start) / length
    across = np.cross(np.eye(3)[int(np.argmin(np.abs(along)))], along)
    across /= np.linalg.norm(across)
    turn = quaternion_of(np.stack([across, np.cross(along, across), along], axis=-1))
    middle = 0.5 * (start + end) - part.lump.centre
    return Cylinder(radius, length, position_offset=middle, orientation_offset=turn)
