"""Grammar of v1 object files: one function per construct, each reading records through a `Cursor`.

The grammar is in docs/formats/objects.md.

`DIALECTS` lists the grammars of each object type in the order they are tried: the published grammar, and for kinematic
objects also that of the published sample, which has no controller line (D1).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from cbsim.errors import Location, Severity
from cbsim.formats.objects import values as rules
from cbsim.formats.objects.values import (
    check_controller,
    check_sensor_type,
    check_shape,
    check_speed,
    implied_name,
    is_path,
    listed,
    member,
)
from cbsim.formats.objects_v1.records import Cursor, Misfit, implied_mode
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
    Wheels,
    WheelType,
)
from cbsim.spec.road import PointId

__all__ = ["DIALECTS", "Parser"]

Parser = Callable[[Cursor, Location], TrafficObject]


def _tail(cursor: Cursor, kind: Kind, place: Location) -> TrafficObject:
    identifier, _ = cursor.whole("the object id")
    code, shape_place = cursor.whole("the shape")
    anchor, anchor_place = cursor.anchor()
    position = cursor.triple(rules.POSITION, rules.HEIGHT)
    before = cursor.problems.count(Severity.ERROR)
    size = cursor.triple(rules.SIZE)
    sized = cursor.problems.count(Severity.ERROR) == before
    item = TrafficObject(
        kind,
        implied_name(kind, f"at line {place.line}" if identifier is None else identifier),
        identifier,
        member(code, ShapeKind.BOX, "shape", shape_place, cursor.problems),
        anchor,
        position,
        cursor.triple(rules.ORIENTATION),
        size,
        location=place,
        anchor_location=anchor_place,
    )
    return check_shape(item, shape_place, cursor.problems, sized=sized)


def _mesh(cursor: Cursor, place: Location) -> TrafficObject:
    vertices, indices = (_mesh_file(cursor, what) for what in ("the vertices file", "the indices file"))
    anchor, anchor_place = cursor.anchor()
    return TrafficObject(
        Kind.MESH, "", None, ShapeKind.MESH, anchor,
        vertices=vertices, indices=indices, location=place, anchor_location=anchor_place,
    )  # fmt: skip


def _mesh_file(cursor: Cursor, what: str) -> MeshFile:
    path, place = cursor.path(what)
    return MeshFile(path, implied_mode(path), place, not is_path(path))


def _static(cursor: Cursor, place: Location) -> TrafficObject:
    return _tail(cursor, Kind.STATIC, place)


def _kinematic(cursor: Cursor, place: Location) -> TrafficObject:
    return _controlled(cursor, Kind.DYNAMIC, place)


def _kinematic_without_controller(cursor: Cursor, place: Location) -> TrafficObject:
    first = cursor.index
    goals = _goals(cursor)
    item = replace(_tail(cursor, Kind.DYNAMIC, place), controller=Controller.WAYPOINT, goals=goals)
    message = "no controller line before the number of waypoints: V1-IMPLIED-CONTROLLER, it is taken as '3' (waypoint)"
    hint = "insert a line '3'; the published sample leaves it out, the published grammar has it"
    cursor.problems.warning("W601", message, cursor.place(cursor.records[first]), hint)
    return item


def _simulated(cursor: Cursor, place: Location) -> TrafficObject:
    item = _controlled(cursor, Kind.AUTONOMOUS, place)
    code, wheel_place = cursor.whole("the wheel type")
    wheels = Wheels(
        member(code, WheelType.CONVENTIONAL, "wheel type", wheel_place, cursor.problems),
        cursor.number(rules.RADIUS),
        cursor.number(rules.WIDTH),
    )
    steering = Steering(cursor.number(rules.THROTTLE_RATE), cursor.number(rules.LEVER_RATE))
    sensors = tuple(_sensor(cursor) for _ in range(cursor.count("the number of sensors")))
    return replace(item, wheels=wheels, steering=steering, sensors=sensors)


def _controlled(cursor: Cursor, kind: Kind, place: Location) -> TrafficObject:
    code = cursor.count("the controller")
    controller_place = cursor.place(cursor.records[cursor.index - 1])
    if code not in set(Controller):
        hint = listed(Controller)
        raise Misfit(cursor.index - 1, "E606", f"unknown controller '{code}'", hint)
    controller = check_controller(kind, Controller(code), controller_place, cursor.problems)
    goals = _goals(cursor) if controller is Controller.WAYPOINT else ()
    script = _script(cursor) if controller is Controller.SCRIPT else ()
    return replace(_tail(cursor, kind, place), controller=controller, goals=goals, script=script)


def _goals(cursor: Cursor) -> tuple[Goal, ...]:
    return tuple(_goal(cursor) for _ in range(cursor.count("the number of waypoints")))


def _goal(cursor: Cursor) -> Goal:
    speed, place = cursor.number(rules.SPEED), cursor.place(cursor.records[cursor.index - 1])
    pause = cursor.number(rules.PAUSE)
    point, point_place = cursor.point("a waypoint", optional=False)
    check_speed(speed, place, cursor.problems)
    return Goal(speed, pause, *(point or PointId(1, 1, 1)), point_place, point is None)


def _script(cursor: Cursor) -> tuple[ScriptEntry, ...]:
    return tuple(_script_entry(cursor) for _ in range(cursor.count("the number of script entries")))


def _script_entry(cursor: Cursor) -> ScriptEntry:
    speed, place = cursor.number(rules.SPEED), cursor.place(cursor.records[cursor.index - 1])
    check_speed(speed, place, cursor.problems)
    return ScriptEntry(
        speed, cursor.number(rules.PAUSE), cursor.number(rules.DISTANCE), cursor.number(rules.ANGLE), place
    )


def _sensor(cursor: Cursor) -> SensorMount:
    code, place = cursor.whole("the sensor type")
    if code is not None:
        check_sensor_type(code, place, cursor.problems)
    path, path_place = cursor.path("the sensor's conf file")
    return SensorMount(path, code, location=path_place, broken=not is_path(path))


DIALECTS: dict[int, tuple[Parser, ...]] = {
    0: (_simulated,),
    1: (_kinematic, _kinematic_without_controller),
    2: (_static,),
    3: (_mesh,),
}
"""Object type → its grammars, in the order they are tried."""
