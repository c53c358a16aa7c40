"""Speeds and lanes that events order of reactive cars: they take the place of what the driver wants.

A car with an order still keeps its distance, stops at lines and lights, and yields; it accelerates no harder than its
driver would. A change of lanes is made without regard to gaps, unless it is asked for.
"""

from __future__ import annotations

from cbsim.jit import inlined
from cbsim.traffic.kernels.look import DESIRED
from cbsim.world.events.tables import ANY_LANE, CAR_LANE, CAR_ORDER, CAR_RATE, KEEPS_LANE
from cbsim.world.traffic.tables import SPEED

__all__ = ["end_lane_order", "is_slowed", "keeps_lane", "limit_by_order", "ordered_side", "want_ordered_speed"]

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
    return order.shape[0] > 0 and 0.0 <= order[i, CAR_ORDER] < LEAVES and ordered_side(order, i) == ANY_LANE


@inlined
def ordered_side(order, i):
    """Change of lanes that is ordered of car i, as in `cbsim.world.events.tables`; 0 for none."""
    if order.shape[0] == 0 or order[i, CAR_LANE] == KEEPS_LANE:
        return ANY_LANE
    return int(order[i, CAR_LANE])


@inlined
def keeps_lane(order, i):
    """Whether car i stays in the lane of an ordered change, unless its way asks for another."""
    return order.shape[0] > 0 and order[i, CAR_LANE] == KEEPS_LANE


@inlined
def end_lane_order(order, i):
    """Note that car i has made the change of lanes that is ordered, if one is."""
    if order.shape[0] > 0 and order[i, CAR_LANE] != ANY_LANE:
        order[i, CAR_LANE] = KEEPS_LANE


@inlined
def limit_by_order(order, travel, i, acceleration, dt):
    """Acceleration of car i that reaches an ordered speed at its rate, if there is one, and no more than its own."""
    if order.shape[0] == 0 or order[i, CAR_ORDER] < 0.0:
        return acceleration
    rate = order[i, CAR_RATE]
    wanted = min(max((order[i, CAR_ORDER] - travel[i, SPEED]) / dt, -rate), rate)
    return min(acceleration, wanted)
