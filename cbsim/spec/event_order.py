"""Order of events that wait for one another: as they can be looked at, circles in which none comes true, times."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from cbsim.spec.events import Condition, Event

__all__ = ["awaited", "circle_of", "earliest_times", "known_times", "order_of"]

COMBINED = ("all", "any", "after")
"""Conditions that hold when others do."""


def awaited(event: Event) -> Iterator[tuple[str, Condition]]:
    """Yield the names of events that an event waits for, with the conditions that say so."""
    for condition in event.when.walk():
        name = condition["name"] if condition.kind == "event" else None
        if isinstance(name, str):
            yield name, condition


def order_of(events: Sequence[Event]) -> list[int]:
    """Numbers of events, each after those that it waits for, else as they are; events on circles are left out."""
    numbers = {event.name: number for number, event in enumerate(events)}
    left = [{numbers[name] for name, _ in awaited(event) if name in numbers} for event in events]
    waiting: list[list[int]] = [[] for _ in events]
    for number, others in enumerate(left):
        for other in others:
            waiting[other].append(number)
    found = [number for number, others in enumerate(left) if not others]
    for number in found:  # grows while it is walked
        for other in waiting[number]:
            left[other].discard(number)
            if not left[other]:
                found.append(other)
    return found


def circle_of(events: Sequence[Event]) -> list[int]:
    """Numbers of events that wait for each other in a circle, or for themselves, in the order of waiting; or none."""
    numbers = {event.name: number for number, event in enumerate(events)}
    stuck = set(range(len(events))) - set(order_of(events))
    path: list[int] = []
    here = min(stuck, default=None)
    while here is not None and here not in path:
        path.append(here)
        here = next((numbers[name] for name, _ in awaited(events[here]) if numbers.get(name) in stuck), None)
    return [] if here is None else path[path.index(here) :]


def earliest_times(events: Sequence[Event]) -> dict[int, float]:
    """Earliest time at which each event can come true [s], by its number; events on circles are left out."""
    known: dict[str, float] = {}
    found: dict[int, float] = {}
    for number in order_of(events):
        found[number] = known[events[number].name] = _earliest(events[number].when, known)
    return found


def _earliest(condition: Condition, known: dict[str, float]) -> float:
    """Earliest time at which a condition can hold [s]."""
    parts = [_earliest(part, known) for part in condition.parts]
    waits = [condition[name] for name in ("at", "for", "delay")]
    total = math.fsum(wait for wait in waits if isinstance(wait, float))
    if condition.kind == "event":
        return known.get(str(condition["name"]), 0.0)
    if condition.kind == "any":
        return min(parts, default=0.0)
    return max(parts, default=0.0) + total


def known_times(events: Sequence[Event]) -> set[int]:
    """Numbers of events whose times follow from the scenario alone: they wait for times, and for each other."""
    known: set[str] = set()
    found: set[int] = set()
    for number in order_of(events):
        conditions = list(events[number].when.walk())
        if all(one.kind in ("time", *COMBINED) or (one.kind == "event" and one["name"] in known) for one in conditions):
            known.add(events[number].name)
            found.add(number)
    return found
