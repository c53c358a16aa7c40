"""Descriptions of robots, by options given as text: ``--set floating=false``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cbsim.errors import Problems
from cbsim.formats.urdf.tree import Tree
from cbsim.formats.values import quote
from cbsim.models.settings import FLAGS, Settings
from cbsim.models.urdf.build import FRICTION, GRAVITY, description_of
from cbsim.models.urdf.meshes import read_meshes
from cbsim.models.urdf.solids import MeshData
from cbsim.models.urdf.touching import solids_of
from cbsim.paths import Files
from cbsim.spec.mechanism.model_description import ModelDescription
from cbsim.spec.urdf import Robot

__all__ = ["OPTIONS", "describe"]

CHOICES: dict[str, bool | None] = {**FLAGS, "auto": None}
OPTIONS = {
    "floating": "whether the root moves freely: true, false, auto",
    "contacts": "whether collision geometry touches the ground: true, false, auto",
    "self_contacts": "let links touch one another, where no joint ties them: true, false",
    "merge_fixed": "make one body of links that fixed joints tie: true, false",
    "friction": "coefficient of friction on the ground, at least 0",
    "joint_friction": "give joints the dry friction of their file: true, false",
    "gravity": "along z [m/s²]",
}
"""Option → what it means."""


def describe(
    robot: Robot,
    settings: Mapping[str, str],
    timestep: float,
    folder: Path,
    files: Files,
    problems: Problems,
    *,
    strict: bool = False,
) -> ModelDescription:
    """Describe a robot without errors, as `cbsim.models` specifies.

    Raises
    ------
    UsageError
        If there is no such option, or its text is not a value of it.
    ModelError
        If the root shall float, but has no mass.
    """
    given = Settings(settings, OPTIONS, "a URDF")
    meshes = read_meshes(robot, folder, files, problems, strict=strict)
    made = description_of(
        robot,
        floating=given.among("floating", CHOICES, None),
        merge_fixed=given.flag("merge_fixed", default=False),
        contacts=given.among("contacts", CHOICES, None),
        friction=given.number("friction", FRICTION, least=0.0),
        joint_friction=given.flag("joint_friction", default=False),
        self_contacts=given.flag("self_contacts", default=False),
        meshes=meshes,
        timestep=timestep,
        gravity=given.number("gravity", GRAVITY),
    )
    if made.set_down:
        _tell_untouching(robot, meshes, problems)
    return made


def _tell_untouching(robot: Robot, meshes: Mapping[str, MeshData], problems: Problems) -> None:
    """Report meshes that should touch, and are there, but enclose nothing."""
    for collision, solid in solids_of(Tree(robot), meshes):
        name = collision.geometry.filename
        if solid is None and name in meshes:
            text = f"mesh {quote(name)} lies in one plane: nothing touches it"
            problems.warning("W924", text, collision.geometry.location)
