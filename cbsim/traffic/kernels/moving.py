"""Moving of a reactive car by its acceleration: along its way, over stop lines, to its goals, and off the road."""

from __future__ import annotations

from cbsim.jit import inlined, inner
from cbsim.traffic.kernels.demand.pools import leave
from cbsim.traffic.kernels.look import BEYOND, LINE, PASSED, STOP, WAY_END
from cbsim.traffic.kernels.ways.sideways import advance_shift, is_aside, return_from_pass
from cbsim.traffic.kernels.ways.way import destination_of, following, next_on_way
from cbsim.world.traffic.tables import (
    ACCELERATION,
    ARRIVAL,
    CAR_LENGTH,
    CLAIM,
    CROSSING,
    DRIVING,
    FIRST_GOAL,
    GOAL,
    LANELET,
    LAST_GOAL,
    LENGTH,
    NEXT,
    PAUSING,
    PHASE,
    ROLLING,
    SERIAL,
    SPEED,
    STATION,
    STOP_LINE,
    STOPPED,
    VEHICLE,
    WAITING,
)

__all__ = ["move"]

RESTS = 0.1  # [m/s]
AT_LINE = 1.0  # [m] before a stop line in which a car has arrived


@inlined
def move(road, crossings, seed, state, drawn, plan, ways, destinations, i, time, dt):
    """Move a car along its way by the ballistic update: it stops within the step, and never goes backwards."""
    travel, intent = state.travel[i], state.intent[i]
    phase = intent[PHASE]
    speed, acceleration = travel[SPEED], travel[ACCELERATION]
    # the ballistic update of docs/theory/car_following.md §5
    after = speed + acceleration * dt
    if after < 0.0:
        way, after = 0.5 * speed * speed / -acceleration if acceleration < 0.0 else 0.0, 0.0
    else:
        way = 0.5 * (speed + after) * dt
    travel[SPEED] = after
    travel[WAITING] = travel[WAITING] + dt if after < RESTS or phase == ROLLING else 0.0
    if phase == DRIVING and after < RESTS and plan[LINE] - way < AT_LINE and plan[LINE] - way > -AT_LINE:
        intent[PHASE], travel[ARRIVAL], travel[SPEED], travel[WAITING] = STOPPED, time + dt, 0.0, 0.0
    elif (
        phase == CROSSING
        and way > 0.0
        and not line_ahead(road, seed, state.travel, state.intent, ways, i, destinations[i], way)
    ):
        intent[PHASE] = DRIVING
    elif phase == PAUSING and travel[WAITING] >= road.goals[road.car_rows[i, FIRST_GOAL] + intent[GOAL], 1]:
        intent[PHASE] = DRIVING
        reach_goal(road, seed, state.intent, drawn, destinations, i)
        if intent[PHASE] == DRIVING and plan[LINE] < AT_LINE and plan[LINE] > -AT_LINE:  # it has arrived already
            intent[PHASE], travel[ARRIVAL] = STOPPED, time + dt - travel[WAITING]
    travel[STATION] += way
    if is_aside(travel):
        advance_shift(travel, road.car_sizes[i], way)
        return_from_pass(travel)
    # on to the next lanelets; a claim ends with the lanelet of its last conflict
    while travel[STATION] > road.lanelets[intent[LANELET], LENGTH] and intent[NEXT] >= 0:
        lanelet = intent[LANELET]
        if intent[CLAIM] > 0 and crossings.entry_lanelets[intent[CLAIM] - 1] == lanelet:
            intent[CLAIM] = 0
        travel[STATION] -= road.lanelets[lanelet, LENGTH]
        _, forks = following(road, seed, i, intent[SERIAL], destinations[i], lanelet, intent[GOAL])
        intent[GOAL], intent[LANELET] = forks, intent[NEXT]
        intent[NEXT], _ = following(road, seed, i, intent[SERIAL], destinations[i], intent[LANELET], forks)
    if intent[CLAIM] > 0:
        e = intent[CLAIM] - 1
        if crossings.entry_lanelets[e] == intent[LANELET] and travel[STATION] > crossings.entry_spans[e, 1]:
            intent[CLAIM] = 0
    if plan[WAY_END] - way <= 0.0 and road.car_rows[i, FIRST_GOAL] < 0 and road.car_rows[i, VEHICLE] < 0:
        leave(road, state, i)
        return
    if road.car_rows[i, FIRST_GOAL] >= 0 and destinations[i] >= 0 and phase in (DRIVING, CROSSING, ROLLING):
        ahead = plan[WAY_END] - way
        # a goal with a pause is a stop as well
        if plan[WAY_END] == plan[STOP]:
            if ahead < AT_LINE and after < RESTS:
                intent[PHASE], travel[WAITING] = PAUSING, 0.0
        elif ahead <= 0.0:
            reach_goal(road, seed, state.intent, drawn, destinations, i)


@inner
def reach_goal(road, seed, intents, drawn, destinations, i):
    """Go on to the next goal, if there is one; else stay."""
    intent = intents[i]
    if road.car_rows[i, FIRST_GOAL] + intent[GOAL] < road.car_rows[i, LAST_GOAL]:
        intent[GOAL] += 1
        destinations[i] = destination_of(road, intents, drawn, i)
        intent[NEXT], _ = following(road, seed, i, intent[SERIAL], destinations[i], intent[LANELET], 0)
    else:
        intent[PHASE] = PAUSING


@inner
def line_ahead(road, seed, travel, intent, ways, i, destination, way):
    """Whether the stop line that a car has been let over is still ahead of its front when it has gone a way [m]."""
    length = road.car_sizes[i, CAR_LENGTH] + way - PASSED
    lanelet, base, k, forks = intent[i, LANELET], -travel[i, STATION], 0, ways.forks[i]
    while base < length + BEYOND:
        base += road.lanelets[lanelet, LENGTH]
        if road.links[lanelet, STOP_LINE] != 0 and base > length:
            return base < length + BEYOND
        lanelet, forks = next_on_way(road, seed, intent, ways, i, destination, lanelet, k, forks)
        k += 1
        if lanelet < 0:
            return False
    return False
