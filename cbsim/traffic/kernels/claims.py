"""Claims: who may enter the conflicts ahead, decided one after the other in a fixed order.

One car is in a conflict area at a time. A car claims all conflicts between which it cannot wait together, when the
right of way lets it and there is room behind them (`cbsim.road.kernels.right_of_way`).
"""

from __future__ import annotations

import numpy as np

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inner
from cbsim.road.kernels.right_of_way import fill_ties, order_arrivals, who_yields
from cbsim.traffic.kernels.drivers import IGNORES, MISTAKES, STRONGEST, uniform
from cbsim.traffic.kernels.look import CHAIN, CHAIN_END, DESIRED, LINE, hold, travel_time
from cbsim.traffic.kernels.way import following
from cbsim.traffic.kernels.workspace import PACE
from cbsim.world.traffic.tables import (
    ARRIVAL,
    CAR_LENGTH,
    CLAIM,
    CROSSING,
    ENTRY,
    GOAL,
    GREEN,
    JUNCTION,
    LANELET,
    LENGTH,
    NEXT,
    PHASE,
    POOL,
    RULE,
    SERIAL,
    SPEED,
    STATION,
    STOPPED,
    WAITING,
)

__all__ = ["arbitrate", "order_waiting"]

UNTURNED = 1 << 30  # place in the order of arrival of who has not arrived
MARGIN = 1.0  # [s] between the rear of one that leaves a conflict area and the front of the next one
PATIENCE = 5.0  # [s] of standing after which the one who stands longest goes first
STANDS = 0.1  # [m/s]


@inner
def first_conflict(road, crossings, seed, travel, intent, i, destination, length):
    """First conflict entry ahead of the front of a car within 60 m, -1 for none."""
    lanelet, forks, base = intent[i, LANELET], intent[i, GOAL], -travel[i, STATION]
    next_one, k = intent[i, NEXT], 0
    while base < length + 60.0:
        for e in range(road.links[lanelet, ENTRY], road.links[lanelet + 1, ENTRY]):
            if base + crossings.spans[crossings.entry_rows[e], crossings.entry_sides[e]] >= length:
                return e
        following_one, forks = following(road, seed, i, intent[i, SERIAL], destination, lanelet, forks)
        following_one = next_one if k == 0 else following_one
        if following_one < 0:
            return -1
        base += road.lanelets[lanelet, LENGTH]
        lanelet, k = following_one, k + 1
    return -1


@inner
def order_waiting(road, crossings, seed, travel, intent, waiting, turn, destinations, count):
    """Give each of the `count` cars that wait at stop lines its place in the order of arrival of its junction."""
    junction, movement = np.empty(count, np.int64), np.empty(count, np.int64)
    for n in range(count):
        i = waiting[n]
        e = first_conflict(road, crossings, seed, travel, intent, i, destinations[i], road.car_sizes[i, CAR_LENGTH])
        junction[n] = crossings.rules[crossings.entry_rows[e], JUNCTION] if e >= 0 else -1
        movement[n] = crossings.entry_lanelets[e] if e >= 0 else -1
    done = np.zeros(count, np.bool_)
    for n in range(count):
        if done[n] or junction[n] < 0:
            continue
        size = 0
        for m in range(n, count):
            size += 1 if junction[m] == junction[n] and not done[m] else 0
        members, arrivals = np.empty(size, np.int64), np.empty(size)
        approaches, movements, places = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
        ties, size = np.empty((size, size), np.bool_), 0
        for m in range(n, count):
            if junction[m] == junction[n] and not done[m]:
                done[m], members[size] = True, waiting[m]
                arrivals[size] = travel[waiting[m], ARRIVAL]
                movements[size], approaches[size] = movement[m], crossings.ranks[movement[m]]
                size += 1
        fill_ties(
            *(crossings.entry_offsets, crossings.entry_others, crossings.entry_sides, crossings.entry_rows),
            *(crossings.yields, movements, ties),
        )
        order_arrivals(arrivals, approaches, ties, places)
        for m in range(size):
            turn[members[m]] = places[m]


@inner
def goes_first(crossings, travel, turn_of, claims, i, row, side, cars):
    """Whether nobody who comes to a conflict has the right to go before car i, by rank, turn and arrival."""
    other = claims.comer[row, 1 - side]
    if other < 0 or other == i:
        return True, False
    turn = turn_of[i]
    turn_of_other = turn_of[other] if other < cars else UNTURNED
    one, two = (turn, turn_of_other) if side == 0 else (turn_of_other, turn)
    rules, yields = crossings.rules, crossings.yields
    yielding = who_yields(rules[row, RULE], yields[row], rules[row, GREEN], False, False, False, False, one, two)
    if yielding != side:
        return True, False
    if other < cars and travel[other, SPEED] < STANDS and travel[i, SPEED] < STANDS:
        mine, theirs = travel[i, WAITING], travel[other, WAITING]
        if mine > PATIENCE and (mine > theirs or (mine == theirs and i < other)):
            return True, False
    return False, True


@inner
def may_enter(road, crossings, seed, travel, intent, values, plan, turns, entries, claims, i, destination, takes):
    """Whether car i may enter the conflicts ahead of it, up to the end of its chain.

    Returns
    -------
    int
        The last entry of the chain and 1, or 0 where it may not. With `takes` all of them are held.
    """
    length, cars, last = road.car_sizes[i, CAR_LENGTH], intent.shape[0], 0
    lanelet, forks, base = intent[i, LANELET], intent[i, GOAL], -travel[i, STATION]
    next_one, k = intent[i, NEXT], 0
    chain, chain_end = plan[CHAIN] + length - 1e-9, plan[CHAIN_END]
    ignores = False
    if values[IGNORES] > 0.0:
        pool = road.car_rows[i, POOL]
        word = road.words[pool] if pool >= 0 else i
        ignores = uniform(seed, MISTAKES, word, intent[i, SERIAL], (forks << 20) + 1) < values[IGNORES]
    while base < chain_end:
        for e in range(road.links[lanelet, ENTRY], road.links[lanelet + 1, ENTRY]):
            row, side = crossings.entry_rows[e], crossings.entry_sides[e]
            begin, over = base + crossings.spans[row, side], base + crossings.spans[row, 2 + side]
            if begin < chain or over > chain_end + 1e-9:
                continue
            last = e + 1
            if takes:
                hold(claims, row, side, i)
                continue
            if ignores:
                continue
            if claims.holder[row, 1 - side] != -1 and claims.holder[row, 1 - side] != i:
                return 0
            first, timed = goes_first(crossings, travel, turns, claims, i, row, side, cars)
            if not first:
                if not timed:
                    return 0
                clear = travel_time(over, travel[i, SPEED], plan[DESIRED], values[STRONGEST]) + MARGIN
                other = claims.comer[row, 1 - side]
                pace = travel[other, SPEED] if other < cars else entries.stands[other, PACE]
                reached = math.sqrt(travel[i, SPEED] ** 2 + 2.0 * values[STRONGEST] * over)
                clear += max(0.0, pace - min(reached, plan[DESIRED])) / 4.0
                if claims.eta[row, 1 - side] <= clear:
                    return 0
        base += road.lanelets[lanelet, LENGTH]
        following_one, forks = following(road, seed, i, intent[i, SERIAL], destination, lanelet, forks)
        lanelet = next_one if k == 0 else following_one
        k += 1
        if lanelet < 0:
            break
    return last


@inner
def arbitrate(
    road, crossings, seed, travel, intent, drawn, plan, turns, candidates, entries, claims, destinations, count
):
    """Let the candidates claim what is ahead of them, by arrival, then by serial."""
    for n in range(1, count):
        i, m = candidates[n], n - 1
        while m >= 0:
            j = candidates[m]
            if (travel[j, ARRIVAL], intent[j, SERIAL]) <= (travel[i, ARRIVAL], intent[i, SERIAL]):
                break
            candidates[m + 1] = j
            m -= 1
        candidates[m + 1] = i
    for n in range(count):
        i = candidates[n]
        if plan[i, CHAIN_END] == math.inf:
            continue
        last = may_enter(
            road, crossings, seed, travel, intent, drawn[i], plan[i], turns, entries, claims, i, destinations[i], False
        )
        if last > 0:
            may_enter(
                road,
                crossings,
                seed,
                travel,
                intent,
                drawn[i],
                plan[i],
                turns,
                entries,
                claims,
                i,
                destinations[i],
                True,
            )
            intent[i, CLAIM] = last
            if intent[i, PHASE] == STOPPED:
                intent[i, PHASE] = CROSSING
                plan[i, LINE] = math.inf
            plan[i, CHAIN] = math.inf
