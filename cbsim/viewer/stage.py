"""`Stage`: what a picture needs of a run that never changes, from a live World and from a recording alike."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbsim.recording.batch import Header
from cbsim.recording.outlines import Body, bodies_of
from cbsim.road.drawing import Road, road_of
from cbsim.road.roadmap import RoadMap
from cbsim.sensing import READINGS
from cbsim.spec.objects import WheelType
from cbsim.spec.road import PointId
from cbsim.vehicle.parameters import PARAMETERS, vehicle_parameters
from cbsim.viewer.figures import JointMark, bones_of, colours_of, joints_of, triangles_of_models
from cbsim.world.compile import is_vehicle
from cbsim.world.scene import Scene
from cbsim.world.shapes import mesh_centre

__all__ = ["Beams", "Rig", "Stage", "empty_stage", "stage_of"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Rig:
    """Wheels of a vehicle: distances of the axles and of left and right wheels, their radius and width [m]."""

    wheelbase: float
    track: float
    radius: float
    width: float
    max_steer: float
    skid: bool


@dataclass(frozen=True, slots=True, eq=False)
class Beams:
    """Beams of a laser: azimuths (beams,) [rad], pitches of its layers [rad], what one without return reads [m]."""

    angles: Floats
    pitches: tuple[float, ...]
    nothing: float
    reach: float


@dataclass(frozen=True, eq=False)
class Stage:
    """What never changes.

    Attributes
    ----------
    name : str
        Of the scenario, the network or the model.
    step : float
        [s]
    bodies : list of Body
        In row order.
    moving : list of int
        Rows whose motion is known; all others stay where they start.
    position, orientation : ndarray, shape (n, 3), (n, 4)
        Of all bodies at the start [m].
    rigs : mapping
        Row of a vehicle → its wheels.
    goals : mapping
        Row → places (k, 2) of its goals, from its start on [m].
    route : list of ndarray, each (k, 2)
        The way through the mission's checkpoints [m].
    solids : mapping
        Row of a mesh or of a body of a model → its triangles (k, 3, 3) in its own axes [m].
    colours : mapping
        Row of a body of a model → its own colour, where its file gives one.
    bones : mapping
        Row of a body of a model that has no shape → points (k, 3) at which it hangs together with others [m].
    joints : list of JointMark
        Of models.
    beams : mapping
        Key of a laser → its beams.
    vehicles : list of int
        Row of each vehicle, in the order in which commands count them.
    road : Road or None
        The network as it is drawn.
    roadmap : RoadMap or None
        The network itself.
    alone : bool
        Whether all bodies are those of one model, which bear their own names, whatever signs are in them.
    """

    name: str
    step: float = 0.05
    bodies: list[Body] = field(default_factory=list)
    moving: list[int] = field(default_factory=list)
    position: Floats = field(default_factory=lambda: np.zeros((0, 3)))
    orientation: Floats = field(default_factory=lambda: np.zeros((0, 4)))
    rigs: Mapping[int, Rig] = field(default_factory=dict)
    goals: Mapping[int, Floats] = field(default_factory=dict)
    route: list[Floats] = field(default_factory=list)
    solids: Mapping[int, Floats] = field(default_factory=dict)
    colours: Mapping[int, tuple[int, int, int]] = field(default_factory=dict)
    bones: Mapping[int, Floats] = field(default_factory=dict)
    joints: list[JointMark] = field(default_factory=list)
    beams: Mapping[str, Beams] = field(default_factory=dict)
    vehicles: list[int] = field(default_factory=list)
    road: Road | None = None
    roadmap: RoadMap | None = None
    alone: bool = False

    @cached_property
    def reach(self) -> Floats:
        """How far each body reaches from its centre (n,) [m]."""
        own = [0.5 * float(np.linalg.norm(body.size)) for body in self.bodies]
        for row, triangles in self.solids.items():
            own[row] = float(np.linalg.norm(triangles.reshape(-1, 3), axis=1).max(initial=0.0))
        for row, points in self.bones.items():
            own[row] = float(np.linalg.norm(points, axis=1).max(initial=0.0))
        return np.array(own)

    @cached_property
    def models(self) -> dict[str, list[int]]:
        """Name of a model → rows of its bodies, which are called ``model/body``; one alone bears the stage's name."""
        found = dict[str, list[int]]()
        for row, body in enumerate(self.bodies):
            if body.kind == "model":
                name = self.name if self.alone else body.name.partition("/")[0]
                found.setdefault(name, []).append(row)
        return found

    def rows_of(self, name: str) -> list[int]:
        """Rows of a body, or of all bodies of a model; none for a foreign name."""
        own = [row for row, body in enumerate(self.bodies) if body.name == name]
        return own[:1] or self.models.get(name, [])

    @cached_property
    def sizes(self) -> Floats:
        """Width, length and height of each body (n, 3) [m]."""
        return np.array([body.size for body in self.bodies], float).reshape(-1, 3)

    @cached_property
    def solid(self) -> NDArray[np.int64]:
        """Rows of bodies that one can collide with."""
        return np.array([row for row, body in enumerate(self.bodies) if body.solid and body.size[0] > 0.0], np.int64)

    @cached_property
    def bots(self) -> list[int]:
        """Rows of autonomous bodies that move."""
        return [row for row in self.moving if self.bodies[row].kind == "autonomous"]


def empty_stage(roadmap: RoadMap) -> Stage:
    """Set up a network without anything on it."""
    return Stage(roadmap.name, road=road_of(roadmap), roadmap=roadmap)


def stage_of(header: Header, scene: Scene | None) -> Stage:
    """Set up a run, from what its header says and, where there are, from the files that it is made of."""
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
        solids | triangles_of_models(figures, len(actors)),
        colours_of(figures, len(actors)),
        bones_of(figures, len(actors)),
        [] if scene is None else joints_of(scene),
        {sensor["key"]: _beams(sensor) for sensor in header.sensors if sensor.get("type") not in READINGS},
        [row for row, actor in enumerate(actors) if is_vehicle(actor.item)],
        None if roadmap is None else road_of(roadmap),
        roadmap,
        any("/" not in body.name for body in bodies if body.kind == "model") if scene is None else scene.alone,
    )


def _mesh(mesh: tuple[Floats, NDArray[np.int64]], centre: Floats) -> Floats:
    vertices, indices = mesh
    return np.asarray((vertices - centre)[indices].reshape(-1, 3, 3))


def _rig(item: Any) -> Rig:
    """Take the wheels of a vehicle, as the vehicle model has them."""
    values = dict(zip(PARAMETERS, vehicle_parameters(item).tolist(), strict=True))
    skid = item.wheels is not None and item.wheels.type is WheelType.SKID
    width = item.wheels.width if item.wheels is not None else 0.2
    return Rig(values["wheelbase"], values["track"], values["wheel_radius"], float(width), values["max_steer"], skid)


def _beams(sensor: Mapping[str, Any]) -> Beams:
    reach = float(sensor["max_range"])
    pitches = tuple(map(float, sensor["pitches"]))
    return Beams(np.array(sensor["angles"], float), pitches, reach if sensor["no_return"] == "max" else np.inf, reach)


def _goals(scene: Scene, position: Floats) -> dict[int, Floats]:
    """Places that objects with goals make for, one after another, from where they start."""
    found, roadmap = dict[int, Floats](), scene.roadmap
    for row, actor in enumerate(scene.actors):
        points = [PointId(goal.segment, goal.lane, goal.waypoint or 0) for goal in actor.goals]
        places = [roadmap.position(point) for point in points if roadmap is not None and roadmap.has(point)]
        if places:
            found[row] = np.array([position[row, :2], *places])
    return found


def _route(scene: Scene) -> list[Floats]:
    """Lines through the mission's checkpoints: the shortest way along the lanes, straight on where there is none."""
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
    """Places (k, 2) [m] from one point to another: along their lane, through an intersection, else straight on."""
    if pair in ways:
        return ways[pair]
    first, last = (roadmap.row(point) for point in pair)
    lane = int(roadmap.lane_of_row[first])
    if lane >= 0 and lane == roadmap.lane_of_row[last] and first < last:
        curve = roadmap.lanes[lane]
        samples = curve.waypoint_rows[[first - roadmap.offsets[lane], last - roadmap.offsets[lane]]]
        return curve.samples[samples[0] : samples[1] + 1]
    return roadmap.positions[[first, last]]
