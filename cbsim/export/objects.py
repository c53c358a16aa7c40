"""Conversion of object files between versions, with every loss located at its line.

`to_v1` returns exactly what reading its v1 text would. `to_v2` keeps everything; fields that the published grammar of
version 2 lacks become extension attributes and elements, or are refused if strict.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cbsim.errors import Location, Problems
from cbsim.formats.objects.values import HOME_CONTROLLER, IMPLIED_FILE_NAME, implied_name, with_identifiers
from cbsim.formats.objects_v1.records import fits_path_record, implied_mode
from cbsim.formats.values import quote
from cbsim.formats.xml_text import fits_xml
from cbsim.road.goals import expand_goals
from cbsim.spec.objects import (
    ZERO,
    Controller,
    Goal,
    Kind,
    MeshFile,
    ObjectFile,
    ShapeKind,
    Steering,
    TrafficObject,
    Wheels,
)
from cbsim.spec.road import RoadNetwork

__all__ = ["to_v1", "to_v2"]

Loss = tuple[str, Location]


def to_v1(file: ObjectFile, network: RoadNetwork | None, problems: Problems) -> ObjectFile:
    """Convert a file to version 1.

    Parameters
    ----------
    file : ObjectFile
        Of either version.
    network : RoadNetwork or None
        Lanes by which goals without waypoint are expanded.
    problems : Problems
        Gets W665 for each loss; E666 for a goal without waypoint where there is no network; E668 for a file name that
        cannot stand on a line of its own; E670 for a reactive object, which would be literal.

    Returns
    -------
    ObjectFile
        Equal to what reading its v1 text gives.
    """
    if file.name != IMPLIED_FILE_NAME:
        _lose(problems, [(f"the file's name {quote(file.name)}", file.location)])
    if file.extensions:
        _lose(problems, [("elements and attributes of the file that are not CajunBot's", file.location)])
    objects: list[TrafficObject] = []
    for item in with_identifiers(file.objects):
        meshes = sum(other.kind is Kind.MESH for other in objects)
        name = implied_name(item.kind, meshes + 1 if item.kind is Kind.MESH else item.identifier)
        _lose(problems, _losses(item, name))
        _check_paths(item, problems)
        if item.reactive:
            hint = "write version 2, or leave 'reactive' away"
            problems.error(
                "E670", f"object {quote(item.name)} is reactive, which version 1 cannot hold", item.location, hint
            )
        objects.append(_v1_object(replace(item, name=name), network, problems))
    return ObjectFile(IMPLIED_FILE_NAME, tuple(objects), 1, location=file.location)


def to_v2(file: ObjectFile, problems: Problems, *, strict: bool = False) -> ObjectFile:
    """Turn a file into version 2.

    Parameters
    ----------
    file : ObjectFile
        Of either version.
    problems : Problems
        Gets W667 for a mesh with a start position, I667 for what else needs an extension; E668 for a text that XML
        cannot hold.
    strict : bool
        Refuse extensions: both are E667.
    """
    for item in file.objects:
        for message, place, is_pose in _extensions(item):
            add = problems.error if strict else problems.warning if is_pose else problems.info
            code = f"{'E' if strict else 'W' if is_pose else 'I'}667"
            add(
                code,
                f"object {quote(item.name)}: {message} is not in version 2's grammar; it is written as ours",
                place,
            )
        for text in (item.name, *(path for path, _ in _paths(item)), *(s.description or "" for s in item.sensors)):
            if not fits_xml(text):
                problems.error("E668", f"{quote(text)} holds characters that XML cannot", item.location)
    return replace(file, version=2, objects=tuple(map(_v2_object, file.objects)))


# --- to version 1 ----------------------------------------------------------------------------------------------------
def _lose(problems: Problems, losses: list[Loss] | Iterator[Loss]) -> None:
    for what, place in losses:
        problems.warning("W665", f"{what} cannot be kept: version 1 has no place for it", place)


def _losses(item: TrafficObject, name: str) -> Iterator[Loss]:
    """List everything that the object loses."""
    place = item.location
    if item.name != name:
        yield f"the name {quote(item.name)}", place
    if item.initial_pause > 0.0:
        yield f"the initial pause of '{item.initial_pause:g}' s", place
    if item.drive is not None:
        yield f"the drive {quote(item.drive)}", place
    for parameter, value in item.parameters:
        yield f"the vehicle parameter {parameter} of '{value:g}'", place
    if item.extensions:
        yield f"{len(item.extensions)} elements and attributes that are not CajunBot's", place
    for sensor in item.sensors:
        if sensor.description:
            yield f"the description {quote(sensor.description)} of a sensor", sensor.location
    for noun, controller, entries in (
        ("goals", Controller.WAYPOINT, item.goals),
        ("script", Controller.SCRIPT, item.script),
    ):
        if entries and item.controller is not controller:
            yield f"the {noun} that its controller does not follow", entries[0].location
    if item.kind is Kind.MESH:
        yield from _mesh_losses(item)


def _mesh_losses(item: TrafficObject) -> Iterator[Loss]:
    if item.identifier is not None:
        yield f"the id '{item.identifier}' of a mesh", item.location
    if item.drivable:
        yield "that the mesh is drivable", item.location
    if item.position_offset != ZERO or item.orientation_offset != ZERO:
        yield "the offset of a mesh", item.location
    for mesh in (item.vertices, item.indices):
        if mesh is not None and mesh.mode != implied_mode(mesh.path) and mesh.mode == "full":
            yield f"that the path {quote(mesh.path)} is full", mesh.location


def _paths(item: TrafficObject) -> list[Loss]:
    meshes = [(mesh.path, mesh.location) for mesh in (item.vertices, item.indices) if mesh is not None]
    return meshes + [(sensor.conf, sensor.location) for sensor in item.sensors]


def _check_paths(item: TrafficObject, problems: Problems) -> None:
    for path, place in _paths(item):
        if not fits_path_record(path):
            message = f"the file name {quote(path)} cannot stand on a line of a version 1 file"
            problems.error("E668", message, place)


def _v1_object(item: TrafficObject, network: RoadNetwork | None, problems: Problems) -> TrafficObject:
    """Keep the fields that version 1 has."""
    kept = TrafficObject(
        item.kind, item.name, anchor=item.anchor, location=item.location, anchor_location=item.anchor_location
    )
    if item.kind is Kind.MESH:
        files = (_v1_mesh_file(item.vertices), _v1_mesh_file(item.indices))
        return replace(kept, shape=ShapeKind.MESH, vertices=files[0], indices=files[1])
    kept = replace(
        kept,
        identifier=item.identifier,
        shape=item.shape,
        position_offset=item.position_offset,
        orientation_offset=item.orientation_offset,
        size=item.size,
    )
    if item.kind in HOME_CONTROLLER:
        kept = _with_motion(kept, item, network, problems)
    if item.kind is Kind.AUTONOMOUS:
        sensors = tuple(replace(s, type_code=s.type_code or 0, description=None) for s in item.sensors)
        kept = replace(kept, wheels=item.wheels or Wheels(), steering=item.steering or Steering(), sensors=sensors)
    return kept


def _with_motion(
    kept: TrafficObject, item: TrafficObject, network: RoadNetwork | None, problems: Problems
) -> TrafficObject:
    controller = item.controller if item.controller is not None else HOME_CONTROLLER[item.kind]
    if item.kind is Kind.DYNAMIC and controller is Controller.SENSOR:
        controller = Controller.MANUAL
    goals = _v1_goals(item, network, problems) if controller is Controller.WAYPOINT else ()
    script = item.script if controller is Controller.SCRIPT else ()
    return replace(kept, controller=controller, goals=goals, script=script)


def _v1_goals(item: TrafficObject, network: RoadNetwork | None, problems: Problems) -> tuple[Goal, ...]:
    if network is not None:
        return expand_goals(item, network, problems)
    for goal in item.goals:
        if goal.waypoint is None:
            message = f"the goal on lane '{goal.segment}.{goal.lane}' has no waypoint, and version 1 needs one"
            problems.error("E666", message, goal.location, "name the road network: --rndf FILE")
    return tuple(goal for goal in item.goals if goal.waypoint is not None)


def _v1_mesh_file(mesh: MeshFile | None) -> MeshFile | None:
    return None if mesh is None else replace(mesh, mode=implied_mode(mesh.path))


# --- to version 2 ----------------------------------------------------------------------------------------------------
def _v2_object(item: TrafficObject) -> TrafficObject:
    """Leave out the sensor type 0, which every sensor of version 2 has."""
    return replace(item, sensors=tuple(replace(s, type_code=s.type_code or None) for s in item.sensors))


def _extensions(item: TrafficObject) -> Iterator[tuple[str, Location, bool]]:
    """List fields that need an extension; the flag marks a mesh's pose, which version 2 may lack on purpose (D3)."""
    home = HOME_CONTROLLER.get(item.kind)
    if home is not None and item.controller not in (None, home):
        yield f"controller '{Controller(item.controller or 0).name.lower()}'", item.location, False
    for sensor in item.sensors:
        if sensor.type_code:
            yield f"sensor type '{sensor.type_code}'", sensor.location, False
    if item.reactive:
        yield "reactive", item.location, False
    if item.drive is not None:
        yield "drive", item.location, False
    if item.parameters:
        yield "a vehicle parameter", item.location, False
    if item.kind is not Kind.MESH:
        return
    if item.drivable:
        yield "drivable", item.location, False
    if item.anchor is not None or item.position_offset != ZERO or item.orientation_offset != ZERO:
        yield "the start position of a mesh", item.anchor_location, True
