"""CajunBot object files, version 2: XML with root ``object_file`` (docs/formats/objects.md).

The grammar is in `grammar`; `elements` splits objects by it; this module interprets the parts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from lxml import etree

from cbsim.errors import Problems, Severity, did_you_mean
from cbsim.formats.objects import values as rules
from cbsim.formats.objects.elements import Elements, Node, place_of, say_stray_text, say_unknown, tag_in, take_apart
from cbsim.formats.objects.grammar import AXES, FLAGS
from cbsim.formats.objects.values import (
    IMPLIED_FILE_NAME,
    PARAMETERS,
    check_anchor,
    check_controller,
    check_drive,
    check_sensor_type,
    check_shape,
    check_speed,
    implied_name,
    suggested,
)
from cbsim.formats.objects.writer import write
from cbsim.formats.reader import Source, read_xml
from cbsim.formats.values import quote
from cbsim.formats.xml_text import attribute_text, element_text
from cbsim.spec.objects import (
    ZERO,
    Controller,
    Goal,
    Kind,
    MeshFile,
    ObjectFile,
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

__all__ = ["count", "read", "write"]

Element = etree._Element
Value = TypeVar("Value")

OBJECT_LIMIT = 500_000  # objects of one file; more cars than that come from pools of a scenario


def read(source: Source, problems: Problems) -> ObjectFile | None:
    """Read a v2 object file.

    Parameters
    ----------
    source : Source
        The text.
    problems : Problems
        Collects all problems, with their lines.

    Returns
    -------
    ObjectFile or None
        What could be read; None if it is not XML, or not an object file.
    """
    root = read_xml(source, problems)
    if root is None:
        return None
    place, tag = place_of(root, source), str(etree.QName(root).localname)
    if tag == "object":
        hint = "put it inside <object_file>"
        problems.warning("W623", "a single 'object' without its 'object_file'; read as a file of one", place, hint)
        return ObjectFile(IMPLIED_FILE_NAME, (_object(take_apart(root, 1, source, problems), _Once()),), location=place)
    if tag != "object_file":
        hint = did_you_mean(tag, ("object_file",)) or "an object file of version 2 begins with <object_file>"
        problems.error("E622", f"the root element is {quote(tag)}, not 'object_file'", place, hint)
        return None
    return _file(root, source, problems)


def count(spec: ObjectFile) -> dict[str, int]:
    """Count objects, objects of each kind, and sensors."""
    kinds = Counter(item.kind for item in spec.objects)
    sensors = sum(len(item.sensors) for item in spec.objects)
    return {"objects": len(spec.objects), **{str(kind): kinds[kind] for kind in Kind}, "sensors": sensors}


def _file(root: Element, source: Source, problems: Problems) -> ObjectFile:
    node = Node(root, "object_file", 1, source, problems)
    say_stray_text(node)
    extensions = [attribute_text(root, str(name)) for name in root.attrib]
    objects: list[TrafficObject] = []
    names: list[str] = []
    once = _Once()
    objects_tag = root.tag.removesuffix("object_file") + "object"
    for child in root.iterchildren("*"):  # not a comment
        tag = "object" if child.tag == objects_tag else tag_in(child, root)
        if tag == "object":
            if len(objects) == OBJECT_LIMIT:
                message = f"more than {OBJECT_LIMIT} objects; the rest is not read"
                problems.error("E620", message, place_of(child, source))
                break
            objects.append(_object(take_apart(child, len(objects) + 1, source, problems), once))
        elif tag == "name":
            names.append(Node(child, tag, len(names) + 1, source, problems).text)
        else:
            say_unknown(child, place_of(child, source), problems, "an object file", ("name", "object"))
            extensions.append(element_text(child))
    if not names or not names[-1]:
        problems.warning("W633", f"the file has no name; '{IMPLIED_FILE_NAME}' stands in", node.place)
    if len(names) > 1:
        problems.warning("W636", f"the file has {len(names)} names; the last one counts", node.place)
    if not objects:
        problems.warning("W624", "the file has no objects", node.place)
    name = (names[-1] if names else "") or IMPLIED_FILE_NAME
    return ObjectFile(name, tuple(objects), 2, tuple(extensions), node.place)


class _Once:
    """Values of elements, each read once for all elements with the same attributes: most of a large file repeats."""

    def __init__(self) -> None:
        self._values: dict[tuple[object, ...], Any] = {}

    def __call__(self, read: Callable[[Node], Value], node: Node) -> Value:
        """Value of an element as `read` has it; one with problems is read each time, so that each gets its own."""
        key = (read, *node.attributes.items())
        found: Value | None = self._values.get(key)
        if found is None:
            before = node.problems.total
            found = read(node)
            if node.problems.total == before:
                self._values[key] = found
        return found


def _object(parts: Elements, once: _Once) -> TrafficObject:
    kind, node, place = parts.kind, parts.node, parts.node.place
    identifier = None if node.get("id") is None else node.whole("id")
    start = parts.last("start_position")
    reactive = _flag(parts, "reactive", Kind.DYNAMIC, Kind.AUTONOMOUS)
    controller, sure = _controller(parts)
    before = node.problems.count(Severity.ERROR)
    size = _triple(parts, "size", _size, Triple(1.0, 1.0, 1.0), once)
    sized = node.problems.count(Severity.ERROR) == before
    wheels = _wheels(parts)
    item = TrafficObject(
        kind,
        _name(parts, identifier),
        identifier,
        _shape(parts),
        None if start is None else once(_anchor, start).point,
        _triple(parts, "position_offset", _position, ZERO, once),
        _triple(parts, "orientation_offset", _orientation, ZERO, once),
        size,
        controller,
        wheels=wheels,
        steering=_steering(parts),
        sensors=tuple(_sensor(child) for child in parts.all("sensor")),
        initial_pause=_initial_pause(parts),
        goals=tuple([_goal(child, once, reactive) for child in parts.all("goal")]),
        script=tuple(_script_entry(child) for child in parts.all("script")),
        vertices=_mesh_file(parts, "vertices"),
        indices=_mesh_file(parts, "indices"),
        drivable=_flag(parts, "drivable", Kind.MESH),
        reactive=reactive,
        parameters=_parameters(parts),
        drive=_drive(parts, wheels),
        extensions=tuple(parts.extensions),
        location=place,
        anchor_location=node.place if start is None else start.place,
        broken=not (parts.sure and sure),
    )
    if not item.broken:
        _say_unused(parts, item)
    return check_shape(item, place, node.problems, sized=sized)


# --- attributes of the object ----------------------------------------------------------------------------------------
def _name(parts: Elements, identifier: int | None) -> str:
    node = parts.last("name")
    if node is not None and not node.text:
        node.problems.warning("W633", "the name is empty; a name made of its number stands in", node.place)
    text = "" if node is None else node.text
    return text or implied_name(parts.kind, parts.index if identifier is None else identifier)


def _shape(parts: Elements) -> ShapeKind:
    node, text = parts.node, parts.node.get("shape") or ""
    if parts.kind is Kind.MESH:
        if text not in ("", "mesh"):
            message = f"the shape of a mesh object is in its files; shape {quote(text)} is ignored"
            node.problems.warning("W641", message, node.place)
        return ShapeKind.MESH
    if not text:
        node.problems.warning("W633", "the object has no attribute 'shape'; 'box' stands in", node.place)
    elif text not in SHAPES:
        _, hint = suggested(text, SHAPES)
        node.problems.error("E607", f"unknown shape {quote(text)}", node.place, hint)
    return SHAPES.get(text, ShapeKind.BOX)


def _controller(parts: Elements) -> tuple[Controller | None, bool]:
    """Return the controller, and whether it is certain: as written, as probably meant, or the default of the kind."""
    home, text = rules.HOME_CONTROLLER.get(parts.kind), parts.node.get("controller")
    if home is None or text is None:
        return home, True
    names = {controller.name.lower(): controller for controller in Controller}
    chosen = (names | {str(controller.value): controller for controller in Controller}).get(text)
    if chosen is None:
        meant, hint = suggested(text, names)
        parts.node.problems.error("E606", f"unknown controller {quote(text)}", parts.node.place, hint)
        return names.get(meant or "", home), meant is not None
    return check_controller(parts.kind, chosen, parts.node.place, parts.node.problems), True


def _flag(parts: Elements, name: str, *kinds: Kind) -> bool:
    """Read an attribute of objects of some kinds that is true or false."""
    node, text = parts.node, parts.node.get(name)
    if parts.kind not in kinds or text is None:
        return False
    if text not in FLAGS:
        node.problems.error("E604", f"{name} must be 'true' or 'false', not {quote(text)}", node.place)
    return FLAGS.get(text, False)


def _parameters(parts: Elements) -> tuple[tuple[str, float], ...]:
    """Vehicle parameters of the object, its wheels or its steering."""
    values: dict[str, float] = {}
    if parts.kind in rules.HOME_CONTROLLER:
        for node in [parts.node, *parts.all("wheels")[-1:], *parts.all("steering")[-1:]]:
            for name in (key for key in node.attributes if key in PARAMETERS):
                if name in values:
                    node.problems.warning("W636", f"'{name}' is given twice; the last one counts", node.place)
                values[name] = node.number(name, PARAMETERS[name])
    return tuple(values.items())


def _drive(parts: Elements, wheels: Wheels | None) -> str | None:
    if parts.kind not in rules.HOME_CONTROLLER:
        return None
    return check_drive(parts.node.get("drive"), wheels, parts.node.place, parts.node.problems)


# --- children of the object ------------------------------------------------------------------------------------------
class _Anchor(NamedTuple):
    point: PointId | None


def _anchor(node: Node) -> _Anchor:
    segment, lane, waypoint = (node.whole(name) for name in ("segment", "lane", "waypoint"))
    return _Anchor(check_anchor((segment, lane, waypoint), node.place, node.problems, optional=True))


def _triple(parts: Elements, tag: str, read: Callable[[Node], Triple], default: Triple, once: _Once) -> Triple:
    node = parts.last(tag)
    return default if node is None else once(read, node)


def _size(node: Node) -> Triple:
    return Triple(*(node.number(axis, rules.SIZE) for axis in AXES))


def _position(node: Node) -> Triple:
    quantities = rules.POSITION, rules.POSITION, rules.HEIGHT
    return Triple(*map(node.number, AXES, quantities))


def _orientation(node: Node) -> Triple:
    return Triple(*(node.number(axis, rules.ORIENTATION) for axis in AXES))


def _wheels(parts: Elements) -> Wheels | None:
    node = parts.last("wheels")
    if node is None:
        return Wheels() if parts.kind is Kind.AUTONOMOUS else None
    code = node.whole("type", hint=rules.listed(WheelType))
    kind = rules.member(code, WheelType.CONVENTIONAL, "wheel type", node.place, node.problems)
    return Wheels(kind, node.number("radius", rules.RADIUS), node.number("width", rules.WIDTH))


def _steering(parts: Elements) -> Steering | None:
    node = parts.last("steering")
    if node is None:
        return Steering() if parts.kind is Kind.AUTONOMOUS else None
    return Steering(node.number("throttle_rate", rules.THROTTLE_RATE), node.number("lever_rate", rules.LEVER_RATE))


def _sensor(node: Node) -> SensorMount:
    conf = node.required("conf")
    if conf == "":
        node.problems.error("E619", "'conf' of 'sensor' names no file", node.place)
    code = None if node.get("type") is None else node.whole("type")
    if code is not None:
        check_sensor_type(code, node.place, node.problems)
    return SensorMount(conf or "", code, node.get("description"), node.place, broken=not conf)


def _initial_pause(parts: Elements) -> float:
    node = parts.last("initial_pause")
    if node is None:
        return 0.0
    return rules.number(node.text, INITIAL_PAUSE, node.place, node.problems)


def _goal(node: Node, once: _Once, reactive: bool) -> Goal:
    read = _reactive_goal_values if reactive else _goal_values
    speed, pause, segment, lane, waypoint, broken = once(read, node)
    return Goal(speed, pause, segment, lane, waypoint, node.place, broken)


def _goal_values(node: Node) -> tuple[float, float, int, int, int | None, bool]:
    """Speed, pause, segment, lane and waypoint of a goal, and whether it is broken."""
    speed = check_speed(node.number("speed", rules.SPEED), node.place, node.problems)
    return speed, *_goal_place(node)


def _reactive_goal_values(node: Node) -> tuple[float, float, int, int, int | None, bool]:
    """As `_goal_values`, of a goal that needs no speed: a reactive object chooses its own."""
    speed = node.number("speed", rules.SPEED) if "speed" in node.attributes else 0.0
    return speed, *_goal_place(node)


def _goal_place(node: Node) -> tuple[float, int, int, int | None, bool]:
    """Pause, segment, lane and waypoint of a goal, and whether it is broken."""
    place, pause = node.place, node.number("pause", rules.PAUSE)
    segment, lane = node.whole("segment", 1), node.whole("lane")
    if node.get("waypoint") is None:
        if lane == 0 and segment is not None:
            message = "a goal without waypoint needs a lane; lane '0' is the perimeter of a zone"
            node.problems.error("E613", message, place)
        broken = segment is None or not lane
        return pause, segment or 1, lane or 1, None, broken
    point = check_anchor((segment, lane, node.whole("waypoint")), place, node.problems, optional=False)
    return pause, *(point or PointId(1, 1, 1)), point is None


def _script_entry(node: Node) -> ScriptEntry:
    speed = check_speed(node.number("speed", rules.SPEED), node.place, node.problems)
    pause, distance = node.number("pause", rules.PAUSE), node.number("distance", rules.DISTANCE)
    return ScriptEntry(speed, pause, distance, node.number("angle", rules.ANGLE), node.place)


def _mesh_file(parts: Elements, tag: str) -> MeshFile | None:
    node = parts.last(tag)
    if node is None:
        return None
    if not node.text:
        node.problems.error("E619", f"'{tag}' names no file", node.place)
    mode = node.get("path")
    if mode is None:
        node.problems.warning("W633", f"'{tag}' has no attribute 'path'; 'base' stands in", node.place)
    elif mode not in MODES:
        node.problems.error("E638", f"path of '{tag}' must be 'full' or 'base', not {quote(mode)}", node.place)
    broken = not node.text or mode not in (None, *MODES)
    return MeshFile(node.text, mode if mode in MODES else "base", node.place, broken)


def _say_unused(parts: Elements, item: TrafficObject) -> None:
    for tag, controller in FOLLOWS.items():
        nodes = parts.all(tag)
        if nodes and item.controller is not None and item.controller is not controller:
            hint = f'write controller="{controller.name.lower()}" at the object'
            message = f"'{tag}' elements are not followed with controller '{item.controller.name.lower()}'"
            nodes[0].problems.warning("W639", message, nodes[0].place, hint)


INITIAL_PAUSE = rules.PAUSE._replace(name="initial_pause")
MODES = ("full", "base")
SHAPES = {shape.name.lower(): shape for shape in ShapeKind}
FOLLOWS = {"goal": Controller.WAYPOINT, "script": Controller.SCRIPT}
