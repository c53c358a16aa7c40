"""Action `synchronise`: an object arrives at a place when another one arrives at its own.

In every step the speed is ordered at which the object covers its way in the time that the other one needs at the speed
that it has. The other's way is straight; the object's is that on its own trajectory, or straight for a reactive car.
When the other one has arrived, or the object has, a final speed is ordered, or the one that it has.
"""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined, inner
from cbsim.world.events.tables import (
    CAR_LINK,
    CAR_ORDER,
    DELAY,
    LINK,
    ORDER,
    OTHER_BODY,
    OTHER_X,
    OTHER_Y,
    PACE,
    PLACE_X,
    PLACE_Y,
    SEGMENT,
    SPEED,
    STATION,
)
from cbsim.world.traffic.tables import BODY
from cbsim.world.traffic.tables import SPEED as CAR_SPEED

__all__ = ["synchronise"]

ARRIVED = 0.5  # [m]
STANDS = 0.1  # [m/s] below which the other one does not come
FASTEST = 100.0  # [m/s] that is ordered at most


@inlined
def ordered_speed(values, state, a, body, way, speed):
    """Speed that covers a way [m] in the time that the other object needs, and whether both go on to be linked."""
    x, y = values[a, OTHER_X] - state.position[body, 0], values[a, OTHER_Y] - state.position[body, 1]
    u, w = state.velocity[body, 0], state.velocity[body, 1]
    distance, pace = math.sqrt(x * x + y * y), math.sqrt(u * u + w * w)
    # moves away from its place, and could have been there within the last second
    passed = x * u + y * w < 0.0 and distance < ARRIVED + pace
    if way < ARRIVED or distance < ARRIVED or passed:
        return (values[a, SPEED] if values[a, SPEED] >= 0.0 else speed), False
    return (min(way * pace / distance, FASTEST) if pace > STANDS else 0.0), True


@inner
def synchronise(tables, constants, road, state, time):
    """Order the speeds of all objects that synchronise, for the step that begins at a time [s]."""
    values, actions = tables.action_values, tables.actions
    for g in range(state.guided.shape[0]):
        row = state.guided[g]
        if row[LINK] >= 0.0:
            a, segment = int(row[LINK]), int(row[SEGMENT])
            u, w = constants.segment_velocity[segment, 0], constants.segment_velocity[segment, 1]
            into = max(time - row[DELAY] - constants.segment_start[segment], 0.0)
            station = constants.segment_station[segment] + math.sqrt(u * u + w * w) * into
            way = values[a, STATION] - station
            row[ORDER], goes_on = ordered_speed(values, state, a, actions[a, OTHER_BODY], way, row[PACE])
            row[LINK] = row[LINK] if goes_on else -1.0
    for i in range(state.order.shape[0]):
        order = state.order[i]
        if order[CAR_LINK] >= 0.0:
            a, body = int(order[CAR_LINK]), road.car_rows[i, BODY]
            # the way to the place: straight on, and none once it has been passed
            x, y = values[a, PLACE_X] - state.position[body, 0], values[a, PLACE_Y] - state.position[body, 1]
            speed, way = state.travel[i, CAR_SPEED], math.sqrt(x * x + y * y)
            if x * state.velocity[body, 0] + y * state.velocity[body, 1] < 0.0 and way < ARRIVED + speed:
                way = 0.0  # it has passed
            order[CAR_ORDER], goes_on = ordered_speed(values, state, a, actions[a, OTHER_BODY], way, speed)
            order[CAR_LINK] = order[CAR_LINK] if goes_on else -1.0
