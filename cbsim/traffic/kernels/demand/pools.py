"""Pools: cars of a flow appear where their leader leaves room, wait outside where it does not, and leave at the end."""

from __future__ import annotations

import numpy as np

from cbsim.geometry.kernels import elementary as math
from cbsim.geometry.kernels.rotation import heading_of
from cbsim.jit import inner
from cbsim.traffic.kernels.branches import branch_of_arrival, numbered, serial_of
from cbsim.traffic.kernels.drivers import ARRIVALS, COMFORTABLE, FACTOR, HEADWAY, LEAST, draw_driver, uniform
from cbsim.traffic.kernels.drivers import SPEED as OWN_SPEED
from cbsim.traffic.kernels.lanes.merging import accelerate_behind
from cbsim.traffic.kernels.look import leaders_on, not_passed
from cbsim.traffic.kernels.turning_round.closures import find_ways
from cbsim.traffic.kernels.turning_round.ground import reach_along
from cbsim.traffic.kernels.ways.centreline import on_lanelet
from cbsim.traffic.kernels.ways.way import destination_of, following
from cbsim.traffic.kernels.workspace import EXTENT, PACE, SPOT
from cbsim.world.kernels import branch_at
from cbsim.world.traffic.tables import (
    ABSENT,
    BEGIN,
    BODY,
    CAR_LENGTH,
    CLAIM,
    DRIVING,
    ENTRY,
    ENTRY_END,
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
HARDEST = 3.0  # [m/s²] with which a car may have to brake when it appears
TRIES, SLOWER = 8, 0.8  # speeds that are tried, each so much slower than the one before
BEHIND = 2.0  # [s] that who comes from behind has at least
HALF_WIDTH = 1.1  # [m] of a car, and a little more


@inner
def wait_for_next(road, demand, seed, p, number):
    """Time between arrival `number` of a flow and the one before it [s]."""
    rate = demand.flows[p, RATE]
    if demand.flows[p, EVEN] != 0:
        return 1.0 / rate
    drawn = uniform(seed, ARRIVALS, road.words[p], number, 0)
    # exponential: arrivals are a Poisson process
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
def is_ground_taken(road, state, lanelet, station, length):
    """Whether a car would appear where another one is, or comes within 2 s if it goes straight on.

    Lanes that begin side by side, or where others turn, need not have a conflict.
    """
    ax, ay = on_lanelet(road, lanelet, station)
    bx, by = on_lanelet(road, lanelet, station + length)
    size = max(math.hypot(bx - ax, by - ay), 1e-9)
    ux, uy, px, py = (bx - ax) / size, (by - ay) / size, 0.5 * (ax + bx), 0.5 * (ay + by)
    for j in range(state.intent.shape[0]):
        body, other, ahead = road.car_rows[j, BODY], road.car_sizes[j, CAR_LENGTH], state.travel[j, SPEED] * BEHIND
        x, y = state.position[body, 0] - px, state.position[body, 1] - py
        far = 0.5 * (length + other) + ahead + 2.0 * HALF_WIDTH
        if state.intent[j, PHASE] == ABSENT or x * x + y * y > far * far:
            continue
        heading = heading_of(state.orientation[body])
        vx, vy = -math.sin(heading), math.cos(heading)
        x, y, apart = x + 0.5 * ahead * vx, y + 0.5 * ahead * vy, False
        mine, theirs = 0.5 * length, 0.5 * (other + ahead)
        for axis in range(4):  # two rectangles are apart along a side of one of them
            ex, ey = (ux, uy) if axis == 0 else (-uy, ux) if axis == 1 else (vx, vy) if axis == 2 else (-vy, vx)
            reach = reach_along(ex, ey, -uy, ux, HALF_WIDTH, ux, uy, mine)
            reach += reach_along(ex, ey, -vy, vx, HALF_WIDTH, vx, vy, theirs)
            apart = apart or abs(x * ex + y * ey) > reach
        if not apart:
            return True
    return False


@inner
def see_ahead(road, crossings, occupied, seed, entries, i, serial, destination, lanelet, station, length, reach):
    """Find the leader of a car that appears at a station, and where the car may have to stop.

    Parameters
    ----------
    reach : float
        Distance ahead of its rear that is looked at [m].

    Returns
    -------
    gap, leader, stop : float
        [m], [m/s], [m]
    """
    base, forks, gap, leader, stop = -station, 0, math.inf, 0.0, math.inf
    while base < reach and gap == math.inf:
        end, at = base + road.lanelets[lanelet, LENGTH], not_passed(entries, lanelet, -1, 0.0, length, base)
        gap, leader, beside, pace = leaders_on(road, crossings, entries, lanelet, at, base, length)
        if beside < gap:
            gap, leader = beside, pace
        # the first conflict area that begins ahead of its front
        for e in range(road.links[lanelet, ENTRY], road.links[lanelet, ENTRY_END]):
            if base + crossings.entry_spans[e, 0] > length:
                stop = min(stop, base + crossings.entry_spans[e, 0] - length)
                break
        # the first crosswalk that somebody is on
        if lanelet < occupied.shape[0] and base + occupied[lanelet] > length:
            stop = min(stop, base + occupied[lanelet] - length)
        if road.links[lanelet, STOP_LINE] != 0 and end > length:
            stop = min(stop, end - length)
        lanelet, forks = following(road, seed, i, serial, destination, lanelet, forks)
        if lanelet < 0:
            break
        base = end
    return gap, leader, stop


@inner
def speed_to_appear(values, own, gap, leader, stop, dt):
    """Speed at which a car may appear, so that it need not brake hard; -1 for none [m/s]."""
    speed = min(own, math.sqrt(2.0 * values[COMFORTABLE] * stop)) if stop < math.inf else own
    if gap == math.inf:
        return speed
    keeps = max(leader, 0.0)
    free = gap - values[LEAST] - keeps * values[HEADWAY]
    if free <= 0.0:
        return -1.0
    # the speed from which it can brake comfortably to that of the leader in the free gap
    speed = min(speed, keeps + math.sqrt(2.0 * values[COMFORTABLE] * free))
    for _ in range(TRIES):
        if accelerate_behind(values, speed, own, gap, leader, False, dt) >= -HARDEST:
            return speed
        speed *= SLOWER
    return -1.0


@inner
def appear(road, network, crossings, demand, seed, state, work, occupied, time, dt):
    """Count the arrivals up to a time [s], and let one car of each flow appear where there is room."""
    drawn, memo, entries, (base, around, sides) = work.drawn, work.memo, work.entries, network
    words, normal = np.empty(4, np.uint64), np.empty(8)
    cars, pools = state.intent.shape[0], demand.flows.shape[0]
    branch = branch_at(state.fork, state.clock[0] - 1)
    used = np.zeros(road.lanelets.shape[0] if pools > 1 else 0, np.bool_)  # a car appeared there in this step
    for p in range(pools):
        if demand.flows[p, RATE] <= 0.0:
            continue
        counts = state.pool_counts[p]
        # the first arrival: at once for even ones, else after a random time
        if state.pool_next[p] == UNBEGUN:
            first = 0.0 if demand.flows[p, EVEN] != 0 else wait_for_next(road, demand, seed, p, numbered(0, branch))
            state.pool_next[p] = demand.flows[p, BEGIN] + first
        while state.pool_next[p] <= time and state.pool_next[p] < demand.flows[p, UNTIL]:
            counts[ARRIVED] += 1
            state.pool_next[p] += wait_for_next(road, demand, seed, p, numbered(counts[ARRIVED], branch))
        if counts[ARRIVED] == counts[APPEARED] or (pools > 1 and used[demand.pool_rows[p, ORIGIN]]):
            continue
        i = demand.pool_rows[p, FIRST_CAR]
        while i <= demand.pool_rows[p, LAST_CAR] and state.intent[i, PHASE] != ABSENT:
            i += 1
        if i > demand.pool_rows[p, LAST_CAR]:
            continue
        born = branch_of_arrival(state.held, cars + p, counts[APPEARED], branch)
        # serials of all pools alternate, after those of cars that are there from the begin
        state.intent[i, SERIAL] = serial_of(cars + counts[APPEARED] * pools + p, born)
        if memo[i, 0] != state.intent[i, SERIAL] or memo[i, 1] != seed:
            draw_driver(road, demand, seed, state.intent, drawn, memo, i, words, normal)
        destination = destination_of(road, state.intent, drawn, i)
        find_ways(base, around, sides, work, destination)
        values, length = drawn[i], road.car_sizes[i, CAR_LENGTH]
        lanelet, station = demand.pool_rows[p, ORIGIN], demand.flows[p, ORIGIN_STATION]
        own = values[FACTOR] * road.lanelets[lanelet, LIMIT] if values[OWN_SPEED] < 0.0 else values[OWN_SPEED]
        blocked = False
        # the last one behind the place decides
        for at in range(entries.first[lanelet], entries.first[lanelet + 1]):
            e = entries.order[at]
            if entries.stands[e, SPOT] >= station:
                break
            front = entries.stands[e, SPOT] + entries.stands[e, EXTENT]
            blocked = front + values[LEAST] + max(entries.stands[e, PACE], 0.0) * BEHIND > station
        for k in range(demand.before_offsets[p], demand.before_offsets[p + 1]):
            blocked = blocked or comes_in(road, entries, demand.befores[k], station, values[LEAST])
        if blocked:
            continue
        gap, leader, stop = see_ahead(
            *(
                road,
                crossings,
                occupied,
                seed,
                entries,
                i,
                state.intent[i, SERIAL],
                destination,
                lanelet,
                station,
                length,
            ),
            # as far as `look` sees
            station + length + 20.0 + own * (4.0 + 0.5 * own),
        )
        speed = speed_to_appear(values, own, gap, leader, stop, dt)
        if speed < 0.0 or (gap < math.inf and speed < 0.3 * own and gap < 2.0 * length):
            continue
        if is_ground_taken(road, state, lanelet, station, length):
            continue
        counts[APPEARED] += 1
        if state.held.shape[0] > 0:
            state.held[i, 0], state.held[i, 1] = 0, 0
        if pools > 1:
            used[lanelet] = True
        travel, intent = state.travel[i], state.intent[i]
        for k in range(travel.shape[0]):
            travel[k] = 0.0
        travel[STATION], travel[SPEED] = station, speed
        intent[LANELET], intent[GOAL], intent[CLAIM], intent[PHASE] = lanelet, 0, 0, DRIVING
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
