"""Steps of all pairs of slack and impulse of a mechanism: mean product, largest step, update."""

from __future__ import annotations

from cbsim.dynamics.kernels.columns import (
    ACTIVE,
    COMPLIANCE,
    COUPLING,
    DFORCE,
    DSLACK,
    FORCE,
    KEPT_PAIR,
    LAW,
    LEAD,
    NONLINEAR,
    ROW_COMPLIANCE,
    ROW_DFORCE,
    ROW_DROOM,
    ROW_DSLACK,
    ROW_FORCE,
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

__all__ = ["couple", "is_crowded", "keep_pairs", "longest_step", "measure", "soft_left", "step_pairs"]

SHARE = 1.0 - 1e-10  # largest share of the distance to a bound that a row steps; rounding would reach it


@inlined
def is_crowded(contact_work):
    """Whether the step has so many contacts that friction is led to products of its own."""
    return len(contact_work) > 0 and contact_work[0, LEAD] > 1.0


@inlined
def couple(contact_work, share):
    """Set the share of the response of round cones' axes to normal impulses in directions."""
    for i in range(len(contact_work)):
        contact_work[i, COUPLING] = share


@inlined
def _product(contact_link, contact_work, i, step):
    """Sum of s·gamma after a step, by weight, that of a round cone by `LEAD`."""
    total = 0.0
    law = contact_link[i, LAW]
    # a nonlinear contact has the pair of the gap and the three components of its round cone, whose scalar product this
    # is
    for k in range(4 if law == NONLINEAR else straight_pairs(contact_link, contact_work, i)):
        s = contact_work[i, SLACK + k] + step * contact_work[i, DSLACK + k]
        lead = contact_work[i, LEAD] if law == NONLINEAR and k > 0 else 1.0
        total += s * (contact_work[i, FORCE + k] + step * contact_work[i, DFORCE + k]) / lead
    return total / contact_work[i, WEIGHT]


@inner
def measure(contact_link, contact_work, limit_work, step):
    """Mean of s·gamma over the cones after a step."""
    total, degree = 0.0, 0.0
    for i in range(len(limit_work)):
        # a stop has one pair, a motor of limited force two; 0 and −1 are none
        for k in range(int(limit_work[i, ROW_PAIRS])):
            s = limit_work[i, ROW_SLACK + k] + step * limit_work[i, ROW_DSLACK + k]
            total += s * (limit_work[i, ROW_ROOM + k] + step * limit_work[i, ROW_DROOM + k])
            degree += 1.0
    for i in range(len(contact_link)):
        if contact_work[i, ACTIVE] != 0.0:
            total += _product(contact_link, contact_work, i, step)
            law = contact_link[i, LAW]
            # the gap is one pair, and so is a round cone, whose identity element is (1, 0, 0)
            degree += 2.0 if law == NONLINEAR else straight_pairs(contact_link, contact_work, i)
    return total / max(degree, 1.0)


@inner
def soft_left(contact_work, limit_work, least):
    """Largest product of a soft contact or stop, relative to its limit."""
    worst = 0.0
    for i in range(len(limit_work)):
        if limit_work[i, ROW_PAIRS] == 1.0 and limit_work[i, ROW_COMPLIANCE] > 0.0:
            s, g = limit_work[i, ROW_SLACK], limit_work[i, ROW_ROOM]
            worst = max(worst, s * g / soft_product(limit_work[i, ROW_COMPLIANCE], s, g, least))
    for i in range(len(contact_work)):
        if contact_work[i, ACTIVE] != 0.0 and contact_work[i, COMPLIANCE] > 0.0:
            s, g = contact_work[i, SLACK], contact_work[i, FORCE]
            worst = max(worst, s * g / soft_product(contact_work[i, COMPLIANCE], s, g, least * contact_work[i, WEIGHT]))
    return worst


@inner
def longest_step(contact_link, contact_work, limit_work, straight, round_):
    """Largest step that keeps all pairs inside their cones."""
    step = 1.0
    for i in range(len(limit_work)):
        share = min(straight, SHARE)
        for k in range(int(limit_work[i, ROW_PAIRS])):
            # a share of the step at which a slack or a distance would be zero, so that they stay positive
            if limit_work[i, ROW_DSLACK + k] < 0.0:
                step = min(step, -share * limit_work[i, ROW_SLACK + k] / limit_work[i, ROW_DSLACK + k])
            if limit_work[i, ROW_DROOM + k] < 0.0:
                step = min(step, -share * limit_work[i, ROW_ROOM + k] / limit_work[i, ROW_DROOM + k])
    for i in range(len(contact_link)):
        if contact_work[i, ACTIVE] != 0.0:
            step = min(step, reach(contact_link, contact_work, i, straight, round_))
    return step


@inlined
def keep_pairs(contact_work, limit_work):
    """Store slacks and impulses before a trial step."""
    for i in range(len(contact_work)):
        # SLACK and FORCE are adjacent, as are DSLACK and DFORCE: 6 columns each
        for k in range(12):
            contact_work[i, KEPT_PAIR + k] = contact_work[i, SLACK + k]
    for i in range(len(limit_work)):
        # impulse, then distances from its bounds, then slacks
        for k in range(ROW_STATE):
            limit_work[i, ROW_KEPT + k] = limit_work[i, ROW_FORCE + k]


@inlined
def step_pairs(contact_link, contact_work, limit_work, step):
    """Step from the stored slacks and impulses."""
    for i in range(len(contact_work)):
        if contact_work[i, ACTIVE] != 0.0:
            for k in range(12):
                contact_work[i, SLACK + k] = contact_work[i, KEPT_PAIR + k] + step * contact_work[i, DSLACK + k]
            stay_in(contact_link, contact_work, i)
    for i in range(len(limit_work)):
        for k in range(ROW_STATE):
            limit_work[i, ROW_FORCE + k] = limit_work[i, ROW_KEPT + k] + step * limit_work[i, ROW_DFORCE + k]
