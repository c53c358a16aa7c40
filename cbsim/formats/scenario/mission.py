"""The key ``mission`` of a scenario: the model of its value, its spec, and its text."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from cbsim.errors import Location
from cbsim.formats.scenario.conditions import ConditionModel
from cbsim.formats.scenario.events import condition_of, condition_text
from cbsim.formats.scenario.fields import Contradiction, FileName, Model, Positive, Time, about
from cbsim.formats.scenario.rule import one_of
from cbsim.spec.events import Condition
from cbsim.spec.mission_clock import LATEST_RUN, MissionClock, Pause

__all__ = ["MissionModel", "clock_of", "mission_text", "names_of_clock"]

Where = Callable[..., Location]
OWN_NAME = re.compile(r"mission (RUN|RUN \d+|PAUSE \d+|part \d+|restart \d+)")


class PauseModel(Model):
    """An E-stop PAUSE, and RUN after some time."""

    at: Time | None = about("when it begins", None, unit="s", example=30.0)
    when: ConditionModel | None = about(
        "or the condition that it begins with", None, example={"speed": {"object": "Bot", "above": 8.9}}
    )
    duration: Positive | None = about(
        "until RUN; by default an event sets RUN", None, unit="s", alias="for", example=10.0
    )

    @classmethod
    def contradictions(cls, data: Mapping[str, Any]) -> Iterator[Contradiction]:
        """Report a pause without begin, or with two."""
        yield from one_of(data, "at", "when")


class MissionModel(Model):
    """The mission, and the clock of its run."""

    short = "file"

    file: FileName = about("the mission: a shipped name, or a path relative to this file", example="four_way_stop.mdf")
    delay: float | None = about(
        "from the mission to RUN, after which an alarm of 5 s sounds; by default RUN from the start, without alarm",
        None,
        unit="s",
        ge=0.0,
        le=LATEST_RUN,
        allow_inf_nan=False,
        example=20.0,
    )
    pauses: list[PauseModel] = about("E-stops", [], example=[{"at": 60.0, "for": 10.0}])
    restart: bool = about(
        "the first bot is set to the lane of the next checkpoint where no way leads there from the one before", False
    )

    @classmethod
    def contradictions(cls, data: Mapping[str, Any]) -> Iterator[Contradiction]:
        """Report pauses by time that begin before RUN, or within each other."""
        pauses = data.get("pauses")
        timed = [
            (float(one["at"]), number, one.get("for"))
            for number, one in enumerate(pauses if isinstance(pauses, list) else [])
            if isinstance(one, dict) and _is_number(one.get("at"))
        ]
        delay = data.get("delay")
        for time, number, _ in timed:
            if _is_number(delay) and time < delay:  # type: ignore[operator]
                yield ("pauses", str(number), "at"), f"this pause begins before RUN, which is at {delay:g} s"
        for (time, _, duration), (later, number, _) in itertools.pairwise(sorted(timed, key=lambda one: one[0])):
            if _is_number(duration) and later < time + float(duration or 0.0):
                yield ("pauses", str(number), "at"), f"this pause begins within that from {time:g} s on"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def names_of_clock(data: Mapping[str, Any]) -> Iterator[Contradiction]:
    """Report events of a scenario with a name that the clock of its mission uses."""
    events = data.get("events") if isinstance(data.get("mission"), dict) else None
    for number, event in enumerate(events if isinstance(events, list) else []):
        name = event.get("name") if isinstance(event, dict) else None
        if isinstance(name, str) and OWN_NAME.fullmatch(name):
            yield ("events", str(number), "name"), f"'{name}' is the name of an event of the mission's clock"


def clock_of(model: MissionModel | None, where: Where) -> MissionClock | None:
    """Make the spec of the clock; None where the mission has none."""
    if model is None or (model.delay is None and not model.pauses and not model.restart):
        return None
    pauses = tuple(_pause(one, number, where) for number, one in enumerate(model.pauses))
    return MissionClock(model.delay, pauses, model.restart, where("mission"))


def _pause(model: PauseModel, number: int, where: Where) -> Pause:
    path = ("mission", "pauses", number)
    if model.when is not None:
        return Pause(condition_of(model.when, (*path, "when"), where), model.duration, where(*path))
    return Pause(Condition("time", (("at", model.at),), (), where(*path)), model.duration, where(*path))


def mission_text(name: str | None, clock: MissionClock | None) -> Any:
    """Plain value of the key; reading it gives the same."""
    if name is None or clock is None:
        return name
    found: dict[str, Any] = {"file": name}
    found |= {} if clock.delay is None else {"delay": clock.delay}
    pauses = [_pause_text(pause) for pause in clock.pauses]
    found |= {"pauses": pauses} if pauses else {}
    return found | ({"restart": True} if clock.restart else {})


def _pause_text(pause: Pause) -> dict[str, Any]:
    begin = {"at": pause.when["at"]} if pause.when.kind == "time" else {"when": condition_text(pause.when)}
    return begin | ({} if pause.duration is None else {"for": pause.duration})
