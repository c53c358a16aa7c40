"""Joints of a Shift file, of both dialects."""

from __future__ import annotations

import math

from cbsim.errors import Problems
from cbsim.formats.shift.bodies import scaled
from cbsim.formats.shift.grammar import JointRecord, PlacementRecord
from cbsim.formats.shift.names import AXES, kind_of, name_of, placement_of, reference_of
from cbsim.formats.shift.records import Part, is_number, shown
from cbsim.formats.shift.units import Units
from cbsim.formats.values import quote
from cbsim.formats.yaml_tree import Item
from cbsim.geometry.elementary import whole_power
from cbsim.spec.objects import Triple
from cbsim.spec.shift.model import Joint, Placement, Reference

__all__ = ["read_joint", "read_pair"]

RATES = {"spherical": 3, "float": 6, "rigid": 0}


def read_joint(item: Item, units: Units, problems: Problems) -> Joint | None:
    """Read a joint; None if it lacks an end."""
    part = Part(item, JointRecord, "a joint", problems)
    name = name_of(part)
    kind, letter = kind_of(part)
    pair = _ends(part)
    axis = _axis(part, kind, letter)
    turning = kind == "revolute"
    displacement, placement = _displacement(part, kind, units)
    stiffness = _law(part, kind, units, ("stiffness", "stiffness_coefficients"), 0)
    damping = _law(part, kind, units, ("damping", "damping_coefficients"), 1)
    if pair is None:
        return None
    return Joint(
        name, kind, *pair, axis, displacement * units.coordinate(turning=turning), placement,
        _rates(part, kind, units), stiffness, damping, bool(part.get("active", True)), part.kept, part.place,
    )  # fmt: skip


def _ends(part: Part) -> tuple[Reference, Reference] | None:
    if "parent" in part or "child" in part:
        ends: list[Reference | None] = []
        for name in ("parent", "child"):
            if name not in part:
                part.error("E964", f"{part.what} has no key '{name}'")
                ends.append(None)
            else:
                ends.append(reference_of(part, part.get(name), name))
        one, other = ends
        return None if one is None or other is None else (one, other)
    return read_pair(part, part.either("body_frame_pairs", "body_frame_pair"), needed=True)


def read_pair(part: Part, key: str, *, needed: bool = False) -> tuple[Reference, Reference] | None:
    """Read two frames."""
    value = part.get(key)
    if value is None:
        if needed:
            part.error("E964", f"{part.what} has neither '{key}' nor 'parent' and 'child'")
        return None
    if not isinstance(value, list) or len(value) != 2:
        part.error("E965", f"{key} of {part.what} is {shown(value)}, expected two pairs of body and frame", key)
        return None
    one, other = (reference_of(part, value[n], key, n) for n in (0, 1))
    return None if one is None or other is None else (one, other)


def _axis(part: Part, kind: str, letter: str) -> Triple:
    value = part.get("axis")
    if kind not in ("revolute", "prismatic"):
        if value is not None:
            part.warning("W978", f"{part.what} is {kind}: its axis is not taken", "axis")
        return AXES["z"]
    if value is None:
        if not letter and part.get("type"):
            part.error("E964", f"{part.what} is {kind} and has no key 'axis'")
        return AXES[letter or "z"]
    axis = AXES.get(value.lower()) if isinstance(value, str) else None
    found = shown(value)
    if axis is None and isinstance(value, list) and len(value) == 3 and all(map(is_number, value)):
        length = math.hypot(*value)
        found = "of length 0"
        axis = Triple(*(float(one) / length for one in value)) if length > 1e-9 else None
        if axis is not None and abs(length - 1.0) < 1e-15:
            axis = Triple(*map(float, value))
    if axis is None:
        part.error("E965", f"axis of {part.what} is {found}, expected x, y, z or a direction", "axis")
        return AXES[letter or "z"]
    if letter and axis != AXES[letter]:
        text = f"{part.what} is of type {quote(str(part.get('type')))} and has another axis, which is not taken"
        part.warning("W978", text, "axis", hint=f"a joint of type '{kind}' has the axis that it names")
        return AXES[letter]
    return axis


def _displacement(part: Part, kind: str, units: Units) -> tuple[float, Placement]:
    """Coordinate of a revolute or prismatic joint, placement of another."""
    value = part.get("initial_displacement")
    item = part.child("initial_displacement")
    single = kind in ("revolute", "prismatic")
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if value is None or item is None:
        return 0.0, Placement()
    if isinstance(value, dict) and not single:
        inner = Part(item, PlacementRecord, f"initial_displacement of {part.what}", part.problems)
        rotation, shift = placement_of(inner)
        if kind == "spherical" and any(shift):
            inner.warning("W978", f"{part.what} is spherical: its translation T is not taken", "T")
            shift = Triple(0.0, 0.0, 0.0)
        return 0.0, Placement(rotation, scaled(shift, units))
    if is_number(value) and (single or value == 0):
        return float(value), Placement()
    wanted = "a number" if single else "an object with R and T"
    part.error(
        "E965", f"initial_displacement of {part.what} is {shown(value)}, expected {wanted}", "initial_displacement"
    )
    return 0.0, Placement()


def _rates(part: Part, kind: str, units: Units) -> tuple[float, ...]:
    value = part.get("initial_velocity")
    count = RATES.get(kind, 1)
    given = value if isinstance(value, list) else [] if value is None else [value]
    turns = kind == "spherical" and len(given) == 6 and not any(given[:3])  # written as those of a float joint
    if not all(map(is_number, given)) or (len(given) != count and any(given) and not turns):
        wanted = f"{count} numbers" if count != 1 else "a number"
        part.error("E965", f"initial_velocity of {part.what} is {shown(value)}, expected {wanted}", "initial_velocity")
        return (0.0,) * count
    if not any(given):
        return (0.0,) * count
    if len(given) != count:
        given = given[3:]
    sizes = {1: [units.coordinate(turning=kind == "revolute")], 3: [units.angle] * 3,
             6: [units.length] * 3 + [units.angle] * 3}[count]  # fmt: skip
    return tuple(float(one) * size / units.time for one, size in zip(given, sizes, strict=True))


def _law(part: Part, kind: str, units: Units, keys: tuple[str, str], power: int) -> tuple[float, ...]:
    """Coefficients of a polynomial in SI; ``power`` 1 where its variable is a rate."""
    given = part.get(part.either(*keys)) or ()
    if not any(given):
        return ()
    if kind not in ("revolute", "prismatic"):
        part.error(
            "E979", f"{part.what} is {kind}: {keys[0]} acts along the coordinate of a joint that has one", keys[0]
        )
        return ()
    turning = kind == "revolute"
    unit = units.coordinate(turning=turning) / whole_power(units.time, power)
    found = [float(c) * units.effort(turning=turning) / whole_power(unit, n) for n, c in enumerate(given)]
    while found and found[-1] == 0.0:
        found.pop()
    return tuple(found)
