"""Start poses of objects, and trajectory segments of those with goals or a script."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from cbsim.arrays import Floats
from cbsim.errors import Location, ModelError
from cbsim.geometry.elementary import whole_power
from cbsim.geometry.pose import Pose, heading_quaternion, mounting_quaternion, multiply, rotate
from cbsim.road.roadmap import RoadMap
from cbsim.spec.objects import Controller, ShapeKind, TrafficObject
from cbsim.spec.road import PointId
from cbsim.spec.scenario import Placement
from cbsim.world.frames import WORLD_FRAME, Frame
from cbsim.world.motion import ABSENT_BELOW
from cbsim.world.scene import Actor, Model, Scene
from cbsim.world.shapes import mesh_centre
from cbsim.world.trajectories import Legs, Trajectories, goal_legs, joined_legs, lay_out, script_legs

__all__ = ["frame_of", "start_pose", "start_poses", "trajectories_of"]


def _find(scene: Scene, name: str, point: PointId, asked_at: Location) -> RoadMap:
    """Return the network after checking that it has a waypoint."""
    if scene.roadmap is None:
        raise ModelError("refers to a waypoint, but there is no road network", subject=name, location=asked_at)
    if not scene.roadmap.has(point):
        hint = f"did you mean '{scene.roadmap.nearest(point)}'?"
        message = f"no waypoint '{point}' in the network ({hint})"
        raise ModelError(message, subject=name, location=asked_at)
    return scene.roadmap


def _height(kind: ShapeKind, size: Sequence[float]) -> float:
    """Vertical extent of a shape [m] (D20): a sphere's diameter is its x, a wheel's its y."""
    axis = 0 if kind is ShapeKind.SPHERE else 1 if kind is ShapeKind.WHEEL else 2
    return float(size[axis])


def _anchors(actors: Sequence[Actor], scene: Scene) -> tuple[Floats, Floats]:
    """Points (n, 3) [m] and headings (n,) [rad] that the offsets of objects are relative to (D3, D18)."""
    places, headings = np.zeros((len(actors), 3)), np.zeros(len(actors))
    beside: dict[int, list[int]] = {}  # row of a lane → objects that a scenario places along it
    for row, actor in enumerate(actors):
        item, placement = actor.item, actor.placement
        if placement is not None and (placement.position is not None or placement.waypoint is None):
            places[row], headings[row] = _place(placement, item.name, scene)
        elif placement is not None and placement.waypoint is not None:
            roadmap = _find(scene, item.name, placement.waypoint, placement.location)
            beside.setdefault(int(roadmap.lane_of_row[roadmap.row(placement.waypoint)]), []).append(row)
        elif item.anchor is not None:
            roadmap = _find(scene, item.name, item.anchor, item.anchor_location)
            places[row, :2], headings[row] = roadmap.position(item.anchor), roadmap.heading(item.anchor)
    for rows in beside.values():
        placed = [placement for row in rows if (placement := actors[row].placement) is not None]
        points = [one.waypoint for one in placed if one.waypoint is not None]
        assert scene.roadmap is not None
        spots, turns = scene.roadmap.places(points, [one.station for one in placed], [one.offset for one in placed])
        own = [np.nan if one.heading is None else one.heading for one in placed]
        places[rows, :2], headings[rows] = spots, np.where(np.isnan(own), turns, own)
    return places, headings


def _place(place: Placement, name: str, scene: Scene) -> tuple[Floats, float]:
    """Point (3,) [m] and heading [rad] of a placement."""
    if place.position is not None:
        return np.asarray(place.position, float), place.heading or 0.0
    if place.waypoint is None:
        return np.zeros(3), 0.0
    roadmap = _find(scene, name, place.waypoint, place.location)
    spot, heading = roadmap.place(place.waypoint, place.station, place.offset)
    return np.array([spot[0], spot[1], 0.0]), heading if place.heading is None else place.heading


def frame_of(model: Model, scene: Scene) -> Frame:
    """Frame of a model: its origin at its place, its y axis along the heading."""
    if model.placement is None and model.scale == 1.0 and model.mass is None:
        return WORLD_FRAME
    spot, heading = (np.zeros(3), 0.0) if model.placement is None else _place(model.placement, model.name, scene)
    total = math.fsum(body.mass for body in model.description.spec.bodies)
    weight = whole_power(model.scale, 3) if model.mass is None else model.mass / total
    return Frame(spot, heading_quaternion(heading), model.scale, weight)


def start_pose(actor: Actor, scene: Scene) -> Pose:
    """Pose of the body centre of an object at t = 0."""
    return start_poses((actor,), scene)[0]


def start_poses(actors: Sequence[Actor], scene: Scene) -> list[Pose]:
    """Poses of the body centres at t = 0: anchor pose ∘ offset (D16, D18, D19).

    Raises
    ------
    ModelError
        If an object refers to a waypoint that the network does not have, or has no network to refer to, or if it is so
        low that it would count as absent.
    """
    places, headings = _anchors(actors, scene)
    items = [actor.item for actor in actors]
    offsets = np.array([item.position_offset for item in items], float).reshape(-1, 3)
    turns = np.array([item.orientation_offset for item in items], float).reshape(-1, 3)
    orientations = multiply(heading_quaternion(headings), mounting_quaternion(*turns.T))
    axes = headings if scene.settings.offset_frame == "lane" else np.zeros_like(headings)
    places = places + rotate(heading_quaternion(axes), offsets)
    rises = np.zeros_like(places)  # of the centre over the place
    for row, actor in enumerate(actors):
        if actor.mesh is None:
            rises[row, 2] = 0.5 * _height(actor.item.shape, actor.item.size)
        else:
            rises[row] = rotate(orientations[row], mesh_centre(actor))
    for row in np.flatnonzero((places + rises)[:, 2] < ABSENT_BELOW)[:1].tolist():
        low = f"its centre is {(places + rises)[row, 2]:g} m high; what is below {ABSENT_BELOW:g} m counts as absent"
        raise ModelError(low, subject=f"object '{items[row].name}'", location=items[row].location)
    return [Pose(*pose) for pose in zip(places + rises, orientations, strict=True)]


def trajectories_of(rows: Sequence[int], poses: Sequence[Pose], scene: Scene) -> Trajectories:
    """Lay out the segments of objects with goals or scripts, from their start poses.

    Parameters
    ----------
    rows : sequence of int
        Of those objects, in order.
    poses : sequence of Pose
        Of all objects.
    scene : Scene

    Raises
    ------
    ModelError
        As `start_poses`.
    """
    scripted = [row for row in rows if scene.actors[row].item.controller is Controller.SCRIPT]
    chosen = set(scripted)
    others = [row for row in rows if row not in chosen]
    bodies = others + scripted
    positions = np.array([poses[row].position for row in bodies], float).reshape(-1, 3)
    orientations = np.array([poses[row].orientation for row in bodies], float).reshape(-1, 4)
    initial = np.array([scene.actors[row].item.initial_pause for row in bodies], float)
    legs = joined_legs(
        _goal_legs([scene.actors[row] for row in others], positions[: len(others)], scene),
        _script_legs([scene.actors[row].item for row in scripted], positions[len(others) :], scene),
    )
    order = np.argsort(np.array(bodies, np.int64), kind="stable").tolist()
    return lay_out(bodies, order, positions, orientations, initial, legs)


def _goal_legs(actors: Sequence[Actor], positions: Floats, scene: Scene) -> Legs:
    points, values = list[int](), list[tuple[float, float]]()
    for actor in actors:
        for goal in actor.goals:
            point = PointId(goal.segment, goal.lane, goal.waypoint or 0)
            points.append(_find(scene, actor.item.name, point, goal.location).rows[point])
            values.append((goal.speed, goal.pause))
    places = np.zeros((0, 2)) if scene.roadmap is None else scene.roadmap.positions[np.array(points, np.int64)]
    speeds, pauses = np.array(values, float).reshape(-1, 2).T
    return goal_legs(positions, [len(actor.goals) for actor in actors], places, speeds, pauses)


def _script_legs(items: Sequence[TrafficObject], positions: Floats, scene: Scene) -> Legs:
    entries = [(e.speed, e.pause, e.distance, e.angle) for item in items for e in item.script]
    speeds, pauses, distances, angles = np.array(entries, float).reshape(-1, 4).T
    counts = [len(item.script) for item in items]
    return script_legs(positions, counts, speeds, pauses, distances, angles, scene.settings.script_angle)
