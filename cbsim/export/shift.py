"""Conversion of Shift models to robots, in their start pose and upright."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from cbsim.errors import ModelError, Problem, Problems, Severity
from cbsim.export.posing import posed
from cbsim.export.urdf import robot_of
from cbsim.formats.values import quote
from cbsim.models.shift.description import description_of
from cbsim.paths import Files
from cbsim.spec.mechanism.joints import JointConstraint
from cbsim.spec.mechanism.model_description import ModelDescription
from cbsim.spec.shift.model import ShiftModel
from cbsim.spec.urdf import Robot

__all__ = ["robot_of_model"]

STEP = 0.01  # [s], which a robot does not have
EARTH = 9.81  # [m/s²], along -z, the default of robots


def robot_of_model(model: ShiftModel, problems: Problems) -> Robot:
    """Convert a model to a robot; losses are reported (W930).

    Raises
    ------
    ModelError
        If there is nothing to simulate.
    """
    path = Path(model.location.path)
    description = description_of(model, STEP, path.parent, Files([path]), Problems(), substeps=1)
    if not description.spec.joints:
        raise ModelError("has no joints", location=model.location)
    lost = Problems(_losses(description, model))
    robot = robot_of(posed(description.spec, description.start), lost, name=path.stem or "model")
    for problem in lost:
        problems.add(replace(problem, location=model.location))
    return robot


def _losses(description: ModelDescription, model: ShiftModel) -> Iterator[Problem]:
    """Report features of a whole model that robots lack."""
    held = 0 if description.massless_links is None else len(description.massless_links.bodies)
    strength = math.hypot(*description.spec.gravity)
    turning = [joint.name for joint in description.spec.joints if _starts_turned(joint, description.start)]
    for is_lost, what in (
        (description.behaviour is not None, "springs, restraints, controllers or tyres as this model has"),
        (description.velocities is not None and any(map(any, description.velocities.values())), "motion at the start"),
        (abs(strength - EARTH) > 1e-9, f"gravity of {strength:g} m/s²: a robot has {EARTH:g}"),
        (held, f"{held} bodies without mass, which hold joints together: these are made one joint each"),
        (turning, f"where a joint with two rotations starts: {', '.join(map(quote, turning))}"),
    ):
        if is_lost:
            yield Problem(Severity.WARNING, "W930", f"URDF cannot hold {what}; left out", model.location)


def _starts_turned(joint: JointConstraint, start: Mapping[str, tuple[float, ...]]) -> bool:
    slides = joint.translational.free
    return joint.rotational.free == 2 and any(start.get(joint.name, ())[slides : joint.dof])
