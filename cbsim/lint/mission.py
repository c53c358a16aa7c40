"""Rules about a mission, alone and against its road network (5xx).

One small function per rule, listed in `RULES`; what they mean stands in ``docs/lint.md``.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import PurePath
from typing import NamedTuple

import numpy as np

from cbsim.errors import Location, ModelError, Problem, Problems, Severity
from cbsim.road.roadmap import RoadMap, build
from cbsim.road.route import Kind, Leg, checkpoints, mission_legs
from cbsim.spec.mission import Mission
from cbsim.spec.road import PointId, RoadNetwork

__all__ = ["RULES", "lint_mission"]

MPH = 0.44704  # [m/s] messages speak the unit of the file
FASTEST = 30.0  # [mph] of any limit that DARPA set; also what holds where none is given
LEG_LIMIT = 5000  # different legs that are routed
SEARCH_LIMIT = 20_000_000  # and nodes times legs; two thousand in the largest network known
LISTED = 8  # examples in one message
NEAR = 2  # a number so near may have been meant
ROUNDING = 1e-6


class Finding(NamedTuple):
    """What a rule has found."""

    message: str
    location: Location
    hint: str = ""


class _Survey:
    """A mission, and the network it is read against if there is one."""

    def __init__(self, mission: Mission, network: RoadNetwork | None) -> None:
        self.mission = mission
        self.network = network
        self.limits = mission.speed_limits or ()

    @cached_property
    def roadmap(self) -> RoadMap | None:
        """The network's map; None without a network, or where its coordinates do not allow one."""
        try:
            return None if self.network is None else build(self.network)
        except ModelError:
            return None

    @cached_property
    def numbers(self) -> dict[int, PointId]:
        """Points of the network's checkpoints, dangling ones included; the first where an id is used twice."""
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
        """The legs that are routed: all, but in missions that no vehicle could drive in a lifetime."""
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


def _hint(known: list[int], wanted: int) -> str:
    """Suggest the nearest number if it is near, else the range."""
    if not known:
        return "it has none at all"
    row = bisect_left(known, wanted)
    near = min(known[max(row - 1, 0) : row + 1], key=lambda number: abs(number - wanted))
    return f"did you mean '{near}'?" if abs(near - wanted) <= NEAR else f"there are {known[0]} to {known[-1]}"


def _unknown_checkpoint(survey: _Survey) -> Iterator[Finding]:
    """E501: the network has no such checkpoint."""
    if survey.network is None:
        return
    placed = set(survey.numbers) if survey.roadmap is None else set(checkpoints(survey.roadmap))
    for c in survey.mission.checkpoints:
        if c.number not in survey.numbers:
            message = f"the network has no checkpoint '{c.number}'"
            yield Finding(message, c.location, _hint(survey.sorted_numbers, c.number))
        elif c.number not in placed:
            message = f"checkpoint '{c.number}' of the network stands on a missing point '{survey.numbers[c.number]}'"
            yield Finding(message, c.location)


def _unreachable_leg(survey: _Survey) -> Iterator[Finding]:
    """E502: there is no way from one checkpoint to the next."""
    seen: Counter[tuple[int, int]] = Counter(leg.numbers for leg in survey.legs)
    told: set[tuple[int, int]] = set()
    for leg, c in zip(survey.legs, survey.mission.checkpoints[1:], strict=False):
        if leg.route is None and leg.start is not None and leg.goal is not None and leg.numbers not in told:
            told.add(leg.numbers)
            again = f", {seen[leg.numbers]} times" if seen[leg.numbers] > 1 else ""
            places = f"checkpoint '{leg.numbers[0]}' ({leg.start}) to '{leg.numbers[1]}' ({leg.goal})"
            yield Finding(f"no way leads from {places}{again}", c.location, leg.reason)


def _unknown_speed_id(survey: _Survey) -> Iterator[Finding]:
    """W503: a speed limit for a segment or zone that the network does not have."""
    for limit in survey.limits:
        if survey.network is not None and limit.segment not in survey.places:
            message = f"the network has no segment or zone '{limit.segment}'"
            yield Finding(message, limit.location, _hint(survey.sorted_places, limit.segment))


def _missing_limit(survey: _Survey) -> Iterator[Finding]:
    """I504: segments or zones without a speed limit."""
    missing = sorted(survey.places - {limit.segment for limit in survey.limits})
    if missing:
        shown = ", ".join(map(str, missing[:LISTED])) + (", …" if len(missing) > LISTED else "")
        message = f"no speed limit for {len(missing)} of {len(survey.places)} segments and zones: {shown}"
        yield Finding(message, survey.mission.location, f"{FASTEST:g} mph is taken")


def _inverted_limit(survey: _Survey) -> Iterator[Finding]:
    """W505: the minimum speed is above the maximum."""
    for limit in survey.limits:
        if limit.minimum > limit.maximum > 0.0:
            speeds = f"minimum {limit.minimum / MPH:.3g} mph is above the maximum {limit.maximum / MPH:.3g} mph"
            yield Finding(f"{speeds} of '{limit.segment}'", limit.location)


def _fast_limit(survey: _Survey) -> Iterator[Finding]:
    """W506: a maximum above 30 mph."""
    for limit in survey.limits:
        if limit.maximum > FASTEST * MPH + ROUNDING:
            message = f"maximum {limit.maximum / MPH:.3g} mph of '{limit.segment}' is above {FASTEST:g} mph"
            yield Finding(message, limit.location)


def _other_network(survey: _Survey) -> Iterator[Finding]:
    """I507: the mission names another network."""
    named = survey.mission.network_name
    if survey.network is None or not named:
        return
    path = PurePath(survey.network.location.path)
    wanted = PurePath(named)
    known = {text.casefold() for text in (survey.network.name, path.name, path.stem) if text}
    if not known & {text.casefold() for text in (named, wanted.name, wanted.stem)}:
        message = f"the mission was written for '{named}', the network is '{survey.network.name}'"
        yield Finding(message, survey.mission.location)


def _repeated_checkpoint(survey: _Survey) -> Iterator[Finding]:
    """I508: checkpoints visited again; twice in a row means to drive round."""
    entries = survey.mission.checkpoints
    for before, c in itertools.pairwise(entries):
        if before.number == c.number:
            message = f"checkpoint '{c.number}' comes twice in a row: the vehicle has to drive round and back to it"
            yield Finding(message, c.location)
    counts = Counter(c.number for c in entries)
    often = [number for number, count in counts.items() if count > 1]
    if often:
        shown = ", ".join(f"{number} ({counts[number]} times)" for number in often[:LISTED])
        more = ", …" if len(often) > LISTED else ""
        message = f"{len(often)} of {len(counts)} checkpoints are visited more than once: {shown}{more}"
        again = [c for c in entries if c.number == often[0]][1]
        yield Finding(message, again.location)


def _length(survey: _Survey) -> Iterator[Finding]:
    """I509: how long the mission is, and how long it takes at the speed limits."""
    routed = [leg.route for leg in survey.legs if leg.route is not None]
    if survey.roadmap is None or not routed:
        return
    most = {limit.segment: limit.maximum for limit in survey.limits if limit.maximum > 0.0}
    time = 0.0
    for way in routed:
        places = survey.roadmap.positions[[survey.roadmap.rows[point] for point in way.points]]
        speeds = [min(most.get(point.segment, FASTEST * MPH), FASTEST * MPH) for point in way.points[:-1]]
        time += float(np.sum(np.hypot(*np.diff(places, axis=0).T) / speeds))
    changes = sum(way.kinds.count(Kind.LANE_CHANGE) for way in routed)
    length = sum(way.length for way in routed)
    left_out = len(survey.mission.checkpoints) - 1 - len(routed)
    message = f"the mission is {length / 1000.0:.3f} km long with {changes} lane changes"
    message += f" and takes {time / 60.0:.1f} min at the speed limits"
    yield Finding(message, survey.mission.location, f"without {left_out} of its legs" if left_out else "")


RULES: tuple[tuple[str, Callable[[_Survey], Iterator[Finding]]], ...] = (
    ("E501", _unknown_checkpoint),
    ("E502", _unreachable_leg),
    ("W503", _unknown_speed_id),
    ("I504", _missing_limit),
    ("W505", _inverted_limit),
    ("W506", _fast_limit),
    ("I507", _other_network),
    ("I508", _repeated_checkpoint),
    ("I509", _length),
)

SEVERITIES = {"E": Severity.ERROR, "W": Severity.WARNING, "I": Severity.INFO}


def lint_mission(mission: Mission, network: RoadNetwork | None, problems: Problems) -> None:
    """Apply every rule to a mission.

    Parameters
    ----------
    mission : Mission
        As read.
    network : RoadNetwork or None
        What it is read against; without one only what the mission says alone is looked at.
    problems : Problems
        Collects what is found.
    """
    survey = _Survey(mission, network)
    for code, find in RULES:
        for found in find(survey):
            problems.add(Problem(SEVERITIES[code[0]], code, found.message, found.location, found.hint))
