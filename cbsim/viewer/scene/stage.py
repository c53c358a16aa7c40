"""Static part of a scene for drawing, from a World or a recording."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats
from cbsim.recording.batch import Header
from cbsim.recording.objects import Objects
from cbsim.recording.outlines import Body, bodies_of
from cbsim.road.drawing import Road, road_of
from cbsim.road.roadmap import RoadMap
from cbsim.sensing import READINGS
from cbsim.spec.events import Event
from cbsim.spec.objects import WheelType
from cbsim.spec.road import PointId
from cbsim.spec.traffic import LightProgram
from cbsim.vehicle.parameters import PARAMETERS, vehicle_parameters
from cbsim.viewer.scene.model_shapes import JointMarker, bones_of, colours_of, joints_of, triangles_of_models
from cbsim.world.compile import is_vehicle
from cbsim.world.scene import Scene
from cbsim.world.shapes import mesh_centre

__all__ = ["Beams", "Stage", "WheelLayout", "empty_stage", "stage_of"]


@dataclass(frozen=True, slots=True)
class WheelLayout:
    """Wheels of a vehicle: wheelbase, track, radius and width [m]; steering limit [rad]; skid steering."""

    wheelbase: float
    track: float
    radius: float
    width: float
    max_steer: float
    skid: bool


@dataclass(frozen=True, slots=True, eq=False)
class Beams:
    """Beams of a laser: azimuths (beams,) [rad], layer pitches [rad], reading without return [m], maximum range [m]."""

    angles: Floats
    pitches: tuple[float, ...]
    nothing: float
    max_range: float


@dataclass(frozen=True, eq=False)
class Stage:
    """Static part of a scene.

    Attributes
    ----------
    name : str
        Name of the scenario, network or model.
    step : float
        [s]
    bodies : sequence of Body
        Bodies in row order.
    moving : list of int
        Rows of the bodies with recorded motion; all others keep their initial pose.
    position, orientation : ndarray, shape (n, 3), (n, 4)
        Initial poses of all bodies [m].
    wheel_layouts : mapping
        Row of a vehicle → its wheels.
    goals : mapping
        Row of an object → its start and goals (k, 2) [m].
    route : list of ndarray, each (k, 2)
        Route through the mission's checkpoints [m].
    solids : mapping
        Row of a mesh or model body → its triangles (k, 3, 3) in the body frame [m].
    colours : mapping
        Row of a model body → the colour that its file defines.
    bones : mapping
        Row of a model body without a shape → its joint positions (k, 3) [m].
    joints : list of JointMarker
        Joint markers of models.
    beams : mapping
        Sensor key → its beams.
    vehicles : list of int
        Rows of the vehicles, in the order in which commands count them.
    road : Road or None
        Geometry of the network for drawing.
    roadmap : RoadMap or None
        The network.
    alone : bool
        Whether all bodies belong to one model; then their names carry no model prefix and may contain slashes.
    lights : tuple of LightProgram
        Programs of traffic lights that the scenario has.
    events : sequence of Event
        Events of the scenario.
    event_names : sequence of str
        Their names, which a recording has without its sources, too.
    """

    name: str
    step: float = 0.05
    bodies: Sequence[Body] = field(default_factory=list)
    moving: list[int] = field(default_factory=list)
    position: Floats = field(default_factory=lambda: np.zeros((0, 3)))
    orientation: Floats = field(default_factory=lambda: np.zeros((0, 4)))
    wheel_layouts: Mapping[int, WheelLayout] = field(default_factory=dict)
    goals: Mapping[int, Floats] = field(default_factory=dict)
    route: list[Floats] = field(default_factory=list)
    solids: Mapping[int, Floats] = field(default_factory=dict)
    colours: Mapping[int, tuple[int, int, int]] = field(default_factory=dict)
    bones: Mapping[int, Floats] = field(default_factory=dict)
    joints: list[JointMarker] = field(default_factory=list)
    beams: Mapping[str, Beams] = field(default_factory=dict)
    vehicles: list[int] = field(default_factory=list)
    road: Road | None = None
    roadmap: RoadMap | None = None
    alone: bool = False
    objects: Objects = field(default_factory=lambda: Objects([]))
    lights: tuple[LightProgram, ...] = ()
    events: Sequence[Event] = ()
    event_names: Sequence[str] = ()

    @cached_property
    def radius(self) -> Floats:
        """Bounding radius of each body about its centre (n,) [m]."""
        own = (0.5 * np.linalg.norm(self.sizes, axis=1)).tolist()
        for row, triangles in self.solids.items():
            own[row] = float(np.linalg.norm(triangles.reshape(-1, 3), axis=1).max(initial=0.0))
        for row, points in self.bones.items():
            own[row] = float(np.linalg.norm(points, axis=1).max(initial=0.0))
        return np.array(own)

    @cached_property
    def models(self) -> dict[str, list[int]]:
        """Name of a model → rows of its bodies, which are named ``model/body``; a single model has the stage's name."""
        found = dict[str, list[int]]()
        for row, body in enumerate(self.bodies):
            if body.kind == "model":
                name = self.name if self.alone else body.name.partition("/")[0]
                found.setdefault(name, []).append(row)
        return found

    def rows_of(self, name: str) -> list[int]:
        """Rows of a body, or of all bodies of a model; empty for an unknown name."""
        own = [row for row, body in enumerate(self.bodies) if body.name == name]
        return own[:1] or self.models.get(name, [])

    @cached_property
    def sizes(self) -> Floats:
        """Width, length and height of each body (n, 3) [m]."""
        return np.array([body.size for body in self.bodies], float).reshape(-1, 3)

    @cached_property
    def solid(self) -> NDArray[np.int64]:
        """Rows of bodies that take part in collisions."""
        return np.array([row for row, body in enumerate(self.bodies) if body.solid and body.size[0] > 0.0], np.int64)

    @cached_property
    def bots(self) -> list[int]:
        """Rows of moving autonomous bodies."""
        return [row for row in self.moving if self.bodies[row].kind == "autonomous"]


def empty_stage(roadmap: RoadMap) -> Stage:
    """Create the stage of a network without objects."""
    return Stage(roadmap.name, road=road_of(roadmap), roadmap=roadmap)


def stage_of(header: Header, scene: Scene | None) -> Stage:
    """Create the stage of a run from its header and, if available, its scene."""
    roadmap = None if scene is None else scene.roadmap
    actors = () if scene is None else scene.actors
    bodies = bodies_of(header, scene)
    position = np.array([item["position"] for item in header.objects], float).reshape(-1, 3)
    solids = {row: _mesh(actor.mesh, mesh_centre(actor)) for row, actor in enumerate(actors) if actor.mesh is not None}
    figures = () if scene is None else scene.models
    return Stage(
        header.scenario,
        header.step,
        bodies,
        list(header.moving),
        position,
        np.array([item["orientation"] for item in header.objects], float).reshape(-1, 4),
        {row: _rig(actor.item) for row, actor in enumerate(actors) if is_vehicle(actor.item)},
        {} if scene is None else _goals(scene, position),
        [] if scene is None else _route(scene),
        solids | triangles_of_models(figures, header.first_model),
        colours_of(figures, header.first_model),
        bones_of(figures, header.first_model),
        [] if scene is None else joints_of(scene, header.first_model),
        {sensor["key"]: _beams(sensor) for sensor in header.sensors if sensor.get("type") not in READINGS},
        [row for row, actor in enumerate(actors) if is_vehicle(actor.item)],
        None if roadmap is None else road_of(roadmap),
        roadmap,
        any("/" not in body.name for body in bodies if body.kind == "model") if scene is None else scene.alone,
        header.objects,
        () if scene is None else scene.lights,
        () if scene is None else scene.events,
        header.events,
    )


def _mesh(mesh: tuple[Floats, NDArray[np.int64]], centre: Floats) -> Floats:
    vertices, indices = mesh
    return np.asarray((vertices - centre)[indices].reshape(-1, 3, 3))


def _rig(item: Any) -> WheelLayout:
    """Wheels of a vehicle, from its vehicle parameters."""
    values = dict(zip(PARAMETERS, vehicle_parameters(item).tolist(), strict=True))
    skid = item.wheels is not None and item.wheels.type is WheelType.SKID
    width = item.wheels.width if item.wheels is not None else 0.2
    return WheelLayout(
        values["wheelbase"], values["track"], values["wheel_radius"], float(width), values["max_steer"], skid
    )


def _beams(sensor: Mapping[str, Any]) -> Beams:
    reach = float(sensor["max_range"])
    pitches = tuple(map(float, sensor["pitches"]))
    return Beams(np.array(sensor["angles"], float), pitches, reach if sensor["no_return"] == "max" else np.inf, reach)


def _goals(scene: Scene, position: Floats) -> dict[int, Floats]:
    """Goals of objects (k, 2) [m], preceded by their start."""
    found, roadmap = dict[int, Floats](), scene.roadmap
    for row, actor in enumerate(scene.actors):
        points = [PointId(goal.segment, goal.lane, goal.waypoint or 0) for goal in actor.goals]
        places = [roadmap.position(point) for point in points if roadmap is not None and roadmap.has(point)]
        if places:
            found[row] = np.array([position[row, :2], *places])
    return found


def _route(scene: Scene) -> list[Floats]:
    """Mission route as polylines along the lanes, straight where no route exists."""
    from cbsim.road.connector import connectors
    from cbsim.road.route import mission_legs

    if scene.roadmap is None or scene.mission is None:
        return []
    roadmap, lines = scene.roadmap, list[Floats]()
    ways = {(way.source, way.target): way.samples for way in connectors(roadmap)}
    for leg in mission_legs(roadmap, scene.mission):
        ends = [leg.start, leg.goal] if leg.route is None else list(leg.route.points)
        known = [point for point in ends if point is not None]
        parts = [_way(roadmap, ways, pair) for pair in itertools.pairwise(known)]
        if parts:
            lines.append(np.concatenate(parts))
    return lines


def _way(roadmap: RoadMap, ways: Mapping[tuple[PointId, PointId], Floats], pair: tuple[PointId, PointId]) -> Floats:
    """Positions (k, 2) [m] between two points: along their lane, through an intersection, or straight."""
    if pair in ways:
        return ways[pair]
    first, last = (roadmap.row(point) for point in pair)
    lane = int(roadmap.lane_of_row[first])
    if lane >= 0 and lane == roadmap.lane_of_row[last] and first < last:
        curve = roadmap.lanes[lane]
        samples = curve.waypoint_rows[[first - roadmap.offsets[lane], last - roadmap.offsets[lane]]]
        return curve.samples[samples[0] : samples[1] + 1]
    return roadmap.positions[[first, last]]
