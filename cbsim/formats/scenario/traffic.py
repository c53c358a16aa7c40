"""Keys of a scenario for reactive traffic: ``traffic`` and ``drivers``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainValidator, WithJsonSchema

from cbsim.formats.scenario.fields import (
    LIMIT,
    Contradiction,
    LaneName,
    Length,
    Model,
    Name,
    Number,
    Positive,
    ShortForm,
    Time,
    ValueModel,
    Waypoint,
    about,
    wrong,
)
from cbsim.formats.scenario.rule import ordered
from cbsim.spec.traffic import Spread as SpreadSpec

__all__ = ["DesiredSpeedModel", "DriverModel", "LightName", "PhaseModel", "PoolModel", "RecordModel"]

NUMBER = {"type": "number"}
STRING = {"type": "string"}
Share = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
Flow = Annotated[float, Field(ge=1e-6, le=LIMIT, allow_inf_nan=False)]  # the next of fewer has no finite time


class SpreadModel(ValueModel):
    """A value that differs from driver to driver: normal with that mean and deviation, cut at three deviations."""

    normal: tuple[Length, Length] = about("mean and deviation", example=[1.5, 0.2])

    @classmethod
    def expanded(cls, data: Any) -> Any:
        """Take a number for a value without spread; a list of two is what the file has for a pair."""
        if isinstance(data, dict) and isinstance(data.get("normal"), list):
            return {**data, "normal": tuple(data["normal"])}
        return data if isinstance(data, dict) else {"normal": (data, 0.0)}

    def value(self) -> SpreadSpec:
        """Return mean and deviation."""
        return SpreadSpec(*self.normal)


Spread = Annotated[SpreadModel, ShortForm(**NUMBER)]


class DesiredSpeedModel(Model):
    """How fast a driver wants to go."""

    share: Spread | None = about("share of the speed limit", None, example=0.9)
    speed: Spread | None = about("in place of the limit: this speed", None, unit="m/s", example=12.0)

    @classmethod
    def expanded(cls, data: Any) -> Any:
        """Take a number, or a spread, for a share of the limit."""
        return {"share": data} if not isinstance(data, dict) or "normal" in data else data


def _rate(value: Any) -> Any:
    """Read a rate: a number per second, or text with its unit."""
    if isinstance(value, str):
        number, _, unit = value.partition("/")
        scale = {"s": 1.0, "min": 1.0 / 60.0, "h": 1.0 / 3600.0}.get(unit.strip())
        try:
            return float(number) * scale if scale is not None else value
        except ValueError:
            return value
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


class ErrorsModel(Model):
    """Mistakes that a driver makes, to test what others do then."""

    runs_stops: Share = about("probability at each stop line of not stopping", 0.0)
    ignores_right_of_way: Share = about("probability at each junction of going first", 0.0)
    tailgates: Share = about("probability of keeping less than a third of the time headway", 0.0)
    brakes_hard: Annotated[Length, BeforeValidator(_rate)] = about(
        "how often it brakes at 6 m/s² without cause: per second, or per minute as 0.5/min", 0.0
    )


class DriverModel(Model):
    """How a driver follows the car ahead."""

    model: Literal["idm", "krauss"] = about("car-following model", "idm")
    desired_speed: Annotated[DesiredSpeedModel, ShortForm(**NUMBER)] | None = about(
        "share of the speed limit, or {speed: 12} m/s", None, example=0.9
    )
    time_headway: Spread | None = about("time behind the car ahead; by default 1.5", None, unit="s", example=1.8)
    minimum_gap: Spread | None = about("gap behind a car that stands; by default 2", None, unit="m")
    max_acceleration: Spread | None = about("by default 1.4", None, unit="m/s²")
    comfortable_deceleration: Spread | None = about("by default 2", None, unit="m/s²")
    critical_gap: Spread | None = about("share of the usual gap in traffic that it yields to; by default 1", None)
    errors: ErrorsModel | None = about("mistakes", None, example={"runs_stops": 0.05})


def _light(value: Any) -> str:
    """Read the name of a light: intersection and number."""
    intersection, _, number = str(value).partition(".")
    if not (intersection.isdecimal() and number.isdecimal()):
        raise wrong(f"'{value}' is no traffic light: expected intersection.light, such as 2.1")
    return f"{int(intersection)}.{int(number)}"


LightName = Annotated[str, PlainValidator(_light), WithJsonSchema({"type": "string", "examples": ["2.1"]})]


class PhaseModel(Model):
    """A phase of a traffic light."""

    state: Literal["green", "yellow", "red"] = about("what it shows", example="green")
    duration: Annotated[Number, Field(ge=0.0)] = about("how long", unit="s", example=20.0)

    @classmethod
    def expanded(cls, data: Any) -> Any:
        """Take a pair for state and duration."""
        return (
            dict(zip(("state", "duration"), data, strict=True)) if isinstance(data, list) and len(data) == 2 else data
        )


class RecordModel(Model):
    """What a recording holds."""

    traffic: Literal["all", "near", "none"] | None = about(
        "dynamic objects and cars of traffic: all of them, those near an autonomous object or named in expect, or only "
        "those named there; by default near where there are more than 1000, else all",
        None,
        example="near",
    )


def _shares(value: Any) -> Any:
    return {value: 1.0} if isinstance(value, str) else value


def _targets(value: Any) -> Any:
    return value if isinstance(value, dict) or value is None else {value: 1.0}


def _zones(value: Any) -> Any:
    return value if isinstance(value, list) or value is None else [value]


ZoneNumber = Annotated[int, Field(ge=1)]


class PoolModel(Model):
    """Cars that react to each other: as many from the start, or so many an hour."""

    name: Name = about("name; its cars are 'west 1', 'west 2' …", example="west")
    count: int | None = about("cars at the start, which wander", None, ge=1, le=2_000_000, example=40)
    on: list[LaneName] = about("lanes on which they are spread; by default all", [], example=["1.1", "3.2"])
    spread: Literal["even", "random"] = about("how they are spread", "even")
    flow: Flow | None = about("vehicles per hour that appear", None, unit="1/h", example=600)
    at: Waypoint | None = about("where they appear", None, alias="from", example="2.1.1")
    to: Annotated[dict[Waypoint, Positive], BeforeValidator(_targets), ShortForm(**STRING)] = about(
        "where they go, with shares; by default they wander and leave where their lane ends", {}, example={"4.1.6": 1.0}
    )
    parked: Annotated[list[ZoneNumber], BeforeValidator(_zones)] = about(
        "zones in whose parking spots the cars of a count stand at the start", [], example=[4]
    )
    pause: Positive | None = about(
        "for how long cars park in a spot; by default for good",
        None,
        unit="s",
        example=300.0,
    )
    then: Annotated[dict[Waypoint, Positive], BeforeValidator(_targets), ShortForm(**STRING)] = about(
        "where they go after that, with shares; by default they wander", {}, example={"1.1.10": 1.0}
    )
    begin: Time = about("when the flow begins", 0.0, unit="s")
    until: Time | None = about("when it ends; by default never", None, unit="s", example=600.0)
    arrivals: Literal["poisson", "even"] = about("random or evenly spaced arrivals", "poisson")
    at_most: int | None = about(
        "cars of the flow at once; by default as many as the lanes ahead hold", None, ge=1, le=2_000_000
    )
    drivers: Annotated[dict[Name, Positive], BeforeValidator(_shares), ShortForm(**STRING)] = about(
        "drivers, with shares", {}, example={"calm": 0.8, "hasty": 0.2}
    )
    vehicle: Literal["car", "truck", "bus", "motorcycle"] = about("class: size and acceleration", "car", alias="class")

    @classmethod
    def contradictions(cls, data: Mapping[str, Any]) -> Iterator[Contradiction]:
        """Either cars at the start or a flow, each with its own keys."""
        count, flow = data.get("count") is not None, data.get("flow") is not None
        if count == flow:
            yield (("flow",) if count else ()), "one of 'count' and 'flow' is needed, not both"
            return
        theirs = ("on", "spread", "parked") if flow else ("from", "to", "begin", "until", "arrivals", "at_most")
        for key in theirs:
            if data.get(key):
                yield (key,), f"'{key}' is for a {'count' if flow else 'flow'} of cars"
        for key in ("on", "spread"):
            if data.get("parked") and data.get(key):
                yield (key,), f"'{key}' is for cars on lanes, 'parked' for cars in parking spots"
        if data.get("pause") is not None and not (data.get("parked") or data.get("to")):
            yield ("pause",), "'pause' is for cars that are parked, or go to a parking spot"
        if data.get("then") and data.get("pause") is None:
            yield ("then",), "'then' needs 'pause', how long the cars park before"
        if flow and not data.get("from"):
            yield (), "a flow needs 'from', the waypoint where its cars appear"
        yield from ordered(data, "begin", "until")
