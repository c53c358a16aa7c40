"""Static rules of right of way: who yields where two lanelets conflict, independent of arrival times."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from cbsim.arrays import Bools, Floats, Ints
from cbsim.geometry.polyline import direction, wrap
from cbsim.road.lanelets import LaneletKind, Lanelets

__all__ = ["ONE", "OTHER", "Approaching", "Decision", "Rule", "decide", "point_ranks"]

ONE, OTHER = 0, 1  # side of a pair that yields
SAME_WAY, OPPOSITE = np.radians(45.0), np.radians(135.0)  # changes of heading between approaches
LEAD = 10.0  # [m] distance before a conflict at which the direction of approach is taken
LEFT_TURN = np.radians(30.0)  # change of heading from which an exit is a left turn


class Rule(IntEnum):
    """The first rule that applies to a pair; letters as in ``docs/theory/right_of_way.md``."""

    OCCUPIED = 0  # (a) a vehicle in the conflict area goes first
    LIGHT = 1  # (b) the only side with green goes first
    SUBORDINATE = 2  # (c) mouths of zones and U-turns yield
    STOP = 3  # (d) the side with a stop line yields
    ARRIVAL = 4  # (e) both have stop lines: order of arrival
    LANE = 5  # (f) exits yield to lanes
    LEFT_TURN = 6  # (f) left turns yield to oncoming traffic
    RIGHT = 7  # (f) priority to the right
    ID = 8  # tie: the approach with the smaller id goes first


class Approaching(NamedTuple):
    """Approaches of a conflict, for each side of each pair, shape (p, 2).

    Attributes
    ----------
    lanelets : ndarray of int, shape (p, 2)
        Rows of the lanelets.
    stations : ndarray, shape (p, 2)
        Stations at which the conflict begins [m].
    stops : ndarray of bool, shape (p, 2)
        True where a stop line applies to the conflict.
    """

    lanelets: Ints
    stations: Floats
    stops: Bools


class Decision(NamedTuple):
    """Decision for each pair, one row each.

    Attributes
    ----------
    rules : ndarray of int, shape (p,)
        `Rule` that decides.
    yields : ndarray of int, shape (p,)
        0 if the one yields, 1 if the other does; where the order of arrival decides, for simultaneous arrivals.
    at_green : ndarray of int, shape (p,)
        Side that yields if both have green: by (f) alone.
    """

    rules: Ints
    yields: Ints
    at_green: Ints


def decide(lanelets: Lanelets, pairs: Approaching) -> Decision:
    """Apply the rules (c) to (f) in their order."""
    kinds = lanelets.kinds[pairs.lanelets]
    subordinate = (kinds == LaneletKind.ZONE_MOUTH) | (kinds == LaneletKind.U_TURN)
    free_rule, at_green = _without_signs(lanelets, pairs)
    tie = _by_geometry(lanelets, pairs)[1]
    rules, yields = free_rule.copy(), at_green.copy()
    both_stop = pairs.stops.all(axis=1)
    rules[both_stop], yields[both_stop] = Rule.ARRIVAL, tie[both_stop]
    for rule, yielding in ((Rule.STOP, pairs.stops), (Rule.SUBORDINATE, subordinate)):
        decided = yielding[:, 0] != yielding[:, 1]
        rules[decided], yields[decided] = rule, np.where(yielding[decided, 0], ONE, OTHER)
    return Decision(rules, yields, at_green)


def _without_signs(lanelets: Lanelets, pairs: Approaching) -> tuple[Ints, Ints]:
    """Apply (f): lanes go before exits, else geometry decides."""
    rules, yields = _by_geometry(lanelets, pairs)
    own = lanelets.continues[pairs.lanelets]
    decided = own[:, 0] != own[:, 1]
    rules[decided], yields[decided] = Rule.LANE, np.where(own[decided, 0], OTHER, ONE)
    return rules, yields


def _by_geometry(lanelets: Lanelets, pairs: Approaching) -> tuple[Ints, Ints]:
    """Left turns yield to opposite approaches, else priority to the right, else the smaller id goes first."""
    headings, places = _approach_poses(lanelets, pairs)
    turned = wrap(headings[:, 1] - headings[:, 0])
    middle = direction(headings[:, 0]) + direction(headings[:, 1])
    aside = places[:, 1] - places[:, 0]
    lateral = middle[:, 0] * aside[:, 1] - middle[:, 1] * aside[:, 0]
    opposite, same = np.abs(turned) > OPPOSITE, np.abs(turned) < SAME_WAY
    other_is_right = np.where(same, lateral < 0.0, turned > 0.0)
    one_is_right = np.where(same, lateral > 0.0, turned < 0.0)
    left = _left_turns(lanelets)[pairs.lanelets]
    by_turn = opposite & (left[:, 0] != left[:, 1])
    by_side = ~opposite & (one_is_right != other_is_right)
    rank = point_ranks(lanelets)[lanelets.ends[pairs.lanelets, 0]]
    later = np.where(rank[:, 0] != rank[:, 1], rank[:, 0] > rank[:, 1], pairs.lanelets[:, 0] > pairs.lanelets[:, 1])
    yields = np.where(by_turn, np.where(left[:, 0], ONE, OTHER), np.where(later, ONE, OTHER))
    yields = np.where(by_side, np.where(other_is_right, ONE, OTHER), yields)
    rules = np.where(by_turn, Rule.LEFT_TURN, np.where(by_side, Rule.RIGHT, Rule.ID))
    return rules.astype(np.int64), yields.astype(np.int64)


def _approach_poses(lanelets: Lanelets, pairs: Approaching) -> tuple[Floats, Floats]:
    """Heading (p, 2) [rad] and position (p, 2, 2) [m] of each approach: at the start of its exit.

    On a piece of a lane, which may be long, it is taken 10 m before the conflict.
    """
    firsts = lanelets.offsets[pairs.lanelets]
    lasts = lanelets.offsets[pairs.lanelets + 1] - 1
    rows = firsts.copy()
    is_lane = lanelets.lanes[pairs.lanelets] >= 0
    share = np.maximum(pairs.stations - LEAD, 0.0) / np.maximum(lanelets.lengths[pairs.lanelets], 1e-9)
    rows[is_lane] += np.round(share * (lasts - firsts)).astype(np.int64)[is_lane]
    rows = np.minimum(rows, lasts)
    return lanelets.headings[rows], lanelets.points[rows]


def _left_turns(lanelets: Lanelets) -> Bools:
    """Find the lanelets that turn left off their lane."""
    turned = lanelets.headings[lanelets.offsets[1:] - 1] - lanelets.headings[lanelets.offsets[:-1]]
    return np.asarray(~lanelets.continues & (turned > LEFT_TURN))


def point_ranks(lanelets: Lanelets) -> Ints:
    """Rank of each point of the network in the order of ids, shape (points,)."""
    ids = lanelets.roadmap.ids
    ranks = np.empty(len(ids), np.int64)
    try:
        order = np.lexsort(np.array(ids, np.int64).reshape(-1, 3).T[::-1])
    except OverflowError:  # numbers of any length may stand in a file
        order = np.array(sorted(range(len(ids)), key=lambda row: (ids[row], row)), np.int64)
    ranks[order] = np.arange(len(ids))
    return ranks
