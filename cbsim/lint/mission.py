"""Lint rules for missions, by themselves and on their road network (5xx); ``docs/lint.md`` documents the codes."""

from __future__ import annotations

import itertools
import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import PurePath

import numpy as np

from cbsim.errors import ModelError, Problems
from cbsim.lint.rule import Finding, Rule, apply_rules
from cbsim.road.restarts import restarts_of
from cbsim.road.roadmap import RoadMap, build
from cbsim.road.route import Kind, Leg, checkpoints, mission_legs
from cbsim.spec.mission import Mission
from cbsim.spec.road import PointId, RoadNetwork

__all__ = ["PAIRING", "RULES", "lint_mission", "lint_pairing"]

MPH = 0.44704  # [m/s] messages use the unit of the file
FASTEST = 30.0  # [mph] highest limit of DARPA's missions, and the default
LEG_LIMIT = 5000  # number of distinct legs that are routed
SEARCH_LIMIT = 20_000_000  # limit on nodes times legs; allows two thousand legs in the largest known network
LISTED = 8  # examples in one message
NEAR = 2  # distance up to which another number is suggested
ROUNDING = 1e-6
GENERIC = {"rndf", "rdf", "mdf", "txt"}  # words of names and endings of files


class MissionContext:
    """A mission, its network if there is one, and what rules derive from them."""

    def __init__(self, mission: Mission, network: RoadNetwork | None, restart: bool = False) -> None:
        self.mission = mission
        self.restart = restart
        self.network = network
        self.limits = mission.speed_limits or ()

    @cached_property
    def roadmap(self) -> RoadMap | None:
        """Map of the network; None without a network, or if its coordinates are not on earth."""
        try:
            return None if self.network is None else build(self.network)
        except ModelError:
            return None

    @cached_property
    def numbers(self) -> dict[int, PointId]:
        """Points of the network's checkpoints, including dangling ones; the first if an id is used twice."""
        table: dict[int, PointId] = {}
        if self.network is not None:
            on_lanes = (c for lane in self.network.lanes for c in lane.checkpoints)
            on_spots = (c for zone in self.network.zones for spot in zone.spots for c in spot.checkpoints)
            for c in itertools.chain(on_lanes, on_spots):
                table.setdefault(c.number, c.point)
        return table

    @cached_property
    def places(self) -> set[int]:
        """Ids of the network's segments and zones."""
        if self.network is None:
            return set()
        return {segment.number for segment in self.network.segments} | {zone.number for zone in self.network.zones}

    @cached_property
    def sorted_numbers(self) -> list[int]:
        """Checkpoint ids of the network in increasing order."""
        return sorted(self.numbers)

    @cached_property
    def sorted_places(self) -> list[int]:
        """Ids of the network's segments and zones in increasing order."""
        return sorted(self.places)

    @cached_property
    def legs(self) -> list[Leg]:
        """Routed legs: all of them, except in missions of extreme length."""
        if self.roadmap is None:
            return []
        most = min(LEG_LIMIT, SEARCH_LIMIT // max(len(self.roadmap.ids), 1))
        seen: set[tuple[int, int]] = set()
        count = 0
        for count, (one, other) in enumerate(itertools.pairwise(self.mission.checkpoints), 1):  # noqa: B007
            seen.add((one.number, other.number))
            if len(seen) > most:
                break
        return mission_legs(self.roadmap, replace(self.mission, checkpoints=self.mission.checkpoints[: count + 1]))

    @property
    def restarts(self) -> list[int]:
        """Numbers of the legs with which the mission begins anew, if it may."""
        if not self.restart or self.roadmap is None:
            return []
        return [one.leg for one in restarts_of(self.roadmap, self.mission)]


def _hint(known: list[int], wanted: int) -> str:
    """Suggest the nearest number if it is close, else the range."""
    if not known:
        return "there are none"
    row = bisect_left(known, wanted)
    near = min(known[max(row - 1, 0) : row + 1], key=lambda number: abs(number - wanted))
    return f"did you mean '{near}'?" if abs(near - wanted) <= NEAR else f"there are {known[0]} to {known[-1]}"


def _unknown_checkpoint(context: MissionContext) -> Iterator[Finding]:
    """E501: the network has no such checkpoint."""
    if context.network is None:
        return
    placed = set(context.numbers) if context.roadmap is None else set(checkpoints(context.roadmap))
    for c in context.mission.checkpoints:
        if c.number not in context.numbers:
            message = f"the network has no checkpoint '{c.number}'"
            yield Finding(message, c.location, _hint(context.sorted_numbers, c.number))
        elif c.number not in placed:
            message = f"checkpoint '{c.number}' of the network is on a missing point '{context.numbers[c.number]}'"
            yield Finding(message, c.location)


def _unreachable_leg(context: MissionContext) -> Iterator[Finding]:
    """E502: there is no route from one checkpoint to the next, and no restart on the lane of that."""
    begun = {context.legs[number].numbers for number in context.restarts if number < len(context.legs)}
    seen: Counter[tuple[int, int]] = Counter(leg.numbers for leg in context.legs)
    told: set[tuple[int, int]] = set()
    for leg, c in zip(context.legs, context.mission.checkpoints[1:], strict=False):
        if leg.numbers in begun:
            continue
        if leg.route is None and leg.start is not None and leg.goal is not None and leg.numbers not in told:
            told.add(leg.numbers)
            again = f", {seen[leg.numbers]} times" if seen[leg.numbers] > 1 else ""
            places = f"checkpoint '{leg.numbers[0]}' ({leg.start}) to '{leg.numbers[1]}' ({leg.goal})"
            on_lane = context.roadmap is not None and context.roadmap.lane_of_row[context.roadmap.row(leg.goal)] >= 0
            anew = "; 'restart: true' of a scenario's mission sets the car to its lane"
            anew = anew if on_lane and leg.reason.startswith("neither") else ""
            yield Finding(f"no route from {places}{again}", c.location, leg.reason + anew)


def _unknown_speed_id(context: MissionContext) -> Iterator[Finding]:
    """W503: a speed limit for a segment or zone that the network does not have."""
    for limit in context.limits:
        if context.network is not None and limit.segment not in context.places:
            message = f"the network has no segment or zone '{limit.segment}'"
            yield Finding(message, limit.location, _hint(context.sorted_places, limit.segment))


def _missing_limit(context: MissionContext) -> Iterator[Finding]:
    """I504: segments or zones without a speed limit."""
    missing = sorted(context.places - {limit.segment for limit in context.limits})
    if missing:
        shown = ", ".join(map(str, missing[:LISTED])) + (", …" if len(missing) > LISTED else "")
        message = f"no speed limit for {len(missing)} of {len(context.places)} segments and zones: {shown}"
        yield Finding(message, context.mission.location, f"{FASTEST:g} mph is assumed")


def _inverted_limit(context: MissionContext) -> Iterator[Finding]:
    """W505: the minimum speed is above the maximum."""
    for limit in context.limits:
        if limit.minimum > limit.maximum > 0.0:
            speeds = f"minimum {limit.minimum / MPH:.3g} mph is above the maximum {limit.maximum / MPH:.3g} mph"
            yield Finding(f"{speeds} of '{limit.segment}'", limit.location)


def _fast_limit(context: MissionContext) -> Iterator[Finding]:
    """W506: a maximum above 30 mph."""
    for limit in context.limits:
        if limit.maximum > FASTEST * MPH + ROUNDING:
            message = f"maximum {limit.maximum / MPH:.3g} mph of '{limit.segment}' is above {FASTEST:g} mph"
            yield Finding(message, limit.location)


def _other_network(context: MissionContext) -> Iterator[Finding]:
    """W507: the mission names another network: its checkpoints, if they exist, may do so by chance."""
    named = context.mission.network_name
    if context.network is None or not named:
        return
    path = PurePath(context.network.location.path)
    known = {_words(text) for text in (context.network.name, path.name) if text}
    if not known & {_words(named), _words(PurePath(named).name)}:
        message = f"the mission was written for '{named}', the network is '{context.network.name}'"
        numbers = {c.number for c in context.mission.checkpoints}
        missing = numbers - set(context.numbers)
        fits = f"{len(missing)} of its {len(numbers)} checkpoints do not exist here"
        if not missing:
            fits = f"its {len(numbers)} checkpoints exist here too, perhaps by chance"
        yield Finding(message, context.mission.location, fits)


def _words(name: str) -> frozenset[str]:
    """Words of the name of a network or of its file, but for those that any has; all, if there are no others."""
    words = frozenset(re.findall(r"[^\W_]+", name.casefold()))
    return words - GENERIC or words


def _repeated_checkpoint(context: MissionContext) -> Iterator[Finding]:
    """I508: checkpoints that are visited again; twice in a row means to drive a loop."""
    entries = context.mission.checkpoints
    for before, c in itertools.pairwise(entries):
        if before.number == c.number:
            message = f"checkpoint '{c.number}' occurs twice in a row: the vehicle has to drive a loop back to it"
            yield Finding(message, c.location)
    counts = Counter(c.number for c in entries)
    often = [number for number, count in counts.items() if count > 1]
    if often:
        shown = ", ".join(f"{number} ({counts[number]} times)" for number in often[:LISTED])
        more = ", …" if len(often) > LISTED else ""
        message = f"{len(often)} of {len(counts)} checkpoints are visited more than once: {shown}{more}"
        again = [c for c in entries if c.number == often[0]][1]
        yield Finding(message, again.location)


def _length(context: MissionContext) -> Iterator[Finding]:
    """I509: length of the mission, and its duration at the speed limits."""
    routed = [leg.route for leg in context.legs if leg.route is not None]
    if context.roadmap is None or not routed:
        return
    most = {limit.segment: limit.maximum for limit in context.limits if limit.maximum > 0.0}
    time = 0.0
    for way in routed:
        places = context.roadmap.positions[[context.roadmap.rows[point] for point in way.points]]
        speeds = [min(most.get(point.segment, FASTEST * MPH), FASTEST * MPH) for point in way.points[:-1]]
        with np.errstate(over="ignore"):  # limits may be as small as numbers are
            time += float(np.sum(np.hypot(*np.diff(places, axis=0).T) / speeds))
    changes = sum(way.kinds.count(Kind.LANE_CHANGE) for way in routed)
    length = math.fsum(way.length for way in routed)
    left_out = len(context.mission.checkpoints) - 1 - len(routed)
    message = f"the mission is {length / 1000.0:.3f} km long with {changes} lane changes"
    message += f" and takes {time / 60.0:.1f} min at the speed limits" if np.isfinite(time) else ""
    yield Finding(message, context.mission.location, f"without {left_out} of its legs" if left_out else "")


RULES: tuple[Rule[MissionContext], ...] = (
    Rule("E501", _unknown_checkpoint),
    Rule("E502", _unreachable_leg),
    Rule("W503", _unknown_speed_id),
    Rule("I504", _missing_limit),
    Rule("W505", _inverted_limit),
    Rule("W506", _fast_limit),
    Rule("W507", _other_network),
    Rule("I508", _repeated_checkpoint),
    Rule("I509", _length),
)


PAIRING = ("E501", "W507")
"""Codes of the rules by which a mission belongs to a network."""


def lint_pairing(mission: Mission, network: RoadNetwork, problems: Problems) -> None:
    """Apply the rules that tell whether a mission belongs to a network, which take no routes."""
    apply_rules([rule for rule in RULES if rule.code in PAIRING], MissionContext(mission, network), problems)


def lint_mission(mission: Mission, network: RoadNetwork | None, problems: Problems, *, restart: bool = False) -> None:
    """Apply all rules to a mission.

    Parameters
    ----------
    mission : Mission
        The mission as read.
    network : RoadNetwork or None
        Its network; None applies only the rules that need none.
    problems : Problems
        Collects the findings.
    restart : bool
        Whether it may begin anew where no way leads to a checkpoint.
    """
    apply_rules(RULES, MissionContext(mission, network, restart), problems)
