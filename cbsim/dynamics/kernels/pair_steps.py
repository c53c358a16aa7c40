"""All pairs of slack and impulse of a mechanism together: their mean, how far they may step, and stepping them."""

from __future__ import annotations

from cbsim.dynamics.kernels.columns import (
    ACTIVE,
    DFORCE,
    DSLACK,
    FORCE,
    GIVE,
    KEPT_PAIR,
    LAW,
    NONLINEAR,
    ROW_DFORCE,
    ROW_DROOM,
    ROW_DSLACK,
    ROW_FORCE,
    ROW_GIVE,
    ROW_KEPT,
    ROW_PAIRS,
    ROW_ROOM,
    ROW_SLACK,
    ROW_STATE,
    SLACK,
    WEIGHT,
)
from cbsim.dynamics.kernels.cones import reach, stay_in, straight_pairs
from cbsim.dynamics.kernels.softness import soft_product
from cbsim.jit import inlined, inner

__all__ = ["furthest", "keep_pairs", "measure", "soft_left", "step_pairs"]

SHARE = 1.0 - 1e-10  # most of the way to a bound that a row goes: rounding would take it there


@inlined
def _product(contact_link, touch, i, step):
    """Sum of s·gamma after a step, by weight."""
    total = 0.0
    law = contact_link[i, LAW]
    for k in range(4 if law == NONLINEAR else straight_pairs(contact_link, touch, i)):
        s = touch[i, SLACK + k] + step * touch[i, DSLACK + k]
        total += s * (touch[i, FORCE + k] + step * touch[i, DFORCE + k])
    return total / touch[i, WEIGHT]


@inner
def measure(contact_link, touch, hold, step):
    """Mean of s·gamma over the cones after a step."""
    total, degree = 0.0, 0.0
    for i in range(len(hold)):
        for k in range(int(hold[i, ROW_PAIRS])):
            s = hold[i, ROW_SLACK + k] + step * hold[i, ROW_DSLACK + k]
            total += s * (hold[i, ROW_ROOM + k] + step * hold[i, ROW_DROOM + k])
            degree += 1.0
    for i in range(len(contact_link)):
        if touch[i, ACTIVE] != 0.0:
            total += _product(contact_link, touch, i, step)
            law = contact_link[i, LAW]
            degree += 2.0 if law == NONLINEAR else straight_pairs(contact_link, touch, i)
    return total / max(degree, 1.0)


@inner
def soft_left(touch, hold, least):
    """Largest product of a soft contact or stop, as a share of what it may be."""
    worst = 0.0
    for i in range(len(hold)):
        if hold[i, ROW_PAIRS] == 1.0 and hold[i, ROW_GIVE] > 0.0:
            s, g = hold[i, ROW_SLACK], hold[i, ROW_ROOM]
            worst = max(worst, s * g / soft_product(hold[i, ROW_GIVE], s, g, least))
    for i in range(len(touch)):
        if touch[i, ACTIVE] != 0.0 and touch[i, GIVE] > 0.0:
            s, g = touch[i, SLACK], touch[i, FORCE]
            worst = max(worst, s * g / soft_product(touch[i, GIVE], s, g, least * touch[i, WEIGHT]))
    return worst


@inner
def furthest(contact_link, touch, hold, straight, round_):
    """Largest step that stays inside all cones."""
    step = 1.0
    for i in range(len(hold)):
        share = min(straight, SHARE)
        for k in range(int(hold[i, ROW_PAIRS])):
            if hold[i, ROW_DSLACK + k] < 0.0:
                step = min(step, -share * hold[i, ROW_SLACK + k] / hold[i, ROW_DSLACK + k])
            if hold[i, ROW_DROOM + k] < 0.0:
                step = min(step, -share * hold[i, ROW_ROOM + k] / hold[i, ROW_DROOM + k])
    for i in range(len(contact_link)):
        if touch[i, ACTIVE] != 0.0:
            step = min(step, reach(contact_link, touch, i, straight, round_))
    return step


@inlined
def keep_pairs(touch, hold):
    """Remember slacks and impulses before a trial step."""
    for i in range(len(touch)):
        for k in range(12):
            touch[i, KEPT_PAIR + k] = touch[i, SLACK + k]
    for i in range(len(hold)):
        for k in range(ROW_STATE):
            hold[i, ROW_KEPT + k] = hold[i, ROW_FORCE + k]


@inlined
def step_pairs(contact_link, touch, hold, step):
    """Step from what was kept."""
    for i in range(len(touch)):
        if touch[i, ACTIVE] != 0.0:
            for k in range(12):
                touch[i, SLACK + k] = touch[i, KEPT_PAIR + k] + step * touch[i, DSLACK + k]
            stay_in(contact_link, touch, i)
    for i in range(len(hold)):
        for k in range(ROW_STATE):
            hold[i, ROW_FORCE + k] = hold[i, ROW_KEPT + k] + step * hold[i, ROW_DFORCE + k]
