"""Events of a scenario: the model of an entry of ``events``, its spec, and its text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator

from cbsim.errors import Location
from cbsim.formats.scenario.actions import ActionModel
from cbsim.formats.scenario.conditions import ConditionModel
from cbsim.formats.scenario.fields import Model, Name, about, as_list, degrees_of
from cbsim.spec.events import Action, Argument, Condition, Event, Outline, Place
from cbsim.spec.road import PointId

__all__ = ["EventModel", "condition_of", "condition_text", "event_text", "events_of"]

Where = Callable[..., Location]
DEPTH = 16  # conditions within conditions


class EventModel(Model):
    """Something that happens when a condition comes true, once in a run."""

    name: Name | None = about("name; by default 'event 1', 'event 2' …", None, example="cut in")
    when: ConditionModel = about("the condition", example={"time": 5.0})
    do: Annotated[list[ActionModel], BeforeValidator(as_list)] = about(
        "one action, or several", [], example=[{"run_state": {"object": "Bot", "state": "PAUSE"}}]
    )

    @classmethod
    def contradictions(cls, data: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
        """Report conditions that are nested too deep."""
        if _depth(data.get("when")) > DEPTH:
            yield ("when",), f"conditions stand at most {DEPTH} deep in each other"


def _depth(data: Any) -> int:
    """Count how deep conditions are nested in raw data."""
    found, level = 0, [data]
    while level and found <= DEPTH:
        found += 1
        inside: list[Any] = []
        for one in level:
            values = one.values() if isinstance(one, dict) else ()
            for value in values:
                inside += value if isinstance(value, list) else [value.get("when")] if isinstance(value, dict) else []
        level = [one for one in inside if isinstance(one, dict)]
    return found


def events_of(models: Sequence[EventModel], where: Where) -> tuple[Event, ...]:
    """Make the specs of the entries of ``events``; `where` gives the Location of a key path."""
    return tuple(_event(number, model, where) for number, model in enumerate(models))


def _event(number: int, model: EventModel, where: Where) -> Event:
    actions = tuple(
        Action(*_kind_and_arguments(one), where("events", number, "do", k)) for k, one in enumerate(model.do)
    )
    when = condition_of(model.when, ("events", number, "when"), where)
    return Event(model.name or f"event {number + 1}", when, actions, where("events", number))


def condition_of(model: ConditionModel, path: tuple[int | str, ...], where: Where) -> Condition:
    """Make the spec of a condition at a key path; `where` gives the Location of a key path."""
    kind, value = _kind(model)
    below: list[tuple[ConditionModel, tuple[int | str, ...]]] = []
    if isinstance(value, list):
        below = [(one, (*path, kind, k)) for k, one in enumerate(value)]
        return Condition(kind, (), tuple(condition_of(one, at, where) for one, at in below), where(*path))
    arguments = _arguments(value)
    nested = getattr(value, "when", None)
    if nested is not None:
        parts = (condition_of(nested, (*path, kind, "when"), where),)
        return Condition(kind, arguments, parts, where(*path))
    return Condition(kind, arguments, (), where(*path))


def _kind(model: Model) -> tuple[str, Any]:
    """Kind and value of a mapping with a single key."""
    fields = type(model).model_fields
    return next((fields[name].alias or name, value) for name, value in model if value is not None)


def _kind_and_arguments(model: Model) -> tuple[str, tuple[tuple[str, Argument], ...]]:
    kind, value = _kind(model)
    return kind, _arguments(value)


def _arguments(model: Model) -> tuple[tuple[str, Argument], ...]:
    fields = type(model).model_fields
    values = ((info.alias or name, getattr(model, name)) for name, info in fields.items())
    return tuple((name, _plain(value)) for name, value in values if not isinstance(value, ConditionModel))


def _plain(value: Any) -> Argument:
    return Place(value) if isinstance(value, PointId) else value


def event_text(event: Event, number: int) -> dict[str, Any]:
    """Plain values of an event; reading them gives an equal one."""
    name = {} if event.name == f"event {number + 1}" else {"name": event.name}
    actions = [{one.kind: _texts(one.arguments)} for one in event.do]
    return name | {"when": condition_text(event.when)} | ({"do": actions} if actions else {})


def condition_text(condition: Condition) -> dict[str, Any]:
    """Plain values of a condition; reading them gives an equal one."""
    if condition.kind in ("all", "any"):
        return {condition.kind: [condition_text(part) for part in condition.parts]}
    values = _texts(condition.arguments)
    if condition.parts:
        values["when"] = condition_text(condition.parts[0])
    return {condition.kind: values}


def _texts(arguments: tuple[tuple[str, Argument], ...]) -> dict[str, Any]:
    return {name: _text(name, value) for name, value in arguments if value is not None}


def _text(name: str, value: Argument) -> Any:
    if name == "heading" and isinstance(value, float):
        return degrees_of(value)
    if isinstance(value, Place):
        return str(value.waypoint) if value.waypoint is not None else [value.x, value.y]
    return [_text(name, corner) for corner in value.corners] if isinstance(value, Outline) else value
