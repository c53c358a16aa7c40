"""Writer of v2 object files, in the layout of the published example; numbers keep their text."""

from __future__ import annotations

from cbsim.formats.object_values import HOME_CONTROLLER, PARAMETERS
from cbsim.formats.objects_extensions import Extras, quoted, text_of
from cbsim.spec.number import number_text
from cbsim.spec.objects import ZERO, Kind, MeshFile, ObjectFile, Steering, TrafficObject, Triple, Wheels
from cbsim.units import DEGREE

__all__ = ["write"]

Attributes = dict[str, str | None]


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
    """Collects the children of one object, and puts extensions where they belong."""

    def __init__(self, extras: Extras) -> None:
        self.extras = extras
        self.lines: list[str] = []
        self._seen: dict[str, int] = {}

    def add(self, tag: str, attributes: Attributes | None = None, text: str | None = None) -> None:
        """Write one child; attributes that are None are left out."""
        self._seen[tag] = self._seen.get(tag, 0) + 1
        path = f"{tag}[{self._seen[tag]}]"
        start = tag + _attributes(attributes or {}) + self.extras.attributes(path)
        content = ("" if text is None else text_of(text)) + "".join(self.extras.elements(path))
        self.lines.append(f"    <{start}>{content}</{tag}>" if content else f"    <{start}/>")


def _attributes(attributes: Attributes) -> str:
    return "".join(f" {name}={quoted(text)}" for name, text in attributes.items() if text is not None)


def _object(item: TrafficObject) -> list[str]:
    extras = Extras(item.extensions)
    out = _Lines(extras)
    out.add("name", text=item.name)
    _write_pose(out, item)
    _write_vehicle(out, item)
    _write_motion(out, item)
    for tag, file in (("vertices", item.vertices), ("indices", item.indices)):
        if file is not None:
            _write_mesh_file(out, tag, file)
    start = f"  <object{_attributes(_own_attributes(item))}{extras.attributes()}>"
    return [start, *out.lines, *(f"    {text}" for text in extras.elements()), "  </object>"]


def _own_attributes(item: TrafficObject) -> Attributes:
    home = HOME_CONTROLLER.get(item.kind)
    away = item.controller is not None and home is not None and item.controller is not home
    return {
        "type": str(item.kind),
        "shape": None if item.kind is Kind.MESH else item.shape.name.lower(),
        "id": None if item.identifier is None else str(item.identifier),
        "controller": item.controller.name.lower() if away and item.controller is not None else None,
        "drivable": "true" if item.drivable else None,
        "drive": item.drive,
        **{name: number_text(value, PARAMETERS[name].factor) for name, value in item.parameters},
    }


def _write_pose(out: _Lines, item: TrafficObject) -> None:
    mesh = item.kind is Kind.MESH
    if item.anchor is not None or not mesh:
        segment, lane, point = item.anchor or (0, 0, 0)
        out.add("start_position", {"segment": str(segment), "lane": str(lane), "waypoint": str(point)})
    if item.position_offset != ZERO or not mesh:
        out.add("position_offset", _axes(item.position_offset))
    if item.orientation_offset != ZERO or not mesh:
        out.add("orientation_offset", _axes(item.orientation_offset, DEGREE))
    if not mesh:
        out.add("size", _axes(item.size))


def _axes(triple: Triple, factor: float = 1.0) -> Attributes:
    return {axis: number_text(value, factor) for axis, value in zip("xyz", triple, strict=True)}


def _write_vehicle(out: _Lines, item: TrafficObject) -> None:
    if item.kind is not Kind.AUTONOMOUS:
        return
    wheels, steering = item.wheels or Wheels(), item.steering or Steering()
    radius, width = number_text(wheels.radius), number_text(wheels.width)
    out.add("wheels", {"type": str(wheels.type.value), "radius": radius, "width": width})
    throttle, lever = number_text(steering.throttle_rate), number_text(steering.lever_rate)
    out.add("steering", {"throttle_rate": throttle, "lever_rate": lever})
    for sensor in item.sensors:
        code = None if sensor.type_code is None else str(sensor.type_code)
        out.add("sensor", {"conf": sensor.conf, "description": sensor.description, "type": code})


def _write_motion(out: _Lines, item: TrafficObject) -> None:
    if item.kind is Kind.DYNAMIC or item.initial_pause:
        out.add("initial_pause", text=number_text(item.initial_pause))
    for goal in item.goals:
        attributes: Attributes = {"speed": number_text(goal.speed), "pause": number_text(goal.pause)}
        attributes |= {"segment": str(goal.segment), "lane": str(goal.lane)}
        out.add("goal", attributes | {"waypoint": None if goal.waypoint is None else str(goal.waypoint)})
    for entry in item.script:
        attributes = {"speed": number_text(entry.speed), "pause": number_text(entry.pause)}
        attributes |= {"distance": number_text(entry.distance), "angle": number_text(entry.angle, DEGREE)}
        out.add("script", attributes)


def _write_mesh_file(out: _Lines, tag: str, file: MeshFile) -> None:
    out.add(tag, {"path": file.mode}, file.path)
