"""Driving of cars in zones: between road and zone, and along their ways up to what others have still to cover."""

from __future__ import annotations

import numpy as np

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inner
from cbsim.traffic.kernels.drivers import DESTINATION, ROUTES, pick, uniform, word_of
from cbsim.traffic.kernels.orders import limit_by_order
from cbsim.traffic.kernels.ways.way import destination_of, following
from cbsim.traffic.kernels.zones.zone_ways import (
    EVERY,
    end_of,
    first_taken,
    sample_before,
    zone_of,
)
from cbsim.world.traffic.tables import (
    ABSENT,
    ACCELERATION,
    CLAIM,
    DRIVING,
    FIRST_GOAL,
    GOAL,
    HIT,
    LANELET,
    LAST_GOAL,
    NEXT,
    PARKING,
    PAUSING,
    PHASE,
    POOL,
    REAR_AXLE,
    SERIAL,
    SPEED,
    STATION,
    WAITING,
)
from cbsim.world.traffic.zones.tables import (
    AHEAD,
    APRON,
    BACK_LENGTH,
    FIRST_THEN,
    GATE,
    HAS_PARKED,
    IN_ZONE,
    LAST_THEN,
    MOST_TAIL,
    SINCE,
    SQUARE,
    TICKET,
    WAY,
)

__all__ = ["advance_in_zone", "change_state", "next_destination", "set_destinations", "then_of"]

FASTER, EASY, HARDEST = 1.2, 1.5, 4.0  # [m/s²] of acceleration, of braking, and of braking for what appears
AFTER_A_HIT = 6.0  # [m/s²]
BEFORE = 0.3  # [m] before a cell that is taken at which a car stops
RESTS, ARRIVED = 0.1, 0.03  # [m/s], [m]
SPARE = 1.0  # [m] by which aprons are longer than the longest car
THEN = np.int64(1 << 41)  # block of the random numbers that choose where to go after parking


@inner
def then_of(road, zones, seed, intent, i):
    """Destination of a car of a pool after it has parked, -1 to wander."""
    pool = road.car_rows[i, POOL]
    first, last = zones.pool_rows[pool, FIRST_THEN], zones.pool_rows[pool, LAST_THEN] + 1
    if last <= first:
        return -1
    word = word_of(road.words, pool, i)
    return int(zones.thens[pick(zones.thens, first, last, uniform(seed, ROUTES, word, intent[i, SERIAL], THEN)), 0])


@inner
def set_destinations(road, zones, seed, state, drawn, memo):
    """Note where those go who have parked; `drawn` may be that of another state."""
    for i in range(state.intent.shape[0]):
        pool = road.car_rows[i, POOL]
        if pool >= 0 and state.parking[i, HAS_PARKED] != 0:
            drawn[i, DESTINATION] = then_of(road, zones, seed, state.intent, i)
            memo[i, 0] = -1  # the next call draws it anew


@inner
def pause_of(road, zones, intent, i):
    """For how long a car parks [s]."""
    pool = road.car_rows[i, POOL]
    if pool >= 0:
        return zones.pauses[pool]
    row = road.car_rows[i, FIRST_GOAL] + intent[i, GOAL]
    return road.goals[row, 1] if row < road.car_rows[i, LAST_GOAL] else math.inf


@inner
def next_destination(road, zones, seed, intent, i):
    """Where a car goes that leaves its spot: -1 to wander."""
    if road.car_rows[i, POOL] >= 0:
        return then_of(road, zones, seed, intent, i)
    return int(road.goals[road.car_rows[i, FIRST_GOAL] + intent[i, GOAL] + 1, 0])


@inner
def change_state(road, zones, state, i, dt, time):
    """Let a car pass between road and zone, and let one that has parked for long enough ask for a way out."""
    parking, travel, intent = state.parking[i], state.travel[i], state.intent[i]
    if intent[PHASE] == ABSENT:
        parking[WAY], parking[TICKET], parking[SINCE], parking[HAS_PARKED] = -1, 0, -1, 0
        return
    way = parking[WAY]
    if way < 0:
        return
    zone, apron = zone_of(zones, way), zones.ways[way, APRON]
    if intent[LANELET] == IN_ZONE:
        if intent[PHASE] == PAUSING and parking[TICKET] == 0:
            travel[WAITING] += dt
            if parking[SINCE] < 0 and travel[WAITING] >= pause_of(road, zones, state.intent, i):
                parking[SINCE] = int(math.floor(time * 1000.0 + 0.5))
        return
    # on its way out, which it has left once it is beyond the apron
    if apron >= 0:
        if intent[LANELET] != apron:
            parking[WAY], parking[TICKET], parking[SINCE] = -1, 0, -1
        return
    # on its way in, of which its rear axle has gone so far: it begins MOST_TAIL along the lanelet of the gate
    behind = travel[STATION] + road.car_sizes[i, REAR_AXLE] - zones.frames[zone, MOST_TAIL]
    for gate in range(zones.gates.shape[0]):
        if intent[LANELET] == zones.gates[gate, GATE] and behind >= 0.0 and intent[PHASE] != HIT:
            intent[LANELET], intent[NEXT], intent[CLAIM], intent[PHASE] = IN_ZONE, -1, 0, PARKING
            travel[STATION], travel[WAITING] = behind, 0.0
            return


@inner
def advance_in_zone(road, zones, seed, state, drawn, marks, i, dt):
    """Move a car with a ticket along its way, up to a cell that is taken, a change of gear, or its end."""
    parking, travel, intent = state.parking[i], state.travel[i], state.intent[i]
    way, station, speed = parking[WAY], travel[STATION], travel[SPEED]
    end, back = end_of(road, zones, way, i), zones.lengths[way, BACK_LENGTH]
    is_out = zones.ways[way, APRON] >= 0
    reach = station + 1.0 + 2.0 * speed * dt + 0.5 * speed * speed / EASY + 2.0
    taken = first_taken(zones, marks, way, station, reach, EVERY) - BEFORE
    # who drives out goes on over the end to the apron; a change of gear comes first
    rest = end + SPARE if is_out else end
    rest = min(rest, back) if station < back else rest
    k = sample_before(zones, way, station)
    here, there = zones.samples[k], zones.samples[k + 1]
    u = min(max((station - here[AHEAD]) / max(there[AHEAD] - here[AHEAD], 1e-9), 0.0), 1.0)
    # squares of speeds are linear between samples
    allowed = math.sqrt(here[SQUARE] + u * (there[SQUARE] - here[SQUARE]))
    left = max(min(rest, taken) - station, 0.0)
    aim = min(allowed, math.sqrt(EASY * EASY * dt * dt + 2.0 * EASY * left) - EASY * dt)
    chosen = min(max((aim - speed) / dt, -HARDEST), FASTER)
    chosen = -AFTER_A_HIT if intent[PHASE] == HIT else limit_by_order(state.order, state.travel, i, chosen, dt)
    after = max(speed + chosen * dt, 0.0)
    travel[ACCELERATION] = (after - speed) / dt
    step = 0.5 * (speed + after) * dt
    # it comes to rest exactly where it changes gear
    if station < back and station + step >= back - ARRIVED and intent[PHASE] != HIT:
        step, after = back - station, 0.0
    travel[STATION], travel[SPEED] = station + step, after
    travel[WAITING] = travel[WAITING] + dt if after < RESTS else 0.0
    if intent[PHASE] == HIT:
        return
    if not is_out:
        if end - travel[STATION] < ARRIVED:
            travel[STATION], travel[SPEED], travel[WAITING] = end, 0.0, 0.0
            intent[PHASE], parking[TICKET], parking[SINCE], parking[HAS_PARKED] = PAUSING, 0, -1, 1
    elif travel[STATION] >= end:
        frames = zones.frames[zone_of(zones, way)]
        intent[LANELET], intent[PHASE] = zones.ways[way, APRON], DRIVING
        # the apron is counted from the rear bumper, ways in zones from the rear axle
        travel[STATION] = travel[STATION] - end + frames[MOST_TAIL] - road.car_sizes[i, REAR_AXLE]
        if road.car_rows[i, POOL] < 0:
            intent[GOAL] += 1
        destination = destination_of(road, state.intent, drawn, i)
        intent[NEXT], _ = following(road, seed, i, intent[SERIAL], destination, intent[LANELET], intent[GOAL])
