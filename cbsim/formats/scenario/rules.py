"""Models of the rules of `expect`: one class per rule, one line per argument, one line each in `RULES`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import create_model

from cbsim.formats.scenario.clock_rules import EstopModel, PreparationModel, StartModel
from cbsim.formats.scenario.fields import Contradiction, Length, Model, Name, Offset, Positive, Time, Waypoint, about
from cbsim.formats.scenario.gap_rules import (
    FollowingRuleModel,
    LeftTurnModel,
    MergeModel,
    QueueingModel,
    SeparationModel,
)
from cbsim.formats.scenario.rule import ObjectRuleModel, RuleModel, one_of, ordered
from cbsim.registry import Registry

__all__ = ["RULES", "ExpectationModel", "RuleModel", "one_of"]


class ReachModel(ObjectRuleModel):
    """The object comes within a radius of a place, for the first time between two times."""

    waypoint: Waypoint | None = about("the place", None, example="1.1.5")
    position: Offset | None = about("or the place on the map: x east, y north, z up", None, unit="m")
    radius: Positive = about("how near, on the ground", 1.0, unit="m")
    after: Time | None = about("not earlier than", None, unit="s")
    before: Time | None = about("not later than", None, unit="s")

    @classmethod
    def contradictions(cls, data: Mapping[str, Any]) -> Iterator[Contradiction]:
        """One place, and a window that is not empty."""
        yield from one_of(data, "waypoint", "position")
        yield from ordered(data, "after", "before")


class TravelModel(ObjectRuleModel):
    """The length of the object's path in the whole run."""

    at_least: Length | None = about("shortest", None, unit="m", example=100.0)
    at_most: Length | None = about("longest", None, unit="m", example=120.0)

    @classmethod
    def contradictions(cls, data: Mapping[str, Any]) -> Iterator[Contradiction]:
        """One bound at least, and a range that is not empty."""
        if data.get("at_least") is None and data.get("at_most") is None:
            yield (), "one of 'at_least' and 'at_most' is needed"
        yield from ordered(data, "at_least", "at_most")


class RestModel(ObjectRuleModel):
    """The object is at rest from a time to the end."""

    start: Time = about("from when", 0.0, unit="s", alias="from")


class CollisionModel(ObjectRuleModel):
    """The object touches nothing, or only below a given speed."""

    impact_below: Positive | None = about("contacts slower than this do not count", None, unit="m/s", example=0.5)
    at_fault: bool = about("only contacts that are its own fault count: active front and active lateral", False)


class LaneModel(ObjectRuleModel):
    """The object stays in its lane, or in its corridor through an intersection."""

    needs = ("network",)

    tolerance: Length = about("how far a corner may stick out", 0.3, unit="m")
    from_middle: Length | None = about(
        "distance of its centre from the middle of an unmarked road; the profile's by default",
        None,
        unit="m",
        example=1.0,
    )


class SpeedModel(ObjectRuleModel):
    """The object keeps the mission's speed limits, or one given here."""

    at_most: Length | None = about("limit, on top of those of the mission", None, unit="m/s", example=8.0)
    tolerance: Length | None = about(
        "how much faster it may be; the profile's by default", None, unit="m/s", example=0.2
    )

    @classmethod
    def needed(cls, arguments: Mapping[str, Any]) -> tuple[str, ...]:
        """Limits come from the mission, unless one is given."""
        return () if arguments.get("at_most") is not None else ("network", "mission")


class StopLineModel(ObjectRuleModel):
    """The object stops at every stop line before it crosses it."""

    needs = ("network",)

    within: Positive | None = about(
        "how far before the line its front bumper may stop; the profile's by default", None, unit="m", example=1.0
    )
    at_least: int = about("how many stop lines it crosses in the whole run", 0, ge=0, le=10**6)


class CheckpointsModel(ObjectRuleModel):
    """The object passes the mission's checkpoints in order, and stops at the last."""

    needs = ("network", "mission")

    before: Time | None = about("the last one not later than", None, unit="s", example=300.0)
    stop: bool = about("it comes to rest after the last one", True)
    stop_within: Positive = about("how far from the last one it may come to rest", 30.0, unit="m")


class MissionTimeModel(ObjectRuleModel):
    """The mission is finished in time, without excess delay."""

    needs = ("network", "mission")

    at_most: Time | None = about("time until the last checkpoint is passed", None, unit="s", example=300.0)
    delay: Time | None = about("longest time lost on a clear way, as in `excess_delay`", None, unit="s", example=10.0)

    @classmethod
    def contradictions(cls, data: Mapping[str, Any]) -> Iterator[Contradiction]:
        """One limit at least."""
        if data.get("at_most") is None and data.get("delay") is None:
            yield (), "one of 'at_most' and 'delay' is needed"


class EventRuleModel(RuleModel):
    """An event of the scenario comes true, between two times."""

    name: Name = about("name of the event", example="cut in")
    after: Time | None = about("not earlier than", None, unit="s")
    before: Time | None = about("not later than", None, unit="s", example=30.0)

    @classmethod
    def contradictions(cls, data: Mapping[str, Any]) -> Iterator[Contradiction]:
        """Report a window that is empty."""
        yield from ordered(data, "after", "before")


class ExcessDelayModel(ObjectRuleModel):
    """The object goes on when its way is clear."""

    needs = ("network",)

    longest: Time | None = about(
        "longest time lost in one piece; the profile's by default", None, unit="s", example=10.0
    )
    sum: Time | None = about("time lost in all", None, unit="s", example=60.0)


class PrecedenceModel(ObjectRuleModel):
    """The object enters junctions in its turn."""

    needs = ("network",)

    patience: Time | None = about(
        "how long who is first and free to go may stand before it is passed over; the profile's by default",
        None,
        unit="s",
        example=10.0,
    )
    at_least: int = about("how many junctions it enters in the whole run", 0, ge=0, le=10**6)


class StandoffModel(ObjectRuleModel):
    """The object, while it moves, keeps a distance from everything."""

    least: Positive | None = about("between the footprints; the profile's by default", None, unit="m", example=1.0)


class PassingModel(ObjectRuleModel):
    """The object passes what stands in its lane at the right distances."""

    needs = ("network",)

    behind: Length | None = about(
        "least gap before it, where it leaves its lane; the profile's by default", None, unit="m", example=4.5
    )
    ahead: Length | None = about(
        "least gap beyond it, where it is back; the profile's by default", None, unit="m", example=4.5
    )
    within: Length | None = about("largest gap beyond it; the profile's by default", None, unit="m", example=18.0)
    whole: Positive | None = about("longest way of a pass; the profile's by default", None, unit="m", example=40.0)
    at_least: int = about("how many passes there are in the whole run", 0, ge=0, le=10**6)


class UTurnModel(ObjectRuleModel):
    """The object turns round within a distance of both ends of a U-turn."""

    needs = ("network",)

    within: Positive | None = about(
        "distance of its footprint from the nearer end; the profile's by default", None, unit="m", example=15.0
    )
    at_least: int = about("how many U-turns there are in the whole run", 0, ge=0, le=10**6)


class MarginModel(ObjectRuleModel):
    """The object keeps its margins to a collision, by surrogate measures of safety."""

    ttc: Positive | None = about("least time to collision", None, unit="s", example=2.0)
    pet: Positive | None = about("least post-encroachment time", None, unit="s", example=1.5)
    thw: Positive | None = about("least time headway", None, unit="s", example=0.8)
    drac: Positive | None = about("largest deceleration rate to avoid a crash", None, unit="m/s²", example=3.4)
    lateral: Positive | None = about("largest distance from the middle of the lane", None, unit="m", example=0.5)

    @classmethod
    def needed(cls, arguments: Mapping[str, Any]) -> tuple[str, ...]:
        """All but the times to collision and after encroachment follow lanes."""
        return ("network",) if any(arguments.get(key) is not None for key in ("thw", "drac", "lateral")) else ()

    @classmethod
    def contradictions(cls, data: Mapping[str, Any]) -> Iterator[Contradiction]:
        """One bound at least."""
        keys = ("ttc", "pet", "thw", "drac", "lateral")
        if all(data.get(key) is None for key in keys):
            yield (), f"one of {', '.join(map(repr, keys))} is needed"


class ComfortModel(ObjectRuleModel):
    """The object drives comfortably: nuPlan's bounds by default."""

    acceleration: Positive = about("largest along its heading", 2.40, unit="m/s²")
    braking: Positive = about("largest against its heading", 4.05, unit="m/s²")
    sideways: Positive = about("largest across its heading", 4.89, unit="m/s²")
    jerk: Positive = about("largest", 8.37, unit="m/s³")
    jerk_along: Positive = about("largest along its heading", 4.13, unit="m/s³")
    yaw_rate: Positive = about("largest", 0.95, unit="rad/s")
    yaw_acceleration: Positive = about("largest", 1.93, unit="rad/s²")


class ProgressModel(ObjectRuleModel):
    """The object has done a share of its mission's way."""

    needs = ("network", "mission")

    at_least: float = about("share of the way", 1.0, ge=0.0, le=1.0, allow_inf_nan=False)


class WrongWayModel(ObjectRuleModel):
    """The object does not drive against the traffic of its lane."""

    needs = ("network",)

    at_most: Length = about("longest way in one piece", 2.0, unit="m")


class ZoneModel(ObjectRuleModel):
    """The object stays inside the perimeter of a zone."""

    needs = ("network",)

    tolerance: Length = about("how far a corner may stick out", 0.3, unit="m")
    at_least: int = about("how many visits to zones there are in the whole run", 0, ge=0, le=10**6)


class ParkingModel(ObjectRuleModel):
    """The object parks at the right place of a spot, and backs out of it."""

    needs = ("network",)

    within: Positive = about("distance of its front bumper from the spot's second point", 1.0, unit="m")
    at_least: int = about("how many times it parks in the whole run", 0, ge=0, le=10**6)


class CommandLatencyModel(ObjectRuleModel):
    """Commands of the object's planner act soon enough; latencies are those that the scenario simulates."""

    within: Time = about("how long after the planner is asked its command acts", unit="s", example=0.1)
    misses: int = about("how many commands may act later", 0, ge=0, le=10**9)


RULES: Registry[type[RuleModel]] = Registry(
    "rule",
    (
        ("reach", ReachModel),
        ("travel", TravelModel),
        ("rest", RestModel),
        ("collision", CollisionModel),
        ("lane", LaneModel),
        ("speed", SpeedModel),
        ("stop_line", StopLineModel),
        ("checkpoints", CheckpointsModel),
        ("mission_time", MissionTimeModel),
        ("event", EventRuleModel),
        ("excess_delay", ExcessDelayModel),
        ("precedence", PrecedenceModel),
        ("standoff", StandoffModel),
        ("separation", SeparationModel),
        ("following", FollowingRuleModel),
        ("queueing", QueueingModel),
        ("passing", PassingModel),
        ("u_turn", UTurnModel),
        ("merge", MergeModel),
        ("left_turn", LeftTurnModel),
        ("margin", MarginModel),
        ("comfort", ComfortModel),
        ("progress", ProgressModel),
        ("wrong_way", WrongWayModel),
        ("zone", ZoneModel),
        ("parking", ParkingModel),
        ("preparation", PreparationModel),
        ("start", StartModel),
        ("estop", EstopModel),
        ("command_latency", CommandLatencyModel),
    ),
)


class OneRule(Model):
    """One rule with its arguments."""

    @classmethod
    def contradictions(cls, data: Mapping[str, Any]) -> Iterator[Contradiction]:
        """Exactly one rule."""
        if len(data) != 1:
            yield (), f"an expectation is one rule with its arguments, not {len(data)}: {', '.join(RULES)}"
        elif None in data.values():
            (rule,) = data
            yield (rule,), f"the rule '{rule}' has no arguments"


ExpectationModel: type[OneRule] = create_model(  # type: ignore[call-overload]
    "ExpectationModel",
    __base__=OneRule,
    __doc__=OneRule.__doc__,
    **{rule: (model | None, about(str(model.__doc__), None)) for rule, model in RULES.items()},
)
