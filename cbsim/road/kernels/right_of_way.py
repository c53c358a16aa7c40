"""Right of way: the decision for a pair of lanelets, and the order of vehicles that wait at stop lines.

`docs/theory/right_of_way.md` has the rules, their order, and why the order of a group is total. Traffic, the reference
driver, rules and the viewer all use these functions.
"""

from __future__ import annotations

import numpy as np

from cbsim.jit import kernel

__all__ = ["ARRIVAL", "GROUP_TIME", "RIGHT", "fill_ties", "order_arrivals", "who_yields"]

ARRIVAL = 4  # value of `Rule.ARRIVAL`: both stop, and the order of arrival decides
RIGHT = 7  # value of `Rule.RIGHT`: from there on, neither road is the major one
GROUP_TIME = 0.5  # [s] arrivals within this time of the earliest form one group


@kernel
def who_yields(rule, yields, at_green, one_inside, other_inside, one_green, other_green, one_turn, other_turn):
    """Decide which of two conflicting lanelets yields: 0 for the one, 1 for the other.

    Parameters
    ----------
    rule, yields, at_green : int
        `Conflicts.rules`, `yields` and `yields_at_green` of the pair.
    one_inside, other_inside : bool
        True if a vehicle on that lanelet is in the conflict area.
    one_green, other_green : bool
        True if a light for that lanelet is green.
    one_turn, other_turn : int
        Places in the order of arrival (`order_arrivals`); equal where nobody waits.
    """
    # rules (a), (b), (e) of docs/theory/right_of_way.md; all others are in `yields`
    if one_inside != other_inside:
        return 1 if one_inside else 0
    if one_green != other_green:
        return 1 if one_green else 0
    if one_green:
        return at_green
    if rule == ARRIVAL and one_turn != other_turn:
        return 1 if one_turn < other_turn else 0
    return yields


@kernel
def fill_ties(offsets, others, sides, rows, yields, movements, out):
    """Decide for each pair of waiting vehicles whether the first yields to the second if both arrived at once.

    Parameters
    ----------
    offsets, others, sides, rows : ndarray of int
        `Conflicts.by_lanelet`.
    yields : ndarray of int
        `Conflicts.yields`.
    movements : ndarray of int, shape (n,)
        Lanelet that each will enter.
    out : ndarray of bool, shape (n, n)
        True where row yields to column.
    """
    n = len(movements)
    for a in range(n):
        for b in range(n):
            out[a, b] = False
        for entry in range(offsets[movements[a]], offsets[movements[a] + 1]):
            for b in range(n):
                # `sides` tells which of the pair the first one is
                if others[entry] == movements[b]:
                    out[a, b] = yields[rows[entry]] == sides[entry]


@kernel
def order_arrivals(arrivals, approaches, ties, out):
    """Order the vehicles that wait at the stop lines of a junction.

    Vehicles that arrived within half a second of the earliest form the first group. First goes the member that yields
    to no other member; among several, and where each yields to another, the one whose approach has the smallest id. The
    same rule then applies to the rest, so the order is total, and stays the same when the first has left.

    Parameters
    ----------
    arrivals : ndarray, shape (n,)
        Time at which each came to rest at its line [s].
    approaches : ndarray of int, shape (n,)
        Rank of the id of the point at which it waits; ties by order of arrival, then by row.
    ties : ndarray of bool, shape (n, n)
        True where row yields to column in a group (`fill_ties`).
    out : ndarray of int, shape (n,)
        Place of each in the order, from 0.
    """
    n = len(arrivals)
    for k in range(n):
        out[k] = -1
    for place in range(n):
        earliest = np.inf
        for k in range(n):
            if out[k] < 0 and arrivals[k] < earliest:
                earliest = arrivals[k]
        best, best_free = -1, False
        for k in range(n):
            # the group of the earliest of those that are left
            if out[k] >= 0 or arrivals[k] > earliest + GROUP_TIME:
                continue
            free = True
            for other in range(n):
                if ties[k, other] and out[other] < 0 and other != k and arrivals[other] <= earliest + GROUP_TIME:
                    free = False
            if best < 0 or (free and not best_free):
                best, best_free = k, free
            elif free == best_free and (approaches[k], arrivals[k]) < (approaches[best], arrivals[best]):
                best = k
        out[best] = place
