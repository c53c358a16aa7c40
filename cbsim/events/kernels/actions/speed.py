"""Actions `speed`, `stop` and `resume`: an ordered speed of a guided body or a reactive car, or its end."""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined
from cbsim.world.events.tables import (
    ANY_LANE,
    CAR,
    CAR_LANE,
    CAR_LINK,
    CAR_ORDER,
    CAR_RATE,
    CLASS,
    GUIDED,
    LINK,
    ORDER,
    ORDER_RATE,
    PACE,
    RATE,
    SPEED,
    TARGET,
    TRANSITION,
)
from cbsim.world.traffic.tables import SPEED as CAR_SPEED

__all__ = ["end_order", "order_speed", "set_order"]


@inlined
def set_order(actions, state, a, speed, rate, link):
    """Order a speed [m/s], to be reached at a rate [m/s²], of whom action a is about; -1 for none."""
    target = actions[a, TARGET]
    if actions[a, CLASS] == GUIDED:
        row = state.guided[target]
        row[ORDER], row[ORDER_RATE], row[LINK] = speed, rate, link
    else:
        order = state.order[target]
        order[CAR_ORDER], order[CAR_RATE], order[CAR_LINK] = speed, rate, link


@inlined
def order_speed(actions, values, state, a):
    """Order the speed of action a."""
    target, speed, rate = actions[a, TARGET], values[a, SPEED], values[a, RATE]
    # a duration in place of a rate: the rate that reaches the speed in it
    if values[a, TRANSITION] >= 0.0:
        now = state.guided[target, PACE] if actions[a, CLASS] == GUIDED else state.travel[target, CAR_SPEED]
        rate = abs(speed - now) / values[a, TRANSITION] if values[a, TRANSITION] > 0.0 else math.inf
    set_order(actions, state, a, speed, rate, -1.0)


@inlined
def end_order(actions, state, a):
    """End the ordered speed, and the ordered lane, of whom action a is about."""
    set_order(actions, state, a, -1.0, 0.0, -1.0)
    if actions[a, CLASS] == CAR:
        state.order[actions[a, TARGET], CAR_LANE] = ANY_LANE
