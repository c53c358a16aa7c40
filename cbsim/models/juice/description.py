"""Descriptions of Juice models, by settings given as text: ``--set joystick1.y=-1``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from cbsim.errors import Location, ModelError, Problems, UsageError
from cbsim.formats.values import quote
from cbsim.models.juice.behaviour import JuiceBehaviour
from cbsim.models.juice.build import Built, Choices, build
from cbsim.models.juice.collision_filter import colliders_of
from cbsim.models.juice.poses import JOINT_AXES
from cbsim.models.juice.program import driven_joints
from cbsim.models.juice.servos import most_turn
from cbsim.models.settings import Settings
from cbsim.paths import Files
from cbsim.spec.juice import JointKind, JuiceModel
from cbsim.spec.mechanism.model_description import ModelDescription

__all__ = ["OPTIONS", "describe", "description_of"]

LEFT = 1e-6  # [N s] of its equations that the solver may leave
LEFT_OF_MASS = 1e-9  # [m/s] times the heaviest mass: that much it may leave too
FINE = 0.005  # [s]: steps of models whose masses are far apart, at most; what gives way there swings without end
FAR_APART = 100.0  # heaviest mass by lightest

CHOICES: dict[str, tuple[str, ...]] = {
    "joint_axis": JOINT_AXES,
    "pose_phase_units": ("degrees", "radians"),
    "friction_law": ("force", "coulomb"),
    "body_contacts": ("true", "false"),
    "overlaps": ("push", "ignore"),
    "cylinder_inertia": ("capsule", "true"),
    "joints": ("soft", "rigid"),
}
"""Setting → what it may be, the default first."""

OPTIONS: dict[str, str] = {
    "joint_axis": "signs of joints' axes: compat, as Juice's dynamics had them, or design, as drawn",
    "pose_phase_units": "units of PosePhase: degrees, or radians, as Juice read it",
    "friction_law": "what Friction limits: force [N], as in Juice, or coulomb, its share of what presses",
    "body_contacts": "whether bodies that no joint ties touch one another: true, false",
    "overlaps": "what bodies do that overlap at the start: push each other apart, as in Juice, or ignore each other",
    "cylinder_inertia": "inertia of flat cylinders: capsule, as in Juice, or true",
    "joints": "whether the points of joints give way by CFM: soft, as in Juice, or rigid",
    "gravity": "downwards, in place of the file's [m/s²]",
    "friction": "in place of the file's, at least 0",
    "erp": "in place of the file's, more than 0 and at most 1",
    "cfm": "in place of the file's, at least 0",
}
"""Setting → what it means."""


def describe(
    model: JuiceModel,
    settings: Mapping[str, str],
    timestep: float,
    folder: Path,  # noqa: ARG001 (a Juice file names no others)
    files: Files,  # noqa: ARG001
    problems: Problems,
    *,
    strict: bool = False,  # noqa: ARG001
) -> ModelDescription | None:
    """Describe a model without errors, as `cbsim.models` specifies; None if it has no bodies.

    Problems are a step that is too long for a servo, bodies that overlap at the start, and models that the core
    cannot simulate (E939).
    """
    given = Settings(settings, OPTIONS, "a Juice model")
    options: dict[str, Any] = {
        key: _chosen(given, key) if key in CHOICES else given.number(key, 0.0) for key in settings
    }
    masses = [float(body.mass) for body in model.bodies]
    if masses and max(masses) >= FAR_APART * min(masses):
        timestep = min(timestep, FINE)
        options.setdefault("joints", "rigid")
    try:
        return description_of(model, timestep=timestep, problems=problems, **options)
    except ModelError as reason:
        problems.error("E939", f"the model cannot be simulated: {reason}", reason.location or model.location)
        return None


def description_of(  # noqa: PLR0913 (every setting)
    model: JuiceModel,
    *,
    timestep: float = 0.01,
    problems: Problems | None = None,
    joint_axis: str = "compat",
    pose_phase_units: str = "degrees",
    friction_law: str = "force",
    body_contacts: str = "true",
    overlaps: str = "push",
    cylinder_inertia: str = "capsule",
    joints: str = "soft",
    gravity: float | None = None,
    friction: float | None = None,
    erp: float | None = None,
    cfm: float | None = None,
) -> ModelDescription | None:
    """Make a description of a model; settings as `OPTIONS` says.

    Raises
    ------
    UsageError
        If a setting is not a value of it.
    """
    told = Problems() if problems is None else problems
    model = _changed(model, {"gravity": gravity, "friction": friction, "erp": erp, "cfm": cfm})
    if not model.bodies:
        return None
    choices = Choices(joint_axis, friction_law, cylinder_inertia, joints)
    built = build(model, timestep, choices, driven_joints(model))
    spec = colliders_of(model, built, choices, told, bodies=body_contacts == "true", push=overlaps == "push")
    _tell_stuck(model, built, told)
    _tell_unstable(built, timestep, told)
    phase = float(model.pose_phase)
    phase = math.radians(phase) if pose_phase_units == "degrees" else phase
    behaviour = JuiceBehaviour(model, built.servos, phase, built.points)
    return ModelDescription(
        spec,
        built.start,
        behaviour=behaviour,
        drawn=_drawn(model, built),
        tolerance=max(LEFT, LEFT_OF_MASS * max(float(body.mass) for body in model.bodies)),
        most_turn=most_turn(timestep),
    )


def _drawn(model: JuiceModel, built: Built) -> dict[str, tuple[float, float]]:
    """Length and diameter [m] at which joints are drawn."""
    return {
        built.names[joint.id]: (
            float(joint.diameter if joint.kind is JointKind.BALL else joint.length),
            float(joint.diameter),
        )
        for joint in model.sound_joints()
        if joint.id in built.names
    }


def _changed(model: JuiceModel, changes: Mapping[str, Any]) -> JuiceModel:
    """Put numbers in place of the file's."""
    given = {name: value for name, value in changes.items() if value is not None}
    wrong = [name for name, value in given.items() if not _fits(name, value)]
    if wrong:
        raise UsageError(f"{wrong[0]} is {given[wrong[0]]:g}; {OPTIONS[wrong[0]]}")
    return replace(model, **given)


def _fits(name: str, value: float) -> bool:
    if name == "gravity":
        return True
    return 0.0 < value <= 1.0 if name == "erp" else value >= 0.0


def _tell_stuck(model: JuiceModel, built: Built, problems: Problems) -> None:
    """Report motors whose joints others keep from moving."""
    idle = driven_joints(model) - set(built.servos)
    for joint in model.joints:
        if joint.id in idle:
            text = f"the motor of joint {quote(joint.name)} moves nothing: other joints hold what it ties"
            problems.warning("W939", text, joint.location)


def _tell_unstable(built: Built, timestep: float, problems: Problems) -> None:
    """Report servos that swing ever wider in such steps: each takes away more than twice of what is left."""
    worst: tuple[float, str, Location] | None = None
    for servo in built.servos.values():
        unit = 180.0 / math.pi if servo.joint.kind is JointKind.HINGE else 1.0
        share = 0.1 * float(servo.joint.gain) * unit * timestep
        if share >= 2.0 and (worst is None or share > worst[0]):
            worst = share, servo.joint.name, servo.joint.location
    if worst is not None:
        text = f"the servo of joint {quote(worst[1])} swings: a step of {timestep:g} s is too long for its gain"
        problems.warning("W939", text, worst[2], f"it is still in steps below {2.0 * timestep / worst[0]:.3g} s")


def _chosen(given: Settings, key: str) -> str:
    return given.among(key, {word: word for word in CHOICES[key]}, CHOICES[key][0])
