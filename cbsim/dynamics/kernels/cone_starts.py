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
    LINEAR,
    MOST,
    MU,
    NONLINEAR,
    ONE,
    OTHER,
    ROW_MOST,
    ROW_PAIRS,
    SHIFT_OF_GAP,
    SLACK,
    SLIP,
    TREE_MASS,
    WANT,
    WEIGHT,
)
from cbsim.dynamics.kernels.cones import clear_tangent, slip_along
from cbsim.dynamics.kernels.rows import evaluate_row, row_in, row_out
from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined, inner

__all__ = ["cold_start", "start", "warm_start"]

BACK = 1e-2  # share of the products of a cold start that a warm start has at most,
APART = 30.0  # and times the mean product of impulses of the step before and gaps that it has
WEAK = 1e-3  # share of the typical contact impulse below which drives need not be as exact


@inlined
def cold_start(contact_link, contact, contact_work, i, impulse, depth, pace):
    """Start the pairs on the central path at the current gap and slip: s ∘ gamma = impulse · depth, by weight.

    Products of friction are ``pace`` times as large. The gap counts as at least ``depth`` [m], so the normal
    impulse is at most ``impulse`` [N s]. Slack equations hold from the start, and all pairs are equally central;
    starting from ones everywhere, as in Howell et al. (2022), distant contacts disturb their bodies.
    """
    impulse *= contact_work[i, WEIGHT]
    kappa = impulse * depth
    s = max(contact_work[i, GAP] - contact_work[i, SHIFT_OF_GAP], depth)
    g = kappa / s
    contact_work[i, SLACK], contact_work[i, FORCE] = s, g
    law = contact_link[i, LAW]
    if law == NONLINEAR:
        u, v = contact[i, MU] * contact_work[i, SLIP], contact[i, MU] * contact_work[i, SLIP + 1]
        eta = 0.5 * pace * s + math.sqrt(0.25 * pace * s * pace * s + u * u + v * v)
        contact_work[i, SLACK + 1], contact_work[i, SLACK + 2], contact_work[i, SLACK + 3] = eta, u, v
        contact_work[i, FORCE + 1], contact_work[i, FORCE + 2], contact_work[i, FORCE + 3] = (
            g,
            -g * u / eta,
            -g * v / eta,
        )
    elif law == LINEAR:
        psi = contact[i, MU] * math.sqrt(contact_work[i, SLIP] ** 2 + contact_work[i, SLIP + 1] ** 2) + 5.0 * pace * s
        contact_work[i, FORCE + 1], contact_work[i, SLACK + 1] = psi, pace * kappa / psi
        for k in range(4):
            s = contact[i, MU] * slip_along(contact_work, i, k) + psi
            contact_work[i, SLACK + 2 + k], contact_work[i, FORCE + 2 + k] = s, pace * kappa / s
    elif law == BOXED:
        for k in range(2):
            o, most = 1 + 2 * k, contact_work[i, MOST]
            if most > 0.0:
                box_out(
                    contact_work,
                    i,
                    SLACK + o,
                    FORCE + o,
                    contact_work[i, SLIP + k],
                    most,
                    pace * min(impulse, most) * depth,
                )
            else:
                clear_tangent(contact_work, i, SLACK, FORCE, o)


@inlined
def warm_start(contact_link, contact, contact_work, i, kappa, stiffness, pace):
    """Start the pairs on the central path, s ∘ gamma = kappa by weight, near the impulses of the step before.

    With the impulse γ of the step before and the gap or slip s where bodies are, γ − stiffness · s is divided into an
    impulse and a slack by `_smoothed`, those of a round cone by the eigenvalues of its Jordan algebra
    (docs/theory/contact.md §5): pairs of the step before as they were are too near to the edges of their cones to step
    far from there.
    ``stiffness`` [N s/m] is the impulse that makes up for a metre of gap.
    """
    law = contact_link[i, LAW]
    if law == BOXED:
        for k in range(1, 5, 2):
            most, f = contact_work[i, MOST], 0.5 * (contact_work[i, FORCE + k] - contact_work[i, FORCE + k + 1])
            if most > 0.0:
                box_in(contact_work, i, SLACK + k, FORCE + k, f, most, max(1e-2 * most / contact_work[i, WEIGHT], 1e-5))
            else:
                clear_tangent(contact_work, i, SLACK, FORCE, k)
    weight = contact_work[i, WEIGHT]
    kappa *= weight
    gap = max(0.0, contact_work[i, GAP] - contact_work[i, SHIFT_OF_GAP])
    g = _smoothed(contact_work[i, FORCE] - stiffness * gap, stiffness * kappa)
    contact_work[i, SLACK], contact_work[i, FORCE] = kappa / g, g
    if law == LINEAR:
        for k in range(1, 6):
            s, g = contact_work[i, SLACK + k], contact_work[i, FORCE + k] / weight
            contact_work[i, SLACK + k] = max(s, 1e-2 * g, 1e-5)
            contact_work[i, FORCE + k] = weight * max(g, 1e-2 * s, 1e-5)
    if law == NONLINEAR:
        kappa, stiffness = pace * kappa, stiffness / pace
        u, v = contact[i, MU] * contact_work[i, SLIP], contact[i, MU] * contact_work[i, SLIP + 1]
        x = contact_work[i, FORCE + 1] - stiffness * math.hypot(u, v)
        y, z = contact_work[i, FORCE + 2] - stiffness * u, contact_work[i, FORCE + 3] - stiffness * v
        far = math.hypot(y, z)
        low, high = _smoothed(x - far, stiffness * kappa), _smoothed(x + far, stiffness * kappa)
        rise = 0.5 * (high - low) / far if far > 0.0 else 0.0
        contact_work[i, FORCE + 1], contact_work[i, FORCE + 2], contact_work[i, FORCE + 3] = (
            0.5 * (low + high),
            rise * y,
            rise * z,
        )
        low, high = kappa / low, kappa / high
        rise = 0.5 * (high - low) / far if far > 0.0 else 0.0
        contact_work[i, SLACK + 1], contact_work[i, SLACK + 2], contact_work[i, SLACK + 3] = (
            0.5 * (low + high),
            rise * y,
            rise * z,
        )


@inlined
def _smoothed(x, product):
    """Larger root z of z − product / z = x: max(x, 0), smoothed so that z and z − x multiply to ``product``."""
    root = math.sqrt(x * x + 4.0 * product)
    return 0.5 * (x + root) if x >= 0.0 else 2.0 * product / (root - x)


@inlined
def _warm_product(contact_work, impulse, depth, hover):
    """Product of slack and impulse to start from: the larger, the worse impulses of the step before fit the gaps."""
    total, count = 0.0, 0.0
    for i in range(len(contact_work)):
        if contact_work[i, ACTIVE] != 0.0:
            count += 1.0
            gap = contact_work[i, GAP] - contact_work[i, SHIFT_OF_GAP]
            total += max(0.0, -gap) * impulse
            if contact_work[i, FRESH] == 0.0:
                total += abs(gap) * contact_work[i, FORCE] / contact_work[i, WEIGHT]
    return min(BACK * impulse * depth, max(hover * impulse, APART * total / max(count, 1.0)))


@inner
def start(
    link,
    joint,
    link_work,
    contact_link,
    contact,
    contact_work,
    row_link,
    row,
    limit_work,
    impulse,
    depth,
    hover,
    pace,
    warm,
    h,
):
    """Set the pairs: from the step before, moved into their cones, or anew.

    Products of friction are ``pace`` times as large. Returns the least of ``impulse`` and of what drives and boxed
    friction may give, but for very weak ones: by that the exactness of pairs is measured.
    """
    least = impulse
    kappa = 0.0 if warm == 0.0 else _warm_product(contact_work, impulse, depth, hover)
    for i in range(len(contact_link)):
        if contact_work[i, ACTIVE] == 0.0:
            continue
        for k in range(6):
            contact_work[i, WANT + k] = (
                0.0  # the impulse of a diverged attempt may be NaN, and so would be its product with 0
            )
        if warm == 0.0 or contact_work[i, FRESH] != 0.0:
            cold_start(contact_link, contact, contact_work, i, impulse, depth, pace)
        else:
            lighter, other = joint[contact_link[i, ONE], TREE_MASS], contact_link[i, OTHER]
            if other >= 0:
                lighter = min(lighter, joint[other, TREE_MASS])
            warm_start(
                contact_link, contact, contact_work, i, kappa,
                (lighter if lighter < math.inf else 1.0) / abs(h), pace,
            )  # fmt: skip
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
