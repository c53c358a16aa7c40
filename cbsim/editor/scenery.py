"""Network and objects of a scenario, as its editor shows them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cbsim.editor.documents.scenario_document import ScenarioDocument
from cbsim.editor.objects.placement import frame_of
from cbsim.errors import ModelError, Problems, Severity
from cbsim.lint.scenario_context import ScenarioContext
from cbsim.paths import Files
from cbsim.road.roadmap import RoadMap, build
from cbsim.spec.objects import TrafficObject, Triple
from cbsim.spec.road import RoadNetwork
from cbsim.spec.scenario import Placement, Scenario
from cbsim.world.people.compile import actor_of
from cbsim.world.places import start_pose
from cbsim.world.scene import Actor, Scene

__all__ = ["show_scenery"]


def show_scenery(document: ScenarioDocument, files: Files, problems: Problems) -> RoadMap | None:
    """Give a document the objects that it shows, and return its network.

    Parameters
    ----------
    document : ScenarioDocument
    files : Files
        Readable files.
    problems : Problems
        Receives warnings about the files that the scenario names; errors stand among the problems of the session.
    """
    spec, found = document.spec, Problems()
    context = ScenarioContext(spec, files, found, None, None, None, strict=False)
    network = context.network
    roadmap = None if network is None else _roadmap(spec, network, found)
    read = [file for file in context.object_files if file is not None]
    document.object_files = read if context.complete else None
    moved = dict(spec.place)
    placed = [(item, moved.get(item.name)) for item in context.named]
    placed += [(one.object, one.placement) for one in spec.add]
    objects = [_placed(item, placement, roadmap) for item, placement in placed]
    for person in spec.people:
        if all(
            place.waypoint is None or (roadmap is not None and roadmap.has(place.waypoint)) for place in person.path
        ):
            actor = actor_of(person, roadmap, spec.script_angle)
            objects.append(_placed(actor.item, actor.placement, roadmap))
    document.placed = tuple(objects)
    problems.extend(one for one in found if one.severity is not Severity.ERROR)
    return roadmap


def _roadmap(spec: Scenario, network: RoadNetwork, problems: Problems) -> RoadMap | None:
    try:
        return build(network, None if spec.origin is None else (spec.origin.latitude, spec.origin.longitude))
    except ModelError as error:
        problems.error("E892", str(error), spec.at("network"))
        return None


def _placed(item: TrafficObject, placement: Placement | None, roadmap: RoadMap | None) -> TrafficObject:
    """Return an object that stands by its own anchor and offsets where the scenario places it."""
    if placement is None:
        return item
    try:
        pose = start_pose(Actor(item, placement), Scene("", (), roadmap))
    except ModelError:  # no such waypoint: shown at the origin under a question mark
        return replace(item, anchor=placement.waypoint)
    spot, turn = frame_of(placement.waypoint, roadmap)
    cos, sin = np.cos(turn), np.sin(turn)
    east, north = (pose.position[:2] - spot).tolist()
    height = item.position_offset.z + (0.0 if placement.position is None else placement.position.z)
    offset = Triple(float(cos * east + sin * north), float(cos * north - sin * east), height)
    angles = item.orientation_offset._replace(z=float(pose.heading - turn))
    return replace(item, anchor=placement.waypoint, position_offset=offset, orientation_offset=angles)
