"""Compilation of every kernel ahead, by running small Worlds that use them all."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from cbsim.arrays import Floats
from cbsim.collision import first_contacts, separation
from cbsim.geometry.kernels.ground import lean_into
from cbsim.jit import compile_deferred
from cbsim.planner.driver import vehicle_of
from cbsim.planner.pilot.arc_paths import dubins, three_point
from cbsim.planner.pilot.kernels.controls import STATE, command_wheel
from cbsim.planner.pilot.kernels.follow import COLUMNS, follow_path
from cbsim.planner.pilot.kernels.ground import distances_into, mark_into
from cbsim.planner.pilot.kernels.look import first_return
from cbsim.planner.pilot.kernels.pace import average_speeds, plan_speeds
from cbsim.planner.pilot.vehicle_geometry import vehicle_geometry
from cbsim.planner.pilot.zone_crossing import ZoneRaster, cross_zone
from cbsim.road.roadmap import RoadMap
from cbsim.sensing import Scan, sense
from cbsim.sensing.caster import Caster
from cbsim.simulation.loop import run
from cbsim.simulation.seat_view import SeatView
from cbsim.spec.objects import (
    Controller,
    Kind,
    MeshFile,
    ScriptEntry,
    ShapeKind,
    TrafficObject,
    Triple,
    Wheels,
    WheelType,
)
from cbsim.spec.planner import Seat
from cbsim.spec.sensor import SensorConf
from cbsim.world.compile import compile_world
from cbsim.world.scene import Actor, Model, Scene, Settings
from cbsim.world.streams import stream_key, uniforms
from cbsim.world.world import World

__all__ = ["STAGES", "every_kind"]

UPRIGHT = np.array([0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0])  # pose of a sensor


@cache
def every_kind() -> World:
    """Make a World with both drives, followers, a literal mover, every kind of sensor and noise, and every shape."""
    conf = SensorConf(beams=3, range_sigma=0.01, angle_sigma=0.001, dropout=0.01, scan_time=0.05)
    unit = SensorConf(type="ins", position_sigma=0.1, position_drift=0.1)
    wheels_conf = SensorConf(type="odometry", ticks=10)
    tracker = SensorConf(type="objects", radial_sigma=(0.1,), correlation_time=1.0, detection_rate=(0.9,))
    size = Triple(1.7, 3.7, 2.1)
    bots = [
        Actor(
            TrafficObject(
                Kind.AUTONOMOUS,
                f"bot {wheels.name}",
                controller=Controller.SENSOR,
                wheels=Wheels(wheels),
                size=size,
                position_offset=Triple(-10.0 * wheels, 0.0, 0.0),
            ),
            confs=(("scan", conf), ("ins", unit), ("odometry", wheels_conf), ("objects", tracker)),
        )
        for wheels in WheelType
    ]
    followers = [
        Actor(
            TrafficObject(
                Kind.AUTONOMOUS,
                f"follower {wheels.name}",
                controller=Controller.SCRIPT,
                wheels=Wheels(wheels),
                size=size,
                position_offset=Triple(-30.0 - 10.0 * wheels, 0.0, 0.0),
                script=(ScriptEntry(1.0, 0.0, 1.0, 0.0),),
            )
        )
        for wheels in WheelType
    ]
    mover = TrafficObject(
        Kind.DYNAMIC,
        "mover",
        controller=Controller.SCRIPT,
        position_offset=Triple(5.0, 0.0, 0.0),
        script=(ScriptEntry(1.0, 0.0, 1.0, 0.0),),
    )
    props = [
        TrafficObject(Kind.STATIC, shape.name, shape=shape, position_offset=Triple(0.0, 5.0 + shape, 0.0))
        for shape in ShapeKind
        if shape is not ShapeKind.MESH
    ]
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.1]])
    ramp = TrafficObject(
        Kind.MESH, "ramp", shape=ShapeKind.MESH, drivable=True, vertices=MeshFile(""), indices=MeshFile("")
    )
    mesh = Actor(ramp, mesh=(corners, np.array([[0, 1, 2]])))
    return compile_world(Scene("every kind", (*bots, *followers, Actor(mover), *map(Actor, props), mesh)))


def _places(world: World) -> tuple[Floats, Floats]:
    state = world.start.state
    return state.position, state.orientation


def observe_objects() -> None:
    """Tell a planner of objects."""
    seat = Seat("bot CONVENTIONAL", fidelity="visible")
    SeatView(every_kind(), seat.name, seat).observe(every_kind().start, {})


def look_about(taken: Scan) -> None:
    """Run the scan processing of the example planner."""
    for table in (taken.ranges, taken.returned):
        table.setflags(write=False)  # as in observations
    place, attitude = taken.pose
    body = (0.3, 2.0, 1.0, 10.0, 0.0)
    first_return(
        taken.ranges, taken.returned, taken.directions, place, attitude, np.zeros((2, COLUMNS)), (0, 2, 1), body
    )


def drive_about(world: World | None = None, name: str = "bot CONVENTIONAL") -> None:
    """Run the example planner for a vehicle: a scan, a path across a zone, speeds along a path."""
    world = every_kind() if world is None else world
    for taken in sense(world, world.start).values():
        if isinstance(taken, Scan):
            look_about(taken)
            break
    ground, ends = ZoneRaster.open(), ((0.0, 0.0, 0.0), (0.0, 30.0, 0.0))
    distances_into(0.0, 0.0, 1.0, np.zeros((1, 4)), ground.outside.copy())
    mark_into(0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.5, 1, ground.spot.copy())
    cross_zone(ground, *ends, vehicle_geometry(vehicle_of(world, name)))
    for ways in (dubins, three_point):
        next(ways(*ends, 5.0), None)
    plan_speeds(np.zeros(2), np.zeros(1), 1.0, 1.0, 1.0, np.ones(2))
    average_speeds(np.arange(2.0), np.ones(2), 1.0, 0.1, np.zeros(2), np.zeros(2))
    path = np.arange(2.0 * COLUMNS).reshape(2, COLUMNS)
    follow_path(path, 0, 0, 1, 1.0, 9.0, ends[0], (1.0, 0.0, 0.05), 1.0, (0.0, 0.0))
    command_wheel(np.ones(6), False, 1.0, 0.0, 0.05, 0.0, 1.0, 0.0, np.zeros(STATE))


def one_lane() -> RoadMap:
    """Make a road."""
    from cbsim.road.roadmap import build
    from cbsim.spec.road import Lane, Points, RoadNetwork, Segment

    lane = Lane(1, 1, Points.of([0.0, 0.001], [0.0, 0.0]))
    return build(RoadNetwork("road", segments=(Segment(1, (lane,)),)))


def drive_traffic() -> None:
    """Run a reactive car along a lane."""
    from cbsim.spec.traffic import Pool

    run(compile_world(Scene("traffic", (), one_lane(), pools=(Pool("cars", count=1),))), duration=0.1)


def park() -> None:
    """Lay a way into a spot of a car park."""
    from cbsim.world.traffic.zones.ground import CarShape, Ground
    from cbsim.world.traffic.zones.laying import lay_in, tree_of

    free, shape = np.zeros((64, 64), bool), CarShape(2.0, 4.5, 3.6, 0.9, 4.5)
    free[1:-1, 1:-1] = True
    ground = Ground((0.0, 0.0, 0.5), free, np.full(free.shape, -1, np.int64))
    field = ground.field()
    tree = tree_of(ground, field, (16.0, 5.0, 0.0), 1.0, shape)
    lay_in(ground, field, tree, (16.0, 24.0, 0.0), 1.0, shape)


def judge_order() -> None:
    """Order who waits at a junction, as the rule `precedence` does."""
    from cbsim.road.kernels.right_of_way import fill_ties, order_arrivals, who_yields
    from cbsim.road.lanelets import build_lanelets
    from cbsim.road.right_of_way import find_conflicts

    conflicts = find_conflicts(build_lanelets(one_lane()))
    ways, ties, places = np.zeros(1, np.int64), np.zeros((1, 1), bool), np.empty(1, np.int64)
    fill_ties(*conflicts.by_lanelet, conflicts.yields, ways, ties)
    order_arrivals(np.zeros(1), conflicts.approaches[ways], ties, places)
    who_yields(0, 0, 0, False, False, False, False, 0, 0)


def judge_driving() -> None:
    """Run the kernels of rules: where cars are on lines, who crosses gates, and who comes near."""
    from cbsim.geometry.kernels.encroachment import encroachments, pieces_into
    from cbsim.geometry.kernels.path_lengths import durations_into, path_lengths_into
    from cbsim.geometry.kernels.planar import planar_into
    from cbsim.geometry.kernels.rectangles import clearances_into, times_to_collision_into
    from cbsim.road.kernels.gates import junction_events
    from cbsim.road.kernels.matching import match_into, point_on
    from cbsim.road.kernels.projection import project_into

    rows, yes, no, bounds = np.zeros(1, np.int64), np.ones((1, 1), bool), np.empty(0), np.zeros((1, 4))
    lines, place = (np.zeros((1, 7)), np.zeros((1, 2), np.int64), bounds), np.zeros((1, 2))
    match_into(place, no, 1.0, *lines, np.empty(1, np.int64), np.empty((3, 1)))
    point_on(0.0, 0.0, False, np.arange(2.0), np.eye(2, 4))
    project_into(np.zeros((1, 5)), np.zeros((1, 2)), np.array([[0, 1]]), np.empty((1, 4)))
    planar_into(np.zeros((1, 13)), np.empty((1, 4)))
    durations_into(np.zeros(2), np.zeros((2, 2)), np.zeros((2, 2)), np.empty((1, 2)))
    path_lengths_into(np.zeros((1, 1, 13)), np.zeros(1), np.full((1, 6), np.nan), np.empty((1, 1)))
    motion, gates = np.zeros((1, 1, 13)), np.zeros((1, 5))
    junction_events(np.zeros(1), motion, np.zeros(1), yes[0], gates, 0, yes, np.empty((1, 5)))
    numbers, piece = np.zeros(4, np.int64), np.zeros((1, 6))
    sizes, times = np.zeros((2, 2)), np.zeros(1)
    pieces_into(motion, rows, yes, np.zeros((1, 2)), np.zeros(1), piece[None], bounds)
    corners = np.zeros((1, 4, 2))
    clearances_into(corners, corners, np.zeros(1))
    times_to_collision_into(corners, corners, np.zeros((1, 2)), np.zeros(1))
    encroachments(piece, piece[None], bounds, sizes, numbers, np.ones(2), 0.5, times, rows)


def follow_model() -> None:
    """Run a model: the rigid-body core, and the hashing of its steps."""
    from cbsim.spec.mechanism.bodies import Origin
    from cbsim.spec.mechanism.description import MechanismSpec
    from cbsim.spec.mechanism.model_description import ModelDescription
    from cbsim.spec.mechanism.prototypes import Floating
    from cbsim.spec.mechanism.shapes import Sphere

    origin, ball = Origin(), Sphere(0.5, mass=1.0).body()
    description = ModelDescription(MechanismSpec(origin, [ball], [Floating(origin, ball)]))
    run(
        compile_world(Scene("model", (), settings=Settings(step=0.01), models=(Model("ball", description),))),
        duration=0.01,
    )


def meet_model() -> None:
    """Run a bot beside a model: one contact island, with contact notes."""
    from cbsim.spec.mechanism.bodies import Origin
    from cbsim.spec.mechanism.description import MechanismSpec
    from cbsim.spec.mechanism.model_description import ModelDescription
    from cbsim.spec.mechanism.prototypes import Floating
    from cbsim.spec.mechanism.shapes import Sphere

    origin, ball = Origin(), Sphere(0.5, mass=1.0).body()
    description = ModelDescription(MechanismSpec(origin, [ball], [Floating(origin, ball)]))
    car = TrafficObject(Kind.AUTONOMOUS, "car", controller=Controller.SENSOR, position_offset=Triple(0.95, 0.0, 0.0))
    world = compile_world(Scene("met", (Actor(car),), models=(Model("ball", description, 5),)))
    run(world, duration=world.step)


STAGES: tuple[tuple[str, Callable[[], object]], ...] = (
    ("world", every_kind),
    ("sensing", lambda: sense(every_kind(), every_kind().start)),
    ("observing", observe_objects),
    ("casting", lambda: Caster(every_kind(), every_kind().sensors[0]).cast(UPRIGHT, *_places(every_kind()))),
    ("stepping", lambda: run(every_kind(), duration=0.1)),
    ("traffic", drive_traffic),
    ("zones", park),
    ("right of way", judge_order),
    ("rules", judge_driving),
    ("trajectories", lambda: first_contacts([[(0.0, 0.0, 0.0)]], (1.0, 1.0), [[(0.0, 0.0, 0.0)]], [(1.0, 1.0)])),
    ("pilot", drive_about),
    ("slopes", lambda: lean_into(0.0, 0.1, 0.0, np.zeros(4))),
    ("drawing", lambda: uniforms(stream_key(1, "warmup", "uniforms"), 0, 1)),
    ("separation", lambda: separation(every_kind(), every_kind().start, "mover", "ramp")),
    ("models", follow_model),
    ("encounters", meet_model),
    ("deferred functions", compile_deferred),
)
