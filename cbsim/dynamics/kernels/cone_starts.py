"""Starting points of the interior-point iteration: slacks and impulses of contacts, stops and drives."""

from __future__ import annotations

from cbsim.dynamics.kernels.boxes import box_in, box_out
from cbsim.dynamics.kernels.columns import (
    ACTIVE,
    BOXED,
    FORCE,
    FRESH,
    GAP,
    LAW,
    LEAD,
    LINEAR,
    MOST,
    MU,
    NONLINEAR,
    ROW_MOST,
    ROW_PAIRS,
    SHIFT_OF_GAP,
    SLACK,
    SLIP,
    WANT,
    WEIGHT,
)
from cbsim.dynamics.kernels.cones import clear_tangent, slip_along
from cbsim.dynamics.kernels.rows import evaluate_row, row_in, row_out
from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined, inner

__all__ = ["cold_start", "start", "warm_start"]

CENTRED = 0.5  # product of pairs that start from the step before in a crowd, over that of a cold start
STICKS = 1e-6  # least det z / z₀² of an impulse that may keep its friction
WEAK = 1e-3  # share of the typical contact impulse below which drives need not be as exact


@inlined
def cold_start(contact_link, contact, contact_work, i, impulse, depth):
    """Start the pairs on the central path at the current gap and slip: s ∘ gamma = impulse · depth, by weight.

    The gap counts as at least ``depth`` [m], so the normal impulse is at most ``impulse`` [N s]. Slack equations hold
    from the start, and all pairs are equally central; starting from ones everywhere, as in Howell et al. (2022),
    distant contacts disturb their bodies.
    """
    impulse *= contact_work[i, WEIGHT]
    kappa = impulse * depth
    s = max(contact_work[i, GAP] - contact_work[i, SHIFT_OF_GAP], depth)  # gap that the law sees
    g = kappa / s
    contact_work[i, SLACK], contact_work[i, FORCE] = s, g
    law = contact_link[i, LAW]
    if law == NONLINEAR:
        u, v = contact[i, MU] * contact_work[i, SLIP], contact[i, MU] * contact_work[i, SLIP + 1]
        _slide(contact_work, i, g, s * contact_work[i, LEAD], u, v)
    elif law == LINEAR:
        # psi exceeds every mu slip by 5 s, so that the four frictions are at most 0.8 of the normal impulse in all
        psi = contact[i, MU] * math.sqrt(contact_work[i, SLIP] ** 2 + contact_work[i, SLIP + 1] ** 2) + 5.0 * s
        contact_work[i, FORCE + 1], contact_work[i, SLACK + 1] = psi, kappa / psi
        for k in range(4):
            s = contact[i, MU] * slip_along(contact_work, i, k) + psi
            contact_work[i, SLACK + 2 + k], contact_work[i, FORCE + 2 + k] = s, kappa / s
    elif law == BOXED:
        for k in range(2):
            # slack and distance of the forward bound, then of the backward one
            o, most = 1 + 2 * k, contact_work[i, MOST]
            if most > 0.0:
                box_out(
                    contact_work, i, SLACK + o, FORCE + o, contact_work[i, SLIP + k], most, min(impulse, most) * depth
                )
            else:
                clear_tangent(contact_work, i, SLACK, FORCE, o)


@inlined
def _slide(contact_work, i, g, s, u, v):
    """Set a round cone to slip (u, v), in shares of mu, and to friction of the product s g."""
    # root of eta² − s eta − |mu u|² = 0
    eta = 0.5 * s + math.sqrt(0.25 * s * s + u * u + v * v)
    contact_work[i, SLACK + 1], contact_work[i, SLACK + 2], contact_work[i, SLACK + 3] = eta, u, v
    contact_work[i, FORCE + 1], contact_work[i, FORCE + 2], contact_work[i, FORCE + 3] = g, -g * u / eta, -g * v / eta


@inlined
def central_start(contact_work, i, kappa, depth):
    """Start a gap and its round cone on the central path, at the product kappa, near the impulses of the step before.

    Of slip and friction the one is kept, and the other is set by it, that is off by less [m/s, N s].
    """
    kappa *= contact_work[i, WEIGHT]
    g = max(contact_work[i, FORCE], kappa / max(contact_work[i, GAP] - contact_work[i, SHIFT_OF_GAP], depth))
    contact_work[i, SLACK], contact_work[i, FORCE] = kappa / g, g
    kappa *= contact_work[i, LEAD]
    u, v = contact_work[i, SLACK + 2], contact_work[i, SLACK + 3]
    x, y = contact_work[i, FORCE + 2], contact_work[i, FORCE + 3]
    _slide(contact_work, i, g, kappa / g, u, v)
    off = (x - contact_work[i, FORCE + 2]) ** 2 + (y - contact_work[i, FORCE + 3]) ** 2
    # the slack of an impulse z is kappa J z / det z
    size = g * g - x * x - y * y
    if size > STICKS * g * g:
        k = kappa / size
        if (u + k * x) ** 2 + (v + k * y) ** 2 < off:
            contact_work[i, SLACK + 1], contact_work[i, SLACK + 2], contact_work[i, SLACK + 3] = k * g, -k * x, -k * y
            contact_work[i, FORCE + 2], contact_work[i, FORCE + 3] = x, y


@inlined
def warm_start(contact_link, contact_work, i):
    """Move the pairs of the step before a hundredth of the way into their cones."""
    law = contact_link[i, LAW]
    if law == BOXED:
        for k in range(1, 5, 2):
            # the distances are F + f and F − f
            most, f = contact_work[i, MOST], 0.5 * (contact_work[i, FORCE + k] - contact_work[i, FORCE + k + 1])
            if most > 0.0:
                box_in(contact_work, i, SLACK + k, FORCE + k, f, most, max(1e-2 * most / contact_work[i, WEIGHT], 1e-5))
            else:
                clear_tangent(contact_work, i, SLACK, FORCE, k)
    weight = contact_work[i, WEIGHT]
    # scalar pairs: either side at least a hundredth of the other, impulses by weight
    for k in range(1 if law != LINEAR else 6):
        s, g = contact_work[i, SLACK + k], contact_work[i, FORCE + k] / weight
        contact_work[i, SLACK + k], contact_work[i, FORCE + k] = max(s, 1e-2 * g, 1e-5), weight * max(g, 1e-2 * s, 1e-5)
    if law != NONLINEAR:
        return
    # round cone: slack, then impulse, off the boundary by a hundredth of the radius and of the other's axis
    for o in range(2):
        k, e, scale = (SLACK + 1, FORCE + 1, 1.0 / weight) if o == 0 else (FORCE + 1, SLACK + 1, weight)
        least = 1e-5 if o == 0 else weight * 1e-5
        radius = math.sqrt(contact_work[i, k + 1] ** 2 + contact_work[i, k + 2] ** 2)
        contact_work[i, k] = max(contact_work[i, k], 1.01 * radius + least, radius + 1e-2 * scale * contact_work[i, e])


@inner
def start(link, joint, link_work, contact_link, contact, contact_work, row_link, row, limit_work, impulse, depth, warm):
    """Set the pairs: from the step before, moved slightly into their cones, or by a cold start.

    Return the least of ``impulse`` and of the limits of drives and boxed friction, except very weak ones;
    complementarity tolerances scale with it.
    """
    least = impulse
    for i in range(len(contact_link)):
        if contact_work[i, ACTIVE] == 0.0:
            continue
        for k in range(6):
            contact_work[i, WANT + k] = (
                0.0  # the impulse of a diverged attempt may be NaN, and so would be its product with 0
            )
        if warm == 0.0 or contact_work[i, FRESH] != 0.0:
            cold_start(contact_link, contact, contact_work, i, impulse, depth)
        elif contact_link[i, LAW] == NONLINEAR and contact_work[i, LEAD] > 1.0:
            central_start(contact_work, i, CENTRED * impulse * depth, depth)
        else:
            warm_start(contact_link, contact_work, i)
        if contact_work[i, MOST] > 0.0:
            least = min(least, contact_work[i, MOST] / contact_work[i, WEIGHT])
    for i in range(len(limit_work)):
        measure = evaluate_row(link, joint, link_work, row_link, row, limit_work, i)
        if warm == 0.0:
            row_out(limit_work, i, measure, impulse, depth)
        else:
            row_in(limit_work, i)
        if limit_work[i, ROW_PAIRS] == 2.0:
            least = min(least, limit_work[i, ROW_MOST])
    return max(least, WEAK * impulse)
