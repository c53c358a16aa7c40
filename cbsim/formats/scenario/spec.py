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
    ModelModel,
    PlacementModel,
    ScenarioModel,
    SteeringModel,
    WheelsModel,
)
from cbsim.formats.scenario.people import person_of
from cbsim.formats.scenario.planner import seat_of
from cbsim.formats.scenario.same_names import spec_of
from cbsim.formats.scenario.score import ScoreModel, TermModel
from cbsim.formats.scenario.sweep import sweep_of
from cbsim.formats.scenario.traffic import DesiredSpeedModel, DriverModel, PoolModel
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
from cbsim.spec.traffic import Driver, FollowingModel, LightProgram, Pool
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
    return spec_of(
        Scenario,
        model,
        mission=None if model.mission is None else model.mission.file,
        clock=clock_of(model.mission, where),
        add=tuple(_addition(one, lambda *path, n=n: where("add", n, *path)) for n, one in enumerate(model.add)),
        place=tuple((name, _placement(one, where("place", name))) for name, one in model.place.items()),
        models=tuple(_model(one, where("models", n)) for n, one in enumerate(model.models)),
        origin=None if model.origin is None else spec_of(Origin, model.origin),
        traffic=tuple(_pool(one, where("traffic", n)) for n, one in enumerate(model.traffic)),
        drivers=tuple(_driver(name, one, where("drivers", name)) for name, one in model.drivers.items()),
        lights=tuple(
            LightProgram(name, tuple((one.state, one.duration) for one in phases), where("lights", name))
            for name, phases in model.lights.items()
        ),
        people=tuple(person_of(one, where("people", n)) for n, one in enumerate(model.people)),
        events=events_of(model.events, where),
        record=None if model.record is None else spec_of(Record, model.record),
        planner=tuple((name, one.seated) for name, one in model.planner.items()),
        seats=tuple(filter(None, (seat_of(name, one, where("planner", name)) for name, one in model.planner.items()))),
        expect=tuple(_expectation(one, where("expect", n), model.profile) for n, one in enumerate(model.expect)),
        score=None if model.score is None else _score(model.score, where, model.profile),
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
    position = ZERO if model.position is None else model.position.value()
    return Placement(position=position, heading=heading, location=place)


def _addition(model: AdditionModel, where: Where) -> Addition:
    kind, here = Kind(model.kind), where()
    anchor = "at" if model.at is not None else "position"
    placement = _placement(model, where(anchor) if anchor in model.model_fields_set else here)
    item = spec_of(
        TrafficObject,
        model,
        kind=kind,
        identifier=model.id,
        shape=ShapeKind.MESH if kind is Kind.MESH else ShapeKind[model.shape.upper()],
        anchor=placement.waypoint,
        size=DEFAULT_SIZE[kind] if model.size is None else model.size,
        controller=_controller(model, kind),
        wheels=_wheels(model.wheels or WheelsModel()) if kind is Kind.AUTONOMOUS else None,
        steering=spec_of(Steering, model.steering or SteeringModel()) if kind is Kind.AUTONOMOUS else None,
        sensors=tuple(
            spec_of(SensorMount, one, type_code=one.type, location=where("sensors", n))
            for n, one in enumerate(model.sensors)
        ),
        goals=tuple(_goal(one, where("goals", n)) for n, one in enumerate(model.goals)),
        script=tuple(
            spec_of(ScriptEntry, one, angle=one.angle * DEGREE, location=where("script", n))
            for n, one in enumerate(model.script)
        ),
        vertices=model.vertices and spec_of(MeshFile, model.vertices, location=where("vertices")),
        indices=model.indices and spec_of(MeshFile, model.indices, location=where("indices")),
        parameters=parameters_of(model.parameters),
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


def _wheels(model: WheelsModel) -> Wheels:
    return spec_of(Wheels, model, type=WheelType[model.type.upper()])


def _model(model: ModelModel, place: Location) -> ModelAddition:
    name = model.name or PurePosixPath(model.file.replace("\\", "/")).stem or model.file
    settings = tuple(model.settings.items())
    where = _placement(model, place)
    return spec_of(ModelAddition, model, name=name, placement=where, settings=settings, location=place)


ROUNDING = 1e-9  # of shares that add up to 1


def _shares(given: Mapping[Any, float]) -> tuple[tuple[Any, float], ...]:
    """Scale shares so that they add up to 1."""
    total = math.fsum(given.values())
    total = 1.0 if abs(total - 1.0) < ROUNDING else total
    return tuple((name, share / total) for name, share in given.items())


def _pool(model: PoolModel, place: Location) -> Pool:
    return spec_of(
        Pool,
        model,
        lanes=model.on,
        is_random=model.spread == "random",
        origin=model.at,
        destinations=_shares(model.to),
        is_even=model.arrivals == "even",
        drivers=_shares(model.drivers),
        vehicle_class=model.vehicle,
        thens=_shares(model.then),
        location=place,
    )


def _driver(name: str, model: DriverModel, place: Location) -> Driver:
    desired, errors = model.desired_speed or DesiredSpeedModel(), dict(model.errors or ())
    following = FollowingModel[model.model.upper()]
    speeds = {"desired_speed": desired.share, "speed": desired.speed}
    return spec_of(Driver, model, name=name, model=following, **speeds, **errors, location=place)


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
    plain = tuple((name, value.value() if isinstance(value, Axes) else value) for name, value in values)
    return Expectation(rule, plain, place, profile)
