"""Models of the rules of `expect` about the clock of a mission: its start, and E-stops."""

from __future__ import annotations

from cbsim.formats.scenario.fields import Positive, Time, about
from cbsim.formats.scenario.rule import ObjectRuleModel

__all__ = ["EstopModel", "PreparationModel", "StartModel"]


class PreparationModel(ObjectRuleModel):
    """The object stands until RUN, and through the alarm after it."""

    alarm: Time | None = about("from RUN; the profile's by default", None, unit="s", example=5.0)
    within: Positive = about("how far from its start it may be", 0.1, unit="m")


class StartModel(ObjectRuleModel):
    """The object starts its mission in time."""

    needs = ("network",)

    within: Time | None = about("from the mission; the profile's by default", None, unit="s", example=300.0)
    clear: Time | None = about(
        "how long it may stand in RUN while its way is clear; the profile's by default", None, unit="s", example=10.0
    )


class EstopModel(ObjectRuleModel):
    """The object comes to rest when it is paused, stands, and goes on in RUN."""

    needs = ("network",)

    within: Positive | None = about(
        "way to rest from 20 mph, and from slower; the profile's by default", None, unit="m", example=20.0
    )
    resume: Time | None = about(
        "how long it may stand after RUN while its way is clear; the profile's by default", None, unit="s", example=10.0
    )
    at_least: int = about("how many times it is stopped while it moves, in the whole run", 0, ge=0, le=10**6)
