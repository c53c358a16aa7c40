"""Friction laws as cones: residuals of pairs (slack, impulse), their response to motion, largest steps.

Everything here is local to one contact, whose unknowns are condensed before bodies are assembled
(docs/theory/contact.md §3, §5):

==========  =============================================  ==================================================
law         slack s                                        impulse gamma
==========  =============================================  ==================================================
impact      gap                                            normal
linear      gap, n − Σ beta, four of mu slip + psi         normal n, psi, four frictions beta
nonlinear   gap, then the cone (eta, mu slip)              normal n, then the cone (beta = n, friction)
boxed       gap, and (a, b) with slip = a − b, per         normal n, and of each tangent's friction f the room
            tangent                                        (f + F, F − f) in its bounds ± F
==========  =============================================  ==================================================

Friction is expressed in shares of mu, and slip is weighted by mu instead: f = mu b, so that f · slip = b · mu slip.
The products, and with them the central path, are those of the cone (mu n, f) against (eta / mu, slip); but that cone
closes to a line as mu goes to 0, where the only slack of a product kappa is kappa / (mu n) without bound. This form is
uniform in mu, and at mu = 0 its friction vanishes.

Products are scaled by the WEIGHT of their contact: on the central path they are kappa times the weight, so that a gram
among tonnes has errors in proportion to its own weight.

The gap in these equations is the geometric one minus the shift of the step (`cbsim.dynamics.kernels.softness`), plus
the compliance times n.
"""

from __future__ import annotations

from cbsim.dynamics.kernels.boxes import answer_box
from cbsim.dynamics.kernels.columns import (
    BOXED,
    COMPLIANCE,
    COUPLING,
    DFORCE,
    DSLACK,
    FORCE,
    GAP,
    LAW,
    LEAD,
    LEAST_COMPLIANCE,
    LINEAR,
    MOST,
    MU,
    NONLINEAR,
    SCALING_POINT,
    SCALING_SIZE,
    SHIFT_OF_GAP,
    SLACK,
    SLIP,
    WANT,
    WEIGHT,
)
from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined

__all__ = [
    "answer",
    "ask",
    "clear_tangent",
    "friction",
    "gap_missing",
    "missing",
    "reach",
    "scale",
    "slip_along",
    "stay_in",
    "straight_pairs",
    "violation",
]

INSIDE = 1.0 - 1e-10  # largest share of the distance to a bound that boxed friction steps; rounding would reach it
SLIPPERY = 1e-3  # friction coefficient below which the weight of slip decreases, as friction does
EDGE = 1e-12  # least distance of a point of a round cone from its boundary, as a share of its radius


@inlined
def stay_in(contact_link, contact_work, i):
    """Keep a step in a round cone off its boundary despite rounding."""
    if contact_link[i, LAW] == NONLINEAR:
        for o in range(2):
            k = SLACK + 1 if o == 0 else FORCE + 1
            contact_work[i, k] = max(
                contact_work[i, k], (1.0 + EDGE) * math.hypot(contact_work[i, k + 1], contact_work[i, k + 2])
            )


@inlined
def clear_tangent(contact_work, i, slack, force, k):
    """Set slacks and impulses along a tangent to zero, for separated bodies."""
    # a bound of 0 leaves the pairs no interior
    contact_work[i, slack + k], contact_work[i, slack + k + 1] = 0.0, 0.0
    contact_work[i, force + k], contact_work[i, force + k + 1] = 0.0, 0.0


@inlined
def friction(contact_link, contact, contact_work, i, base):
    """Friction impulse along the two tangents, from the columns of an impulse."""
    mu = contact[i, MU]
    if contact_link[i, LAW] == NONLINEAR:
        return mu * contact_work[i, base + 2], mu * contact_work[i, base + 3]
    if contact_link[i, LAW] == LINEAR:
        # directions of the pyramid as in `slip_along`: columns 2 and 3 along the second tangent, 4 and 5 along the
        # first
        return mu * (contact_work[i, base + 4] - contact_work[i, base + 5]), mu * (
            contact_work[i, base + 2] - contact_work[i, base + 3]
        )
    if contact_link[i, LAW] == BOXED:
        # half the difference of the distances from both bounds, (f + F) − (F − f) = 2 f
        return 0.5 * (contact_work[i, base + 1] - contact_work[i, base + 2]), 0.5 * (
            contact_work[i, base + 3] - contact_work[i, base + 4]
        )
    return 0.0, 0.0


@inlined
def straight_pairs(contact_link, contact_work, i):
    """Count the scalar pairs, without those of a round cone."""
    law = contact_link[i, LAW]
    if law == BOXED:
        return 5 if contact_work[i, MOST] > 0.0 else 1
    return 6 if law == LINEAR else 1


@inlined
def gap_missing(contact_work, i):
    """Return the residual of the gap: effective gap minus slack."""
    gap = contact_work[i, GAP] - contact_work[i, SHIFT_OF_GAP] + contact_work[i, COMPLIANCE] * contact_work[i, FORCE]
    return gap - contact_work[i, SLACK]


@inlined
def slip_along(contact_work, i, k):
    """Slip along direction k of the linear law: (0, 1), (0, −1), (1, 0), (−1, 0)."""
    value = contact_work[i, SLIP + 1] if k < 2 else contact_work[i, SLIP]
    return -value if k % 2 else value


@inlined
def missing(contact_link, contact, contact_work, i):
    """Largest residual of the contact's equations: gap, cone radius, slip.

    A gap counts hundredfold, since its error is penetration; friction and slip count in their units, without shares
    and weights.
    """
    worst, mu = 100.0 * abs(gap_missing(contact_work, i)), contact[i, MU]
    rate = 1.0 / max(mu, SLIPPERY)  # slip stands in shares of mu: back to m/s
    if contact_link[i, LAW] == NONLINEAR:
        worst = max(worst, mu * abs(contact_work[i, FORCE] - contact_work[i, FORCE + 1]))
        worst = max(worst, rate * abs(mu * contact_work[i, SLIP] - contact_work[i, SLACK + 2]))
        worst = max(worst, rate * abs(mu * contact_work[i, SLIP + 1] - contact_work[i, SLACK + 3]))
    elif contact_link[i, LAW] == LINEAR:
        # the cone's slack is n − Σ beta
        left = contact_work[i, FORCE] - contact_work[i, SLACK + 1]
        for k in range(4):
            left -= contact_work[i, FORCE + 2 + k]
            off = mu * slip_along(contact_work, i, k) + contact_work[i, FORCE + 1] - contact_work[i, SLACK + 2 + k]
            worst = max(worst, rate * abs(off))
        worst = max(worst, mu * abs(left))
    elif contact_link[i, LAW] == BOXED and contact_work[i, MOST] > 0.0:
        worst = max(worst, abs(_box_missing(contact_work, i, 0)), abs(_box_missing(contact_work, i, 1)))
    return worst


@inlined
def _box_missing(contact_work, i, k):
    """Slip along tangent k minus that of its slacks."""
    return contact_work[i, SLIP + k] - contact_work[i, SLACK + 1 + 2 * k] + contact_work[i, SLACK + 2 + 2 * k]


@inlined
def violation(contact_link, contact_work, i, target, share):
    """Largest of |s ∘ gamma − target e|, by weight.

    The direction of the round cone, eta friction + beta slip, is scaled by ``share`` as well: near the boundary of the
    cone its error is the square root of that of the product.
    """
    law, weight = contact_link[i, LAW], contact_work[i, WEIGHT]
    target *= weight
    if law != NONLINEAR:
        worst = 0.0
        for k in range(straight_pairs(contact_link, contact_work, i)):
            worst = max(worst, abs(contact_work[i, SLACK + k] * contact_work[i, FORCE + k] - target))
        return worst / weight
    s0, s1, s2 = contact_work[i, SLACK + 1], contact_work[i, SLACK + 2], contact_work[i, SLACK + 3]
    g0, g1, g2 = contact_work[i, FORCE + 1], contact_work[i, FORCE + 2], contact_work[i, FORCE + 3]
    # the true problem has one tolerance for all products; those on the path of relaxed ones are in proportion
    lead = contact_work[i, LEAD] if target > 0.0 else 1.0
    a = abs(contact_work[i, SLACK] * contact_work[i, FORCE] - target)
    b, share = abs(s0 * g0 + s1 * g1 + s2 * g2 - lead * target) / lead, share / lead
    return max(a, b, share * abs(s0 * g1 + g0 * s1), share * abs(s0 * g2 + g0 * s2)) / weight


@inlined
def scale(contact_link, contact_work, i):
    """Set the scaling point of the round cone after Nesterov and Todd: SCALING_POINT q and SCALING_SIZE.

    With J = diag(1, −1, −1), unit s' and z' of slack and impulse, w = (s' + J z') / |·| and q = J w, the slope of the
    impulse by the slack is −(2 q qᵀ − J) sqrt(det z / det s): symmetric and negative definite for every iterate.
    The slope of s ∘ z = const itself is not, far from the central path, and iterates then jam at the boundary of the
    cone.
    Source: Vandenberghe, The CVXOPT linear and quadratic cone program solvers (2010), §4.2.
    """
    if contact_link[i, LAW] != NONLINEAR:
        return
    s0, s1, s2 = contact_work[i, SLACK + 1], contact_work[i, SLACK + 2], contact_work[i, SLACK + 3]
    z0, z1, z2 = contact_work[i, FORCE + 1], contact_work[i, FORCE + 2], contact_work[i, FORCE + 3]
    # determinants by factors: s₀² − |s|² itself cancels near the boundary
    s = math.sqrt(max((s0 - math.hypot(s1, s2)) * (s0 + math.hypot(s1, s2)), 1e-300))
    z = math.sqrt(max((z0 - math.hypot(z1, z2)) * (z0 + math.hypot(z1, z2)), 1e-300))
    s0, s1, s2, z0, z1, z2 = s0 / s, s1 / s, s2 / s, z0 / z, z1 / z, z2 / z
    # |z' + J s'| = 2 half
    half = math.sqrt(0.5 * (1.0 + s0 * z0 + s1 * z1 + s2 * z2))
    k, half = SCALING_POINT, 0.5 / half
    contact_work[i, k] = half * (s0 + z0)
    contact_work[i, k + 1], contact_work[i, k + 2] = half * (z1 - s1), half * (z2 - s2)
    contact_work[i, SCALING_SIZE] = math.sqrt(z / s)


@inlined
def ask(contact_link, contact_work, i, target, d, f):
    """Write WANT, the change of impulse beyond its response to the slack, with the sign of a residual.

    For straight pairs that is s gamma − target, plus ds dgamma of columns d and f unless d < 0. For the round cone it
    is z − target / s, plus the quotient of W⁻¹ ds ∘ W dz by W z, transformed by W⁻¹, where W is the scaling of
    `scale`.
    """
    law = contact_link[i, LAW]
    target *= contact_work[i, WEIGHT]
    for k in range(straight_pairs(contact_link, contact_work, i)):
        a = contact_work[i, SLACK + k] * contact_work[i, FORCE + k] - target
        contact_work[i, WANT + k] = a + contact_work[i, d + k] * contact_work[i, f + k] if d >= 0 else a
    if law != NONLINEAR:
        return
    s0, s1, s2 = contact_work[i, SLACK + 1], contact_work[i, SLACK + 2], contact_work[i, SLACK + 3]
    # the Jordan inverse of s is J s / det s: WANT begins as z − target s⁻¹
    far = math.hypot(s1, s2)
    k = target * contact_work[i, LEAD] / max((s0 - far) * (s0 + far), 1e-300)
    x0, x1, x2 = (
        contact_work[i, FORCE + 1] - k * s0,
        contact_work[i, FORCE + 2] + k * s1,
        contact_work[i, FORCE + 3] + k * s2,
    )
    if d >= 0:
        q0, q1, q2 = (
            contact_work[i, SCALING_POINT],
            contact_work[i, SCALING_POINT + 1],
            contact_work[i, SCALING_POINT + 2],
        )
        size = contact_work[i, SCALING_SIZE]
        l0, l1, l2 = _scaled(
            q0, -q1, -q2, contact_work[i, FORCE + 1], contact_work[i, FORCE + 2], contact_work[i, FORCE + 3]
        )
        a0, a1, a2 = _scaled(q0, q1, q2, contact_work[i, d + 1], contact_work[i, d + 2], contact_work[i, d + 3])
        b0, b1, b2 = _scaled(q0, -q1, -q2, contact_work[i, f + 1], contact_work[i, f + 2], contact_work[i, f + 3])
        # W⁻¹ ds is size · a, W dz is b / size, W z is l / size: one factor of the sizes remains
        # Jordan product of both directions, divided by W z (l ∘ c = product), and scaled back
        c0, c1, c2 = a0 * b0 + a1 * b1 + a2 * b2, a0 * b1 + b0 * a1, a0 * b2 + b0 * a2
        c0 = (l0 * c0 - l1 * c1 - l2 * c2) / max(l0 * l0 - l1 * l1 - l2 * l2, 1e-300)
        c1, c2 = (c1 - c0 * l1) / l0, (c2 - c0 * l2) / l0
        c0, c1, c2 = _scaled(q0, q1, q2, c0, c1, c2)
        x0, x1, x2 = x0 + size * size * c0, x1 + size * size * c1, x2 + size * size * c2
    contact_work[i, WANT + 1], contact_work[i, WANT + 2], contact_work[i, WANT + 3] = x0, x1, x2


@inlined
def _scaled(q0, q1, q2, x, y, z):
    """Scale a vector about a point (q0, q1, q2) of the cone, as W of unit size does."""
    along = q1 * y + q2 * z
    k = x + along / (1.0 + q0)
    return q0 * x + along, y + k * q1, z + k * q2


@inlined
def answer(contact_link, contact, contact_work, i, dgap, du, dv, full):
    """Solve the contact's linearised equations for a change of gap and slip: DSLACK, DFORCE.

    With ``full`` 0 the residuals are omitted: the derivative alone.
    """
    g = contact_work[i, FORCE]
    ds = dgap + full * gap_missing(contact_work, i)
    # s dgamma + gamma ds = −WANT, where compliance lets the slack grow with the impulse
    dg = (-full * contact_work[i, WANT] - g * ds) / (contact_work[i, SLACK] + g * contact_work[i, COMPLIANCE])
    contact_work[i, DSLACK], contact_work[i, DFORCE] = ds + contact_work[i, COMPLIANCE] * dg, dg
    if contact_link[i, LAW] == NONLINEAR:
        _answer_round(contact, contact_work, i, dg, du, dv, full)
    elif contact_link[i, LAW] == LINEAR:
        _answer_linear(contact, contact_work, i, dg, du, dv, full)
    elif contact_link[i, LAW] == BOXED:
        for k in range(2):
            o, change = 1 + 2 * k, (du if k == 0 else dv) + full * _box_missing(contact_work, i, k)
            if contact_work[i, MOST] > 0.0:
                answer_box(
                    contact_work, i, SLACK + o, FORCE + o, DSLACK + o, DFORCE + o, full * contact_work[i, WANT + o],
                    full * contact_work[i, WANT + o + 1], change, contact[i, LEAST_COMPLIANCE],
                )  # fmt: skip
            else:
                clear_tangent(contact_work, i, DSLACK, DFORCE, o)


@inlined
def _answer_round(contact, contact_work, i, dg, du, dv, full):
    """Second-order cone: dz = −WANT − M ds, its first row solved for eta, a slack without an equation of its own."""
    beta = contact_work[i, FORCE + 1]
    # the cone's axis beta must equal the normal impulse, the rest mu times the slip: their errors are part of the step
    dbeta, mu = contact_work[i, COUPLING] * dg + full * (contact_work[i, FORCE] - beta), contact[i, MU]
    du = mu * du + full * (mu * contact_work[i, SLIP] - contact_work[i, SLACK + 2])
    dv = mu * dv + full * (mu * contact_work[i, SLIP + 1] - contact_work[i, SLACK + 3])
    q0, q1, q2 = contact_work[i, SCALING_POINT], contact_work[i, SCALING_POINT + 1], contact_work[i, SCALING_POINT + 2]
    size = contact_work[i, SCALING_SIZE] * contact_work[i, SCALING_SIZE]
    along = 2.0 * (q1 * du + q2 * dv)
    # first row of M = size (2 q qᵀ − J): size ((2 q₀² − 1) deta + q₀ along) = −(WANT₀ + dbeta)
    deta = (-(full * contact_work[i, WANT + 1] + dbeta) / size - q0 * along) / (2.0 * q0 * q0 - 1.0)
    along += 2.0 * q0 * deta
    contact_work[i, DSLACK + 1], contact_work[i, DSLACK + 2], contact_work[i, DSLACK + 3] = deta, du, dv
    contact_work[i, DFORCE + 1] = dbeta
    contact_work[i, DFORCE + 2] = -full * contact_work[i, WANT + 2] - size * (along * q1 + du)
    contact_work[i, DFORCE + 3] = -full * contact_work[i, WANT + 3] - size * (along * q2 + dv)


@inlined
def _answer_linear(contact, contact_work, i, dg, du, dv, full):
    """Four-sided pyramid: psi of the cone row solved first, the frictions follow."""
    psi, s_psi, mu = contact_work[i, FORCE + 1], contact_work[i, SLACK + 1], contact[i, MU]
    cone = dg + full * (contact_work[i, FORCE] - s_psi)
    stiff = 0.0
    for k in range(4):
        s, b = contact_work[i, SLACK + 2 + k], contact_work[i, FORCE + 2 + k]
        along = dv if k < 2 else du
        along = -along if k % 2 else along
        ds = mu * along + full * (mu * slip_along(contact_work, i, k) + psi - s)
        contact_work[i, DSLACK + 2 + k] = ds
        contact_work[i, DFORCE + 2 + k] = (-full * contact_work[i, WANT + 2 + k] - b * ds) / s
        # the cone's slack n − Σ beta, with psi held; `stiff` is how it opens with psi
        cone -= contact_work[i, DFORCE + 2 + k] + full * b
        stiff += b / s
    dpsi = (-full * contact_work[i, WANT + 1] - psi * cone) / (s_psi + psi * stiff)
    contact_work[i, DFORCE + 1] = dpsi
    contact_work[i, DSLACK + 1] = cone + stiff * dpsi
    # every slack mu u + psi opens by dpsi
    for k in range(4):
        contact_work[i, DSLACK + 2 + k] += dpsi
        contact_work[i, DFORCE + 2 + k] -= contact_work[i, FORCE + 2 + k] / contact_work[i, SLACK + 2 + k] * dpsi


@inlined
def reach(contact_link, contact_work, i, straight, round_):
    """Largest step, at most 1, that keeps SLACK and FORCE inside their cones, within the given shares."""
    step = 1.0
    law = contact_link[i, LAW]
    for half in range(2):
        o, e = SLACK + 6 * half, DSLACK + 6 * half  # slacks and their steps, then impulses
        for k in range(straight_pairs(contact_link, contact_work, i)):
            if contact_work[i, e + k] < 0.0:
                share = straight if law != BOXED else min(straight, INSIDE)
                step = min(step, -share * contact_work[i, o + k] / contact_work[i, e + k])
        if law == NONLINEAR:
            step = min(step, _reach_round(contact_work, i, o + 1, e + 1, round_))
    return step


@inlined
def _reach_round(contact_work, i, o, e, share):
    """Largest step in a second-order cone (docs/theory/contact.md §5)."""
    y0, y1, y2 = contact_work[i, o], contact_work[i, o + 1], contact_work[i, o + 2]
    d0, d1, d2 = contact_work[i, e], contact_work[i, e + 1], contact_work[i, e + 2]
    nu = y0 * y0 - y1 * y1 - y2 * y2
    if nu < 1e-150:
        return 0.0  # on the boundary
    root = math.sqrt(nu)
    z = y0 * d0 - y1 * d1 - y2 * d2
    k = (z / root + d0) / (y0 / root + 1.0) / nu
    r1, r2 = d1 / root - k * y1, d2 / root - k * y2
    norm = math.sqrt(r1 * r1 + r2 * r2) - z / nu
    return min(1.0, share / norm) if norm > 0.0 else 1.0
