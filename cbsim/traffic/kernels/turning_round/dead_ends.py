"""Dead ends: who can only go to a body, or a queue before one, with no room to turn round there stops before that.

But who stands behind a fork, in the way of others, goes on. Who comes up to those that wait before a body on a closed
lanelet leaves them the room in which they can go back to turn round: else whoever comes takes the place of who has
turned behind them, and they are never free.
"""

from __future__ import annotations

from cbsim.jit import inlined, inner
from cbsim.traffic.kernels.bodies.standing import blocks_for_good
from cbsim.traffic.kernels.drivers import COMFORTABLE, LEAST
from cbsim.traffic.kernels.look import BEFORE_LINE, CHAIN_END, STANDS, STOP, rest_of
from cbsim.traffic.kernels.turning_round.closures import is_closed, is_cut_off, stays_there
from cbsim.traffic.kernels.turning_round.turning import BEHIND, MOST_BACK
from cbsim.traffic.kernels.ways.sideways import oncoming_row, reach_of_turn
from cbsim.traffic.kernels.workspace import PACE, SPOT
from cbsim.world.traffic.tables import (
    CAR_LENGTH,
    DRIVING,
    ENTRY,
    ENTRY_END,
    EXTRAS,
    FORK_END,
    FORKS,
    LANELET,
    LENGTH,
    MERGES,
    PHASE,
    SHIFT,
    SPEED,
    STATION,
    WAITING,
)

__all__ = [
    "clear_of_fork",
    "is_any_closed",
    "mind_dead_ends",
    "stands_in_fork",
    "stands_there",
]

NEXT_ONES = 3  # lanelets ahead that are looked at
IN_THE_WAY = 12.0  # [s] of standing behind a fork after which one goes on; others are told of the body before, after 10
HARDEST = 3.0  # [m/s²] with which one stops there at most
PLACES = 2.0  # that one leaves free at the begin of a lanelet for those who come


@inner
def is_any_closed(closed):
    """Whether some lanelet is closed."""
    for row in range(closed.shape[0]):
        if closed[row] != 0:
            return True
    return False


@inner
def stop_before_dead_end(road, sides, travel, intent, work, i):
    """Let a car stop at the end of its lanelet, if it can turn round there, and not before what stands beyond it."""
    entries, closed, lanelet = work.entries, work.routes.noted, intent[i, LANELET]
    length, speed = road.car_sizes[i, CAR_LENGTH], travel[i, SPEED]
    stop = road.lanelets[lanelet, LENGTH] - travel[i, STATION] - length - BEFORE_LINE
    if stop < -BEFORE_LINE or (speed > STANDS and speed * speed > 2.0 * HARDEST * stop):
        return
    for k in range(1, NEXT_ONES + 1):
        one = work.ways.lanelets[i, k]
        if one < 0:
            return
        if is_closed(closed, one):
            at, needed = entries.first[one], length + work.drawn[i, LEAST] + reach_of_turn(length)
            is_near = at < entries.first[one + 1] and entries.sorted_stands[at, SPOT] < needed
            if is_near and abs(entries.sorted_stands[at, PACE]) <= STANDS:
                if oncoming_row(sides, lanelet, travel[i, STATION]) >= 0 and is_cut_off(road, closed, work, i, lanelet):
                    work.plan[i, STOP] = min(work.plan[i, STOP], stop)
            return
        if oncoming_row(sides, one, 0.5 * road.lanelets[one, LENGTH]) >= 0:  # it can turn round there
            return


@inner
def last_before_body(state, work, i, lanelet, static, others):
    """Station at which the rear of the next car ahead can stand before a body on its lanelet [m], -1 for none there.

    It is that at which it comes to rest if it brakes now.
    """
    travel, intent, entries, last = state.travel, state.intent, work.entries, -1.0
    for at in range(entries.ranks[i] + 1, entries.first[lanelet + 1]):
        e = entries.order[at]
        if blocks_for_good(travel, intent, state.watch, work, e, static, others):
            return last
        if e >= others and entries.watched[e] < -1:  # who turns round is gone soon
            continue
        if e >= intent.shape[0] or intent[e, PHASE] != DRIVING:
            return -1.0
        last = rest_of(entries.stands[e, SPOT], entries.stands[e, PACE]) if last < 0.0 else last
    return -1.0


@inner
def leave_room_to_back(road, crossings, sides, state, work, i, static, others):
    """Let a car stop so far behind those who wait before a body on its closed lanelet that they can go back to turn."""
    lanelet, station, speed = state.intent[i, LANELET], state.travel[i, STATION], state.travel[i, SPEED]
    if not is_closed(work.routes.noted, lanelet) or oncoming_row(sides, lanelet, station) < 0:
        return
    spot = last_before_body(state, work, i, lanelet, static, others)
    if spot < 0.0:
        return
    # others who come out of conflicts still have a place behind it
    begin, length = 0.0, road.car_sizes[i, CAR_LENGTH]
    for e in range(road.links[lanelet, ENTRY], road.links[lanelet, ENTRY_END]):
        begin = max(begin, crossings.entry_spans[e, 1]) if crossings.entry_spans[e, 0] < spot else begin
    begin += PLACES * (length + work.drawn[i, LEAST])
    stop = max(spot - MOST_BACK - BEHIND - length, begin) - station
    # who is nearer than that brakes gently, and stays behind as they go on
    stop = max(stop, 0.5 * speed * speed / work.drawn[i, COMFORTABLE])
    work.plan[i, STOP] = min(work.plan[i, STOP], stop)


@inner
def mind_dead_ends(road, crossings, sides, state, work, i, static, others):
    """Let a car stop before a dead end, and leave those who stand in one the room to come out of it."""
    stop_before_dead_end(road, sides, state.travel, state.intent, work, i)
    leave_room_to_back(road, crossings, sides, state, work, i, static, others)


@inlined
def stands_there(entries, closed, lanelet, base, cars):
    """Whether a body that does not drive, or closes a lanelet, stands ahead of one's own rear, on one at a distance."""
    for at in range(entries.first[lanelet], entries.first[lanelet + 1]):
        e = entries.order[at]
        if e >= cars and base + entries.stands[e, SPOT] > 0.0 and stays_there(entries, closed, e):
            return True
    return False


@inner
def stands_in_fork(road, crossings, travel, intent, i):
    """Whether a car has stood for long so soon behind a fork that its rear is in others' way."""
    lanelet, station = intent[i, LANELET], travel[i, STATION]
    if travel[i, WAITING] < IN_THE_WAY or (road.links[lanelet, EXTRAS] & FORKS) == 0:
        return False
    for f in range(crossings.fork_offsets[lanelet], crossings.fork_offsets[lanelet + 1]):
        if station - crossings.forks[f, SHIFT] < crossings.forks[f, FORK_END]:
            return True
    return False


@inner
def clear_of_fork(road, crossings, travel, intent, work, i):
    """Distance up to which the rear of a car that stands in a fork has to come so that it is in nobody's way [m].

    It has to leave the fork, and its conflicts, but for those with lanelets that lead to the same closed one: there it
    is in the way of nobody who could go on.
    """
    lanelet, base, k, clear, end = intent[i, LANELET], -travel[i, STATION], 0, 0.0, work.plan[i, CHAIN_END]
    for f in range(crossings.fork_offsets[lanelet], crossings.fork_offsets[lanelet + 1]):
        clear = max(clear, base + crossings.forks[f, FORK_END] + crossings.forks[f, SHIFT])
    while lanelet >= 0 and base < end:
        onward = work.ways.lanelets[i, k + 1] if k + 1 < work.ways.lanelets.shape[1] else -1
        leads_nowhere = onward >= 0 and is_closed(work.routes.noted, onward)
        for e in range(road.links[lanelet, ENTRY], road.links[lanelet, ENTRY_END]):
            over = base + crossings.entry_spans[e, 1]
            if over <= end + 1e-9 and not (leads_nowhere and crossings.rules[crossings.entry_rows[e], MERGES] != 0):
                clear = max(clear, over)
        base, lanelet, k = base + road.lanelets[lanelet, LENGTH], onward, k + 1
    return clear
