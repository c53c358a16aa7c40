"""Models of the rules about gaps to other vehicles."""

from __future__ import annotations

from cbsim.formats.scenario.fields import Length, Positive, Time, about
from cbsim.formats.scenario.rule import ObjectRuleModel

__all__ = ["FollowingRuleModel", "LeftTurnModel", "MergeModel", "QueueingModel", "SeparationModel"]


class SeparationModel(ObjectRuleModel):
    """The object keeps its distance from the vehicle ahead."""

    needs = ("network",)

    lengths: Positive | None = about(
        "lengths of the object per 10 mph, and at least; the profile's by default", None, example=1.0
    )
    at_line: Positive | None = about(
        "gap within 30 m before a stop line; the profile's by default", None, unit="m", example=2.0
    )


class FollowingRuleModel(ObjectRuleModel):
    """The object keeps between two distances behind a vehicle that moves."""

    needs = ("network",)

    least: Length | None = about("behind one at 15 mph; the profile's by default", None, unit="m", example=15.0)
    most: Length | None = about("behind one at 15 mph; the profile's by default", None, unit="m", example=40.0)
    lengths: Length | None = about(
        "lengths of the object per 10 mph behind any; the profile's by default", None, example=1.0
    )


class QueueingModel(ObjectRuleModel):
    """The object stops at the right distance behind a vehicle that stands."""

    needs = ("network",)

    least: Length | None = about("least gap; the profile's by default", None, unit="m", example=5.0)
    most: Length | None = about("largest gap; the profile's by default", None, unit="m", example=10.0)
    at_least: int = about("how many times it queues in the whole run", 0, ge=0, le=10**6)


class GiveWayModel(ObjectRuleModel):
    """Arguments of rules about gaps in traffic."""

    needs = ("network",)

    gap: Length | None = about(
        "least time to everybody of a stream, where the object reaches it; the profile's by default",
        None,
        unit="s",
        example=10.0,
    )
    spacing: Length | None = about(
        "least distance from everybody of it, fore and aft; the profile's by default", None, unit="m", example=9.0
    )
    delay: Time | None = about(
        "longest time for which it stands though there is such a gap; the profile's by default",
        None,
        unit="s",
        example=10.0,
    )
    at_least: int = about("how many of them there are in the whole run", 0, ge=0, le=10**6)


class MergeModel(GiveWayModel):
    """The object pulls into moving traffic in a large gap, at a distance, without delay."""


class LeftTurnModel(GiveWayModel):
    """The object turns left across moving traffic in a large gap, at a distance, without delay."""
