"""Start poses of objects, and trajectory segments of those with goals or a script."""

from __future__ import annotations

import numpy as np

from cbsim.errors import Location, ModelError
from cbsim.geometry.elementary import whole_power
from cbsim.geometry.pose import Pose, heading_quaternion, mounting_quaternion, multiply, rotate
from cbsim.road.roadmap import RoadMap
from cbsim.spec.objects import Controller, ShapeKind
from cbsim.spec.road import PointId
from cbsim.spec.scenario import Placement
from cbsim.world.frames import WORLD_FRAME, Frame
from cbsim.world.scene import Actor, Model, Scene
from cbsim.world.shapes import mesh_centre
from cbsim.world.tables import Floats
from cbsim.world.trajectories import Target, TrajectoryBuilder, goal_trajectory, script_trajectory

__all__ = ["frame_of", "start_pose", "trajectory_of"]


def _find(scene: Scene, name: str, point: PointId, asked_at: Location) -> RoadMap:
    """Return the network after checking that it has a waypoint."""
    if scene.roadmap is None:
        raise ModelError("refers to a waypoint, but there is no road network", subject=name, location=asked_at)
    if not scene.roadmap.has(point):
        hint = f"did you mean '{scene.roadmap.nearest(point)}'?"
        message = f"no waypoint '{point}' in the network ({hint})"
        raise ModelError(message, subject=name, location=asked_at)
    return scene.roadmap


def _height(kind: ShapeKind, size: Floats) -> float:
    """Vertical extent of a shape [m] (D20): a sphere's diameter is its x, a wheel's its y."""
    return float({ShapeKind.SPHERE: size[0], ShapeKind.WHEEL: size[1]}.get(kind, size[2]))


def _anchor(actor: Actor, scene: Scene) -> tuple[Floats, float]:
    """Point (3,) [m] and heading [rad] that an object's offsets are relative to (D3, D18)."""
    item = actor.item
    if actor.placement is not None:
        return _place(actor.placement, item.name, scene)
    if item.anchor is None:
        return np.zeros(3), 0.0
    roadmap = _find(scene, item.name, item.anchor, item.anchor_location)
    spot, heading = roadmap.position(item.anchor), roadmap.heading(item.anchor)
    return np.array([spot[0], spot[1], 0.0]), heading


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
    total = sum(body.mass for body in model.description.spec.bodies)
    weight = whole_power(model.scale, 3) if model.mass is None else model.mass / total
    return Frame(spot, heading_quaternion(heading), model.scale, weight)


def start_pose(actor: Actor, scene: Scene) -> Pose:
    """Pose of the body centre at t = 0: anchor pose ∘ offset (D16, D18, D19)."""
    item = actor.item
    anchor, heading = _anchor(actor, scene)
    turn = item.orientation_offset
    q = multiply(heading_quaternion(heading), mounting_quaternion(turn.x, turn.y, turn.z))
    axes = heading if scene.settings.offset_frame == "lane" else 0.0
    place = anchor + rotate(heading_quaternion(axes), np.asarray(item.position_offset, float))
    if actor.mesh is not None:
        return Pose(place + rotate(q, mesh_centre(actor)), q)
    return Pose(place + np.array([0.0, 0.0, 0.5 * _height(item.shape, np.asarray(item.size))]), q)


def trajectory_of(actor: Actor, pose: Pose, scene: Scene) -> TrajectoryBuilder:
    """Lay out the segments of an object with goals or a script, from its start pose."""
    item = actor.item
    if item.controller is Controller.SCRIPT:
        return script_trajectory(
            pose.position, pose.orientation, item.initial_pause, item.script, scene.settings.script_angle
        )
    targets = []
    for goal in actor.goals:
        point = PointId(goal.segment, goal.lane, goal.waypoint or 0)
        roadmap = _find(scene, item.name, point, goal.location)
        x, y = roadmap.position(point)
        targets.append(Target(float(x), float(y), float(goal.speed), float(goal.pause)))
    return goal_trajectory(pose.position, pose.orientation, item.initial_pause, targets)
