"""Conversion of Juice models to robots: bodies, joints and stops, with a warning for each loss."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cbsim.errors import Problem, Problems, Severity
from cbsim.export.urdf import robot_of
from cbsim.formats.urdf.frames import frame_of
from cbsim.geometry.pose import Pose
from cbsim.models.juice.build import Choices, build
from cbsim.models.juice.poses import orientation_of
from cbsim.spec.juice import JuiceBody, JuiceModel
from cbsim.spec.urdf import Collision, Joint, Link, Robot

__all__ = ["robot_of_juice"]


def robot_of_juice(model: JuiceModel, problems: Problems) -> Robot:
    """Make a robot of a model.

    Parameters
    ----------
    model : JuiceModel
    problems : Problems
        Gets a warning (W930) for what URDF cannot hold: behaviours, friction and softness.

    Raises
    ------
    ModelError
        If the model has no bodies.
    """
    built = build(model, 0.01, Choices(), frozenset(), touching=False)
    lost = Problems()
    robot = robot_of(built.spec, lost, name="juice")
    if model.behaviours:
        lost.add(_loss(f"behaviours, of which there are {len(model.behaviours)}", model))
    lost.add(_loss("friction as a force, ERP and CFM", model))
    for problem in lost:
        problems.add(replace(problem, location=model.location))
    names = {body.name: number for number, body in built.bodies.items()}
    bodies = {body.id: body for body in model.bodies}
    joints = tuple(
        _placed(joint, bodies[names[joint.child]]) if joint.type == "floating" else joint for joint in robot.joints
    )
    return replace(robot, links=tuple(_solid(link) for link in robot.links), joints=joints)


def _loss(what: str, model: JuiceModel) -> Problem:
    return Problem(Severity.WARNING, "W930", f"URDF cannot hold {what}; left out", model.location)


def _solid(link: Link) -> Link:
    """Make the visual geometry of a link collide, as in Juice."""
    return replace(link, collisions=tuple(Collision(look.geometry, look.origin) for look in link.visuals))


def _placed(joint: Joint, body: JuiceBody) -> Joint:
    """Place a free-floating body where the file has it."""
    pose = Pose(np.array(body.position, float), orientation_of(body.attitude))
    return replace(joint, origin=frame_of(pose))
