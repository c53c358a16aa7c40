"""Edits of the events of a scenario: each is patches of its text, and what the text must say then."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import yaml

from cbsim.editor.documents.source_buffer import Patch
from cbsim.editor.documents.yaml_spans import YamlSpans, flow_text, quoted
from cbsim.errors import Problems, UsageError
from cbsim.formats.reader import Source
from cbsim.formats.scenario import read
from cbsim.spec.event_order import awaited
from cbsim.spec.events import Action, Argument, Condition, Event, Outline, Place
from cbsim.spec.number import number_text
from cbsim.spec.scenario import Expectation, Scenario

__all__ = ["ArgumentPath", "EventEdit", "add", "place_paths", "put_number", "put_place", "put_text", "remove", "rename"]

SHORT = {"time": "at", "event": "name"}
"""Kinds of conditions whose single argument may stand alone."""


class EventEdit(NamedTuple):
    """A step: its label, patches of the text, and what the scenario is then."""

    label: str
    patches: Sequence[Patch]
    wanted: Scenario


class ArgumentPath(NamedTuple):
    """Where an argument of an event stands.

    Attributes
    ----------
    event : int
        Number of the event.
    name : str
        Name of the argument.
    action : int or None
        Number of the action; None for a condition.
    parts : tuple of int
        Way from the event's condition down to one that it combines.
    corner : int or None
        Of the argument, a polygon.
    """

    event: int
    name: str
    action: int | None = None
    parts: tuple[int, ...] = ()
    corner: int | None = None


# --- what it says ----------------------------------------------------------------------------------------------------
def place_paths(number: int, event: Event) -> Iterator[tuple[ArgumentPath, Place]]:
    """Yield the places of an event: those of its conditions and actions, and the corners of its regions."""
    for parts, condition in _conditions(event.when):
        yield from _places(ArgumentPath(number, "", None, parts), condition.arguments)
    for k, action in enumerate(event.do):
        yield from _places(ArgumentPath(number, "", k), action.arguments)


def _places(path: ArgumentPath, arguments: tuple[tuple[str, Argument], ...]) -> Iterator[tuple[ArgumentPath, Place]]:
    for name, value in arguments:
        if isinstance(value, Place):
            yield path._replace(name=name), value
        elif isinstance(value, Outline):
            yield from ((path._replace(name=name, corner=k), one) for k, one in enumerate(value.corners))


def _conditions(condition: Condition, parts: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Condition]]:
    yield parts, condition
    for k, part in enumerate(condition.parts):
        yield from _conditions(part, (*parts, k))


def _with(event: Event, path: ArgumentPath, value: Argument) -> Event:
    """Return an event with another value of an argument."""
    if path.action is None:
        return replace(event, when=_with_part(event.when, path.parts, path, value))
    actions = list(event.do)
    old = actions[path.action]
    actions[path.action] = Action(old.kind, _put(old.arguments, path, value), old.location)
    return replace(event, do=tuple(actions))


def _with_part(condition: Condition, parts: tuple[int, ...], path: ArgumentPath, value: Argument) -> Condition:
    if not parts:
        return replace(condition, arguments=_put(condition.arguments, path, value))
    inner = list(condition.parts)
    inner[parts[0]] = _with_part(inner[parts[0]], parts[1:], path, value)
    return replace(condition, parts=tuple(inner))


def _put(
    arguments: tuple[tuple[str, Argument], ...], path: ArgumentPath, value: Argument
) -> tuple[tuple[str, Argument], ...]:
    values = dict(arguments)
    old = values[path.name]
    if path.corner is not None and isinstance(old, Outline) and isinstance(value, Place):
        corners = list(old.corners)
        corners[path.corner] = value
        value = Outline(tuple(corners))
    return tuple({**values, path.name: value}.items())


def _changed(spec: Scenario, number: int, event: Event) -> Scenario:
    events = list(spec.events)
    events[number] = event
    return replace(spec, events=tuple(events))


# --- where it says it ------------------------------------------------------------------------------------------------
def _entry(spans: YamlSpans, number: int) -> yaml.MappingNode:
    node = spans.find(spans.root, "events", number)
    if not isinstance(node, yaml.MappingNode):
        raise UsageError("the text of this event has no place that could be told: change it as text")
    return node


def _keys(event: Event, path: ArgumentPath) -> list[str | int]:
    """Keys of an event's text that lead to an argument."""
    if path.action is not None:
        action = event.do[path.action]
        return ["do", path.action, action.kind, path.name]
    keys: list[str | int] = ["when"]
    condition = event.when
    for part in path.parts:
        keys += [condition.kind, "when" if condition.kind == "after" else part]
        condition = condition.parts[part]
    return [*keys, condition.kind, path.name]


def _node(spans: YamlSpans, spec: Scenario, path: ArgumentPath) -> yaml.Node:
    """Find the text of an argument: that of a single action, or one that stands alone, is short for more."""
    entry, keys = _entry(spans, path.event), _keys(spec.events[path.event], path)
    if isinstance(spans.find(entry, "do"), yaml.MappingNode) and path.action is not None:
        keys = [keys[0], *keys[2:]]
    node = spans.find(entry, *keys)
    short = spans.find(entry, *keys[:-1])
    if node is None and SHORT.get(str(keys[-2])) == path.name and isinstance(short, yaml.ScalarNode):
        node = short
    if node is not None and path.corner is not None:
        node = spans.find(node, path.corner)
    if node is None:
        raise UsageError(f"the text has no '{path.name}' of its own there: change it as text")
    return node


# --- edits -----------------------------------------------------------------------------------------------------------
def put_number(spans: YamlSpans, spec: Scenario, path: ArgumentPath, value: float, label: str) -> EventEdit:
    """Change a number."""
    wanted = _changed(spec, path.event, _with(spec.events[path.event], path, value))
    return EventEdit(label, [spans.put_scalar(_node(spans, spec, path), value)], wanted)


def put_place(spans: YamlSpans, spec: Scenario, path: ArgumentPath, place: Place) -> EventEdit:
    """Change a place: its numbers one by one, where it has some and keeps them."""
    node = _node(spans, spec, path)
    wanted = _changed(spec, path.event, _with(spec.events[path.event], path, place))
    if place.waypoint is None and isinstance(node, yaml.SequenceNode):
        values = zip(node.value, (place.x, place.y), strict=False)
        patches = [spans.put_scalar(one, value) for one, value in values]
    elif place.waypoint is not None and isinstance(node, yaml.ScalarNode):
        patches = [spans.put_scalar(node, str(place.waypoint))]
    else:
        values_text = f"[{number_text(place.x)}, {number_text(place.y)}]"
        patches = [spans.put(node, values_text if place.waypoint is None else str(place.waypoint))]
    return EventEdit("move a place", patches, wanted)


def rename(spans: YamlSpans, spec: Scenario, number: int, name: str) -> EventEdit:
    """Rename an event, also where others and rules name it."""
    old, entry = spec.events[number].name, _entry(spans, number)
    if any(event.name == name for k, event in enumerate(spec.events) if k != number):
        raise UsageError(f"another event is called '{name}'")
    node = spans.find(entry, "name")
    patches = [
        spans.insert_key(entry, "name", quoted(name), first=True) if node is None else spans.put_scalar(node, name)
    ]
    for key in ("events", "mission", "expect", "score"):
        for kind, value in spans.walk(spans.find(spans.root, key)):
            named = spans.find(value, "name") if isinstance(value, yaml.MappingNode) else value
            if kind == "event" and isinstance(named, yaml.ScalarNode) and named.value == old:
                patches.append(spans.put_scalar(named, name))
    return EventEdit("rename", patches, _renamed(spec, number, name))


def _renamed(spec: Scenario, number: int, name: str) -> Scenario:
    old = spec.events[number].name

    def of_condition(one: Condition) -> Condition:
        renamed = one.kind == "event" and one["name"] == old
        arguments = (("name", name),) if renamed else one.arguments
        return replace(one, arguments=arguments, parts=tuple(map(of_condition, one.parts)))

    def of_rule(one: Expectation) -> Expectation:
        if one.rule != "event" or one["name"] != old:
            return one
        return replace(one, arguments=tuple((key, name if key == "name" else value) for key, value in one.arguments))

    events = [replace(one, when=of_condition(one.when)) for one in spec.events]
    events[number] = replace(events[number], name=name)
    clock, score = spec.clock, spec.score
    if clock is not None:
        clock = replace(clock, pauses=tuple(replace(one, when=of_condition(one.when)) for one in clock.pauses))
    score = score._replace(
        gates=tuple(map(of_rule, score.gates)),
        mean=tuple(term._replace(expectation=of_rule(term.expectation)) for term in score.mean),
    )
    expect = tuple(map(of_rule, spec.expect))
    return replace(spec, events=tuple(events), clock=clock, score=score, expect=expect)


def remove(spans: YamlSpans, spec: Scenario, number: int) -> EventEdit:
    """Remove an event; what its comment says stays."""
    _entry(spans, number)
    assert isinstance(spans.root, yaml.MappingNode)
    events = list(spec.events)
    del events[number]
    for k in range(number, len(events)):
        if spans.find(_entry(spans, k + 1), "name") is None:
            old, events[k] = events[k].name, replace(events[k], name=f"event {k + 1}")
            if any(name == old for event in spec.events for name, _ in awaited(event)):
                raise UsageError(f"'{old}' has its name by its number, and others wait for it: name it first")
    return EventEdit("remove", spans.remove(spans.root, "events", number), replace(spec, events=tuple(events)))


def add(spans: YamlSpans, spec: Scenario, name: str, when: str, do: str) -> EventEdit:
    """Append an event whose condition and actions are YAML texts in flow style; `do` may be empty."""
    entries = [("name", quoted(name)), ("when", when), *([("do", do)] if do.strip() else [])]
    if any(event.name == name for event in spec.events):
        raise UsageError(f"another event is called '{name}'")
    event = _read_event(spec, entries, name)
    items, root = spans.find(spans.root, "events"), spans.root
    assert isinstance(root, yaml.MappingNode)
    if isinstance(items, yaml.SequenceNode):
        patch = spans.append(items, entries)
    elif root.flow_style:
        patch = spans.insert_key(root, "events", "[{" + ", ".join(f"{key}: {text}" for key, text in entries) + "}]")
    else:
        first, *rest = (f"{key}: {text}" for key, text in entries)
        patch = spans.append_key(root, ["events:", f"  - {first}", *(f"    {line}" for line in rest)])
    return EventEdit("add event", [patch], replace(spec, events=(*spec.events, event)))


def put_text(spans: YamlSpans, spec: Scenario, number: int, key: str, text: str) -> EventEdit:
    """Change the condition (``when``) or the actions (``do``) of an event to a typed YAML text in flow style."""
    event = spec.events[number]
    others = {"when": "{time: 0}", key: text}
    typed = _read_event(spec, list(others.items()), event.name)
    changed = replace(event, when=typed.when) if key == "when" else replace(event, do=typed.do)
    patches = spans.put_value(_entry(spans, number), key, text.strip())
    return EventEdit(f"change '{key}'", patches, _changed(spec, number, changed))


def _read_event(spec: Scenario, entries: Sequence[tuple[str, str]], name: str) -> Event:
    """Read an event alone, with the parameters of its scenario."""
    text = "events: [{" + ", ".join(f"{key}: {value}" for key, value in entries) + "}]"
    if spec.parameters:
        text = f"parameters: {flow_text(dict(spec.parameters))}\n{text}"
    problems = Problems()
    alone = read(Source("", text, b""), problems)
    if alone is None or len(alone.events) != 1:
        said = next(iter(problems.errors), None)
        raise UsageError(f"{said.message} {said.hint}".strip() if said else f"{json.dumps(text)} is not one event")
    return replace(alone.events[0], name=name)
