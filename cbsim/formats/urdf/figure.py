"""A robot as a figure for a World, by options that are given as text: ``--set floating=false``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cbsim.errors import Problems, UsageError, did_you_mean
from cbsim.formats.urdf.build import figure_of
from cbsim.formats.urdf.meshes import read_meshes
from cbsim.formats.urdf.solids import MeshData
from cbsim.formats.urdf.touching import solids_of
from cbsim.formats.urdf.tree import Tree
from cbsim.formats.values import quote
from cbsim.paths import Files
from cbsim.spec.mechanism.figure import Figure
from cbsim.spec.urdf import Robot

__all__ = ["OPTIONS", "figure"]

FLAGS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False, "auto": None}
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


def figure(
    robot: Robot,
    settings: Mapping[str, str],
    timestep: float,
    folder: Path,
    files: Files,
    problems: Problems,
    *,
    strict: bool = False,
) -> Figure:
    """Make a figure of a robot whose file has no errors.

    Parameters
    ----------
    robot : Robot
    settings : mapping
        Keys of `OPTIONS` → texts.
    timestep : float
        [s].
    folder : Path
        Of the robot's file.
    files, problems, strict
        As `cbsim.formats.urdf.meshes.read_meshes`.

    Raises
    ------
    UsageError
        If there is no such option, or its text is no value of it.
    ModelError
        If the root shall float, but has no mass.
    """
    options: dict[str, Any] = {"contacts": None}
    for key, text in settings.items():
        if key not in OPTIONS:
            known = ", ".join(OPTIONS)
            raise UsageError(f"a URDF has no setting '{key}'; there is {known} {did_you_mean(key, OPTIONS)}".rstrip())
        options[key] = _number(key, text) if key in ("friction", "gravity") else _flag(key, text)
    meshes = read_meshes(robot, folder, files, problems, strict=strict)
    made = figure_of(robot, meshes=meshes, timestep=timestep, **options)
    if made.set_down:
        _tell_untouching(robot, meshes, problems)
    return made


def _tell_untouching(robot: Robot, meshes: Mapping[str, MeshData], problems: Problems) -> None:
    """Tell of meshes that should touch, and are there, but enclose nothing."""
    for collision, solid in solids_of(Tree(robot), meshes):
        name = collision.geometry.filename
        if solid is None and name in meshes:
            text = f"mesh {quote(name)} lies in one plane: nothing touches it"
            problems.warning("W924", text, collision.geometry.location)


def _flag(key: str, text: str) -> bool | None:
    chosen = text.strip().lower()
    if chosen not in FLAGS or (chosen == "auto" and key not in ("floating", "contacts")):
        raise UsageError(f"{key} is {quote(text)}; {OPTIONS[key]}")
    return FLAGS[chosen]


def _number(key: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or (key == "friction" and value < 0.0):
        raise UsageError(f"{key} is {quote(text)}; {OPTIONS[key]}")
    return value
