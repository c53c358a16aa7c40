"""Rules about connectivity (401 to 404)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from cbsim.lint.network.context import NetworkContext
from cbsim.lint.rule import Finding, Rule
from cbsim.road.graph import Kind, components
from cbsim.spec.road import PointId

__all__ = ["RULES"]

LISTED = 5  # examples in one message


def _lane_end(context: NetworkContext) -> Iterator[Finding]:
    """W401: a lane ends and nothing leads on, not even a U-turn."""
    sources = {e.source for e in context.exits}
    for lane in context.network.lanes:
        if len(lane.points):
            last = PointId(lane.segment, lane.number, lane.points.numbers[-1])
            if last not in sources:
                yield Finding(f"lane '{lane}' ends at '{last}' without an exit", context.at(last))


def _unreachable_checkpoint(context: NetworkContext) -> Iterator[Finding]:
    """E402: no lane, exit, lane change or zone leads to a checkpoint."""
    moves = context.graph
    reached = np.zeros(len(moves.nodes), bool)
    reached[moves.targets] = True
    entered = {e.target.segment for e in context.roadmap.exits if e.target.lane == 0}
    zones = {zone.number for zone in context.network.zones}
    for c in context.numbers.values():
        if c.point not in context.addresses or c.point.segment in moves.unrouted:
            continue
        if c.point.segment in zones:
            if c.point.segment not in entered:
                message = f"checkpoint '{c.number}' cannot be reached: zone '{c.point.segment}' has no way in"
                yield Finding(message, c.location)
        elif not reached[moves.index[c.point]]:
            message = f"checkpoint '{c.number}' cannot be reached: nothing leads to '{c.point}'"
            yield Finding(message, c.location)


def _parts(context: NetworkContext) -> Iterator[Finding]:
    """W403: one cannot get from every point to every other."""
    moves = context.graph
    zones = {zone.number for zone in context.network.zones}
    used = np.array([point.segment not in zones for point in moves.nodes], bool)
    used[moves.targets] = True  # in zones only the doors and the centres of spots are places to get to
    part_of = {moves.nodes[row]: part for row, part in enumerate(components(moves).tolist()) if used[row]}
    sizes = Counter(part_of.values())
    if len(sizes) < 2:
        return
    first = {part: point for point, part in reversed(part_of.items())}
    order = sorted(sizes, key=lambda part: (-sizes[part], part))
    shown = ", ".join(f"{sizes[part]} with '{first[part]}'" for part in order[:LISTED] if sizes[part] > 1)
    outside = {c.number for c in context.numbers.values() if part_of.get(c.point, order[0]) != order[0]}
    message = (
        f"not every point can be reached from every other: {len(part_of)} points fall into {len(sizes)} strongly "
        f"connected parts ({shown or 'of one point each'})"
    )
    if outside:
        message += f"; {len(outside)} {'checkpoint is' if len(outside) == 1 else 'checkpoints are'} outside the largest"
    yield Finding(message, context.network.location)


def _dead_end(context: NetworkContext) -> Iterator[Finding]:
    """I404: a lane ends in a U-turn."""
    moves = context.graph
    for lane in context.roadmap.lane_specs:
        last = PointId(lane.segment, lane.number, lane.points.numbers[-1])
        node = moves.index[last]
        ways = range(int(moves.starts[node]), int(moves.starts[node + 1]))
        if ways and all(moves.kinds[way] == Kind.U_TURN for way in ways):
            back = moves.nodes[moves.targets[ways[0]]]
            yield Finding(f"dead end: lane '{lane}' turns round at '{last}' into '{back}'", context.at(last))


RULES: tuple[Rule[NetworkContext], ...] = (
    Rule("W401", _lane_end),
    Rule("E402", _unreachable_checkpoint, requires="map"),
    Rule("W403", _parts, requires="map"),
    Rule("I404", _dead_end, requires="map"),
)
