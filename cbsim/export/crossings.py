"""Turns and stop lines of a generated city: connections of lanes at nodes and dead ends, and who has to stop."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from cbsim.export.streets import SIDES, Grid, LaneLine, Node

__all__ = ["LaneKey", "Turn", "dead_end_turns", "node_turns", "stopping_lanes"]

ALL_WAY = 0.5  # of the crossings; at the others one street has right of way


class LaneKey(NamedTuple):
    """A lane by the index of its street and its number."""

    street: int
    lane: int


class Turn(NamedTuple):
    """From the end of a lane to the start of another."""

    source: LaneKey
    target: LaneKey


def _arriving(grid: Grid, key: tuple[int, int], side: int) -> list[tuple[LaneKey, LaneLine]]:
    return _lanes_at(grid, key, side, leaving=False)


def _lanes_at(grid: Grid, key: tuple[int, int], side: int, *, leaving: bool) -> list[tuple[LaneKey, LaneLine]]:
    number = grid.nodes[key].arms.get(side)
    if number is None:
        return []
    street = grid.streets[number]
    at_start = street.start == key
    lanes = street.leaving(at_start=at_start) if leaving else street.arriving(at_start=at_start)
    return [(LaneKey(number, one.number), one) for one in lanes]


def node_turns(grid: Grid, key: tuple[int, int]) -> Iterator[Turn]:
    """Connect the lanes that meet at a node: straight on, right from the right lane, left from the left lane.

    A lane without an entry, such as the middle one of three at the foot of a T, is entered like its neighbour.
    """
    turns = list(_regular_turns(grid, key))
    sources: defaultdict[LaneKey, list[LaneKey]] = defaultdict(list)
    for turn in turns:
        sources[turn.target].append(turn.source)
    for side in SIDES:
        leaving = [lane for lane, _ in _lanes_at(grid, key, side, leaving=True)]
        for beside, lane in pairwise(leaving):
            if not sources[lane]:
                turns += [Turn(source, lane) for source in sources[beside]]
                sources[lane] = sources[beside]
    yield from turns


def _regular_turns(grid: Grid, key: tuple[int, int]) -> Iterator[Turn]:
    for side in SIDES:
        sources = [lane for lane, _ in _arriving(grid, key, side)]
        ahead = (side + 2) % 4
        right, straight, left = (
            [lane for lane, _ in _lanes_at(grid, key, (ahead + turn) % 4, leaving=True)] for turn in (1, 0, -1)
        )
        for rank, source in enumerate(sources):
            for target in _targets(rank, len(sources), left, straight, right):
                yield Turn(source, target)


def _targets(
    rank: int, count: int, left: list[LaneKey], straight: list[LaneKey], right: list[LaneKey]
) -> Iterator[LaneKey]:
    """Lanes to which one of several lanes side by side leads."""
    last = rank == count - 1
    if straight:
        yield straight[min(rank, len(straight) - 1)]
        yield from left[:1] if rank == 0 else []
        yield from right[-1:] if last else []
    elif left and right:  # the foot of a T: the left half turns left, the right half turns right
        yield from [left[min(rank, len(left) - 1)]] if 2 * rank < count or rank == 0 else []
        yield from [right[max(len(right) - (count - rank), 0)]] if 2 * rank >= count or last else []
    else:  # a bend
        yield from [one[min(rank, len(one) - 1)] for one in (left, right) if one]


def dead_end_turns(grid: Grid, number: int) -> Iterator[Turn]:
    """Turn round at a dead end, each lane into the opposite one of its rank."""
    street = grid.streets[number]
    at_start = street.dead_end
    if at_start is None or street.parking:
        return
    pairs = zip(street.arriving(at_start=at_start), street.leaving(at_start=at_start), strict=True)
    yield from (Turn(LaneKey(number, a.number), LaneKey(number, b.number)) for a, b in pairs)


def stopping_lanes(grid: Grid, key: tuple[int, int], random: np.random.Generator) -> set[LaneKey]:
    """Choose the lanes with a stop line: all at some crossings, those of the minor street at others, none in a bend."""
    node = grid.nodes[key]
    everyone = {side: {lane for lane, _ in _arriving(grid, key, side)} for side in SIDES}
    chance, side = random.random(), int(random.integers(2))
    if len(node.arms) < 3:
        return set()
    minor = SIDES if chance < ALL_WAY else _minor_sides(node, side)
    return set().union(*(everyone[one] for one in minor))


def _minor_sides(node: Node, side: int) -> tuple[int, ...]:
    """Sides that give way: the foot of a T, else one of the two streets."""
    if len(node.arms) == 3:
        missing = next(one for one in SIDES if one not in node.arms)
        return ((missing + 2) % 4,)
    return (side, side + 2)
