"""Which events wait for which: an order in which they can be looked at, or a circle in which none comes true."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cbsim.spec.events import Condition, Event

__all__ = ["awaited", "circle_of", "order_of"]


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
