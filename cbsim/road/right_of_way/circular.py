"""Circular right of way: cycles of lanelets of a junction each of which yields to the next."""

from __future__ import annotations

from collections import deque

from cbsim.road.right_of_way.conflicts import Conflicts
from cbsim.road.right_of_way.junctions import Junction
from cbsim.road.right_of_way.rules import Rule

__all__ = ["find_circle"]

DYNAMIC = (Rule.ARRIVAL, Rule.ID)  # the order of arrival is total, and so is that of ids


def find_circle(conflicts: Conflicts, junction: Junction) -> tuple[int, ...]:
    """Find a shortest cycle of lanelets each of which yields to the next.

    Returns
    -------
    tuple of int
        Rows of the lanelets, beginning with the smallest; empty if right of way is not circular. Cycles of lanelets
        with stop lines do not count: the order of arrival decides, and for simultaneous arrivals the smallest id.
    """
    goes_first: dict[int, list[int]] = {}
    for row in junction.conflicts:
        if conflicts.rules[row] not in DYNAMIC:
            side = int(conflicts.yields[row])
            pair = conflicts.pairs[row].tolist()
            goes_first.setdefault(pair[side], []).append(pair[1 - side])
    best: tuple[int, ...] = ()
    for start in sorted(goes_first):
        circle = _shortest(goes_first, start)
        if circle and (not best or len(circle) < len(best)):
            best = circle
    return best


def _shortest(goes_first: dict[int, list[int]], start: int) -> tuple[int, ...]:
    """Breadth-first search from a lanelet back to itself, over those with larger rows only."""
    came: dict[int, int] = {}
    work = deque([start])
    while work:
        row = work.popleft()
        for ahead in sorted(goes_first.get(row, [])):
            if ahead == start:
                circle = [row]
                while circle[-1] != start:
                    circle.append(came[circle[-1]])
                return tuple(reversed(circle))
            if ahead > start and ahead not in came:
                came[ahead] = row
                work.append(ahead)
    return ()
