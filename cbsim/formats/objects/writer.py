"""Writer of v2 object files, in the layout of the published example; numbers keep their text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cbsim.formats.objects.values import HOME_CONTROLLER, PARAMETERS
from cbsim.formats.xml_text import Extras, quoted, text_of
from cbsim.spec.number import number_text
from cbsim.spec.objects import ZERO, Kind, MeshFile, ObjectFile, Steering, TrafficObject, Triple, Wheels
from cbsim.units import DEGREE

__all__ = ["Attributes", "Row", "own_attributes", "rows_of", "write"]

Attributes = dict[str, str | None]


class Row(NamedTuple):
    """One child of an object: its tag, its attributes (those that are None are left out), and its text."""

    tag: str
    attributes: Attributes
    text: str | None = None


def write(spec: ObjectFile) -> str:
    """Write a v2 object file; what the published grammar lacks stands in extension attributes and elements."""
    extras = Extras(spec.extensions)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<object_file{extras.attributes()}>"]
    lines.append(f"  <name>{text_of(spec.name)}</name>")
    lines += [f"  {text}" for text in extras.elements()]
    for k, item in enumerate(spec.objects):
        lines += ["", *_object(item)] if k else _object(item)
    return "\n".join([*lines, "</object_file>", ""])


class _Lines:
    """Collects the children of one object, with extensions at their paths."""

    def __init__(self, extras: Extras) -> None:
        self.extras = extras
        self.lines: list[str] = []
        self._seen: dict[str, int] = {}

    def add(self, row: Row) -> None:
        """Write one child."""
        tag, attributes, text = row
        self._seen[tag] = self._seen.get(tag, 0) + 1
        path = f"{tag}[{self._seen[tag]}]"
        start = tag + _attributes(attributes) + self.extras.attributes(path)
        content = ("" if text is None else text_of(text)) + "".join(self.extras.elements(path))
        self.lines.append(f"    <{start}>{content}</{tag}>" if content else f"    <{start}/>")


def _attributes(attributes: Attributes) -> str:
    return "".join(f" {name}={quoted(text)}" for name, text in attributes.items() if text is not None)


def _object(item: TrafficObject) -> list[str]:
    extras = Extras(item.extensions)
    out = _Lines(extras)
    for row in rows_of(item):
        out.add(row)
    start = f"  <object{_attributes(own_attributes(item))}{extras.attributes()}>"
    return [start, *out.lines, *(f"    {text}" for text in extras.elements()), "  </object>"]


def rows_of(item: TrafficObject) -> list[Row]:
    """List the children of an object, in the order of the published example, without extensions."""
    files = (("vertices", item.vertices), ("indices", item.indices))
    meshes = [_mesh_file(tag, file) for tag, file in files if file is not None]
    return [Row("name", {}, item.name), *_pose(item), *_vehicle(item), *_motion(item), *meshes]


def own_attributes(item: TrafficObject) -> Attributes:
    """List what is in the start tag of an object."""
    home = HOME_CONTROLLER.get(item.kind)
    away = item.controller is not None and home is not None and item.controller is not home
    return {
        "type": str(item.kind),
        "shape": None if item.kind is Kind.MESH else item.shape.name.lower(),
        "id": None if item.identifier is None else str(item.identifier),
        "controller": item.controller.name.lower() if away and item.controller is not None else None,
        "reactive": "true" if item.reactive else None,
        "drivable": "true" if item.drivable else None,
        "drive": item.drive,
        **{name: number_text(value, PARAMETERS[name].factor) for name, value in item.parameters},
    }


def _pose(item: TrafficObject) -> Iterator[Row]:
    mesh = item.kind is Kind.MESH
    if item.anchor is not None or not mesh:
        segment, lane, point = item.anchor or (0, 0, 0)
        yield Row("start_position", {"segment": str(segment), "lane": str(lane), "waypoint": str(point)})
    if item.position_offset != ZERO or not mesh:
        yield Row("position_offset", _axes(item.position_offset))
    if item.orientation_offset != ZERO or not mesh:
        yield Row("orientation_offset", _axes(item.orientation_offset, DEGREE))
    if not mesh:
        yield Row("size", _axes(item.size))


def _axes(triple: Triple, factor: float = 1.0) -> Attributes:
    return {axis: number_text(value, factor) for axis, value in zip("xyz", triple, strict=True)}


def _vehicle(item: TrafficObject) -> Iterator[Row]:
    if item.kind is not Kind.AUTONOMOUS:
        return
    wheels, steering = item.wheels or Wheels(), item.steering or Steering()
    radius, width = number_text(wheels.radius), number_text(wheels.width)
    yield Row("wheels", {"type": str(wheels.type.value), "radius": radius, "width": width})
    throttle, lever = number_text(steering.throttle_rate), number_text(steering.lever_rate)
    yield Row("steering", {"throttle_rate": throttle, "lever_rate": lever})
    for sensor in item.sensors:
        code = None if sensor.type_code is None else str(sensor.type_code)
        yield Row("sensor", {"conf": sensor.conf, "description": sensor.description, "type": code})


def _motion(item: TrafficObject) -> Iterator[Row]:
    if item.kind is Kind.DYNAMIC or item.initial_pause:
        yield Row("initial_pause", {}, number_text(item.initial_pause))
    for goal in item.goals:
        speed = None if item.reactive and goal.speed == 0.0 else number_text(goal.speed)
        attributes: Attributes = {"speed": speed, "pause": number_text(goal.pause)}
        attributes |= {"segment": str(goal.segment), "lane": str(goal.lane)}
        yield Row("goal", attributes | {"waypoint": None if goal.waypoint is None else str(goal.waypoint)})
    for entry in item.script:
        attributes = {"speed": number_text(entry.speed), "pause": number_text(entry.pause)}
        attributes |= {"distance": number_text(entry.distance), "angle": number_text(entry.angle, DEGREE)}
        yield Row("script", attributes)


def _mesh_file(tag: str, file: MeshFile) -> Row:
    return Row(tag, {"path": file.mode}, file.path)
