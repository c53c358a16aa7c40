"""Lint rules for the reactive traffic of a scenario: drivers, lanes, where flows go (82x, 83x)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cbsim.errors import Location, did_you_mean
from cbsim.formats.values import quote
from cbsim.lint.rule import Finding, unknown
from cbsim.lint.scenario_context import ScenarioContext
from cbsim.road.goals import LaneTable
from cbsim.road.light_names import light_names
from cbsim.spec.traffic import Pool

__all__ = [
    "no_exits",
    "traffic_without_road",
    "unknown_car",
    "unknown_driver",
    "unknown_lane",
    "unknown_light",
    "unknown_zone",
    "unreachable",
]


def traffic_without_road(context: ScenarioContext) -> Iterator[Finding]:
    """E830: something is reactive where there is no road."""
    for pool in context.scenario.traffic if context.roadless else ():
        yield Finding(f"the traffic {quote(pool.name)} needs a road network", pool.location, "'network: …' names one")
    for item in (*context.named, *context.added):
        if item.reactive and context.roadless:
            yield Finding(f"{quote(item.name)} is reactive, but there is no road network", item.location)


def unknown_lane(context: ScenarioContext) -> Iterator[Finding]:
    """E822: traffic is spread on a lane that is not in the network."""
    assert context.network is not None  # as the table requires
    known = {f"{lane.segment}.{lane.number}" for lane in context.network.lanes if len(lane.points)}
    for pool in context.scenario.traffic:
        for segment, lane in pool.lanes:
            name = f"{segment}.{lane}"
            if name not in known:
                near = LaneTable(context.network).addresses.nearest_lane(segment, lane)
                hint = f"did you mean '{near}'?" if near else ""
                yield Finding(f"lane '{name}' is not in network {quote(context.network.name)}", pool.location, hint)


def unknown_zone(context: ScenarioContext) -> Iterator[Finding]:
    """E822: traffic is parked in a zone that is not in the network, or has too few parking spots."""
    assert context.network is not None  # as the table requires
    spots = {zone.number: len(zone.spots) for zone in context.network.zones}
    for pool in context.scenario.traffic:
        for number in pool.parked:
            if number not in spots:
                there = f"zones are {', '.join(map(str, spots))}" if spots else "it has none"
                yield Finding(f"zone {number} is not in network {quote(context.network.name)}", pool.location, there)
        room = sum(spots.get(number, 0) for number in set(pool.parked))
        if pool.parked and room < pool.count and all(number in spots for number in pool.parked):
            message = f"{quote(pool.name)} has {pool.count} cars for {room} parking spots"
            yield Finding(message, pool.location, "'count' cars at most as there are spots in 'parked'")


def unknown_light(context: ScenarioContext) -> Iterator[Finding]:
    """E822: a program is for a light that no lane has."""
    assert context.network is not None  # as the table requires
    known = sorted(light_names(context.network))
    for program in context.scenario.lights:
        if program.light not in known:
            there = did_you_mean(program.light, known) or (f"lights are {', '.join(known)}" if known else "it has none")
            message = f"no lane of network {quote(context.network.name)} has the light '{program.light}'"
            yield Finding(message, program.location, there)


def unreachable(context: ScenarioContext) -> Iterator[Finding]:
    """E829: no way leads from where a flow appears to where it goes."""
    for pool in context.scenario.traffic:
        addresses, origin = context.addresses, pool.origin
        if origin is None or addresses is None or origin not in addresses:
            continue  # E822 reports what does not exist
        ends = [point for point, _ in pool.destinations if point in addresses]
        lanes, zones = ((), ()) if context.network is None else (context.network.lanes, context.network.zones)
        on_lane = {(lane.segment, lane.number) for lane in lanes}
        spots = {(zone.number, spot.number) for zone in zones for spot in zone.spots}
        thens = [point for point, _ in pool.thens if point in addresses]
        beside = [point for point in (origin, *thens) if point[:2] not in on_lane]
        beside += [point for point in ends if point[:2] not in on_lane | spots]
        for point in beside:
            yield Finding(f"'{point}' is on no lane; the cars of {quote(pool.name)} drive on lanes", pool.location)
        from cbsim.road.lanelets.reach import (  # of what others have no need
            locate_point,
            mouths_of,
            nearest_reachable,
            reachable,
        )

        lanelets, graph = context.ways if ends and not beside else (None, [])
        start = None if lanelets is None else locate_point(lanelets, origin, leaving=True)
        if lanelets is None or start is None:
            continue
        found = reachable(graph, start[0])
        for point in ends:
            goal = locate_point(lanelets, point, leaving=False)
            gates = [] if point[:2] in on_lane else mouths_of(lanelets, point.segment)
            if (goal is not None and not found[goal[0]]) or (goal is None and not any(found[row] for row in gates)):
                near = nearest_reachable(lanelets, found, point)
                hint = f"the nearest that can be reached is '{near}'"
                yield Finding(f"no way leads from '{origin}' to '{point}'", pool.location, hint)


def unknown_car(
    pools: Sequence[Pool], name: str, known: Sequence[str], place: Location, *, flows: bool = True
) -> Iterator[Finding]:
    """Yield a finding for a name that is neither that of an object nor that of a car of a pool.

    How many cars a flow has is not known here; where they cannot be named, `flows` is False.
    """
    there = {pool.name: _cars_of(pool) for pool in pools if flows or pool.count}
    stem, _, number = name.rpartition(" ")
    if stem in there and number.isdecimal():
        count = next(pool.count for pool in pools if pool.name == stem)
        if not 1 <= int(number) <= (count or int(number)):
            yield Finding(f"no object {quote(name)}", place, f"there is {there[stem]}")
        return
    if name in there:
        yield Finding(f"no object {quote(name)}", place, f"{quote(name)} is a pool: there is {there[name]}")
        return
    yield from unknown(name, known, "object", place, list(there.values())[:10])


def _cars_of(pool: Pool) -> str:
    """Names of the cars of a pool."""
    last = {0: " and so on", 1: ""}.get(pool.count, f" to {quote(f'{pool.name} {pool.count}')}")
    return f"{quote(f'{pool.name} 1')}{last}"


def no_exits(context: ScenarioContext) -> Iterator[Finding]:
    """W831: traffic on a network whose lanes lead nowhere."""
    assert context.network is not None  # as the table requires
    if any(lane.exits for lane in context.network.lanes):
        return
    for pool in context.scenario.traffic:
        message = f"the network has no exits: cars of {quote(pool.name)} go to the end of their lane and leave"
        yield Finding(message, pool.location)


def unknown_driver(context: ScenarioContext) -> Iterator[Finding]:
    """E823: traffic names a driver that the scenario does not describe."""
    known = [driver.name for driver in context.scenario.drivers]
    for pool in context.scenario.traffic:
        for name, _ in pool.drivers:
            yield from unknown(name, known, "driver", pool.location)
