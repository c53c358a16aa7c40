"""Rules about junctions: crossing roads, stop lines, and right of way (406 to 408)."""

from __future__ import annotations

from collections.abc import Iterator

from cbsim.errors import ModelError
from cbsim.lint.network.context import NetworkContext
from cbsim.lint.rule import Finding, Rule
from cbsim.road.intersection import intersections
from cbsim.road.lanelets.build import EXIT_LIMIT
from cbsim.road.right_of_way import find_circle, find_junctions, stop_junctions
from cbsim.road.right_of_way.swept import PAIR_LIMIT

__all__ = ["RULES"]

LISTED = 5  # examples in one message


def _intersections(context: NetworkContext) -> Iterator[Finding]:
    """I406: where roads meet, and who stops."""
    count = len(context.roadmap.exits)
    if count > EXIT_LIMIT:
        message = f"the network has {count} exits, too many to infer intersections from"
        yield Finding(message, context.network.location, f"up to {EXIT_LIMIT} are looked at")
        return
    try:
        found = intersections(context.roadmap)
    except ModelError:
        message = f"lanes and exits overlap in more than {PAIR_LIMIT} places, too many to infer intersections"
        yield Finding(message, context.network.location)
        return
    for one in found:
        points = [str(approach.points[0]) for approach in one.approaches]
        shown = ", ".join(points[: 2 * LISTED]) + (", …" if len(points) > 2 * LISTED else "")
        message = f"intersection of {len(points)} approaches ({shown}): {one.pattern}"
        yield Finding(message, context.at(one.approaches[0].points[0]))


def _lone_stop(context: NetworkContext) -> Iterator[Finding]:
    """I407: nothing conflicts with what lies behind a stop line."""
    if context.conflicts is None:
        return
    for point, junction in stop_junctions(context.conflicts).items():
        if junction is None:
            message = f"nothing conflicts with the way behind the stop line at '{point}'"
            yield Finding(message, context.at(point), "one stops there, with no turn to wait for")


def _circular(context: NetworkContext) -> Iterator[Finding]:
    """W408: cyclic right of way, in which each lane yields to the next."""
    if context.conflicts is None:
        return
    for junction in find_junctions(context.conflicts):
        circle = find_circle(context.conflicts, junction)
        if circle:
            names = [context.conflicts.lanelets.names[row] for row in circle]
            shown = "' yields to '".join([*names, names[0]])
            first = context.conflicts.lanelets[circle[0]].source
            yield Finding(f"right of way is circular: '{shown}'", context.at(first), "give one of them a stop line")


RULES: tuple[Rule[NetworkContext], ...] = (
    Rule("I406", _intersections, requires="map"),
    Rule("I407", _lone_stop, requires="map"),
    Rule("W408", _circular, requires="map"),
)
