"""Rules for object files: ids and names, who drives, references into the network, files that must be found."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from cbsim.errors import Location, Problems
from cbsim.formats.companions import find_mesh_file, mesh_folders
from cbsim.formats.values import quote
from cbsim.paths import Files, sensor_folders
from cbsim.road.address import Addresses, point_sets
from cbsim.road.goals import expand_goals
from cbsim.spec.drives import DEFAULT_DRIVES, DRIVES
from cbsim.spec.objects import Controller, Goal, Kind, ObjectFile, ScriptEntry, TrafficObject, Wheels
from cbsim.spec.road import PointId, RoadNetwork

__all__ = ["lint_objects"]


def lint_objects(
    file: ObjectFile, network: RoadNetwork | None, files: Files, problems: Problems, *, strict: bool = False
) -> None:
    """Apply every rule to an object file that has been read.

    Nothing is said of what the reader has refused (`broken`): one mistake gives one line.

    Parameters
    ----------
    file : ObjectFile
        What it says.
    network : RoadNetwork or None
        What anchors and goals refer to; without one, references are not checked (D15).
    files : Files
        Where sensor confs and meshes are looked for.
    problems : Problems
        Gets what is found.
    strict : bool
        A missing sensor conf is an error (D28).
    """
    _check_ids(file, problems)
    _check_names(file, problems)
    _check_bots(file, problems)
    lanes = None if network is None else {key for key, _, _ in point_sets(network)}
    for item in file.objects:
        if not item.broken:
            _check_motion(item, lanes, problems)
            _check_effect(item, problems)
            _check_plausible(item, problems)
        _check_sensors(item, _folder(file), files, problems, strict=strict)
        _check_meshes(item, _folder(file), files, problems)
    if network is not None:
        _check_references(file, network, problems)


def _folder(file: ObjectFile) -> Path:
    return Path(file.location.path).parent


# --- rules that need the file only -----------------------------------------------------------------------------------
def _check_ids(file: ObjectFile, problems: Problems) -> None:
    seen: dict[int, Location] = {}
    for item in file.objects:
        if item.identifier is None:
            continue
        if item.identifier in seen:
            message = f"object id '{item.identifier}' is used twice; ids must be unique"
            problems.error("E650", message, item.location, also=seen[item.identifier])
        seen.setdefault(item.identifier, item.location)


def _check_names(file: ObjectFile, problems: Problems) -> None:
    if file.version == 1:  # names are made of the ids there
        return
    seen: dict[str, Location] = {}
    for item in file.objects:
        if item.name in seen:
            message = f"object name {quote(item.name)} is used twice; the later one is renamed in a run"
            problems.warning("W651", message, item.location, also=seen[item.name])
        seen.setdefault(item.name, item.location)


def _check_bots(file: ObjectFile, problems: Problems) -> None:
    """At least one autonomous object that reads its sensors; the first is the ego (D25)."""
    bots = [item for item in file.objects if item.kind is Kind.AUTONOMOUS and item.controller is Controller.SENSOR]
    if not bots and not file.broken and not any(item.broken for item in file.objects):
        driven = sum(item.kind is Kind.AUTONOMOUS for item in file.objects)
        found = "the file has no autonomous object"
        if driven:
            whose = "that object has" if driven == 1 else f"all {driven} of them have"
            found = f"no autonomous object of the file has the controller 'sensor': {whose} another"
        problems.warning("W652", f"{found}; there is no ego for a planner to drive", file.location)
    for item in bots[1:]:
        message = f"the file has {len(bots)} autonomous objects; the first, {quote(bots[0].name)}, is the ego"
        problems.info("I653", message, item.location, also=bots[0].location)


def _check_motion(item: TrafficObject, lanes: set[tuple[int, int]] | None, problems: Problems) -> None:
    if item.controller is Controller.WAYPOINT and not item.goals:
        problems.info("I659", f"object {quote(item.name)} has no goals and stays where it is", item.location)
    if item.controller is Controller.SCRIPT and not item.script:
        problems.info("I659", f"object {quote(item.name)} has an empty script and stays where it is", item.location)
    first = item.goals[0] if item.controller is Controller.WAYPOINT and item.goals else None
    if first is None or item.anchor is None or first.broken:
        return
    ends = {(first.segment, first.lane), (item.anchor.segment, item.anchor.lane)}
    if len(ends) == 2 and (lanes is None or ends <= lanes):  # a lane that is not there is told of elsewhere
        message = f"object {quote(item.name)} starts at '{item.anchor}', but its first goal is on lane "
        message += f"'{first.segment}.{first.lane}'; it goes there in a straight line"
        problems.info("I658", message, first.location, also=item.anchor_location)


def _check_effect(item: TrafficObject, problems: Problems) -> None:
    """I660: parameters that nothing uses."""
    driven = item.kind is Kind.AUTONOMOUS or item.controller in (Controller.SENSOR, Controller.MANUAL)
    drive = item.drive or DEFAULT_DRIVES[(item.wheels or Wheels()).type]
    used = DRIVES[drive].uses if driven else ("wheelbase",)
    unused = [name for name, _ in item.parameters if name not in used]
    if item.drive is not None and not driven:
        unused.insert(0, "drive")
    if unused:
        where = f"with the drive '{drive}'" if driven else "where no vehicle is driven"
        message = f"{', '.join(map(quote, unused))} of object {quote(item.name)} has no effect {where}"
        problems.info("I660", message, item.location)


class Usual(NamedTuple):
    """Range of values that vehicles have; beyond it, a unit may have been mistaken."""

    least: float
    most: float
    unit: str
    hint: str


LENGTH = Usual(0.05, 50.0, "m", "metres are expected: not millimetres, centimetres or feet")
WHEEL = Usual(0.01, 2.5, "m", "metres are expected, and the radius, not the diameter")
WHEEL_WIDTH = Usual(0.005, 2.0, "m", "metres are expected")
QUICK = Usual(0.0, 120.0, "m/s", "metres per second are expected: not km/h or mph")
WAIT = Usual(0.0, 86400.0, "s", "seconds are expected: not milliseconds")
MASS = Usual(0.05, 2e5, "kg", "kilograms are expected: not grams, tonnes or pounds")


def _check_plausible(item: TrafficObject, problems: Problems) -> None:
    """W669: values that no vehicle has, as where a unit was mistaken; one line for each kind of value."""
    told: set[str] = set()
    for name, value, usual, place in _measures(item):
        if usual.least <= value <= usual.most or value == 0.0 or name in told:
            continue
        told.add(name)
        expected = (
            f"{usual.least:g} to {usual.most:g} {usual.unit}" if usual.least else f"at most {usual.most:g} {usual.unit}"
        )
        message = f"{name} of object {quote(item.name)} is {value:g} {usual.unit}; usual is {expected}"
        problems.warning("W669", message, place, usual.hint)


def _measures(item: TrafficObject) -> Iterator[tuple[str, float, Usual, Location]]:
    """Values of a moving object that have a usual range."""
    if item.kind not in (Kind.AUTONOMOUS, Kind.DYNAMIC):
        return
    for name, value in zip(("width", "length", "height"), item.size, strict=True):
        yield name, value, LENGTH, item.location
    if item.wheels is not None:
        yield "wheel radius", item.wheels.radius, WHEEL, item.location
        yield "wheel width", item.wheels.width, WHEEL_WIDTH, item.location
    ranges = {"wheelbase": LENGTH, "track": LENGTH, "mass": MASS, "max_speed": QUICK}
    for name, value in item.parameters:
        if name in ranges:
            yield name, value, ranges[name], item.location
    yield "initial pause", item.initial_pause, WAIT, item.location
    entries: tuple[Goal | ScriptEntry, ...] = (*item.goals, *item.script)
    for entry in entries:
        yield "speed", entry.speed, QUICK, entry.location
        yield "pause", entry.pause, WAIT, entry.location


# --- files that are referred to --------------------------------------------------------------------------------------
def _check_sensors(item: TrafficObject, folder: Path, files: Files, problems: Problems, *, strict: bool) -> None:
    folders = sensor_folders(item.name, folder, files.environment)
    for sensor in item.sensors:
        if sensor.broken or files.find(sensor.conf, folders) is not None:
            continue
        hint = f"looked in {', '.join(dict.fromkeys(str(path) for path in folders))}"
        if strict:
            problems.error("E655", f"no sensor conf {quote(sensor.conf)}", sensor.location, hint)
        else:
            message = f"no sensor conf {quote(sensor.conf)}; the default model is used"
            problems.warning("W655", message, sensor.location, hint)


def _check_meshes(item: TrafficObject, folder: Path, files: Files, problems: Problems) -> None:
    for mesh in (item.vertices, item.indices):
        if mesh is None or mesh.broken:
            continue
        found = find_mesh_file(mesh, folder, files)
        if found is None:
            places = [str(path) for path in mesh_folders(mesh, folder)]
            problems.error("E656", f"no mesh file {quote(mesh.path)}", mesh.location, f"looked in {', '.join(places)}")
        elif mesh.mode == "base" and not files.exists(Path(mesh.path)):
            message = f"mesh file {quote(mesh.path)} is found beside the object file, not in the working directory"
            problems.info("I657", message, mesh.location)


# --- references into the network -------------------------------------------------------------------------------------
def _check_references(file: ObjectFile, network: RoadNetwork, problems: Problems) -> None:
    addresses = Addresses(_points(network))
    zones = {zone.number for zone in network.zones}
    for item in file.objects:
        references = [(item.anchor, item.anchor_location, "start position")]
        references += [(_point(goal), goal.location, "goal") for goal in item.goals]
        for point, place, noun in references:
            if point is None or point in addresses:
                continue
            if point.lane == 0 and point.segment not in zones:
                message = (
                    f"{noun} '{point}' has lane 0, but '{point.segment}' is no zone of network {quote(network.name)}"
                )
            else:
                message = f"{noun} '{point}' is not in network {quote(network.name)}"
            problems.error("E654", message, place, addresses.hint(point))
        expand_goals(item, network, problems)


def _point(goal: Goal) -> PointId | None:
    return None if goal.waypoint is None or goal.broken else PointId(goal.segment, goal.lane, goal.waypoint)


def _points(network: RoadNetwork) -> Iterator[PointId]:
    return (PointId(*key, number) for key, points, _ in point_sets(network) for number in points.numbers)
