"""Editable fields of objects, with parsing and formatting."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple, TypeVar

from cbsim.errors import UsageError
from cbsim.formats.objects import values as rules
from cbsim.formats.values import Complaint, Quantity, parse_number, parse_whole, quote
from cbsim.spec.number import number_text
from cbsim.spec.objects import (
    Controller,
    Goal,
    Kind,
    MeshFile,
    ScriptEntry,
    SensorMount,
    ShapeKind,
    Steering,
    TrafficObject,
    Triple,
    Wheels,
    WheelType,
)
from cbsim.spec.road import PointId

__all__ = ["Field", "anchor_of", "fields_of", "goal_fields", "number_of", "whole_lane_in"]

Put = Callable[[str], TrafficObject]
Value = TypeVar("Value")


class Field(NamedTuple):
    """An editable field.

    Attributes
    ----------
    label : str
        Name and unit.
    text : str
        Current value as text.
    put : callable
        Returns the object with a new value parsed from text.

        Raises UsageError if the text is not a valid value.
    choices : tuple of str
        Possible values, if there is a fixed list.
    """

    label: str
    text: str
    put: Put
    choices: tuple[str, ...] = ()


def number_of(text: str, quantity: Quantity) -> float:
    """Parse a number as the file formats do.

    Raises
    ------
    UsageError
        If it is not a number or out of range.
    """
    return _sound(parse_number(text.strip(), quantity))


def _sound(value: Value | Complaint) -> Value:
    if isinstance(value, Complaint):
        raise UsageError(value.message)
    return value


def anchor_of(text: str) -> PointId | None:
    """Parse a waypoint id, ``1.2.3`` or ``1 2 3``; empty text or zeros mean none."""
    parts = text.replace(".", " ").split()
    if not parts or parts == ["0", "0", "0"]:
        return None
    if len(parts) != 3:
        raise UsageError(f"a waypoint is three numbers such as 1.2.3, not {quote(text)}")
    segment, lane, point = (_sound(parse_whole(part, "a part of a waypoint's id")) for part in parts)
    if not segment or not point:
        raise UsageError("segments and waypoints start at 1")
    return PointId(segment, lane, point)


def _file(text: str, what: str) -> str:
    if not rules.is_path(text):
        raise UsageError(f"{what} is a file's name")
    return text.strip()


def fields_of(item: TrafficObject, version: int, confs: tuple[str, ...] = ()) -> list[Field]:
    """List the fields of an object in a version of the format.

    Parameters
    ----------
    item : TrafficObject
    version : int
    confs : tuple of str
        Known sensor confs.
    """
    found = list[Field]()
    if version == 2:
        found.append(Field("name", item.name, lambda text: replace(item, name=_name(text))))
    elif item.kind is not Kind.MESH:
        found.append(Field("id", str(item.identifier), partial(_identified, item)))
    found.append(Field("start", str(item.anchor or "0.0.0"), lambda text: replace(item, anchor=anchor_of(text))))
    if item.kind is not Kind.MESH or version == 2:
        axes = ("right", "ahead", "up")
        found += _triple(item, "position_offset", rules.POSITION, "offset {} [m]", axes, rules.HEIGHT)
        found += _triple(item, "orientation_offset", rules.ORIENTATION, "{} [deg]", ("pitch", "roll", "yaw"))
    if item.kind is Kind.MESH:
        return [*found, *_mesh(item)]
    shapes = tuple(shape.name.lower() for shape in ShapeKind if shape is not ShapeKind.MESH)
    found.append(Field("shape", item.shape.name.lower(), partial(_shaped, item), shapes))
    found += _triple(item, "size", rules.SIZE, "{} [m]", ("width", "length", "height"))
    return [*found, *_moving(item, version), *_vehicle(item, version, confs)]


def _name(text: str) -> str:
    if not text.strip() or not all(sign.isprintable() for sign in text):
        raise UsageError("a name is a text that can be printed")
    return " ".join(text.split())


def _identified(item: TrafficObject, text: str) -> TrafficObject:
    return replace(item, identifier=_sound(parse_whole(text.strip(), "the id")))


def _shaped(item: TrafficObject, text: str) -> TrafficObject:
    return replace(item, shape=ShapeKind[_one_of(text, [shape.name.lower() for shape in ShapeKind][:-1]).upper()])


def _one_of(text: str, words: list[str]) -> str:
    if text.strip().lower() not in words:
        raise UsageError(f"{quote(text)} is none of {', '.join(words)}")
    return text.strip().lower()


def _triple(
    item: TrafficObject,
    attribute: str,
    quantity: Quantity,
    label: str,
    axes: tuple[str, str, str],
    upward: Quantity | None = None,
) -> Iterator[Field]:
    values: Triple = getattr(item, attribute)

    def put(axis: str, text: str) -> TrafficObject:
        kind = quantity if upward is None or axis != "z" else upward
        changed = values._replace(**{axis: number_of(text, kind)})
        return replace(item, **{attribute: changed})  # type: ignore[arg-type]

    for axis, name in zip("xyz", axes, strict=True):
        yield Field(label.format(name), number_text(getattr(values, axis), quantity.factor), partial(put, axis))


def _moving(item: TrafficObject, version: int) -> Iterator[Field]:
    if item.controller is None:
        return
    if version == 2 and item.controller in (Controller.WAYPOINT, Controller.SCRIPT):
        pause = number_text(item.initial_pause)
        yield Field("pause at first [s]", pause, lambda text: replace(item, initial_pause=number_of(text, rules.PAUSE)))
    names = [controller.name.lower() for controller in Controller]
    yield Field(
        "controller",
        item.controller.name.lower(),
        lambda text: replace(item, controller=Controller[_one_of(text, names).upper()]),
        tuple(names),
    )


def _vehicle(item: TrafficObject, version: int, confs: tuple[str, ...]) -> Iterator[Field]:
    if item.kind is not Kind.AUTONOMOUS:
        return
    wheels, steering = item.wheels or Wheels(), item.steering or Steering()
    types = {kind.name.lower(): kind for kind in WheelType}

    def put(part: str, attribute: str, quantity: Quantity, text: str) -> TrafficObject:
        old = wheels if part == "wheels" else steering
        return replace(item, **{part: replace(old, **{attribute: number_of(text, quantity)})})  # type: ignore[arg-type]

    yield Field(
        "wheels",
        wheels.type.name.lower(),
        lambda text: replace(item, wheels=replace(wheels, type=types[_one_of(text, list(types))])),
        tuple(types),
    )
    for label, part, attribute, quantity in (
        ("wheel radius [m]", "wheels", "radius", rules.RADIUS),
        ("wheel width [m]", "wheels", "width", rules.WIDTH),
        ("throttle rate [1/s]", "steering", "throttle_rate", rules.THROTTLE_RATE),
        ("lever rate [1/s]", "steering", "lever_rate", rules.LEVER_RATE),
    ):
        value = getattr(wheels if part == "wheels" else steering, attribute)
        yield Field(label, number_text(value), partial(put, part, attribute, quantity))
    for k, sensor in enumerate(item.sensors):
        yield Field(f"sensor {k + 1}", sensor.conf, partial(_mounted, item, k, version), confs)
    yield Field("add sensor", "", partial(_mounted, item, len(item.sensors), version), confs)


def _mounted(item: TrafficObject, k: int, version: int, text: str) -> TrafficObject:
    """Change sensor k, add one, or remove it if the text is empty."""
    if not text.strip():
        return replace(item, sensors=(*item.sensors[:k], *item.sensors[k + 1 :]))
    conf = _file(text, "a sensor conf")
    old = item.sensors[k] if k < len(item.sensors) else SensorMount("", 0 if version == 1 else None)
    return replace(item, sensors=(*item.sensors[:k], replace(old, conf=conf, broken=False), *item.sensors[k + 1 :]))


def _mesh(item: TrafficObject) -> Iterator[Field]:
    for what in ("vertices", "indices"):
        file = getattr(item, what)

        def put(text: str, what: str = what, file: MeshFile = file) -> TrafficObject:
            changed = replace(file, path=_file(text, f"the file of {what}"), broken=False)
            return replace(item, **{what: changed})  # type: ignore[arg-type]

        if file is not None:
            yield Field(what, file.path, put)


def goal_fields(item: TrafficObject, k: int, version: int) -> list[Field]:
    """List the fields of a goal, or of a script entry, in a version of the format."""
    script = item.controller is Controller.SCRIPT
    stops: tuple[Goal, ...] | tuple[ScriptEntry, ...] = item.script if script else item.goals
    stop = stops[k]

    def put(**values: object) -> TrafficObject:
        changed = (*stops[:k], replace(stop, **values), *stops[k + 1 :])  # type: ignore[arg-type]
        return replace(item, **{"script" if script else "goals": changed})  # type: ignore[arg-type]

    def typed(label: str, value: str, quantity: Quantity) -> Field:
        number = number_text(getattr(stop, value), quantity.factor)
        return Field(label, number, lambda text: put(**{value: number_of(text, quantity)}))

    name = "entry" if script else "goal"
    found = [
        typed(f"speed to {name} {k + 1} [m/s]", "speed", rules.SPEED),
        typed(f"pause at {name} {k + 1} [s]", "pause", rules.PAUSE),
    ]
    if isinstance(stop, Goal):
        at = f"{stop.segment}.{stop.lane}" + ("" if stop.waypoint is None else f".{stop.waypoint}")
        return [*found, Field(f"goal {k + 1} is at", at, lambda text: put(**_goal_at(text, version)))]
    return [
        *found,
        typed(f"way of entry {k + 1} [m]", "distance", rules.DISTANCE),
        typed(f"heading of entry {k + 1} [deg]", "angle", rules.ANGLE),
    ]


def whole_lane_in(version: int) -> str:
    """Return why a version cannot store a goal for the rest of a lane; empty if it can."""
    return "version 1 has no goals without waypoint: click each one, or save as version 2" if version == 1 else ""


def _goal_at(text: str, version: int) -> dict[str, int | None]:
    """Parse a goal: a waypoint such as 1.2.3, or a lane such as 1.2 for the rest of it."""
    parts = text.replace(".", " ").split()
    point = anchor_of(" ".join([*parts, "1"] if len(parts) == 2 else parts))
    if point is None:
        raise UsageError("a goal is at a waypoint such as 1.2.3, or on the rest of a lane such as 1.2")
    if len(parts) == 2 and whole_lane_in(version):
        raise UsageError(whole_lane_in(version))
    return {"segment": point.segment, "lane": point.lane, "waypoint": None if len(parts) == 2 else point.point}
