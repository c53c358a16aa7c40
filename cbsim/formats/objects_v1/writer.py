"""Writer of v1 object files: the published grammar, one commented record per line; numbers keep their text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cbsim.errors import UsageError
from cbsim.formats.objects.values import HOME_CONTROLLER, with_identifiers
from cbsim.formats.objects_v1.records import fits_path_record
from cbsim.spec.number import number_text
from cbsim.spec.objects import (
    Controller,
    Goal,
    Kind,
    MeshFile,
    ObjectFile,
    ScriptEntry,
    Steering,
    TrafficObject,
    Triple,
    Wheels,
)
from cbsim.spec.road import PointId
from cbsim.units import DEGREE

__all__ = ["write"]

TYPE_CODES = {Kind.AUTONOMOUS: 0, Kind.DYNAMIC: 1, Kind.STATIC: 2, Kind.MESH: 3}


def write(spec: ObjectFile) -> str:
    """Write a v1 object file.

    Fields without a record in the format are left out; `cbsim.export.objects.to_v1` reports each loss beforehand.

    Raises
    ------
    UsageError
        If a goal has no waypoint, a file's name cannot stand on a line of its own, or an object is reactive.
    """
    lines = [f"{len(spec.objects)} // number of objects"]
    for item in with_identifiers(spec.objects):
        lines += ["", *_object(item)]
    return "\n".join([*lines, ""])


def _object(item: TrafficObject) -> Iterator[str]:
    if item.reactive:
        raise UsageError(f"object '{item.name}' is reactive, which version 1 cannot hold")
    yield f"{TYPE_CODES[item.kind]} // object type: 0 dyn_sim, 1 dyn_no_sim, 2 static, 3 mesh"
    if item.kind is Kind.MESH:
        yield _path(item.vertices, item)
        yield _path(item.indices, item)
        yield f"{_point(item.anchor)} // start position: segment lane waypoint, 0 0 0 for none"
        return
    if item.kind in HOME_CONTROLLER:
        controller = item.controller if item.controller is not None else HOME_CONTROLLER[item.kind]
        yield f"{controller.value} // controller: 0 sensor, 1 manual, 2 script, 3 waypoint"
        yield from _list(controller, item)
    yield from _tail(item)
    if item.kind is Kind.AUTONOMOUS:
        yield from _vehicle(item)


def _list(controller: Controller, item: TrafficObject) -> Iterator[str]:
    if controller is Controller.WAYPOINT:
        yield f"{len(item.goals)} // number of waypoints"
        for goal in item.goals:
            yield from _goal(goal, item)
    elif controller is Controller.SCRIPT:
        yield f"{len(item.script)} // number of script entries"
        for entry in item.script:
            yield from _script_entry(entry)


def _goal(goal: Goal, item: TrafficObject) -> Iterator[str]:
    if goal.waypoint is None:
        lane = f"{goal.segment}.{goal.lane}"
        hint = "expand it first: cbsim.export.objects.to_v1 with a road network"
        raise UsageError(f"object '{item.name}' has a goal without waypoint on lane {lane}; {hint}")
    yield f"{number_text(goal.speed)} // speed [m/s]"
    yield f"{number_text(goal.pause)} // pause [s]"
    yield f"{goal.segment} {goal.lane} {goal.waypoint} // waypoint"


def _script_entry(entry: ScriptEntry) -> Iterator[str]:
    yield f"{number_text(entry.speed)} // speed [m/s]"
    yield f"{number_text(entry.pause)} // pause [s]"
    yield f"{number_text(entry.distance)} // distance [m]"
    yield f"{number_text(entry.angle, DEGREE)} // angle on the map [deg]"


def _tail(item: TrafficObject) -> Iterator[str]:
    yield f"{item.identifier} // object id, unique"
    yield f"{item.shape.value} // shape: 0 box, 1 sphere, 2 cylinder, 3 wheel"
    yield f"{_point(item.anchor)} // start position: segment lane waypoint, 0 0 0 for none"
    yield from _axes(item.position_offset, "position offset {} [m]")
    yield from _axes(item.size, "size {} [m]")
    yield from _axes(item.orientation_offset, "orientation offset {} [deg]", DEGREE)


def _axes(values: Triple, comment: str, factor: float = 1.0) -> Iterable[str]:
    pairs = zip("xyz", values, strict=True)
    return (f"{number_text(value, factor)} // {comment.format(axis)}" for axis, value in pairs)


def _point(anchor: PointId | None) -> str:
    return " ".join(map(str, anchor or (0, 0, 0)))


def _vehicle(item: TrafficObject) -> Iterator[str]:
    wheels, steering = item.wheels or Wheels(), item.steering or Steering()
    yield f"{wheels.type.value} // wheel type: 0 skid, 1 conventional"
    yield f"{number_text(wheels.radius)} // wheel radius [m]"
    yield f"{number_text(wheels.width)} // wheel width [m]"
    yield f"{number_text(steering.throttle_rate)} // throttle rate [1/s]"
    yield f"{number_text(steering.lever_rate)} // lever rate [1/s]"
    yield f"{len(item.sensors)} // number of sensors"
    for sensor in item.sensors:
        yield f"{sensor.type_code or 0} // sensor type: 0 laser"
        yield _path(MeshFile(sensor.conf), item)


def _path(file: MeshFile | None, item: TrafficObject) -> str:
    path = "" if file is None else file.path
    if not fits_path_record(path):
        raise UsageError(f"object '{item.name}': the file name '{path}' cannot stand on a line of a v1 file")
    return path
