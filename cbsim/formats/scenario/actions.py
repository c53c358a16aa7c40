"""Keys of a scenario for the actions of events: one class per action, one line each in `ActionModel`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal

from cbsim.formats.scenario.conditions import OneOf, PlaceField
from cbsim.formats.scenario.fields import Angle, Contradiction, Length, Model, Name, Positive, Time, about
from cbsim.formats.scenario.rule import one_of
from cbsim.formats.scenario.traffic import LightName

__all__ = ["ActionModel"]


class RunStateModel(Model):
    """Set the emergency stop of an autonomous object: PAUSE brakes as hard as it can and holds, DISABLE for good."""

    object: Name = about("name of the autonomous object")
    state: Literal["RUN", "PAUSE", "DISABLE"] = about("the state", example="PAUSE")


class SpeedActionModel(Model):
    """Order a speed of a dynamic object or a car of traffic."""

    object: Name = about("name of the object")
    to: Length = about("the speed", unit="m/s", example=3.0)
    rate: Positive | None = about("how fast it changes; by default 2", None, unit="m/s²", example=3.0)
    within: Time | None = about("or in how long; 0 at once", None, unit="s", example=1.5)

    @classmethod
    def contradictions(cls, data: Mapping[str, Any]) -> Iterator[Contradiction]:
        """Report a rate and a time."""
        yield from one_of(data, "rate", "within", needed=False)


class StopModel(Model):
    """Bring a dynamic object or a car of traffic to rest, and hold it."""

    object: Name = about("name of the object")
    rate: Positive = about("deceleration", 3.0, unit="m/s²")


class ResumeModel(Model):
    """End an ordered speed: the object goes on as its file or its driver has it."""

    object: Name = about("name of the object")


class LaneChangeModel(Model):
    """Order a change of lanes of a reactive car, with or without regard to others."""

    object: Name = about("name of the car")
    side: Literal["left", "right"] = about("the side", example="left")
    safe: bool = about("wait until both gaps hold, instead of cutting in", False)


class SynchroniseModel(Model):
    """Let an object arrive at a place when another one arrives at its own."""

    object: Name = about("name of the object")
    place: PlaceField = about("where it arrives: a waypoint, or [x, y]", unit="m", example="1.1.5")
    with_object: Name = about("name of the other object", alias="with")
    with_place: PlaceField = about("where that arrives", unit="m", example="3.1.2")
    rate: Positive = about("how fast its speed may change", 3.0, unit="m/s²")
    speed: Length | None = about("speed from then on; by default the one that it has", None, unit="m/s")


class AppearModel(Model):
    """Make an object appear where the scenario has it; it is absent before."""

    object: Name = about("name of the object")


class LeaveModel(Model):
    """Take an object away."""

    object: Name = about("name of the object")


class BlockModel(Model):
    """Put an object in the way; it is absent before."""

    object: Name = about("name of the object", example="Barrier")
    place: PlaceField = about("where: a waypoint, or [x, y]", unit="m", example="1.1.5")
    heading: Angle | None = about("on the map; by default across the lane of a waypoint, or 0", None, unit="deg")


class LightModel(Model):
    """Set a traffic light, or give it back to its program."""

    light: LightName = about("the light, by intersection and number", example="2.1")
    state: Literal["green", "yellow", "red", "program"] = about("what it shows from then on", example="red")


class SensorFaultModel(Model):
    """Let sensors of an autonomous object fall out, or freeze."""

    object: Name = about("name of the autonomous object")
    sensor: Name | None = about("stem of the sensor's conf file; by default all", None, example="scan_gp_driver_0")
    fault: Literal["outage", "frozen"] = about("no readings, or for lasers the last scan again and again", "outage")
    duration: Positive | None = about("how long; by default to the end", None, unit="s", alias="for", example=5.0)

    @classmethod
    def contradictions(cls, data: Mapping[str, Any]) -> Iterator[Contradiction]:
        """Report a freeze without an end, for which all poses would have to be kept."""
        if data.get("fault") == "frozen" and data.get("for") is None:
            yield (), "a freeze needs 'for', how long it lasts"


class GpsOutageModel(Model):
    """Let an autonomous object receive no satellites."""

    object: Name = about("name of the autonomous object")
    duration: Positive | None = about("how long; by default to the end", None, unit="s", alias="for", example=20.0)


class ActionModel(OneOf):
    """What an event begins: one kind of action with its arguments."""

    what: ClassVar[str] = "an action"

    speed: SpeedActionModel | None = about("order a speed", None)
    stop: StopModel | None = about("bring an object to rest", None)
    resume: ResumeModel | None = about("end an ordered speed", None)
    lane_change: LaneChangeModel | None = about("order a change of lanes of a reactive car", None)
    synchronise: SynchroniseModel | None = about("let two objects arrive at the same time", None)
    block: BlockModel | None = about("put an object in the way", None)
    appear: AppearModel | None = about("make an object appear", None)
    leave: LeaveModel | None = about("take an object away", None)
    light: LightModel | None = about("set a traffic light", None)
    sensor_fault: SensorFaultModel | None = about("let sensors fall out, or freeze", None)
    gps_outage: GpsOutageModel | None = about("let an object receive no satellites", None)
    run_state: RunStateModel | None = about("set the emergency stop of an autonomous object", None)
