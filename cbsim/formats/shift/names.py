"""Names in a Shift file: references to frames and joints, types of joints, and rotations."""

from __future__ import annotations

from typing import Any

import numpy as np

from cbsim.errors import did_you_mean
from cbsim.formats.shift.records import Part, shown
from cbsim.formats.values import quote
from cbsim.geometry.linear import det, svd, times
from cbsim.spec.objects import ZERO, Triple
from cbsim.spec.shift.forces import ForceModule, Restraint
from cbsim.spec.shift.model import ORIGIN, UPRIGHT, Placement, Reference

__all__ = [
    "AXES",
    "JOINTS",
    "PLANNED",
    "called",
    "kind_of",
    "matrix_of",
    "name_of",
    "path_of",
    "placement_of",
    "reference_of",
]

AXES = {"x": Triple(1.0, 0.0, 0.0), "y": Triple(0.0, 1.0, 0.0), "z": Triple(0.0, 0.0, 1.0)}
JOINTS: dict[str, tuple[str, str]] = {
    **{f"R{axis}": ("revolute", axis) for axis in AXES},
    **{f"T{axis}": ("prismatic", axis) for axis in AXES},
    "revolute": ("revolute", ""),
    "prismatic": ("prismatic", ""),
    "spherical": ("spherical", ""),
    "rigid": ("rigid", ""),
    "float": ("float", ""),
}
"""Type of a joint in a file → kind, and its axis where the type says it."""

PLANNED = (
    "planar",
    "universal",
    "gear",
    "gears",
    "cylindrical",
)  # announced by the format's own documentation, but undefined
RIGHT_ANGLES = 1e-12  # tolerance of exact rotations, which are kept unchanged
TOLERANCE = 1e-3  # files have 6 to 11 digits


def name_of(part: Part) -> str:
    """Return the name of a record; E967 for a name that is invalid in paths."""
    name = str(part.get("name", ""))
    if ":" in name:
        part.error(
            "E967", f"the name {quote(name)} of {part.what} has a colon, which separates names in a path", "name"
        )
    return name


def called(record: Restraint | ForceModule) -> str:
    """Name of a force for messages: its name, else its type."""
    what = "restraint" if isinstance(record, Restraint) else "force module"
    return f"{what} {quote(record.name)}" if record.name else f"a {what} of type {quote(record.kind)}"


def kind_of(part: Part) -> tuple[str, str]:
    """Return kind and axis letter of a joint; E968 for unknown types."""
    given = str(part.get("type", ""))
    for spelling in (given, given.capitalize(), given.lower()):
        if spelling in JOINTS:
            return JOINTS[spelling]
    if given.lower() in PLANNED:
        hint = "the format announces it without defining it; put it together of revolute and prismatic joints"
    else:
        hint = did_you_mean(given, JOINTS) or f"there are {', '.join(JOINTS)}"
    if "type" in part:
        part.error("E968", f"there is no joint of type {quote(given)}", "type", hint=hint)
    return "rigid", ""


def _texts(value: Any) -> list[str] | None:
    """Names of a path, from one text with colons or a list of texts."""
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list) or not given or not all(isinstance(one, str) for one in given):
        return None
    return [segment for one in given for segment in one.split(":")]


def path_of(part: Part, name: str) -> tuple[str, ...]:
    """Read a path to a body or a joint."""
    value = part.get(name)
    names = _texts(value)
    if value is not None and (names is None or "" in names):
        part.error("E965", f"{name} of {part.what} is {shown(value)}, expected a name or a path", name)
    return tuple(names or ())


def reference_of(part: Part, value: Any, *where: str | int) -> Reference | None:
    """Read a frame of a body: ``[body, frame]``, ``[[path], frame]`` or ``"path:body:frame"``.

    A list of one item means that item; in a text, and in a list of three or more, the last name is the frame.
    """
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    body, frame = value if isinstance(value, list) and len(value) == 2 else (value, None)
    names = _texts(body)
    rooted = isinstance(body, str) and ":" in body
    if frame is None and names is not None:
        frame = names.pop() if len(names) > 1 else ORIGIN
    if names is None or "" in names or not isinstance(frame, str) or not frame:
        text = f"{'.'.join(map(str, where))} of {part.what} is {shown(value)}, expected [body, frame]"
        part.error("E965", text, *where)
        return None
    return Reference(tuple(names), frame, rooted and len(names) > 1)


def matrix_of(part: Part, value: Any, *where: str | int) -> tuple[float, ...]:
    """Build a rotation from rows; E969 if it is invalid, the nearest rotation if it is inexact."""
    given = np.array(value, float)
    off = float(np.abs(times(given.T, given) - np.eye(3)).max())
    if off > TOLERANCE or det(given) < 0.0:
        how = "turns right-handed axes to left-handed ones" if off <= TOLERANCE else f"is off by {off:.2g}"
        part.error("E969", f"R of {part.what} is no rotation: it {how}", *where)
        return UPRIGHT
    if off > RIGHT_ANGLES:
        left, _, right = svd(given)
        given = times(left, right)
    return tuple(float(number) for number in given.ravel())


def placement_of(part: Part) -> Placement:
    """Read ``R`` and ``T``, lengths in the file's unit."""
    rotation = matrix_of(part, part.get("R"), "R") if "R" in part else UPRIGHT
    return Placement(rotation, Triple(*part.get("T")) if "T" in part else ZERO)
