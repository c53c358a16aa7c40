"""Lint rules for object files: ids and names, ego, references to the network and to files (65x, 66x).

``docs/formats/objects.md`` documents the codes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from cbsim.errors import Location, Problems
from cbsim.formats.companions import find_mesh_file, mesh_folders
from cbsim.formats.values import quote
from cbsim.lint.rule import Finding, Rule, apply_rules
from cbsim.paths import Files, sensor_folders
from cbsim.road.address import Addresses, point_sets
from cbsim.road.goals import LaneTable, expand_goals
from cbsim.spec.drives import DEFAULT_DRIVES, DRIVES
from cbsim.spec.objects import Controller, Goal, Kind, ObjectFile, ScriptEntry, TrafficObject, Wheels
from cbsim.spec.road import PointId, RoadNetwork

__all__ = ["RULES", "lint_objects"]


@dataclass(frozen=True)
class ObjectsContext:
    """An object file, its network if there is one, and what rules derive from them."""

    file: ObjectFile
    network: RoadNetwork | None
    files: Files
    strict: bool

    @property
    def accepted(self) -> list[TrafficObject]:
        """Objects that the reader has not refused: one error yields one problem."""
        return [item for item in self.file.objects if not item.broken]

    @property
    def folder(self) -> Path:
        """Folder of the file."""
        return Path(self.file.location.path).parent

    @cached_property
    def lanes(self) -> set[tuple[int, int]] | None:
        """Ids of the network's lanes, perimeters and spots; None without a network."""
        return None if self.network is None else {key for key, _, _ in point_sets(self.network)}


# --- rules that need the file only -----------------------------------------------------------------------------------
def _duplicate_id(context: ObjectsContext) -> Iterator[Finding]:
    """E650: several objects have the same id."""
    seen: dict[int, Location] = {}
    for item in context.file.objects:
        if item.identifier is None:
            continue
        if item.identifier in seen:
            message = f"object id '{item.identifier}' is used twice; ids must be unique"
            yield Finding(message, item.location, also=seen[item.identifier])
        seen.setdefault(item.identifier, item.location)


def _duplicate_name(context: ObjectsContext) -> Iterator[Finding]:
    """W651: several objects have the same name."""
    if context.file.version == 1:  # its names are derived from ids
        return
    seen: dict[str, Location] = {}
    for item in context.file.objects:
        if item.name in seen:
            message = f"object name {quote(item.name)} is used twice; the later one is renamed in a run"
            yield Finding(message, item.location, also=seen[item.name])
        seen.setdefault(item.name, item.location)


def _bots(file: ObjectFile) -> list[TrafficObject]:
    return [item for item in file.objects if item.kind is Kind.AUTONOMOUS and item.controller is Controller.SENSOR]


def _no_ego(context: ObjectsContext) -> Iterator[Finding]:
    """W652: no autonomous object reads its sensors (D25)."""
    file = context.file
    if _bots(file) or file.broken or any(item.broken for item in file.objects):
        return
    driven = sum(item.kind is Kind.AUTONOMOUS for item in file.objects)
    found = "the file has no autonomous object"
    if driven:
        whose = "that object has" if driven == 1 else f"all {driven} of them have"
        found = f"no autonomous object of the file has the controller 'sensor': {whose} another"
    yield Finding(f"{found}; there is no ego for a planner to drive", file.location)


def _several_bots(context: ObjectsContext) -> Iterator[Finding]:
    """I653: several autonomous objects read their sensors; the first is the ego (D25)."""
    bots = _bots(context.file)
    for item in bots[1:]:
        message = f"the file has {len(bots)} autonomous objects; the first, {quote(bots[0].name)}, is the ego"
        yield Finding(message, item.location, also=bots[0].location)


def _no_motion(context: ObjectsContext) -> Iterator[Finding]:
    """I659: an object that moves by goals or by a script has none."""
    for item in context.accepted:
        if item.controller is Controller.WAYPOINT and not item.goals:
            yield Finding(f"object {quote(item.name)} has no goals and stays where it is", item.location)
        if item.controller is Controller.SCRIPT and not item.script:
            yield Finding(f"object {quote(item.name)} has an empty script and stays where it is", item.location)


def _first_goal_elsewhere(context: ObjectsContext) -> Iterator[Finding]:
    """I658: the first goal is on another lane than the start."""
    for item in context.accepted:
        first = item.goals[0] if item.controller is Controller.WAYPOINT and item.goals else None
        if first is None or item.anchor is None or first.broken or item.reactive:
            continue
        ends = {(first.segment, first.lane), (item.anchor.segment, item.anchor.lane)}
        if len(ends) == 2 and (context.lanes is None or ends <= context.lanes):  # E654, E661 report missing lanes
            message = f"object {quote(item.name)} starts at '{item.anchor}', but its first goal is on lane "
            message += f"'{first.segment}.{first.lane}'; it goes there in a straight line"
            yield Finding(message, first.location, also=item.anchor_location)


def _reactive_without_goals(context: ObjectsContext) -> Iterator[Finding]:
    """E830: something is reactive that does not drive to goals from the start on."""
    for item in (one for one in context.accepted if one.reactive):
        name = quote(item.name)
        if item.script or item.controller is Controller.SCRIPT:
            yield Finding(f"object {name} is reactive, but follows a script", item.location)
        elif item.controller is not Controller.WAYPOINT and not (
            item.kind is Kind.AUTONOMOUS and item.controller is Controller.SENSOR and not item.goals
        ):
            controller = "none" if item.controller is None else item.controller.name.lower()
            yield Finding(f"object {name} is reactive, but its controller is '{controller}'", item.location)


def _unused_parameters(context: ObjectsContext) -> Iterator[Finding]:
    """I660: parameters without effect."""
    for item in context.accepted:
        driven = item.kind is Kind.AUTONOMOUS or item.controller in (Controller.SENSOR, Controller.MANUAL)
        drive = item.drive or DEFAULT_DRIVES[(item.wheels or Wheels()).type]
        used = DRIVES[drive].uses if driven else ("wheelbase",)
        unused = [name for name, _ in item.parameters if name not in used]
        if item.drive is not None and not driven:
            unused.insert(0, "drive")
        if unused:
            where = f"with the drive '{drive}'" if driven else "where no vehicle is driven"
            message = f"{', '.join(map(quote, unused))} of object {quote(item.name)} has no effect {where}"
            yield Finding(message, item.location)


class PlausibleRange(NamedTuple):
    """Range of values of real vehicles; a value outside of it suggests a wrong unit."""

    least: float
    most: float
    unit: str
    hint: str


LENGTH = PlausibleRange(0.05, 50.0, "m", "metres are expected: not millimetres, centimetres or feet")
WHEEL = PlausibleRange(0.01, 2.5, "m", "metres are expected, and the radius, not the diameter")
WHEEL_WIDTH = PlausibleRange(0.005, 2.0, "m", "metres are expected")
SPEED = PlausibleRange(0.0, 120.0, "m/s", "metres per second are expected: not km/h or mph")
PAUSE = PlausibleRange(0.0, 86400.0, "s", "seconds are expected: not milliseconds")
MASS = PlausibleRange(0.05, 2e5, "kg", "kilograms are expected: not grams, tonnes or pounds")


def _implausible(context: ObjectsContext) -> Iterator[Finding]:
    """W669: values that no real vehicle has, as with a wrong unit; one finding for each quantity of an object."""
    for item in context.accepted:
        reported: set[str] = set()
        for name, value, usual, place in _measures(item):
            if usual.least <= value <= usual.most or value == 0.0 or name in reported:
                continue
            reported.add(name)
            least = f"{usual.least:g} to " if usual.least else "at most "
            expected = f"{least}{usual.most:g} {usual.unit}"
            message = f"{name} of object {quote(item.name)} is {value:g} {usual.unit}; usual is {expected}"
            yield Finding(message, place, usual.hint)


def _measures(item: TrafficObject) -> Iterator[tuple[str, float, PlausibleRange, Location]]:
    """Yield the values of a moving object that have a plausible range."""
    if item.kind not in (Kind.AUTONOMOUS, Kind.DYNAMIC):
        return
    for name, value in zip(("width", "length", "height"), item.size, strict=True):
        yield name, value, LENGTH, item.location
    if item.wheels is not None:
        yield "wheel radius", item.wheels.radius, WHEEL, item.location
        yield "wheel width", item.wheels.width, WHEEL_WIDTH, item.location
    ranges = {"wheelbase": LENGTH, "track": LENGTH, "mass": MASS, "max_speed": SPEED}
    for name, value in item.parameters:
        if name in ranges:
            yield name, value, ranges[name], item.location
    yield "initial pause", item.initial_pause, PAUSE, item.location
    entries: tuple[Goal | ScriptEntry, ...] = (*item.goals, *item.script)
    for entry in entries:
        yield "speed", entry.speed, SPEED, entry.location
        yield "pause", entry.pause, PAUSE, entry.location


# --- referenced files ------------------------------------------------------------------------------------------------
def _missing_confs(context: ObjectsContext, consequence: str = "") -> Iterator[Finding]:
    for item in (one for one in context.file.objects if one.sensors):
        folders = sensor_folders(item.name, context.folder, context.files.environment)
        for sensor in item.sensors:
            if not sensor.broken and context.files.find(sensor.conf, folders) is None:
                hint = f"looked in {', '.join(dict.fromkeys(str(path) for path in folders))}"
                yield Finding(f"no sensor conf {quote(sensor.conf)}{consequence}", sensor.location, hint)


def _missing_conf_is_error(context: ObjectsContext) -> Iterator[Finding]:
    """E655: a sensor conf does not exist, in strict mode (D28)."""
    return _missing_confs(context) if context.strict else iter(())


def _missing_conf(context: ObjectsContext) -> Iterator[Finding]:
    """W655: a sensor conf does not exist; a generic laser takes its place."""
    return iter(()) if context.strict else _missing_confs(context, "; a generic laser takes its place")


def _missing_mesh(context: ObjectsContext) -> Iterator[Finding]:
    """E656: a mesh file does not exist."""
    for item in context.file.objects:
        for mesh in (item.vertices, item.indices):
            if mesh is None or mesh.broken or find_mesh_file(mesh, context.folder, context.files) is not None:
                continue
            places = ", ".join(str(path) for path in mesh_folders(mesh, context.folder))
            yield Finding(f"no mesh file {quote(mesh.path)}", mesh.location, f"looked in {places}")


def _mesh_beside(context: ObjectsContext) -> Iterator[Finding]:
    """I657: a mesh file is next to the object file, not in the working directory."""
    for item in context.file.objects:
        for mesh in (item.vertices, item.indices):
            if mesh is None or mesh.broken or mesh.mode != "base" or context.files.exists(Path(mesh.path)):
                continue
            if find_mesh_file(mesh, context.folder, context.files) is not None:
                message = f"mesh file {quote(mesh.path)} is found next to the object file, not in the working directory"
                yield Finding(message, mesh.location)


# --- references to the network ---------------------------------------------------------------------------------------
def _missing_waypoint(context: ObjectsContext) -> Iterator[Finding]:
    """E654: a start position or a goal is not in the network (D15)."""
    network = context.network
    assert network is not None  # as the table requires
    addresses, zones = Addresses(_points(network)), {zone.number for zone in network.zones}
    for item in context.file.objects:
        references = [(item.anchor, item.anchor_location, "start position")]
        references += [(_point(goal), goal.location, "goal") for goal in item.goals]
        for point, place, noun in references:
            if point is None or point in addresses:
                continue
            message = f"{noun} '{point}' is not in network {quote(network.name)}"
            if point.lane == 0 and point.segment not in zones:
                message = f"{noun} '{point}' has lane 0, but '{point.segment}' is no zone of network "
                message += quote(network.name)
            yield Finding(message, place, addresses.hint(point))


def _point(goal: Goal) -> PointId | None:
    return None if goal.waypoint is None or goal.broken else PointId(goal.segment, goal.lane, goal.waypoint)


def _points(network: RoadNetwork) -> Iterator[PointId]:
    return (PointId(*key, number) for key, points, _ in point_sets(network) for number in points.numbers)


RULES: tuple[Rule[ObjectsContext], ...] = (
    Rule("E650", _duplicate_id),
    Rule("W651", _duplicate_name),
    Rule("W652", _no_ego),
    Rule("I653", _several_bots),
    Rule("E655", _missing_conf_is_error),
    Rule("W655", _missing_conf),
    Rule("E656", _missing_mesh),
    Rule("I657", _mesh_beside),
    Rule("I658", _first_goal_elsewhere),
    Rule("I659", _no_motion),
    Rule("E830", _reactive_without_goals),
    Rule("I660", _unused_parameters),
    Rule("W669", _implausible),
    Rule("E654", _missing_waypoint, requires="network"),
)


def lint_objects(
    file: ObjectFile, network: RoadNetwork | None, files: Files, problems: Problems, *, strict: bool = False
) -> None:
    """Apply all rules to an object file that has been read.

    Objects that the reader has refused (`broken`) are skipped by rules on their values.

    Parameters
    ----------
    file : ObjectFile
        The file as read.
    network : RoadNetwork or None
        Network of start positions and goals; None skips the checks of references (D15).
    files : Files
        Access to sensor confs and meshes.
    problems : Problems
        Collects the findings.
    strict : bool
        A missing sensor conf is an error (D28).
    """
    apply_rules(RULES, ObjectsContext(file, network, files, strict), problems)
    if network is not None:
        lanes = LaneTable(network)
        for item in file.objects:
            expand_goals(item, network, problems, lanes=lanes)  # reports goals on missing lanes
