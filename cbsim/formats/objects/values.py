"""Ranges, defaults, names and checks of values in object files of both versions.

Readings of unclear points are those of docs/formats/objects.md, D1 to D31.

Each function adds its problems and returns a substitute value, so that one error never hides the next.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from enum import IntEnum
from typing import TypeVar

from cbsim.errors import Location, Problems, nearest
from cbsim.formats.values import LIMIT, Complaint, Quantity, parse_number, parse_whole, quote
from cbsim.spec.drives import DRIVES, drives_on
from cbsim.spec.objects import Controller, Kind, ShapeKind, TrafficObject, Wheels
from cbsim.spec.road import PointId
from cbsim.units import DEGREE

__all__ = [
    "ANGLE",
    "DISTANCE",
    "HEIGHT",
    "HOME_CONTROLLER",
    "IMPLIED_FILE_NAME",
    "LEVER_RATE",
    "ORIENTATION",
    "PARAMETERS",
    "PAUSE",
    "POSITION",
    "RADIUS",
    "SIZE",
    "SPEED",
    "THROTTLE_RATE",
    "WIDTH",
    "check_anchor",
    "check_controller",
    "check_drive",
    "check_sensor_type",
    "check_shape",
    "check_speed",
    "implied_name",
    "is_path",
    "listed",
    "member",
    "number",
    "suggested",
    "whole",
    "with_identifiers",
]

Member = TypeVar("Member", bound=IntEnum)

TOY_TO_MINE = "from a toy car's to a mining truck's, with room on both sides"
ACTUATORS = "full scales per second: 1e-6 takes eleven days, 1e6 a microsecond"

POSITION = Quantity("position offset", "m")
HEIGHT = POSITION._replace(least=-2000.0, reason="no ground lies that low, and what is below -5000 m counts as absent")
ORIENTATION = Quantity("orientation offset", "deg", DEGREE)
SIZE = Quantity("size", "m", least=1e-4, most=1e6, default=1.0, reason="paper is thicker, and no site is larger")
SPEED = Quantity("speed", "m/s", least=0.0, default=1.0)
PAUSE = Quantity("pause", "s", least=0.0)
DISTANCE = Quantity("distance", "m", least=0.0)
ANGLE = Quantity("angle", "deg", DEGREE)
RADIUS = Quantity("wheel radius", "m", least=1e-3, most=100.0, default=0.38, reason=TOY_TO_MINE)
WIDTH = Quantity("wheel width", "m", least=1e-4, most=100.0, default=0.20, reason=TOY_TO_MINE)
THROTTLE_RATE = Quantity("throttle rate", "1/s", least=1e-6, most=1e6, default=2.0, reason=ACTUATORS)
LEVER_RATE = Quantity("lever rate", "1/s", least=1e-6, most=1e6, default=0.5, reason=ACTUATORS)

PARAMETERS = {
    quantity.name: quantity
    for quantity in (
        Quantity("wheelbase", "m", least=1e-3, most=1e3, default=1.0, reason=TOY_TO_MINE),
        Quantity("track", "m", least=1e-3, most=1e3, default=1.0, reason=TOY_TO_MINE),
        Quantity("axles", "", least=2.0, most=3.0, default=2.0, grain=1.0),
        Quantity("max_steer", "deg", DEGREE, least=1e-3, most=89.0, default=0.5, reason="at 90° it drives sideways"),
        Quantity("mass", "kg", least=1e-3, most=1e7, default=1.0, reason="a toy car has 0.01 kg, a mining truck 6e5"),
        Quantity("yaw_inertia", "kg m²", least=1e-9, most=1e9, default=1.0, reason="a toy car has 1e-6, a truck 1e6"),
        Quantity("cg_height", "m", least=0.0, most=1e3, default=0.5, reason=TOY_TO_MINE),
        Quantity("front_load", "", least=0.05, most=0.95, default=0.5, reason="both axles carry some of the weight"),
        Quantity("front_stiffness", "1/rad", least=0.01, most=1000.0, default=10.0, reason="tyres have 5 to 30"),
        Quantity("rear_stiffness", "1/rad", least=0.01, most=1000.0, default=10.0, reason="tyres have 5 to 30"),
        Quantity("friction", "", least=1e-3, most=10.0, default=1.0, reason="wet ice has 0.02, a racing tyre 2"),
        Quantity("front_grip", "", least=1e-3, most=2.0, default=1.0, reason="a share of the rear axle's"),
        Quantity("rolling_resistance", "", least=0.0, most=1.0, default=0.0, reason="sand has 0.3"),
        Quantity("drag_area", "m²", least=0.0, most=1e4, default=0.0, reason="a truck has 6"),
        Quantity("drive_split", "", least=0.0, most=1.0, default=0.0),
        Quantity("drive_force", "N", least=1e-6, most=1e9, default=1.0, reason=TOY_TO_MINE),
        Quantity("max_speed", "m/s", least=1e-3, most=1e3, default=1.0, reason="no car has driven 350 m/s"),
        Quantity("max_acceleration", "m/s²", least=1e-3, most=1e4, default=1.0, reason="a rocket sled has 1000"),
        Quantity("max_deceleration", "m/s²", least=1e-3, most=1e4, default=1.0, reason="tyres give 10, a wall 1000"),
        Quantity("throttle_delay", "s", least=0.0, most=60.0),
        Quantity("steering_delay", "s", least=0.0, most=60.0),
        Quantity("throttle_lag", "s", least=0.0, most=60.0),
        Quantity("steering_lag", "s", least=0.0, most=60.0),
        Quantity("restitution", "", least=0.0, most=1.0),
        Quantity("body_friction", "", least=0.0, most=10.0),
    )
}
"""Extension attributes of a vehicle that override its defaults (D22)."""

HOME_CONTROLLER = {Kind.AUTONOMOUS: Controller.SENSOR, Kind.DYNAMIC: Controller.WAYPOINT}
IMPLIED_FILE_NAME = "Default"


def number(text: str, quantity: Quantity, place: Location, problems: Problems) -> float:
    """Read a number, keeping its text; E604 if it is malformed, E611 if it is out of range."""
    value = parse_number(text, quantity)
    if isinstance(value, Complaint):
        problems.error("E611" if value.out_of_range else "E604", value.message, place, value.hint)
        return quantity.default
    return value


def whole(text: str, name: str, place: Location, problems: Problems, least: int = 0, hint: str = "") -> int | None:
    """Read a whole number; None and E604 with a hint if it is malformed, E611 if it is out of range."""
    value = parse_whole(text, name, least)
    if isinstance(value, Complaint):
        problems.error("E611" if value.out_of_range else "E604", value.message, place, value.hint or hint)
        return None
    return value


def suggested(text: str, words: Iterable[str]) -> tuple[str | None, str]:
    """Find the nearest word to a misspelt one, and a hint; None if none is near."""
    known = list(words)
    meant = nearest(text, known, near=0.5)
    return (None, f"one of {', '.join(known)}") if meant is None else (meant, f"did you mean '{meant}'?")


def listed(members: type[IntEnum]) -> str:
    """List the codes of an enumeration, for a hint."""
    return ", ".join(f"{m.value} {m.name.lower()}" for m in members)


def member(code: int | None, default: Member, name: str, place: Location, problems: Problems) -> Member:
    """Return the member of a code; E607 and the default if there is none; None has been reported before."""
    members = type(default)
    if code in set(members):
        return members(code)
    if code is not None:
        problems.error("E607", f"unknown {name} '{code}'", place, listed(members))
    return default


def check_speed(speed: float, place: Location, problems: Problems) -> float:
    """Warn of a speed that never arrives (D11)."""
    if speed == 0.0:
        problems.warning("W612", "a speed of '0' m/s never arrives", place)
    return speed


def check_anchor(
    parts: tuple[int | None, ...], place: Location, problems: Problems, *, optional: bool
) -> PointId | None:
    """Make a waypoint id of three numbers (D5): all zero is not an anchor, ``s 0 p`` a perimeter point, else no zeros.

    Parameters
    ----------
    parts : tuple of (int or None)
        Segment, lane, waypoint; None for invalid ones, which have been reported.
    optional : bool
        Whether ``0 0 0`` may stand for none.
    """
    if optional and parts == (0, 0, 0):
        return None
    segment, lane, point = parts
    if segment is None or lane is None or point is None:
        return None
    if segment == 0 or point == 0:
        shown, hint = quote(f"{segment} {lane} {point}"), "'0 0 0' stands for the map's origin" if optional else ""
        problems.error("E613", f"{shown} is not a waypoint: segment and waypoint start at 1", place, hint)
        return None
    if lane == 0:
        problems.info("I614", f"{quote(f'{segment} {lane} {point}')} is a perimeter point of zone {segment}", place)
    return PointId(segment, lane, point)


def check_sensor_type(code: int, place: Location, problems: Problems) -> int:
    """Warn of a sensor type whose meaning is not known (D6)."""
    if code != 0:
        message = f"unknown sensor type '{code}'; what the sensor is, its conf file must say"
        problems.warning("W615", message, place, "only 0, a laser, is known")
    return code


def check_controller(kind: Kind, controller: Controller, place: Location, problems: Problems) -> Controller:
    """Treat a sensor-driven object without sensors as driven manually (D8)."""
    if kind is Kind.DYNAMIC and controller is Controller.SENSOR:
        message = "an object that is not simulated has no sensors: its controller 'sensor' is treated as 'manual'"
        problems.warning("W616", message, place)
        return Controller.MANUAL
    return controller


def check_drive(text: str | None, wheels: Wheels | None, place: Location, problems: Problems) -> str | None:
    """Check that the wheels support a drive; otherwise E643, and the default of the wheels."""
    kind = (wheels or Wheels()).type
    if text is None or text in drives_on(kind):
        return text
    near, hint = suggested(text, drives_on(kind))
    what = f"drive {quote(text)} does not run on" if text in list(DRIVES) else f"unknown drive {quote(text)} on"
    problems.error("E643", f"{what} {kind.name.lower()} wheels", place, hint)
    return near


def check_shape(item: TrafficObject, place: Location, problems: Problems, *, sized: bool = True) -> TrafficObject:
    """Check that shape, kind and size agree (D2, D20, D29); returns the object with a shape it can have.

    If a size was invalid, `sized` is False, and its substitute is not compared.
    """
    if item.kind is Kind.MESH:
        return replace(item, shape=ShapeKind.MESH)
    if item.shape is ShapeKind.MESH:
        hint = "mesh objects are an object type of their own"
        problems.error("E618", f"the {item.kind} object has shape 'mesh' but no vertices and indices", place, hint)
        return replace(item, shape=ShapeKind.BOX)
    if item.kind is Kind.AUTONOMOUS and item.shape is not ShapeKind.BOX:
        problems.info("I637", f"autonomous objects are usually boxes, not '{item.shape.name.lower()}'", place)
    rule = ROUND.get(item.shape)
    if sized and rule is not None and len({float(item.size[axis]) for axis in rule[0]}) > 1:
        sizes = " ".join(f"{value:g}" for value in item.size)
        problems.warning("W617", f"sizes '{sizes}' m of a {item.shape.name.lower()}: {rule[1]}", place)
    return item


ROUND = {
    ShapeKind.SPHERE: ((0, 1, 2), "x is its diameter, y and z are not used"),
    ShapeKind.CYLINDER: ((0, 1), "x is its diameter, y is not used"),
    ShapeKind.WHEEL: ((1, 2), "y is its diameter, z is not used"),
}
"""Axes that should agree, and what is used where they do not (D20)."""


def is_path(text: str) -> bool:
    """Return whether a text is a valid file name: not empty, without control characters."""
    return bool(text.strip()) and all(c >= " " and c not in "\x7f\ufffe\uffff" for c in text)


def implied_name(kind: Kind, number_: int | str | None) -> str:
    """Name of an object of a file without names: ``object <id>``, and ``mesh <k>`` for the k-th mesh."""
    return f"{'mesh' if kind is Kind.MESH else 'object'} {number_}"


def with_identifiers(objects: tuple[TrafficObject, ...]) -> tuple[TrafficObject, ...]:
    """Give each object without an id the smallest that is free, in order; meshes have none (D24)."""
    used = {item.identifier for item in objects}
    free = (k for k in range(1, int(LIMIT)) if k not in used)
    return tuple(
        item if item.identifier is not None or item.kind is Kind.MESH else replace(item, identifier=next(free))
        for item in objects
    )
