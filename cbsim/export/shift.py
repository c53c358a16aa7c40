"""A Shift model as a robot, so that it can be written as URDF: in its start pose, upright."""

from __future__ import annotations

from pathlib import Path

from cbsim.errors import ModelError, Problems
from cbsim.export.urdf import robot_of
from cbsim.formats.shift.figure import figure_of
from cbsim.paths import Files
from cbsim.spec.shift.model import ShiftModel
from cbsim.spec.urdf import Robot

__all__ = ["robot_of_model"]

STEP = 0.01  # [s], which a robot does not have


def robot_of_model(model: ShiftModel, problems: Problems) -> Robot:
    """Make a robot of a model; what its format cannot hold is told (W930).

    Raises
    ------
    ModelError
        If there is nothing to simulate.
    """
    path = Path(model.location.path)
    figure = figure_of(model, STEP, path.parent, Files([path]), Problems(), substeps=1)
    if figure.behaviour is not None:
        text = "URDF has no springs, restraints, controllers or tyres as this model has; they are left out"
        problems.warning("W930", text, model.location)
    if not figure.spec.joints:
        raise ModelError("has no joints", location=model.location)
    return robot_of(figure.spec, problems, name=path.stem or "model")
