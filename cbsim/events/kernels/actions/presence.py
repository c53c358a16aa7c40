"""Actions `appear`, `leave` and `block`: objects come and go, or are put in the way."""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inner
from cbsim.traffic.kernels.demand.pools import leave
from cbsim.world.events.tables import (
    ANY_LANE,
    CAR_LANE,
    CAR_LINK,
    CAR_ORDER,
    CAR_RATE,
    CLASS,
    DELAY,
    GUIDED,
    IS_ABSENT,
    IS_ON_ITS_WAY,
    IS_PLACED,
    LANELET,
    LINK,
    OFFSET,
    ORDER,
    ORDER_RATE,
    PACE,
    PLACE_X,
    PLACE_Y,
    PRESENCE,
    SEGMENT,
    STATION,
    TARGET,
    TURN,
)
from cbsim.world.traffic.tables import ABSENT, CLAIM, DRIVING, GOAL, NEXT, PARKED_HEIGHT, PHASE, UNKNOWN
from cbsim.world.traffic.tables import LANELET as CAR_LANELET
from cbsim.world.traffic.tables import OFFSET as CAR_OFFSET
from cbsim.world.traffic.tables import STATION as CAR_STATION
from cbsim.world.traffic.zones.tables import HAS_PARKED, SINCE, TICKET, WAY

__all__ = ["appear", "block", "take_away"]


@inner
def appear(tables, constants, state, a, time):
    """Let the object of action a appear at its start; a guided body sets off on its trajectory at a time [s]."""
    target = tables.actions[a, TARGET]
    if tables.actions[a, CLASS] == GUIDED:
        row, body, first = state.guided[target], constants.guided_body[target], constants.guided_first[target]
        if row[PRESENCE] != IS_ABSENT:
            return
        row[PRESENCE], row[DELAY], row[PACE], row[SEGMENT] = IS_ON_ITS_WAY, time, 0.0, first
        for k in range(3):
            state.position[body, k] = constants.segment_origin[first, k]
        for k in range(4):
            state.orientation[body, k] = constants.segment_orientation[first, k]
        return
    intent, travel = state.intent[target], state.travel[target]
    if intent[PHASE] != ABSENT:
        return
    for k in range(travel.shape[0]):
        travel[k] = 0.0
    # a car starts as one that has just appeared: no way chosen, no claim
    travel[CAR_STATION], travel[CAR_OFFSET] = tables.action_values[a, STATION], tables.action_values[a, OFFSET]
    intent[CAR_LANELET], intent[NEXT], intent[GOAL] = tables.actions[a, LANELET], UNKNOWN, 0
    intent[CLAIM], intent[PHASE] = 0, DRIVING


@inner
def block(tables, constants, state, a):
    """Put the object of action a in its place, where it stays."""
    target, values = tables.actions[a, TARGET], tables.action_values
    row, body = state.guided[target], constants.guided_body[target]
    row[PRESENCE], row[PACE] = IS_PLACED, 0.0
    state.position[body, 0], state.position[body, 1] = values[a, PLACE_X], values[a, PLACE_Y]
    state.position[body, 2] = constants.segment_origin[constants.guided_first[target], 2]
    half = 0.5 * values[a, TURN]
    turn = state.orientation[body]
    turn[0], turn[1], turn[2], turn[3] = math.cos(half), 0.0, 0.0, math.sin(half)


@inner
def take_away(tables, constants, road, state, a):
    """Take the object of action a away."""
    target = tables.actions[a, TARGET]
    if tables.actions[a, CLASS] != GUIDED:
        if state.intent[target, PHASE] != ABSENT:
            leave(road, state, target)
        if state.order.shape[0] > 0:
            order = state.order[target]
            order[CAR_ORDER], order[CAR_RATE], order[CAR_LINK], order[CAR_LANE] = -1.0, 0.0, -1.0, ANY_LANE
        if state.parking.shape[0] > 0:
            row = state.parking[target]
            row[WAY], row[TICKET], row[SINCE], row[HAS_PARKED] = -1, 0, -1, 0
        return
    row, body = state.guided[target], constants.guided_body[target]
    row[PRESENCE], row[PACE] = IS_ABSENT, 0.0
    row[ORDER], row[ORDER_RATE], row[LINK] = -1.0, 0.0, -1.0
    state.position[body, 2] = PARKED_HEIGHT  # where absent bodies are kept
    for k in range(3):
        state.velocity[body, k] = 0.0
