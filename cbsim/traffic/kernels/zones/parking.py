"""Reactive cars in zones: to a free spot, and out of it in reverse, along ways laid when the World is made.

Who may drive in a zone has a ticket. It drives up to the first cell that a car with an earlier ticket has still to
cover, so that nobody waits for a later one, and somebody can always go on. Who comes in waits outside till its whole
way is free of all but those who have come in before it, and till these have left the way in; so it never has to wait
with its rear on the road.
"""

from __future__ import annotations

import numpy as np

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined, inner
from cbsim.traffic.kernels.drivers import COMFORTABLE, DESTINATION
from cbsim.traffic.kernels.look import BEFORE_LINE, CHAIN, CHAIN_END, GAP, PASSED, STOP, WAY_END
from cbsim.traffic.kernels.turning_round.closures import find_ways
from cbsim.traffic.kernels.zones.zone_driving import advance_in_zone, change_state, next_destination
from cbsim.traffic.kernels.zones.zone_ways import (
    ENTERING,
    FIXED,
    TAKEN,
    begin_of,
    first_taken,
    is_in_zone,
    mark,
    mark_body,
    sort_cars,
    stand_on_way,
    take_way,
    zone_of,
)
from cbsim.world.traffic.tables import (
    BODY,
    CAR_LENGTH,
    HIT,
    LENGTH,
    PARKING,
    PHASE,
    POOL,
    SPEED,
    STATION,
    WAITING,
)
from cbsim.world.traffic.zones.tables import (
    APRON,
    APRON_LENGTH,
    BACK_LENGTH,
    COLUMNS,
    ENTRY_GATE,
    FIRST_SPOT,
    FIRST_SPOT_CELL,
    GATE,
    LAST_SPOT,
    LAST_SPOT_CELL,
    MOUTH,
    PREFERRED,
    ROWS,
    SINCE,
    SPOT,
    TICKET,
    WAY,
    WAY_LENGTH,
    ZONE,
)

__all__ = ["drive_in_zones", "scratch_of_zones", "wait_outside"]

ASKS = 5.0  # [m] more than comfortable braking takes within which a car asks for a way in
PATIENCE = 20_000  # [ms] of waiting after which those who asked later are not let in before


@inlined
def wait_outside(road, zones, parking, travel, plan, values, i, destination, dt, time):
    """Let a car stop outside of the zone that it goes to, and ask for a way in; whether it has to stay there."""
    gate = zones.goals[destination, ENTRY_GATE] if destination >= 0 else -1
    if gate < 0 or parking[i, WAY] >= 0 or plan[WAY_END] == math.inf:
        return False
    apron, mouth = zones.gates[gate, GATE], zones.gates[gate, MOUTH]
    # before the mouth of the zone, so that the mouth stays free; if that is passed, before the apron
    inside = plan[WAY_END] - road.lanelets[apron, LENGTH]
    stop = inside - road.lanelets[mouth, LENGTH]
    if stop < -PASSED:
        stop = inside
    # not within the conflicts ahead: it waits before them
    if plan[CHAIN] < stop < plan[CHAIN_END] - road.car_sizes[i, CAR_LENGTH]:
        stop = plan[CHAIN]
    plan[STOP] = min(plan[STOP], stop - BEFORE_LINE)
    speed = travel[i, SPEED]
    # comfortable braking, what it drives in two steps, and `ASKS`
    near = stop < 0.5 * speed * speed / values[COMFORTABLE] + 2.0 * speed * dt + ASKS
    # nobody stands between it and its stop
    if near and plan[GAP] > stop and parking[i, SINCE] < 0:
        parking[i, SINCE] = int(math.floor(time * 1000.0 + 0.5))
    return stop <= plan[CHAIN]


@inner
def let_out(road, zones, seed, state, marks, i):
    """Way out of its spot for a parked car; -1 for none, -2 while others have still to cover the begin of it."""
    spot = zones.ways[state.parking[i, WAY], SPOT]
    destination, spots = next_destination(road, zones, seed, state.intent, i), zones.spots.shape[0]
    row = destination if destination >= 0 else zones.goals.shape[0]
    way = zones.outs[row * spots + spot]
    if way < 0:
        return -1
    begin, back = begin_of(road, zones, spot, i), zones.lengths[way, BACK_LENGTH]
    if first_taken(zones, marks, way, begin, math.inf, FIXED) < math.inf:
        return -1
    return way if first_taken(zones, marks, way, begin, back, TAKEN | ENTERING) == math.inf else -2


@inner
def let_in(zones, marks, is_taken, destination):
    """Way into a free spot, from the preferred one on; -1 for none, -2 while the way is taken."""
    gate, preferred = zones.goals[destination, ENTRY_GATE], zones.goals[destination, PREFERRED]
    zone, spots = zones.spots[preferred, ZONE], zones.spots.shape[0]
    first, count = zones.areas[zone, FIRST_SPOT], zones.areas[zone, LAST_SPOT] - zones.areas[zone, FIRST_SPOT]
    # spots from the preferred one on, round the zone; those whose way is blocked for good are left out
    for n in range(count):
        spot = first + (preferred - first + n) % count
        way = zones.ins[gate * spots + spot]
        if is_taken[spot] or way < 0 or first_taken(zones, marks, way, -math.inf, math.inf, FIXED) < math.inf:
            continue
        inside = zones.frames[zone, APRON_LENGTH]
        is_free = first_taken(zones, marks, way, -math.inf, math.inf, TAKEN) == math.inf
        return way if is_free and first_taken(zones, marks, way, -math.inf, inside, ENTERING) == math.inf else -2
    return -1


@inlined
def scratch_of_zones(shapes, road, zones, cars):
    """Scratch of `drive_in_zones`, empty where no car may come to a zone."""
    cells, bodies = 0, shapes.kind.shape[0] if cars > 0 else 0
    for zone in range(zones.areas.shape[0] if cars > 0 else 0):
        cells += zones.areas[zone, COLUMNS] * zones.areas[zone, ROWS]
    marks, is_taken = np.zeros(cells, np.uint8), np.zeros(zones.spots.shape[0], np.bool_)
    is_car = np.zeros(bodies, np.bool_)
    for i in range(cars):
        is_car[road.car_rows[i, BODY]] = True
    return marks, is_taken, np.empty(cars, np.int64), is_car, np.empty(zones.areas.shape[0], np.bool_)


@inner
def drive_in_zones(shapes, road, network, zones, seed, state, work, scratch, time, dt):
    """Move all cars in zones, and let others in and out.

    Parameters
    ----------
    network : tuple
        `Road`, `Surroundings` and `Sides` of the World.
    scratch : tuple of ndarray
        Bits of cells (cells,), in which spots somebody stands or to which it is on the way (spots,), and the order of
        cars (cars,); which bodies are reactive cars (bodies,); zones that nobody has asked for in vain for long
        (zones,).
    """
    marks, is_taken, order, is_car, is_open = scratch
    parking, travel, intent, drawn = state.parking, state.travel, state.intent, work.drawn
    driving, asking = 0, 0
    for i in range(intent.shape[0]):
        change_state(road, zones, state, i, dt, time)
        driving += parking[i, TICKET] > 0
        asking += parking[i, SINCE] >= 0 and parking[i, TICKET] == 0
    if driving == 0 and asking == 0:
        return
    for k in range(marks.shape[0]):
        marks[k] = 0
    for spot in range(is_taken.shape[0]):
        is_taken[spot] = False
    latest = 0
    for body in range(shapes.kind.shape[0]):
        if not is_car[body]:
            mark_body(zones, shapes, state, body, marks)
    for i in range(intent.shape[0]):
        way = parking[i, WAY]
        latest = max(latest, parking[i, TICKET])
        if way < 0:
            continue
        spot = zones.ways[way, SPOT]
        if parking[i, TICKET] == 0:
            mark(marks, zones.spot_cells, zones.spots[spot, FIRST_SPOT_CELL], zones.spots[spot, LAST_SPOT_CELL], FIXED)
            is_taken[spot] = True
            continue
        # who is on its way in has its spot already
        is_taken[spot] = is_taken[spot] or zones.ways[way, APRON] < 0
        if intent[i, PHASE] == HIT and is_in_zone(intent, i):
            stand_on_way(zones, marks, way, travel[i, STATION])
    # tickets in turn: each car moves with the cells of earlier tickets marked, and then marks its own
    size = sort_cars(parking, TICKET, order)
    for n in range(size):
        i = order[n]
        way, begin, bit = parking[i, WAY], -math.inf, TAKEN
        if is_in_zone(intent, i):
            begin = travel[i, STATION]
            bit = ENTERING if zones.ways[way, APRON] < 0 else TAKEN
            advance_in_zone(road, zones, seed, state, drawn, marks, i, dt)
        elif zones.ways[way, APRON] >= 0:
            begin = zones.lengths[way, WAY_LENGTH] + travel[i, STATION]
        if intent[i, PHASE] != HIT:
            take_way(zones, marks, way, begin, bit)
    # then those who ask, in the order in which they began to
    size = sort_cars(parking, SINCE, order)
    now = int(math.floor(time * 1000.0 + 0.5))
    for zone in range(is_open.shape[0]):
        is_open[zone] = True
    for n in range(size):
        i = order[n]
        if parking[i, TICKET] > 0 or intent[i, PHASE] == HIT:
            continue
        if is_in_zone(intent, i):
            zone, way = zone_of(zones, parking[i, WAY]), -2
            if is_open[zone]:
                way = let_out(road, zones, seed, state, marks, i)
            if way >= 0:
                latest += 1
                parking[i, WAY], parking[i, TICKET], intent[i, PHASE] = way, latest, PARKING
                travel[i, STATION] = begin_of(road, zones, zones.ways[way, SPOT], i)
                travel[i, WAITING] = 0.0
                take_way(zones, marks, way, travel[i, STATION], TAKEN)
                destination = next_destination(road, zones, seed, intent, i)
                if road.car_rows[i, POOL] >= 0:
                    drawn[i, DESTINATION], work.memo[i, 0] = destination, -1
                find_ways(*network, work, destination)
        else:
            destination = work.destinations[i]
            zone, way = zones.spots[zones.goals[destination, PREFERRED], ZONE], -2
            if is_open[zone]:
                way = let_in(zones, marks, is_taken, destination)
            if way >= 0:
                latest += 1
                parking[i, WAY], parking[i, TICKET] = way, latest
                is_taken[zones.ways[way, SPOT]] = True
                take_way(zones, marks, way, -math.inf, TAKEN)
        # who has waited for long keeps all later ones out
        if way < 0 and way != -1 and now - parking[i, SINCE] > PATIENCE:
            is_open[zone] = False
