"""Rules about references: exits, stops and checkpoints that name points (2xx)."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Iterator
from typing import TypeVar

from cbsim.errors import Location
from cbsim.lint.network.context import NetworkContext
from cbsim.lint.rule import Finding, Rule
from cbsim.spec.road import PointId

__all__ = ["RULES"]

Key = TypeVar("Key", bound=Hashable)


def _missing(context: NetworkContext) -> Iterator[Finding]:
    """E201: an exit, stop, checkpoint or crossing names a point that does not exist."""
    lanes = tuple(context.network.lanes)
    named: Iterable[tuple[str, tuple[PointId, ...], Location]] = itertools.chain(
        ((f"exit '{e.source}' to '{e.target}'", (e.source, e.target), e.location) for e in context.exits),
        ((f"stop '{s.point}'", (s.point,), s.location) for lane in lanes for s in lane.stops),
        ((f"checkpoint '{c.number}'", (c.point,), c.location) for c in context.checkpoints),
        ((f"{c.keyword} at '{c.point}'", (c.point,), c.location) for lane in lanes for c in lane.crossings),
    )
    for what, points, location in named:
        for point in dict.fromkeys(points):
            if point not in context.addresses:
                yield Finding(f"{what} names a missing point '{point}'", location, context.addresses.hint(point))


def _duplicate(context: NetworkContext) -> Iterator[Finding]:
    """W202: the same exit, or the same stop, is written twice."""
    exits = (((e.source, e.target), e.location) for e in context.exits)
    for (source, target), location, first in _repeated(exits):
        yield Finding(f"exit '{source}' to '{target}' is written twice", location, also=first)
    stops = ((s.point, s.location) for lane in context.network.lanes for s in lane.stops)
    for point, location, first in _repeated(stops):
        yield Finding(f"stop '{point}' is written twice", location, also=first)


def _repeated(items: Iterable[tuple[Key, Location]]) -> Iterator[tuple[Key, Location, Location]]:
    """Give each item that was there before, its place and the first one's."""
    first: dict[Key, Location] = {}
    for key, location in items:
        if key in first:
            yield key, location, first[key]
        else:
            first[key] = location


def _needless_exit(context: NetworkContext) -> Iterator[Finding]:
    """W203: an exit leads to itself, or to the next waypoint of its lane, where one goes anyway."""
    following: dict[PointId, PointId] = {}
    for lane in context.network.lanes:
        following.update(itertools.pairwise(lane.ids()))
    for e in context.exits:
        if e.source == e.target:
            yield Finding(f"exit '{e.source}' leads to itself", e.location)
        elif following.get(e.source) == e.target:
            message = f"exit '{e.source}' to '{e.target}' leads to the next waypoint of the same lane"
            yield Finding(message, e.location, "a lane needs no exit to go on")


def _reused_number(context: NetworkContext) -> Iterator[Finding]:
    """E204: one checkpoint id stands for two points."""
    for c in context.checkpoints:
        first = context.numbers[c.number]
        if first.point != c.point:
            message = f"checkpoint id '{c.number}' of '{c.point}' already belongs to '{first.point}'; that one holds"
            yield Finding(message, c.location, also=first.location)


def _two_numbers(context: NetworkContext) -> Iterator[Finding]:
    """W205: a waypoint has two checkpoint ids, or the same one twice."""
    first: dict[PointId, tuple[int, Location]] = {}
    for c in context.checkpoints:
        if c.point in first:
            number, place = first[c.point]
            extra = f"the checkpoint ids '{number}' and '{c.number}'" if number != c.number else f"id '{number}' twice"
            yield Finding(f"'{c.point}' has {extra}", c.location, also=place)
        else:
            first[c.point] = (c.number, c.location)


def _spot_without_checkpoint(context: NetworkContext) -> Iterator[Finding]:
    """W206: the centre of a parking spot is not a checkpoint."""
    for zone in context.network.zones:
        for spot in zone.spots:
            centre = PointId(zone.number, spot.number, 2)
            if 2 in spot.points.numbers and all(c.point != centre for c in spot.checkpoints):
                yield Finding(f"the centre '{centre}' of a parking spot is not a checkpoint", context.at(centre))


def _stop_without_exit(context: NetworkContext) -> Iterator[Finding]:
    """W207: nothing leaves the lane at a stop line."""
    sources = {e.source for e in context.exits}
    for lane in context.network.lanes:
        for stop in lane.stops:
            if stop.point not in sources and stop.point in context.addresses:
                yield Finding(f"stop '{stop.point}' stands where no exit leaves the lane", stop.location)


def _zone_to_zone(context: NetworkContext) -> Iterator[Finding]:
    """W208: an exit leads from one perimeter to another."""
    for e in context.exits:
        if e.source.lane == 0 and e.target.lane == 0:
            message = f"exit '{e.source}' to '{e.target}' leads from perimeter to perimeter"
            yield Finding(message, e.location, "expected a waypoint of a lane")


RULES: tuple[Rule[NetworkContext], ...] = (
    Rule("E201", _missing),
    Rule("W202", _duplicate),
    Rule("W203", _needless_exit),
    Rule("E204", _reused_number),
    Rule("W205", _two_numbers),
    Rule("W206", _spot_without_checkpoint),
    Rule("W207", _stop_without_exit),
    Rule("W208", _zone_to_zone),
)
