"""Mission, objects and demand of a generated city: a bot, cones along the kerb, wandering or literal cars."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from cbsim.errors import Location
from cbsim.export.streets import LANE_WIDTH
from cbsim.spec.mission import Mission, MissionCheckpoint, SpeedLimit
from cbsim.spec.objects import (
    ZERO,
    Controller,
    Goal,
    Kind,
    ObjectFile,
    SensorMount,
    ShapeKind,
    Steering,
    TrafficObject,
    Triple,
    Wheels,
)
from cbsim.spec.road import Lane, PointId, RoadNetwork
from cbsim.spec.scenario import Placement

__all__ = ["car_count", "city_mission", "city_objects", "kerb_place", "literal_traffic"]

NOWHERE = Location("")

STREET_LIMIT = 25 * 0.44704  # [m/s] 25 mph
ZONE_LIMIT = 5 * 0.44704  # [m/s] 5 mph
LEGS = 8  # checkpoints of the mission
CARS = (3, 24)  # least and most
LANES_PER_CAR = 6
ROUTE = 450.0  # [m] after which a car has gone far enough
SPEEDS = (10, 22)  # [half m/s] of cars
PROPS = 6
ASIDE = 0.5  # [m] between the right lane and a bot that waits beside it
KERB = 0.5 * LANE_WIDTH + 1.2  # [m] from the middle of the right lane to what stands beside the street
CONFS = tuple(f"onboard/scan_gp_driver_{k}.conf" for k in range(3))
CAR_SIZE = Triple(1.8, 4.5, 1.5)
BOT_SIZE = Triple(1.7, 3.68, 2.16)
PROP_SHAPES = (
    ("Cone", ShapeKind.CYLINDER, Triple(0.4, 0.4, 0.9)),
    ("Barrel", ShapeKind.CYLINDER, Triple(0.6, 0.6, 1.1)),
    ("Ball", ShapeKind.SPHERE, Triple(0.8, 0.8, 0.8)),
    ("Crate", ShapeKind.BOX, Triple(1.0, 1.2, 0.9)),
)


def city_mission(network: RoadNetwork, name: str, random: np.random.Generator) -> Mission:
    """Visit checkpoints of several streets, a parking spot on the way if there is one, and finish on a street."""
    streets = [mark.number for lane in network.lanes for mark in lane.checkpoints]
    chosen = [streets[k] for k in random.permutation(len(streets))[:LEGS]]
    spots = [mark.number for zone in network.zones for spot in zone.spots for mark in spot.checkpoints]
    if spots and len(chosen) > 1:
        chosen.insert(len(chosen) // 2, spots[int(random.integers(len(spots)))])
    limits = [SpeedLimit(segment.number, 0.0, STREET_LIMIT, NOWHERE) for segment in network.segments]
    limits += [SpeedLimit(zone.number, 0.0, ZONE_LIMIT, NOWHERE) for zone in network.zones]
    checkpoints = tuple(MissionCheckpoint(number, NOWHERE) for number in chosen)
    return Mission(name, network.name, checkpoints, tuple(limits), format_version="1.0")


def car_count(network: RoadNetwork) -> int:
    """How many cars a city has unless somebody says: one for six lanes, 3 to 24."""
    return int(np.clip(sum(1 for _ in network.lanes) // LANES_PER_CAR, *CARS))


def kerb_place(network: RoadNetwork, objects: ObjectFile) -> tuple[tuple[str, Placement], ...]:
    """Where the bot waits, out of the way of traffic: beside its lane if that is the right one, else on it."""
    bot = next(item for item in objects.objects if item.kind is Kind.AUTONOMOUS)
    right = {(one.segment, one.number) for one in network.lanes if one.right_boundary == "solid_white"}
    if bot.anchor is None or bot.anchor[:2] not in right:
        return ()
    aside = 0.5 * LANE_WIDTH + 0.5 * bot.size.x + ASIDE
    return ((bot.name, Placement(bot.anchor, station=bot.size.y, offset=-round(aside, 2))),)


def city_objects(network: RoadNetwork, name: str, random: np.random.Generator) -> ObjectFile:
    """Place a bot and props: those of `literal_traffic`, whose cars are left out."""
    file = literal_traffic(network, name, random)
    return replace(file, objects=tuple(item for item in file.objects if item.kind is not Kind.DYNAMIC))


def literal_traffic(network: RoadNetwork, name: str, random: np.random.Generator) -> ObjectFile:
    """Place a bot, literal cars and props; every car starts on a lane of its own."""
    lanes = list(network.lanes)
    order = [lanes[k] for k in random.permutation(len(lanes))]
    starts = order[: min(car_count(network) + 1, len(order))]
    cars = [_car(k, lane, starts[0], network, random) for k, lane in enumerate(starts[1:], 1)]
    props = _props([lane for lane in order if lane.right_boundary == "solid_white"], random)
    return ObjectFile(name, (_bot(starts[0]), *cars, *props))


def _bot(lane: Lane) -> TrafficObject:
    return TrafficObject(
        Kind.AUTONOMOUS,
        "CajunBot",
        anchor=PointId(lane.segment, lane.number, 1),
        size=BOT_SIZE,
        controller=Controller.SENSOR,
        wheels=Wheels(),
        steering=Steering(),
        sensors=tuple(SensorMount(conf, description="") for conf in CONFS),
    )


def _car(number: int, lane: Lane, taken: Lane, network: RoadNetwork, random: np.random.Generator) -> TrafficObject:
    speed = 0.5 * float(random.integers(*SPEEDS))
    route = _route(lane, taken, network, random)
    goals = tuple(Goal(speed, 0.0, one.segment, one.number, None) for one in route)
    return TrafficObject(
        Kind.DYNAMIC,
        f"Car {number}",
        anchor=PointId(lane.segment, lane.number, 1),
        size=CAR_SIZE,
        controller=Controller.WAYPOINT,
        initial_pause=0.5 * float(random.integers(0, 13)),
        goals=goals,
    )


def _route(lane: Lane, taken: Lane, network: RoadNetwork, random: np.random.Generator) -> Iterator[Lane]:
    """Follow exits at random, no lane twice and not that of the bot, until far enough or no way is left."""
    lanes = {(one.segment, one.number): one for one in network.lanes}
    seen = {(lane.segment, lane.number), (taken.segment, taken.number)}
    length = 0.0
    while True:
        yield lane
        length += _length(lane)
        targets = [(target.segment, target.lane) for target in (one.target for one in lane.exits) if target.lane > 0]
        fresh = [target for target in targets if target not in seen]
        if length > ROUTE or not fresh:
            return
        choice = fresh[int(random.integers(len(fresh)))]
        seen.add(choice)
        lane = lanes[choice]


def _length(lane: Lane) -> float:
    """Length of a lane to about one percent [m]; only to decide when a route is long enough."""
    north = np.diff(lane.points.latitude) * 111_200.0
    east = np.diff(lane.points.longitude) * 111_200.0 * np.cos(np.radians(lane.points.latitude[0]))
    return float(np.hypot(north, east).sum())


def _props(lanes: list[Lane], random: np.random.Generator) -> Iterator[TrafficObject]:
    """Stand props at the kerb, beside a waypoint in the middle of a lane."""
    for number, lane in enumerate(lanes[-PROPS:], 1):
        name, shape, size = PROP_SHAPES[int(random.integers(len(PROP_SHAPES)))]
        yield TrafficObject(
            Kind.STATIC,
            f"{name} {number}",
            shape=shape,
            anchor=PointId(lane.segment, lane.number, len(lane.points) // 2 + 1),
            position_offset=Triple(KERB, *ZERO[1:]),
            size=size,
        )
