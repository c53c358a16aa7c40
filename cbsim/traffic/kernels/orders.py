"""Speeds that events order of reactive cars: they take the place of the speed that the driver wants.

A car with an order still keeps its distance, stops at lines and lights, and yields; it accelerates no harder than its
driver would.
"""

from __future__ import annotations

from cbsim.jit import inlined
from cbsim.traffic.kernels.look import DESIRED
from cbsim.world.events.tables import CAR_ORDER, CAR_RATE
from cbsim.world.traffic.tables import SPEED

__all__ = ["is_slowed", "limit_by_order", "want_ordered_speed"]

ABOVE = 2.0  # times the ordered speed, at which the driver's own wish for it does not hold the car back
LEAST = 1.0  # [m/s]
LEAVES = 4.0  # [m/s] of an ordered speed below which a car stays in its lane


@inlined
def want_ordered_speed(order, plan, i, is_shifting):
    """Let the driver of car i want an ordered speed, if there is one; a shift sideways still bounds it."""
    if order.shape[0] > 0 and order[i, CAR_ORDER] >= 0.0:
        wanted = max(ABOVE * order[i, CAR_ORDER], LEAST)
        plan[DESIRED] = min(wanted, plan[DESIRED]) if is_shifting else wanted


@inlined
def is_slowed(order, i):
    """Whether an order keeps car i so slow that it does not leave its lane."""
    return order.shape[0] > 0 and 0.0 <= order[i, CAR_ORDER] < LEAVES


@inlined
def limit_by_order(order, travel, i, acceleration, dt):
    """Acceleration of car i that reaches an ordered speed at its rate, if there is one, and no more than its own."""
    if order.shape[0] == 0 or order[i, CAR_ORDER] < 0.0:
        return acceleration
    rate = order[i, CAR_RATE]
    wanted = min(max((order[i, CAR_ORDER] - travel[i, SPEED]) / dt, -rate), rate)
    return min(acceleration, wanted)
