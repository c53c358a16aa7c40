"""Restraints and force modules of a Shift file."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from cbsim.errors import Problems, did_you_mean
from cbsim.formats.shift.grammar import ForceModuleRecord, InputRecord, OutputRecord, RestraintRecord
from cbsim.formats.shift.joints import read_pair
from cbsim.formats.shift.names import path_of, reference_of
from cbsim.formats.shift.records import Part, is_number, is_off, shown
from cbsim.formats.shift.units import Units
from cbsim.formats.values import quote
from cbsim.formats.yaml_tree import Item
from cbsim.spec.shift.forces import Controller, ForceModule, Restraint, Tyre

__all__ = ["DOFS", "read_module", "read_restraint"]

KINDS = ("spring", "damper", "friction")
DISTANCES = {"": "", "euclidean": "", "euclidian": "", "tx": "x", "ty": "y", "tz": "z"}
DOFS = ("Tx", "Ty", "Tz", "Rx", "Ry", "Rz")


def read_restraint(item: Item, problems: Problems) -> Restraint | None:
    """Read a restraint, in the units of the file, since it may act along a joint of any kind."""
    part = Part(item, RestraintRecord, "a restraint", problems)
    name = str(part.get("name", ""))
    kind = str(part.get("type", "")).lower()
    if kind not in KINDS and "type" in part:
        hint = did_you_mean(kind, KINDS) or f"there are {', '.join(KINDS)}"
        part.error("E980", f"there is no restraint of type {quote(kind)}", "type", hint=hint)
    joint = path_of(part, "joint")
    pair_key = part.either("body_frame_pair", "body_frame_pairs")
    pair = read_pair(part, pair_key)
    if ("joint" in part) == (pair_key in part):
        both = "both a joint and a pair of frames" if joint else "neither a joint nor a pair of frames"
        part.error("E980", f"{part.what} has {both}: it acts along the one or between the others")
    along = str(part.get("distance_type", ""))
    if along.lower() not in DISTANCES:
        part.error("E980", f"distance_type is {quote(along)}, expected Tx, Ty or Tz", "distance_type",
                   hint="a torsional restraint names a joint" if along[:1] in "rR" else "")  # fmt: skip
    elif along and joint:
        part.warning("W980", f"{part.what} acts along a joint: its distance_type is not taken", "distance_type")
    knots = tuple(float(one) for one in part.get("knot_points", ()))
    pieces = _pieces(part, knots)
    if not part.valid:
        return None
    return Restraint(
        name, kind, joint, pair, DISTANCES[along.lower()] if pair else "", knots, pieces,
        bool(part.get("active", True)), part.kept, part.place,
    )  # fmt: skip


def _pieces(part: Part, knots: tuple[float, ...]) -> tuple[tuple[float, ...], ...]:
    if any(later <= earlier for earlier, later in pairwise(knots)):
        part.error("E980", "knot_points must increase", "knot_points")
    value = part.get("coefficients")
    if isinstance(value, list) and value and all(is_number(one) for one in value) and not knots:
        value = [value]  # a single polynomial, without a list
    good = isinstance(value, list) and all(isinstance(one, list) and all(map(is_number, one)) for one in value)
    if not good:
        found = "missing" if value is None else shown(value)
        part.error(
            "E980", f"coefficients of {part.what} are {found}, expected a list of lists of numbers", "coefficients"
        )
        return ()
    if len(value) != len(knots) + 1:
        text = f"{part.what} has {len(knots)} knots and {len(value)} lists of coefficients, expected {len(knots) + 1}"
        part.error("E980", text, "coefficients")
    return tuple(tuple(float(one) for one in piece) for piece in value)


def read_module(item: Item, units: Units, problems: Problems) -> ForceModule | None:
    """Read a force module; an inactive one is kept unread if it has errors."""
    found = Problems()
    part = Part(item, ForceModuleRecord, "a force module", found)
    kind, name = str(part.get("type", "")), str(part.get("name", ""))
    active = not is_off(item)
    law: Controller | Tyre | None = None
    if kind.lower() in LAWS:
        law = LAWS[kind.lower()](part, units)
    elif "type" in part:
        hint = did_you_mean(kind.lower(), LAWS) or f"there are {', '.join(LAWS)}; active: false leaves it out"
        part.error("E981", f"there is no force module of type {quote(kind)}", "type", hint=hint)
    whole = law is None or not part.valid
    for problem in found:
        problems.add(problem) if active else None
    kept = part.kept if not whole else part.as_it_stands(but=("type", "name", "active"))
    return ForceModule(name, kind.lower(), None if whole else law, active, kept, part.place)


def _controller(part: Part, _units: Units) -> Controller | None:
    """Read a controller; what its numbers are in depends on the joints that it names."""
    gains = tuple(float(part.get(name, 0.0)) for name in ("p", "i", "d"))
    watched, driven = part.child("input"), part.child("output")
    if watched is None or driven is None:
        part.error("E981", f"{part.what} needs an 'input' and an 'output'")
        return None
    source = Part(watched, InputRecord, f"input of {part.what}", part.problems)
    sink = Part(driven, OutputRecord, f"output of {part.what}", part.problems)
    output, joint = path_of(sink, "joint"), path_of(source, "joint")
    frame = (
        reference_of(source, source.get("body_frame_pair"), "body_frame_pair") if "body_frame_pair" in source else None
    )
    if not output:
        sink.error("E981", f"output of {part.what} names no joint")
    if (frame is None) == (not joint):
        source.error("E981", f"input of {part.what} names neither or both of a joint and a frame")
    dof = str(source.get("dof", "")).capitalize()
    if frame is not None and dof not in DOFS:
        source.error("E981", f"dof of {part.what} is {quote(dof)}, expected one of {', '.join(DOFS)}", "dof")
    watches_rate = source.get("target_type", "velocity" if frame is not None else "position") == "velocity"
    part.valid = part.valid and source.valid and sink.valid
    local = source.get("coordinate_system", "local") == "local"
    p, i, d = gains
    return Controller((p, i, d), float(part.get("target", 0.0)), watches_rate, joint, frame, dof, local, output)


def _tyre(part: Part, units: Units) -> Tyre | None:
    kind = str(part.get("tire_type", "")).lower()
    wheel = path_of(part, "wheel_body")
    if not wheel:
        part.error("E981", f"{part.what} names no wheel_body")
    if kind != "fiala":
        text = f"{part.what} is a tyre of type {quote(kind)}, of which there is none here"
        part.error("E981", text, "tire_type", hint="'fiala' is simulated; active: false leaves it out")
    sizes = {
        "unloaded_radius": units.length, "width": units.length, "rolling_resistance": units.length,
        "vertical_stiffness": units.force / units.length, "vertical_damping": units.force * units.time / units.length,
        "cslip": units.force, "calpha": units.force / units.angle, "umin": 1.0, "umax": 1.0,
    }  # fmt: skip
    numbers = tuple((name, float(part.get(name)) * size) for name, size in sizes.items() if name in part)
    return Tyre(kind, wheel, str(part.get("definition", "")), numbers)


LAWS: dict[str, Callable[[Part, Units], Controller | Tyre | None]] = {"pid": _controller, "tire": _tyre}
