"""Bodies, frames and geometry of a Shift file."""

from __future__ import annotations

import numpy as np

from cbsim.errors import Problems
from cbsim.formats.shift.grammar import BodyRecord, FrameRecord, InertiaRecord, MeshRecord
from cbsim.formats.shift.names import name_of, placement_of
from cbsim.formats.shift.records import Part, shown
from cbsim.formats.shift.unique import all_different
from cbsim.formats.shift.units import Units
from cbsim.formats.values import quote
from cbsim.formats.yaml_tree import Item, plain
from cbsim.geometry.linear import eigvalsh
from cbsim.spec.objects import ZERO, Triple
from cbsim.spec.shift.model import ORIGIN, Body, Frame, Geometry, Placement

__all__ = ["COLLISIONS", "MOMENTS", "read_body", "read_frame", "tensor_of"]

COLLISIONS = ("sphere", "ellipsoid", "convex_hull", "plane")
MOMENTS = ("Ixx", "Iyy", "Izz", "Ixy", "Iyz", "Izx")
OTHERWISE = {"Ixy": "Iyx", "Iyz": "Izy", "Izx": "Ixz"}  # alternative spelling
LEAST = 1e-12  # [kg] of a body that has a mass
DEFAULTS = (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)  # of a body with some mass or inertia; the format's scripts have them


def read_frame(item: Item, units: Units, problems: Problems) -> Frame | None:
    """Read a frame; None if it is unnamed."""
    part = Part(item, FrameRecord, "a frame", problems)
    name = name_of(part)
    if not name:
        return None
    if name == ORIGIN:
        part.error("E973", "every body has a frame named 'origin' already; it cannot be defined again", "name")
    rotation, shift = placement_of(part)
    return Frame(name, Placement(rotation, scaled(shift, units)), part.place)


def scaled(vector: Triple, units: Units) -> Triple:
    """Lengths of the file in metres."""
    return vector if units.length == 1.0 else Triple(*(float(value) * units.length for value in vector))


def read_body(item: Item, units: Units, problems: Problems) -> Body | None:
    """Read a body; None if it is unnamed."""
    part = Part(item, BodyRecord, "a body", problems)
    name = name_of(part)
    if not name:
        return None
    if name == "fixed":
        part.error("E973", "'fixed' is the ground; no body can have its name", "name")
    frames = tuple(f for one in part.children("frames") if (f := read_frame(one, units, problems)) is not None)
    all_different(frames, "frame", part.what, problems)
    mass, moments = _inertia(part, units)
    center = scaled(Triple(*part.get("center_of_mass")), units) if "center_of_mass" in part else ZERO
    return Body(
        name, mass, center, moments, frames, _geometry(part), _collision(part), bool(part.get("active", True)),
        part.kept, part.place,
    )  # fmt: skip


def _inertia(part: Part, units: Units) -> tuple[float, tuple[float, ...]]:
    """Mass and moments; none without any key of either, otherwise with defaults of missing keys."""
    tables = []
    for key in ("moment_of_inertia", "inertia"):
        item = part.child(key)
        if item is not None:
            tables.append(Part(item, InertiaRecord, f"{key} of {part.what}", part.problems))
    masses = [p.get("mass") for p in (part, *tables) if "mass" in p]
    if not masses and not tables:
        return 0.0, (0.0,) * 6
    if len(set(masses)) > 1:
        part.warning("W966", f"{part.what} has several masses; {masses[0]:g} counts")
    mass = float(masses[0]) if masses else 1.0
    if mass < 0.0 or 0.0 < mass * units.mass < LEAST:
        least = "at least 0" if mass < 0.0 else f"0 or at least {LEAST:g} kg: a grain of dust has more"
        part.error("E974", f"mass of {part.what} is {mass:g}, expected {least}", "mass")
    table = next((p for p in tables if any(name in p for name in (*MOMENTS, *OTHERWISE.values()))), None)
    values = []
    for name, default in zip(MOMENTS, DEFAULTS, strict=True):
        given = None if table is None else table.get(name, table.get(OTHERWISE.get(name, "")))
        values.append(default if given is None else float(given) * units.inertia)
    moments = tuple(values)
    if len(tables) > 1 and mass:
        _compare(part, tables)
    if mass or any(moments):
        _judge(part, moments)
    return mass * units.mass, moments


def _compare(part: Part, tables: list[Part]) -> None:
    one, other = ({k: t.get(k) for k in MOMENTS if k in t} for t in tables)
    if one and other and one != other:
        part.warning("W966", f"{part.what} has two different inertias; 'moment_of_inertia' counts", "inertia")


def tensor_of(moments: tuple[float, ...]) -> np.ndarray:
    """Make the tensor (3, 3) of Ixx, Iyy, Izz, Ixy, Iyz, Izx."""
    xx, yy, zz, xy, yz, zx = moments
    return np.array([[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]])


def _judge(part: Part, moments: tuple[float, ...]) -> None:
    """Report an unphysical inertia, which real files have, and which is harmless in planar motion."""
    least, middle, most = eigvalsh(tensor_of(moments)).tolist()
    text = f"inertia of {part.what} has the principal moments {least:.4g}, {middle:.4g}, {most:.4g}"
    if least <= 1e-12 * abs(most):
        part.warning("W975", f"{text}, expected all above 0")
    elif most > (least + middle) * (1.0 + 1e-6):
        part.warning("W975", f"{text}; no body has one above the sum of the others")


def _collision(part: Part) -> str:
    kind = str(part.get("collision_geometry", "")).lower()
    if kind in ("", "none"):
        return ""
    if kind not in COLLISIONS:
        hint = f"there are {', '.join(COLLISIONS)}"
        part.error("E976", f"there is no collision geometry {quote(kind)}", "collision_geometry", hint=hint)
        return ""
    return kind


def _geometry(part: Part) -> tuple[Geometry, ...]:
    """Read the visual geometry of a body; problems are warnings, since the motion does not depend on it."""
    found: list[Geometry] = []
    problems, part.problems = part.problems, Problems()
    if "definition" in part:
        found += _mesh(part, "definition")
    for item in part.children("geometry", single=True):
        record = Part(item, MeshRecord, f"geometry of {part.what}", part.problems)
        kind = str(record.get("type", "mesh"))
        if kind != "mesh":
            record.warning("W977", f"there is no geometry of type {quote(kind)}; it is not drawn", "type")
        else:
            found += _mesh(record, "filename")
    for problem in part.problems:
        problems.warning("W" + problem.code[1:], problem.message, problem.location, problem.hint)
    part.problems = problems
    return tuple(found)


def _mesh(part: Part, key: str) -> list[Geometry]:
    value = part.get(key)
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not names or not all(isinstance(one, str) and one for one in names):
        item = part.child(key)
        what = shown(plain(item)) if item else "missing"
        part.error("E965", f"{key} of {part.what} is {what}, expected [mesh, materials]", key)
        return []
    return [Geometry(names[0], names[1] if len(names) > 1 else "", part.at(key))]
