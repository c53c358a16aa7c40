"""The friction laws as cones: what pairs (slack, impulse) miss, how they answer to motion, how far they may step.

Everything here is local to one contact, whose unknowns leave the system before bodies are assembled (dojo.md §2.6,
§7.2):

==========  =============================================  ==================================================
law         slack s                                        impulse gamma
==========  =============================================  ==================================================
impact      gap                                            normal
linear      gap, n − Σ beta, four of mu slip + psi         normal n, psi, four frictions beta
nonlinear   gap, then the cone (eta, mu slip)              normal n, then the cone (beta = n, friction)
boxed       gap, and (a, b) with slip = a − b, per         normal n, and of each tangent's friction f the room
            tangent                                        (f + F, F − f) in its bounds ± F
==========  =============================================  ==================================================

Coulomb friction stands in shares of mu, and slip is weighted by mu instead: f = mu b, so that f · slip = b · mu slip.
The products, and with them the central path, are those of the cone (mu n, f) against (eta / mu, slip); but that cone
closes to a line as mu goes to 0, where the only slack of a product kappa is kappa / (mu n) without bound. This one is
the same for every mu, and at mu = 0 what it finds does nothing.

Products count by the WEIGHT of their contact: on the central path they are kappa times that, so that a gram among
tonnes is pressed on by no more than it weighs itself, and is told as exactly.

The gap is what a contact may be judged by: less the shift that the step began with (`cbsim.dynamics.kernels.softness`),
plus its compliance times n.
"""

from __future__ import annotations

from cbsim.dynamics.kernels.boxes import answer_box, box_in, box_out
from cbsim.dynamics.kernels.columns import (
    BOXED,
    DFORCE,
    DSLACK,
    FORCE,
    GAP,
    GIVE,
    LAW,
    LEAST_GIVE,
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
    "friction",
    "gap_missing",
    "missing",
    "reach",
    "scale",
    "set_in",
    "set_out",
    "stay_in",
    "straight_pairs",
    "violation",
]

INSIDE = 1.0 - 1e-10  # most of the way to a bound that boxed friction goes: rounding would take it there
SLIPPERY = 1e-3  # friction coefficient below which slip counts less and less, as what friction it makes does
EDGE = 1e-12  # share of its radius by which a point of a round cone stays off the edge at least


@inlined
def set_out(contact_link, contact, touch, i, impulse, depth):
    """Start the pairs on the central path where gap and slip are: s ∘ gamma = impulse · depth, by weight.

    The gap counts as ``depth`` [m] at least, so the normal impulse is ``impulse`` [N s] at most. Slack equations hold
    then from the start, and no pair is nearer to the edge of its cone than another; from ones everywhere (dojo.md
    §2.8) a contact that is far from closing pushes its body about.
    """
    impulse *= touch[i, WEIGHT]
    kappa = impulse * depth
    s = max(touch[i, GAP] - touch[i, SHIFT_OF_GAP], depth)
    g = kappa / s
    touch[i, SLACK], touch[i, FORCE] = s, g
    law = contact_link[i, LAW]
    if law == NONLINEAR:
        u, v = contact[i, MU] * touch[i, SLIP], contact[i, MU] * touch[i, SLIP + 1]
        eta = 0.5 * s + math.sqrt(0.25 * s * s + u * u + v * v)
        touch[i, SLACK + 1], touch[i, SLACK + 2], touch[i, SLACK + 3] = eta, u, v
        touch[i, FORCE + 1], touch[i, FORCE + 2], touch[i, FORCE + 3] = g, -g * u / eta, -g * v / eta
    elif law == LINEAR:
        psi = contact[i, MU] * math.sqrt(touch[i, SLIP] ** 2 + touch[i, SLIP + 1] ** 2) + 5.0 * s
        touch[i, FORCE + 1], touch[i, SLACK + 1] = psi, kappa / psi
        for k in range(4):
            s = contact[i, MU] * _slip(touch, i, k) + psi
            touch[i, SLACK + 2 + k], touch[i, FORCE + 2 + k] = s, kappa / s
    elif law == BOXED:
        for k in range(2):
            o, most = 1 + 2 * k, touch[i, MOST]
            if most > 0.0:
                box_out(touch, i, SLACK + o, FORCE + o, touch[i, SLIP + k], most, min(impulse, most) * depth)
            else:
                _let_go(touch, i, SLACK, FORCE, o)


@inlined
def _let_go(touch, i, slack, force, k):
    """Write that there is no friction along a tangent, for bodies that are apart."""
    touch[i, slack + k], touch[i, slack + k + 1] = 0.0, 0.0
    touch[i, force + k], touch[i, force + k + 1] = 0.0, 0.0


@inlined
def set_in(contact_link, touch, i):
    """Move the pairs of the step before a hundredth of the way back into their cones."""
    law = contact_link[i, LAW]
    if law == BOXED:
        for k in range(1, 5, 2):
            most, f = touch[i, MOST], 0.5 * (touch[i, FORCE + k] - touch[i, FORCE + k + 1])
            if most > 0.0:
                box_in(touch, i, SLACK + k, FORCE + k, f, most, max(1e-2 * most / touch[i, WEIGHT], 1e-5))
            else:
                _let_go(touch, i, SLACK, FORCE, k)
    weight = touch[i, WEIGHT]
    for k in range(1 if law != LINEAR else 6):
        s, g = touch[i, SLACK + k], touch[i, FORCE + k] / weight
        touch[i, SLACK + k], touch[i, FORCE + k] = max(s, 1e-2 * g, 1e-5), weight * max(g, 1e-2 * s, 1e-5)
    if law != NONLINEAR:
        return
    for o in range(2):
        k, e, scale = (SLACK + 1, FORCE + 1, 1.0 / weight) if o == 0 else (FORCE + 1, SLACK + 1, weight)
        least = 1e-5 if o == 0 else weight * 1e-5
        radius = math.sqrt(touch[i, k + 1] ** 2 + touch[i, k + 2] ** 2)
        touch[i, k] = max(touch[i, k], 1.01 * radius + least, radius + 1e-2 * scale * touch[i, e])


@inlined
def stay_in(contact_link, touch, i):
    """Keep a step into a round cone from ending on its edge by rounding."""
    if contact_link[i, LAW] == NONLINEAR:
        for o in range(2):
            k = SLACK + 1 if o == 0 else FORCE + 1
            touch[i, k] = max(touch[i, k], (1.0 + EDGE) * math.hypot(touch[i, k + 1], touch[i, k + 2]))


@inlined
def friction(contact_link, contact, touch, i, base):
    """Friction impulse along the two tangents, from the columns of an impulse."""
    mu = contact[i, MU]
    if contact_link[i, LAW] == NONLINEAR:
        return mu * touch[i, base + 2], mu * touch[i, base + 3]
    if contact_link[i, LAW] == LINEAR:
        return mu * (touch[i, base + 4] - touch[i, base + 5]), mu * (touch[i, base + 2] - touch[i, base + 3])
    if contact_link[i, LAW] == BOXED:
        return 0.5 * (touch[i, base + 1] - touch[i, base + 2]), 0.5 * (touch[i, base + 3] - touch[i, base + 4])
    return 0.0, 0.0


@inlined
def straight_pairs(contact_link, touch, i):
    """Count the pairs of numbers, those of a round cone left out."""
    law = contact_link[i, LAW]
    if law == BOXED:
        return 5 if touch[i, MOST] > 0.0 else 1
    return 6 if law == LINEAR else 1


@inlined
def gap_missing(touch, i):
    """Return by what the gap that a contact is judged by is more than its slack."""
    gap = touch[i, GAP] - touch[i, SHIFT_OF_GAP] + touch[i, GIVE] * touch[i, FORCE]
    return gap - touch[i, SLACK]


@inlined
def _slip(touch, i, k):
    """Slip along direction k of the linear law: (0, 1), (0, −1), (1, 0), (−1, 0)."""
    value = touch[i, SLIP + 1] if k < 2 else touch[i, SLIP]
    return -value if k % 2 else value


@inlined
def missing(contact_link, contact, touch, i):
    """Largest residual of the contact's equations: gap, cone radius, slip.

    A gap counts hundredfold, for by what it is off bodies sink into one another; friction and slip as themselves, not
    in their shares and weights.
    """
    worst, mu = 100.0 * abs(gap_missing(touch, i)), contact[i, MU]
    rate = 1.0 / max(mu, SLIPPERY)
    if contact_link[i, LAW] == NONLINEAR:
        worst = max(worst, mu * abs(touch[i, FORCE] - touch[i, FORCE + 1]))
        worst = max(worst, rate * abs(mu * touch[i, SLIP] - touch[i, SLACK + 2]))
        worst = max(worst, rate * abs(mu * touch[i, SLIP + 1] - touch[i, SLACK + 3]))
    elif contact_link[i, LAW] == LINEAR:
        left = touch[i, FORCE] - touch[i, SLACK + 1]
        for k in range(4):
            left -= touch[i, FORCE + 2 + k]
            off = mu * _slip(touch, i, k) + touch[i, FORCE + 1] - touch[i, SLACK + 2 + k]
            worst = max(worst, rate * abs(off))
        worst = max(worst, mu * abs(left))
    elif contact_link[i, LAW] == BOXED and touch[i, MOST] > 0.0:
        worst = max(worst, abs(_box_missing(touch, i, 0)), abs(_box_missing(touch, i, 1)))
    return worst


@inlined
def _box_missing(touch, i, k):
    """Slip along tangent k less what its slacks say."""
    return touch[i, SLIP + k] - touch[i, SLACK + 1 + 2 * k] + touch[i, SLACK + 2 + 2 * k]


@inlined
def violation(contact_link, touch, i, target, share):
    """Largest of |s ∘ gamma − target e|, by weight.

    Of the round cone's direction, eta friction + beta slip, by ``share`` as well: near the edge of the cone the
    direction is off by the square root of what the product is off by.
    """
    law, weight = contact_link[i, LAW], touch[i, WEIGHT]
    target *= weight
    if law != NONLINEAR:
        worst = 0.0
        for k in range(straight_pairs(contact_link, touch, i)):
            worst = max(worst, abs(touch[i, SLACK + k] * touch[i, FORCE + k] - target))
        return worst / weight
    s0, s1, s2 = touch[i, SLACK + 1], touch[i, SLACK + 2], touch[i, SLACK + 3]
    g0, g1, g2 = touch[i, FORCE + 1], touch[i, FORCE + 2], touch[i, FORCE + 3]
    a, b = abs(touch[i, SLACK] * touch[i, FORCE] - target), abs(s0 * g0 + s1 * g1 + s2 * g2 - target)
    return max(a, b, share * abs(s0 * g1 + g0 * s1), share * abs(s0 * g2 + g0 * s2)) / weight


@inlined
def scale(contact_link, touch, i):
    """Set the scaling point of the round cone after Nesterov and Todd: SCALING_POINT q and SCALING_SIZE.

    With J = diag(1, −1, −1), unit s' and z' of slack and impulse, w = (s' + J z') / |·| and q = J w, the slope of the
    impulse by the slack is −(2 q qᵀ − J) sqrt(det z / det s): symmetric and negative definite wherever the iterate is.
    The slope of s ∘ z = const itself is not, far from the central path, and iterates then jam at the edge of the cone.
    Source: Vandenberghe, The CVXOPT linear and quadratic cone program solvers (2010), §4.2.
    """
    if contact_link[i, LAW] != NONLINEAR:
        return
    s0, s1, s2 = touch[i, SLACK + 1], touch[i, SLACK + 2], touch[i, SLACK + 3]
    z0, z1, z2 = touch[i, FORCE + 1], touch[i, FORCE + 2], touch[i, FORCE + 3]
    s = math.sqrt(max((s0 - math.hypot(s1, s2)) * (s0 + math.hypot(s1, s2)), 1e-300))
    z = math.sqrt(max((z0 - math.hypot(z1, z2)) * (z0 + math.hypot(z1, z2)), 1e-300))
    s0, s1, s2, z0, z1, z2 = s0 / s, s1 / s, s2 / s, z0 / z, z1 / z, z2 / z
    half = math.sqrt(0.5 * (1.0 + s0 * z0 + s1 * z1 + s2 * z2))
    k, half = SCALING_POINT, 0.5 / half
    touch[i, k] = half * (s0 + z0)
    touch[i, k + 1], touch[i, k + 2] = half * (z1 - s1), half * (z2 - s2)
    touch[i, SCALING_SIZE] = math.sqrt(z / s)


@inlined
def ask(contact_link, touch, i, target, d, f):
    """Write WANT, what an impulse must change by beyond its answer to the slack, with the sign of a residual.

    For straight pairs that is s gamma − target, plus ds dgamma of columns d and f unless d < 0. For the round cone it
    is z − target / s, plus the quotient of W⁻¹ ds ∘ W dz by W z, turned back by W⁻¹, where W is the scaling of
    `scale`.
    """
    law = contact_link[i, LAW]
    target *= touch[i, WEIGHT]
    for k in range(straight_pairs(contact_link, touch, i)):
        a = touch[i, SLACK + k] * touch[i, FORCE + k] - target
        touch[i, WANT + k] = a + touch[i, d + k] * touch[i, f + k] if d >= 0 else a
    if law != NONLINEAR:
        return
    s0, s1, s2 = touch[i, SLACK + 1], touch[i, SLACK + 2], touch[i, SLACK + 3]
    far = math.hypot(s1, s2)
    k = target / max((s0 - far) * (s0 + far), 1e-300)
    x0, x1, x2 = touch[i, FORCE + 1] - k * s0, touch[i, FORCE + 2] + k * s1, touch[i, FORCE + 3] + k * s2
    if d >= 0:
        q0, q1, q2 = touch[i, SCALING_POINT], touch[i, SCALING_POINT + 1], touch[i, SCALING_POINT + 2]
        size = touch[i, SCALING_SIZE]
        l0, l1, l2 = _scaled(q0, -q1, -q2, touch[i, FORCE + 1], touch[i, FORCE + 2], touch[i, FORCE + 3])
        a0, a1, a2 = _scaled(q0, q1, q2, touch[i, d + 1], touch[i, d + 2], touch[i, d + 3])
        b0, b1, b2 = _scaled(q0, -q1, -q2, touch[i, f + 1], touch[i, f + 2], touch[i, f + 3])
        # W⁻¹ ds is size · a, W dz is b / size, W z is l / size: what is left of the sizes is one factor
        c0, c1, c2 = a0 * b0 + a1 * b1 + a2 * b2, a0 * b1 + b0 * a1, a0 * b2 + b0 * a2
        c0 = (l0 * c0 - l1 * c1 - l2 * c2) / max(l0 * l0 - l1 * l1 - l2 * l2, 1e-300)
        c1, c2 = (c1 - c0 * l1) / l0, (c2 - c0 * l2) / l0
        c0, c1, c2 = _scaled(q0, q1, q2, c0, c1, c2)
        x0, x1, x2 = x0 + size * size * c0, x1 + size * size * c1, x2 + size * size * c2
    touch[i, WANT + 1], touch[i, WANT + 2], touch[i, WANT + 3] = x0, x1, x2


@inlined
def _scaled(q0, q1, q2, x, y, z):
    """Scale a vector about a point (q0, q1, q2) of the cone, as W of unit size does."""
    along = q1 * y + q2 * z
    k = x + along / (1.0 + q0)
    return q0 * x + along, y + k * q1, z + k * q2


@inlined
def answer(contact_link, contact, touch, i, dgap, du, dv, full):
    """Solve the contact's linearised equations for a change of gap and slip: DSLACK, DFORCE.

    With ``full`` 0 the equations' own residuals are left out: the derivative alone.
    """
    g = touch[i, FORCE]
    ds = dgap + full * gap_missing(touch, i)
    dg = (-full * touch[i, WANT] - g * ds) / (touch[i, SLACK] + g * touch[i, GIVE])
    touch[i, DSLACK], touch[i, DFORCE] = ds + touch[i, GIVE] * dg, dg
    if contact_link[i, LAW] == NONLINEAR:
        _answer_round(contact, touch, i, dg, du, dv, full)
    elif contact_link[i, LAW] == LINEAR:
        _answer_linear(contact, touch, i, dg, du, dv, full)
    elif contact_link[i, LAW] == BOXED:
        for k in range(2):
            o, change = 1 + 2 * k, (du if k == 0 else dv) + full * _box_missing(touch, i, k)
            if touch[i, MOST] > 0.0:
                answer_box(
                    touch, i, SLACK + o, FORCE + o, DSLACK + o, DFORCE + o,
                    full * touch[i, WANT + o], full * touch[i, WANT + o + 1], change, contact[i, LEAST_GIVE],
                )  # fmt: skip
            else:
                _let_go(touch, i, DSLACK, DFORCE, o)


@inlined
def _answer_round(contact, touch, i, dg, du, dv, full):
    """Second-order cone: dz = −WANT − M ds, its first row solved for eta, a slack without an equation of its own."""
    beta = touch[i, FORCE + 1]
    dbeta, mu = dg + full * (touch[i, FORCE] - beta), contact[i, MU]
    du = mu * du + full * (mu * touch[i, SLIP] - touch[i, SLACK + 2])
    dv = mu * dv + full * (mu * touch[i, SLIP + 1] - touch[i, SLACK + 3])
    q0, q1, q2 = touch[i, SCALING_POINT], touch[i, SCALING_POINT + 1], touch[i, SCALING_POINT + 2]
    size = touch[i, SCALING_SIZE] * touch[i, SCALING_SIZE]
    along = 2.0 * (q1 * du + q2 * dv)
    deta = (-(full * touch[i, WANT + 1] + dbeta) / size - q0 * along) / (2.0 * q0 * q0 - 1.0)
    along += 2.0 * q0 * deta
    touch[i, DSLACK + 1], touch[i, DSLACK + 2], touch[i, DSLACK + 3] = deta, du, dv
    touch[i, DFORCE + 1] = dbeta
    touch[i, DFORCE + 2] = -full * touch[i, WANT + 2] - size * (along * q1 + du)
    touch[i, DFORCE + 3] = -full * touch[i, WANT + 3] - size * (along * q2 + dv)


@inlined
def _answer_linear(contact, touch, i, dg, du, dv, full):
    """Four-sided pyramid: psi of the cone row solved first, the frictions follow."""
    psi, s_psi, mu = touch[i, FORCE + 1], touch[i, SLACK + 1], contact[i, MU]
    cone = dg + full * (touch[i, FORCE] - s_psi)
    stiff = 0.0
    for k in range(4):
        s, b = touch[i, SLACK + 2 + k], touch[i, FORCE + 2 + k]
        along = dv if k < 2 else du
        along = -along if k % 2 else along
        ds = mu * along + full * (mu * _slip(touch, i, k) + psi - s)
        touch[i, DSLACK + 2 + k] = ds
        touch[i, DFORCE + 2 + k] = (-full * touch[i, WANT + 2 + k] - b * ds) / s
        cone -= touch[i, DFORCE + 2 + k] + full * b
        stiff += b / s
    dpsi = (-full * touch[i, WANT + 1] - psi * cone) / (s_psi + psi * stiff)
    touch[i, DFORCE + 1] = dpsi
    touch[i, DSLACK + 1] = cone + stiff * dpsi
    for k in range(4):
        touch[i, DSLACK + 2 + k] += dpsi
        touch[i, DFORCE + 2 + k] -= touch[i, FORCE + 2 + k] / touch[i, SLACK + 2 + k] * dpsi


@inlined
def reach(contact_link, touch, i, straight, round_):
    """Largest step, at most 1, that leaves SLACK and FORCE the shares given of what is inside their cones."""
    step = 1.0
    law = contact_link[i, LAW]
    for half in range(2):
        o, e = SLACK + 6 * half, DSLACK + 6 * half
        for k in range(straight_pairs(contact_link, touch, i)):
            if touch[i, e + k] < 0.0:
                share = straight if law != BOXED else min(straight, INSIDE)
                step = min(step, -share * touch[i, o + k] / touch[i, e + k])
        if law == NONLINEAR:
            step = min(step, _reach_round(touch, i, o + 1, e + 1, round_))
    return step


@inlined
def _reach_round(touch, i, o, e, share):
    """Largest step in a second-order cone (dojo.md §2.8)."""
    y0, y1, y2 = touch[i, o], touch[i, o + 1], touch[i, o + 2]
    d0, d1, d2 = touch[i, e], touch[i, e + 1], touch[i, e + 2]
    nu = y0 * y0 - y1 * y1 - y2 * y2
    if nu < 1e-150:
        return 0.0  # on the edge
    root = math.sqrt(nu)
    z = y0 * d0 - y1 * d1 - y2 * d2
    k = (z / root + d0) / (y0 / root + 1.0) / nu
    r1, r2 = d1 / root - k * y1, d2 / root - k * y2
    norm = math.sqrt(r1 * r1 + r2 * r2) - z / nu
    return min(1.0, share / norm) if norm > 0.0 else 1.0
