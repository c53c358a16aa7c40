"""Conversion of validated scenario models to specs, and of specs to mappings for YAML."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

from cbsim.errors import Location
from cbsim.formats.scenario.events import events_of
from cbsim.formats.scenario.fields import Axes, Model
from cbsim.formats.scenario.mission import clock_of
from cbsim.formats.scenario.models import (
    AdditionModel,
    GoalModel,
    MeshModel,
    ModelModel,
    PlacementModel,
    ScenarioModel,
)
from cbsim.formats.scenario.people import person_of
from cbsim.formats.scenario.planner import seat_of
from cbsim.formats.scenario.score import ScoreModel, TermModel
from cbsim.formats.scenario.sweep import sweep_of
from cbsim.formats.scenario.traffic import DriverModel, ErrorsModel, PoolModel, SpreadModel
from cbsim.formats.scenario.vehicle import parameters_of
from cbsim.spec.metrics import measuring
from cbsim.spec.objects import (
    ZERO,
    Controller,
    Goal,
    Kind,
    MeshFile,
    ScriptEntry,
    SensorMount,
    ShapeKind,
    Steering,
    TrafficObject,
    Triple,
    Wheels,
    WheelType,
)
from cbsim.spec.scenario import (
    NO_SCORE,
    Addition,
    Expectation,
    ModelAddition,
    Origin,
    ParameterValue,
    Placement,
    Record,
    Scenario,
    Score,
    Term,
)
from cbsim.spec.traffic import DEFAULT_DRIVER, Driver, FollowingModel, LightProgram, Pool, Spread
from cbsim.units import DEGREE

__all__ = ["DEFAULT_SIZE", "scenario_of"]

Where = Callable[..., Location]

DEFAULT_SIZE = {  # [m] of what is added without a size
    Kind.AUTONOMOUS: Triple(1.8, 4.5, 1.5),
    Kind.DYNAMIC: Triple(1.8, 4.5, 1.5),
    Kind.STATIC: Triple(1.0, 1.0, 1.0),
    Kind.MESH: Triple(1.0, 1.0, 1.0),
}


def scenario_of(model: ScenarioModel, where: Where, places: Mapping[str, Location]) -> Scenario:
    """Make the spec of a validated scenario.

    Parameters
    ----------
    model : ScenarioModel
        The validated mapping.
    where : callable
        Key path, as separate arguments → its Location.
    places : mapping
        Key path with dots → Location, kept in the spec.
    """
    return Scenario(
        description=model.description,
        network=model.network,
        mission=None if model.mission is None else model.mission.file,
        clock=clock_of(model.mission, where),
        objects=tuple(model.objects),
        add=tuple(_addition(one, lambda *path, n=n: where("add", n, *path)) for n, one in enumerate(model.add)),
        place=tuple((name, _placement(one, where("place", name))) for name, one in model.place.items()),
        models=tuple(_model(one, where("models", n)) for n, one in enumerate(model.models)),
        origin=None if model.origin is None else Origin(model.origin.latitude, model.origin.longitude),
        offset_frame=model.offset_frame,
        script_angle=model.script_angle,
        seed=model.seed,
        step=model.step,
        duration=model.duration,
        deadline=model.deadline,
        traffic=tuple(_pool(one, where("traffic", n)) for n, one in enumerate(model.traffic)),
        drivers=tuple(_driver(name, one, where("drivers", name)) for name, one in model.drivers.items()),
        lights=tuple(
            LightProgram(name, tuple((one.state, one.duration) for one in phases), where("lights", name))
            for name, phases in model.lights.items()
        ),
        people=tuple(person_of(one, where("people", n)) for n, one in enumerate(model.people)),
        events=events_of(model.events, where),
        record=Record() if model.record is None else Record(model.record.traffic or ""),
        planner=tuple((name, one.seated) for name, one in model.planner.items()),
        seats=tuple(filter(None, (seat_of(name, one, where("planner", name)) for name, one in model.planner.items()))),
        profile=model.profile,
        expect=tuple(_expectation(one, where("expect", n), model.profile) for n, one in enumerate(model.expect)),
        score=NO_SCORE if model.score is None else _score(model.score, where, model.profile),
        sweep=sweep_of(model.sweep),
        parameters=tuple((name, _parameter(value)) for name, value in model.parameters.items()),
        places=places,
        location=where()._replace(inside=""),
    )


def _parameter(value: Any) -> ParameterValue:
    return tuple(value) if isinstance(value, list) else value


def _placement(model: PlacementModel, place: Location) -> Placement:
    heading, at = model.heading, model.at
    if at is not None:
        return Placement(at.waypoint, at.station, at.offset, heading=heading, location=place)
    return Placement(position=_triple(model.position, ZERO), heading=heading, location=place)


def _triple(axes: Axes | None, default: Triple) -> Triple:
    return default if axes is None else axes.triple()


def _addition(model: AdditionModel, where: Where) -> Addition:
    kind, here = Kind(model.kind), where()
    anchor = "at" if model.at is not None else "position"
    placement = _placement(model, where(anchor) if anchor in model.model_fields_set else here)
    item = TrafficObject(
        kind=kind,
        name=model.name,
        identifier=model.id,
        shape=ShapeKind.MESH if kind is Kind.MESH else ShapeKind[model.shape.upper()],
        anchor=placement.waypoint,
        position_offset=_triple(model.position_offset, ZERO),
        orientation_offset=_triple(model.orientation_offset, ZERO),
        size=_triple(model.size, DEFAULT_SIZE[kind]),
        controller=_controller(model, kind),
        wheels=_wheels(model) if kind is Kind.AUTONOMOUS else None,
        steering=_steering(model) if kind is Kind.AUTONOMOUS else None,
        sensors=tuple(
            SensorMount(one.conf, one.type, one.description, where("sensors", n)) for n, one in enumerate(model.sensors)
        ),
        initial_pause=model.initial_pause,
        goals=tuple(_goal(one, where("goals", n)) for n, one in enumerate(model.goals)),
        script=tuple(
            ScriptEntry(one.speed, one.pause, one.distance, one.angle * DEGREE, where("script", n))
            for n, one in enumerate(model.script)
        ),
        vertices=None if model.vertices is None else _mesh_file(model.vertices, where("vertices")),
        indices=None if model.indices is None else _mesh_file(model.indices, where("indices")),
        drivable=model.drivable,
        reactive=model.reactive,
        parameters=parameters_of(model.parameters),
        drive=model.drive,
        location=here,
        anchor_location=placement.location,
    )
    return Addition(item, placement, here)


def _controller(model: AdditionModel, kind: Kind) -> Controller | None:
    if kind in (Kind.STATIC, Kind.MESH):
        return None
    if model.controller is not None:
        return Controller[model.controller.upper()]
    if model.script:
        return Controller.SCRIPT
    return Controller.WAYPOINT if model.goals or kind is Kind.DYNAMIC else Controller.SENSOR


def _goal(model: GoalModel, place: Location) -> Goal:
    if model.waypoint is not None:
        return Goal(model.speed or 0.0, model.pause, *model.waypoint, place)
    assert model.lane is not None
    return Goal(model.speed or 0.0, model.pause, *model.lane, None, place)


def _wheels(model: AdditionModel) -> Wheels:
    wheels = model.wheels
    return Wheels() if wheels is None else Wheels(WheelType[wheels.type.upper()], wheels.radius, wheels.width)


def _steering(model: AdditionModel) -> Steering:
    return Steering() if model.steering is None else Steering(model.steering.throttle_rate, model.steering.lever_rate)


def _mesh_file(model: MeshModel, place: Location) -> MeshFile:
    return MeshFile(model.path, model.mode, place)


def _model(model: ModelModel, place: Location) -> ModelAddition:
    name = model.name or PurePosixPath(model.file.replace("\\", "/")).stem or model.file
    settings = tuple(model.settings.items())
    return ModelAddition(model.file, name, _placement(model, place), model.scale, model.mass, settings, place)


ROUNDING = 1e-9  # of shares that add up to 1


def _shares(given: Mapping[Any, float]) -> tuple[tuple[Any, float], ...]:
    """Scale shares so that they add up to 1."""
    total = math.fsum(given.values())
    total = 1.0 if abs(total - 1.0) < ROUNDING else total
    return tuple((name, share / total) for name, share in given.items())


def _pool(model: PoolModel, place: Location) -> Pool:
    return Pool(
        name=model.name,
        count=model.count or 0,
        lanes=tuple(model.on),
        is_random=model.spread == "random",
        flow=model.flow or 0.0,
        origin=model.at,
        destinations=_shares(model.to),
        begin=model.begin,
        until=1e12 if model.until is None else model.until,
        is_even=model.arrivals == "even",
        at_most=model.at_most or 0,
        drivers=_shares(model.drivers),
        vehicle_class=model.vehicle,
        location=place,
        parked=tuple(model.parked),
        pause=math.inf if model.pause is None else model.pause,
        thens=_shares(model.then),
    )


def _spread(model: SpreadModel | None, default: Spread) -> Spread:
    return default if model is None else Spread(*model.normal)


def _driver(name: str, model: DriverModel, place: Location) -> Driver:
    default, desired, errors = DEFAULT_DRIVER, model.desired_speed, model.errors or ErrorsModel()
    return Driver(
        name=name,
        model=FollowingModel[model.model.upper()],
        desired_speed=_spread(None if desired is None else desired.share, default.desired_speed),
        speed=None if desired is None or desired.speed is None else Spread(*desired.speed.normal),
        time_headway=_spread(model.time_headway, default.time_headway),
        minimum_gap=_spread(model.minimum_gap, default.minimum_gap),
        max_acceleration=_spread(model.max_acceleration, default.max_acceleration),
        comfortable_deceleration=_spread(model.comfortable_deceleration, default.comfortable_deceleration),
        critical_gap=_spread(model.critical_gap, default.critical_gap),
        runs_stops=errors.runs_stops,
        ignores_right_of_way=errors.ignores_right_of_way,
        tailgates=errors.tailgates,
        brakes_hard=errors.brakes_hard,
        location=place,
    )


def _score(model: ScoreModel, where: Where, profile: str) -> Score:
    gates = (_expectation(one, where("score", "gates", n), profile) for n, one in enumerate(model.gates))
    return Score(
        tuple(gates), tuple(_term(one, where("score", "mean", n), profile) for n, one in enumerate(model.mean))
    )


def _term(model: TermModel, place: Location, profile: str) -> Term:
    if model.metric is None or model.object is None or model.worst is None or model.best is None:
        rule: Any = model.rule  # a metric has them all
        return Term(_expectation(rule, place, profile), weight=model.weight)
    one = measuring(model.metric, model.object, place)
    return Term(one, model.metric, model.worst, model.best, model.weight)


def _expectation(model: Model, place: Location, profile: str) -> Expectation:
    rule, arguments = next((name, value) for name, value in model if value is not None)
    values: Iterable[tuple[str, Any]] = (
        (info.alias or name, getattr(arguments, name)) for name, info in type(arguments).model_fields.items()
    )
    plain = tuple((name, value.triple() if isinstance(value, Axes) else value) for name, value in values)
    return Expectation(rule, plain, place, profile)
