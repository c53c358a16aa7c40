"""Pools: cars of a flow appear where their leader leaves room, wait outside where it does not, and leave at the end."""

from __future__ import annotations

import numpy as np

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inner
from cbsim.traffic.kernels.closures import find_ways
from cbsim.traffic.kernels.drivers import ARRIVALS, COMFORTABLE, FACTOR, HEADWAY, LEAST, draw_driver, uniform
from cbsim.traffic.kernels.drivers import SPEED as OWN_SPEED
from cbsim.traffic.kernels.look import BEFORE_LINE
from cbsim.traffic.kernels.way import destination_of, following
from cbsim.traffic.kernels.workspace import EXTENT, PACE, SPOT
from cbsim.world.traffic.tables import (
    ABSENT,
    BEGIN,
    BODY,
    CAR_LENGTH,
    CLAIM,
    DRIVING,
    EVEN,
    FIRST_CAR,
    GOAL,
    LANELET,
    LAST_CAR,
    LENGTH,
    LIMIT,
    NEXT,
    ORIGIN,
    ORIGIN_STATION,
    PARKED_HEIGHT,
    PHASE,
    POOL,
    RATE,
    SERIAL,
    SPEED,
    STATION,
    STOP_LINE,
    UNBEGUN,
    UNTIL,
)

__all__ = ["appear", "leave"]

ARRIVED, APPEARED, LEFT = range(3)  # columns of `State.pool_counts`
BEHIND = 2.0  # [s] that who comes from behind has at least
SEEN = 60.0  # [m] ahead in which a car that appears looks for a place at which it has to stop


@inner
def wait_for_next(road, demand, seed, p, number):
    """Time between arrival `number` of a flow and the one before it [s]."""
    rate = demand.flows[p, RATE]
    if demand.flows[p, EVEN] != 0:
        return 1.0 / rate
    drawn = uniform(seed, ARRIVALS, road.words[p], number, 0)
    return -math.log(1.0 - drawn) / rate


@inner
def comes_in(road, entries, lanelet, station, least):
    """Whether somebody on a lanelet is about to come to that station of the next one."""
    for at in range(entries.first[lanelet], entries.first[lanelet + 1]):
        e = entries.order[at]
        front = entries.stands[e, SPOT] + entries.stands[e, EXTENT] - road.lanelets[lanelet, LENGTH]
        if front + least + max(entries.stands[e, PACE], 0.0) * BEHIND > station:
            return True
    return False


@inner
def stopping_speed(road, seed, state, drawn, occupied, i, lanelet, front):
    """Speed from which car i stops comfortably before the next stop line or occupied crosswalk near ahead [m/s]."""
    ahead, base, one = math.inf, 0.0, lanelet
    while one >= 0 and base < front + SEEN:
        end = base + road.lanelets[one, LENGTH]
        if one < occupied.shape[0] and base + occupied[one] >= front:
            ahead = min(ahead, base + occupied[one] - front)
        if road.links[one, STOP_LINE] != 0 and end >= front:
            ahead = min(ahead, end - front)
        destination = destination_of(road, state.intent, drawn, i)
        one = following(road, seed, i, state.intent[i, SERIAL], destination, one, 0)[0] if base == 0.0 else -1
        base = end
    return math.sqrt(2.0 * drawn[i, COMFORTABLE] * max(ahead - BEFORE_LINE, 0.0))


@inner
def appear(road, network, demand, seed, state, work, occupied, time):
    """Count the arrivals up to a time [s], and let one car of each flow appear where there is room."""
    drawn, memo, entries, (base, around, sides) = work.drawn, work.memo, work.entries, network
    words, normal = np.empty(4, np.uint64), np.empty(8)
    cars, pools = state.intent.shape[0], demand.flows.shape[0]
    used = np.zeros(road.lanelets.shape[0] if pools > 1 else 0, np.bool_)  # a car appeared there in this step
    for p in range(pools):
        if demand.flows[p, RATE] <= 0.0:
            continue
        counts = state.pool_counts[p]
        if state.pool_next[p] == UNBEGUN:
            first = 0.0 if demand.flows[p, EVEN] != 0 else wait_for_next(road, demand, seed, p, 0)
            state.pool_next[p] = demand.flows[p, BEGIN] + first
        while state.pool_next[p] <= time and state.pool_next[p] < demand.flows[p, UNTIL]:
            counts[ARRIVED] += 1
            state.pool_next[p] += wait_for_next(road, demand, seed, p, counts[ARRIVED])
        if counts[ARRIVED] == counts[APPEARED] or (pools > 1 and used[demand.pool_rows[p, ORIGIN]]):
            continue
        i = demand.pool_rows[p, FIRST_CAR]
        while i <= demand.pool_rows[p, LAST_CAR] and state.intent[i, PHASE] != ABSENT:
            i += 1
        if i > demand.pool_rows[p, LAST_CAR]:
            continue
        state.intent[i, SERIAL] = cars + counts[APPEARED] * pools + p
        if memo[i, 0] != state.intent[i, SERIAL] or memo[i, 1] != seed:
            draw_driver(road, demand, seed, state.intent, drawn, memo, i, words, normal)
        find_ways(base, around, sides, work, destination_of(road, state.intent, drawn, i))
        values, length = drawn[i], road.car_sizes[i, CAR_LENGTH]
        lanelet, station = demand.pool_rows[p, ORIGIN], demand.flows[p, ORIGIN_STATION]
        own = values[FACTOR] * road.lanelets[lanelet, LIMIT] if values[OWN_SPEED] < 0.0 else values[OWN_SPEED]
        gap, leader, blocked = math.inf, 0.0, False
        for at in range(entries.first[lanelet], entries.first[lanelet + 1]):
            e = entries.order[at]
            if entries.stands[e, SPOT] >= station:
                gap, leader = entries.stands[e, SPOT] - station - length, entries.stands[e, PACE]
                break
            front = entries.stands[e, SPOT] + entries.stands[e, EXTENT]
            blocked = front + values[LEAST] + max(entries.stands[e, PACE], 0.0) * BEHIND > station
        for k in range(demand.before_offsets[p], demand.before_offsets[p + 1]):
            blocked = blocked or comes_in(road, entries, demand.befores[k], station, values[LEAST])
        ahead = station + length
        if gap == math.inf and entries.first[lanelet + 1] > 0 and road.lanelets[lanelet, LENGTH] < ahead + 50.0:
            beyond = road.lanelets[lanelet, LENGTH]
            next_one, _ = following(
                road,
                seed,
                i,
                state.intent[i, SERIAL],
                destination_of(road, state.intent, drawn, i),
                lanelet,
                0,
            )
            if next_one >= 0 and entries.first[next_one] < entries.first[next_one + 1]:
                e = entries.order[entries.first[next_one]]
                gap, leader = beyond + entries.stands[e, SPOT] - ahead, entries.stands[e, PACE]
        speed = own
        if gap < math.inf:
            keeps = max(leader, 0.0)
            free = gap - values[LEAST] - keeps * values[HEADWAY]
            speed = min(own, keeps + math.sqrt(2.0 * values[COMFORTABLE] * free)) if free > 0.0 else -1.0
        if speed > 0.0:
            speed = min(speed, stopping_speed(road, seed, state, drawn, occupied, i, lanelet, station + length))
        if blocked or speed < 0.0 or (gap < math.inf and speed < 0.3 * own and gap < 2.0 * length):
            continue
        counts[APPEARED] += 1
        if pools > 1:
            used[lanelet] = True
        travel, intent = state.travel[i], state.intent[i]
        for k in range(travel.shape[0]):
            travel[k] = 0.0
        travel[STATION], travel[SPEED] = station, speed
        intent[LANELET], intent[GOAL], intent[CLAIM], intent[PHASE] = lanelet, 0, 0, DRIVING
        destination = destination_of(road, state.intent, drawn, i)
        intent[NEXT], _ = following(road, seed, i, intent[SERIAL], destination, lanelet, 0)


@inner
def leave(road, state, i):
    """Take a car of a pool off the road."""
    body = road.car_rows[i, BODY]
    for k in range(state.travel.shape[1]):
        state.travel[i, k] = 0.0
    state.intent[i, PHASE], state.intent[i, CLAIM] = ABSENT, 0
    state.position[body, 2] = PARKED_HEIGHT  # where it left, so that what shows all bodies shows the road
    for k in range(3):
        state.velocity[body, k], state.angular_velocity[body, k] = 0.0, 0.0
    if road.car_rows[i, POOL] >= 0:
        state.pool_counts[road.car_rows[i, POOL], LEFT] += 1
