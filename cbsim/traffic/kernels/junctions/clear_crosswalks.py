"""Crosswalks that stay clear: nobody comes to rest on one for want of room behind it, so that people can go on."""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined, inner
from cbsim.traffic.kernels.drivers import COMFORTABLE, LEAST
from cbsim.traffic.kernels.look import BEFORE_LINE, GAP, LEADER, SIDE_GAP, SIDE_LEADER, STOP
from cbsim.traffic.kernels.turning_round.closures import stays_there
from cbsim.traffic.kernels.ways.sideways import reach_of_turn
from cbsim.traffic.kernels.ways.way import AHEAD
from cbsim.world.traffic.tables import CAR_LENGTH, ENTRY, ENTRY_END, LENGTH, SPEED, STATION

__all__ = ["keep_crosswalks_clear"]

HARDEST = 3.0  # [m/s²] with which one stops there at most: more than is planned, not to change one's mind
AGAIN = 4.0  # [m/s²] with which who drives behind a crosswalk is expected to come to rest


@inner
def room_to_turn(road, intent, work, i):
    """Room that a car needs to turn round before who is next on its way, 0 where that is nobody who stays [m]."""
    entries = work.entries
    for k in range(AHEAD):
        lanelet = work.ways.lanelets[i, k]
        if lanelet < 0:
            return 0.0
        at = entries.ranks[i] + 1 if k == 0 else entries.first[lanelet]
        if at < entries.first[lanelet + 1]:
            e = entries.order[at]
            if e >= intent.shape[0] and stays_there(entries, work.routes.noted, e):
                return reach_of_turn(road.car_sizes[i, CAR_LENGTH])
            return 0.0
    return 0.0


@inlined
def stands_in_conflict(road, crossings, work, travel, i, rear, front):
    """Whether a car would stand in a conflict between two distances ahead of its rear bumper [m]."""
    base = -travel[i, STATION]
    for k in range(AHEAD):
        lanelet = work.ways.lanelets[i, k]
        if lanelet < 0 or base > front:
            return False
        for e in range(road.links[lanelet, ENTRY], road.links[lanelet, ENTRY_END]):
            if base + crossings.entry_spans[e, 0] < front and base + crossings.entry_spans[e, 1] > rear:
                return True
        base += road.lanelets[lanelet, LENGTH]
    return False


@inner
def keep_crosswalks_clear(road, crossings, spans, travel, intent, work, i):
    """Let a car stop before a crosswalk behind which there is no room for it, unless it would stand in a conflict.

    Parameters
    ----------
    spans : (lanelets, 2) [m]
        Stations between which the first crosswalk of each lanelet lies (`cbsim.traffic.kernels.ways.crosswalks`).
    """
    plan, hardest = work.plan[i], max(work.drawn[i, COMFORTABLE], HARDEST)
    length, speed = road.car_sizes[i, CAR_LENGTH], travel[i, SPEED]
    # where whoever is ahead will come to rest, as a distance of the front
    room = plan[GAP] + plan[LEADER] * abs(plan[LEADER]) / (2.0 * AGAIN)
    room = min(room, plan[SIDE_GAP] + plan[SIDE_LEADER] * abs(plan[SIDE_LEADER]) / (2.0 * AGAIN))
    base = -travel[i, STATION] - length
    for k in range(AHEAD):
        lanelet = work.ways.lanelets[i, k]
        if lanelet < 0 or base > room or room == math.inf:
            return
        begin, end = base + spans[lanelet, 0], base + spans[lanelet, 1]
        stop, needed = begin - BEFORE_LINE, length + work.drawn[i, LEAST]
        if begin > 0.0 and begin < room and speed * speed <= 2.0 * hardest * begin + 0.01:
            is_full = room < end + needed or room < end + needed + room_to_turn(road, intent, work, i)
            if is_full and not stands_in_conflict(road, crossings, work, travel, i, stop, stop + length):
                plan[STOP] = min(plan[STOP], stop)
                return
        base += road.lanelets[lanelet, LENGTH]
