"""Keys of a scenario for the conditions of events: one class per condition, one line each in `CONDITIONS`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field, PlainValidator, WithJsonSchema

from cbsim.formats.scenario.fields import (
    LIMIT,
    Contradiction,
    Length,
    Model,
    Name,
    Positive,
    ShortForm,
    Time,
    Waypoint,
    about,
    as_point,
    wrong,
)
from cbsim.formats.scenario.rule import one_of
from cbsim.formats.yaml_tree import shown
from cbsim.spec.events import Outline, Place

__all__ = ["ConditionModel", "OneOf", "PlaceField"]

STRING, NUMBER = {"type": "string"}, {"type": "number"}
PLACE = {
    "anyOf": [
        {"type": "string", "pattern": r"^\d+\.\d+\.\d+$|^\$\{.*\}", "examples": ["1.1.2"]},
        {"type": "array", "items": NUMBER, "minItems": 2, "maxItems": 3},
    ]
}


def _place(value: Any) -> Place:
    if not isinstance(value, list):
        return Place(as_point(value))
    if len(value) not in (2, 3) or not all(_is_number(one) for one in value):
        raise wrong(f"{shown(value)} is not a place: expected a waypoint, such as 1.2.3, or [x, y]")
    return Place(None, float(value[0]), float(value[1]))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and -LIMIT <= value <= LIMIT


def _polygon(value: Any) -> Outline:
    if not isinstance(value, list) or len(value) < 3:
        raise wrong(f"{shown(value)} is not a polygon: expected at least three points, each [x, y] or a waypoint")
    return Outline(tuple(_place(point) for point in value))


PlaceField = Annotated[Place, PlainValidator(_place), WithJsonSchema(PLACE)]
PolygonField = Annotated[
    Outline, PlainValidator(_polygon), WithJsonSchema({"type": "array", "items": PLACE, "minItems": 3})
]


class TimeModel(Model):
    """The time of the run has come."""

    short = "at"

    at: Time = about("since the start", unit="s", example=5.0)


class _Between(Model):
    """Arguments of a condition on the motion of an object relative to another one or to a place."""

    object: Name = about("name of the object")
    to: Name | None = about("the other object", None)
    place: PlaceField | None = about("or a place: a waypoint, or [x, y]", None, unit="m", example="1.1.5")

    @classmethod
    def contradictions(cls, data: Mapping[str, Any]) -> Iterator[Contradiction]:
        """Another object or a place."""
        yield from one_of(data, "to", "place")


class DistanceModel(_Between):
    """The distance of an object from another one, or from a place, is below or above a bound."""

    below: Length | None = about("the distance is less", None, unit="m", example=20.0)
    above: Length | None = about("the distance is greater", None, unit="m", example=50.0)
    freespace: bool = about("between outlines, instead of between centres", False)

    @classmethod
    def contradictions(cls, data: Mapping[str, Any]) -> Iterator[Contradiction]:
        """Another object or a place; one bound."""
        yield from super().contradictions(data)
        yield from one_of(data, "below", "above")


class TimeToCollisionModel(_Between):
    """An object will touch another one, or reach a place, in less than some time if both keep their velocities."""

    below: Positive = about("the time is less", unit="s", example=2.0)


class SpeedConditionModel(Model):
    """The speed of an object is below or above a bound."""

    object: Name = about("name of the object")
    below: Length | None = about("the speed is less", None, unit="m/s", example=1.0)
    above: Length | None = about("the speed is greater", None, unit="m/s", example=5.0)

    @classmethod
    def contradictions(cls, data: Mapping[str, Any]) -> Iterator[Contradiction]:
        """One bound."""
        yield from one_of(data, "below", "above")


class StandstillModel(Model):
    """An object has stood still, slower than 0.1 m/s, for some time."""

    object: Name = about("name of the object")
    duration: Time = about("how long", 0.0, unit="s", alias="for", example=3.0)


class RegionModel(Model):
    """The centre of an object is inside a polygon."""

    object: Name = about("name of the object")
    polygon: PolygonField = about(
        "its corners in order: [x, y], or waypoints", unit="m", example=[[0, 0], [20, 0], [20, 10]]
    )


class WaypointModel(Model):
    """The centre of an object passes a waypoint in the direction of the lane."""

    object: Name = about("name of the object")
    waypoint: Waypoint = about("the waypoint", example="1.1.5")
    within: Positive = about("how far to the side it may pass", 3.0, unit="m")


class EventConditionModel(Model):
    """Another event has come true."""

    short = "name"

    name: Name = about("name of the event", example="cut in")


class AfterModel(Model):
    """A condition came true some time ago."""

    delay: Time = about("how long ago", unit="s", example=2.0)
    when: ConditionModel = about("the condition")


Conditions = Annotated[list["ConditionModel"], Field(min_length=1)]


class OneOf(Model):
    """A mapping with a single key, which names the kind of its value."""

    what: ClassVar[str] = "a condition"

    @classmethod
    def contradictions(cls, data: Mapping[str, Any]) -> Iterator[Contradiction]:
        """Exactly one kind."""
        kinds = ", ".join(cls.spellings())
        if len(data) != 1:
            yield (), f"{cls.what} is one kind with its arguments, not {len(data)}: {kinds}"
        elif None in data.values():
            (kind,) = data
            yield (kind,), f"{cls.what} '{kind}' has no arguments"


class ConditionModel(OneOf):
    """When an event comes true: one kind of condition with its arguments."""

    time: Annotated[TimeModel, ShortForm(**NUMBER)] | None = about("the time of the run has come", None, example=5.0)
    distance: DistanceModel | None = about("an object is near or far from another one, or from a place", None)
    time_to_collision: TimeToCollisionModel | None = about("an object will soon touch another one", None)
    speed: SpeedConditionModel | None = about("an object is slow or fast", None)
    standstill: StandstillModel | None = about("an object has stood still for some time", None)
    region: RegionModel | None = about("an object is inside a polygon", None)
    waypoint: WaypointModel | None = about("an object passes a waypoint", None)
    event: Annotated[EventConditionModel, ShortForm(**STRING)] | None = about("another event has come true", None)
    all_of: Conditions | None = about("all of these hold at once", None, alias="all")
    any_of: Conditions | None = about("one of these holds", None, alias="any")
    after: AfterModel | None = about("a condition came true some time ago", None)


AfterModel.model_rebuild()
