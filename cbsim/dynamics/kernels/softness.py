"""Target gaps of contacts at node 3, from gaps and velocities at node 2.

The gap of a rigid contact is at least 0. A soft contact keeps (1 − ERP) of a penetration at node 2, as in ODE. A
contact with restitution e that would close in this step has to open by e times its closing in the step before, Newton's
law. Its impulse acts at node 2, between the two steps: at e = 1 a tumbling body can reverse its nodes without gaining
energy. In penetration the larger of the two targets counts. Rigid contacts that overlap at node 2 are separated at a
limited speed. Friction limited by a force acts where bodies touch at node 2. Derivations: docs/theory/contact.md §7 to
§9.
"""

from __future__ import annotations

import math

from cbsim.dynamics.kernels.algebra import product, rotation
from cbsim.dynamics.kernels.columns import (
    AXES,
    BODY,
    BOUNCES,
    BOXED,
    CFM,
    COMPLIANCE,
    DOF,
    GAP,
    GRAVITY,
    KAPPA,
    LAW,
    MOST,
    MU,
    NORMAL2,
    ONE,
    ONE_MINUS_ERP,
    OTHER,
    PARENT,
    PARTING,
    POINT,
    POINT2,
    Q2,
    R3,
    RESTITUTION,
    RISE,
    SHIFT_OF_GAP,
    SPEED,
    SPIN,
    STEP_LENGTH,
    VELOCITY,
    X2,
    X3,
    U,
)
from cbsim.dynamics.kernels.contacts import evaluate_contact
from cbsim.geometry.kernels.elementary import power
from cbsim.jit import inlined, inner

__all__ = ["soft_in_part", "soft_product", "soften_gaps"]

AT_REST = 2.0  # multiple of the velocity change by gravity in a step up to which closing contacts do not bounce
FAR = 1.5  # allowed motion of a contact in a step, over that by its speed at the end
TOUCHING = 1e-5  # gap below which bodies touch [m]
SOFT = 3e-3  # largest relative error of the impulse of a soft pair


@inlined
def soft_in_part(left, cfm, share):
    """Remaining share of an error, 1 − ERP, and CFM, of the same spring and damper in a part of a step.

    The part is ``share`` of the step. With h k = ERP / CFM and d = (1 − ERP) / CFM they are d / (share h k + d) and 1 /
    (share h k + d) (ODE manual, §3.8.2). Without CFM all parts together leave the same share as the step.
    """
    if not 0.0 < share < 1.0:
        return left, cfm
    if cfm == 0.0:
        return power(left, share), 0.0
    stiff = share * (1.0 - left) + left
    return left / stiff, cfm / stiff


@inlined
def soft_product(compliance, slack, impulse, least):
    """Largest product of slack and impulse that a soft contact or stop may have.

    At a product κ the impulse of a contact compressed by m, or separated by m, is κ / m too large. Relative to m / c,
    the impulse of that compression, this is κ c / m²; m is at least the compression by ``least`` [N s].
    """
    far = max(slack, compliance * impulse, compliance * least)
    return SOFT * far * far / compliance


@inlined
def _stash(link_work, b, back):
    """Store a body's node 3 in U, or restore it."""
    if b >= 0:
        # X3, Q3 and R3; U is free until the system is assembled
        for k in range(16):
            if back:
                link_work[b, X3 + k] = link_work[b, U + k]
            else:
                link_work[b, U + k] = link_work[b, X3 + k]


@inlined
def _to_node(link, link_work, z, b, before):
    """Set node 3 of a body to node 2, or to its pose a time ``before`` [s] earlier."""
    if b < 0:
        return
    if before == 0.0:
        for k in range(16):
            link_work[b, X3 + k] = link_work[b, X2 + k]
        return
    i, k = link[b, BODY], -0.5 * before
    for m in range(3):
        link_work[b, X3 + m] = link_work[b, X2 + m] - before * z[i, VELOCITY + m]
    # the rotation backwards in axes of the body: half-angle vector −½ · before · ω, scalar part from the length 1
    x, y, w = k * z[i, SPIN], k * z[i, SPIN + 1], k * z[i, SPIN + 2]
    c = math.sqrt(max(0.0, 1.0 - x * x - y * y - w * w))
    c, x, y, w = product(link_work[b, Q2], link_work[b, Q2 + 1], link_work[b, Q2 + 2], link_work[b, Q2 + 3], c, x, y, w)
    rotation(link_work, b, R3, c, x, y, w)


@inlined
def _falls(link, b):
    """Whether gravity moves a body: it is not fixed to the world."""
    return b >= 0 and (link[b, PARENT] >= 0 or link[b, DOF] > 0)


@inlined
def _bounce(link, contact_link, contact, contact_work, link_work, z, i, settings, before, h):
    """Return the approach of a contact's bodies in the last step, scaled to this one; 0 if separate or slow.

    Node 1 lies ``before`` [s] before node 2; the bodies are at node 2 on entry and on return.
    """
    b, q = contact_link[i, ONE], contact_link[i, OTHER]
    k, gap = GRAVITY, contact_work[i, GAP]
    nx, ny, nz = contact_work[i, AXES], contact_work[i, AXES + 1], contact_work[i, AXES + 2]
    # along the normal gravity changes the gap at this rate, unless it moves both bodies alike
    pull = nx * settings[k] + ny * settings[k + 1] + nz * settings[k + 2]
    pull *= 1.0 * _falls(link, b) - 1.0 * _falls(link, q)
    rest = math.sqrt(settings[k] ** 2 + settings[k + 1] ** 2 + settings[k + 2] ** 2)
    last = before if before != 0.0 else h
    _to_node(link, link_work, z, b, last)
    _to_node(link, link_work, z, q, last)
    evaluate_contact(contact_link, contact, contact_work, link_work, i, h)
    # approach between nodes 1 and 2; the gap expected at node 3 is `gap` less that, plus what gravity adds
    nearer = (contact_work[i, GAP] - gap) * h / last
    if nearer <= AT_REST * h * h * rest or gap - nearer + h * h * pull >= 0.0:
        return 0.0
    return nearer


@inlined
def _may_overlap(contact_work, i, rise, h):
    """Whether a contact may overlap by more than ``rise`` [m] at node 2, given its motion to the guess of node 3."""
    return contact_work[i, GAP] - FAR * abs(h) * math.sqrt(contact_work[i, SPEED]) + rise < 0.0


@inner
def soften_gaps(link, contact_link, contact, contact_work, link_work, z, settings, impulse, before, h):
    """Set SHIFT_OF_GAP, COMPLIANCE, RISE and MOST of every contact.

    ``impulse`` [N s] is the typical load of a contact: in a relaxed problem bodies at rest are kappa / impulse apart.
    """
    rise = abs(h) * settings[PARTING]
    for i in range(len(contact_link)):
        contact_work[i, SHIFT_OF_GAP], contact_work[i, MOST], contact_work[i, BOUNCES], contact_work[i, RISE] = (
            0.0,
            0.0,
            0.0,
            0.0,
        )
        left, contact_work[i, COMPLIANCE] = soft_in_part(
            contact[i, ONE_MINUS_ERP], contact[i, CFM], h / settings[STEP_LENGTH]
        )
        # no rebound in a stage that runs backwards
        law, bounces = contact_link[i, LAW], contact[i, RESTITUTION] > 0.0 and h > 0.0
        is_hard = law != BOXED and contact[i, ONE_MINUS_ERP] == 0.0 and not bounces
        # most contacts end here: rigid ones that do not overlap keep the target 0
        if is_hard and not _may_overlap(contact_work, i, rise, h):
            continue
        # all others are evaluated at node 2, with node 3 of the bodies set aside
        b, q = contact_link[i, ONE], contact_link[i, OTHER]
        _stash(link_work, b, False)
        _stash(link_work, q, False)
        _to_node(link, link_work, z, b, 0.0)
        _to_node(link, link_work, z, q, 0.0)
        evaluate_contact(contact_link, contact, contact_work, link_work, i, h)
        gap = contact_work[i, GAP]
        for k in range(3):
            contact_work[i, NORMAL2 + k], contact_work[i, POINT2 + k] = (
                contact_work[i, AXES + k],
                contact_work[i, POINT + k],
            )
        far = (
            _bounce(link, contact_link, contact, contact_work, link_work, z, i, settings, before, h) if bounces else 0.0
        )
        _stash(link_work, b, True)
        _stash(link_work, q, True)
        evaluate_contact(contact_link, contact, contact_work, link_work, i, h)
        # bodies at rest in a relaxed problem are apart by kappa over their load: up to three times that counts as
        # touching
        if law == BOXED and gap < TOUCHING + 3.0 * max(0.0, settings[KAPPA]) / impulse:
            contact_work[i, MOST] = contact[i, MU] * abs(h)
        under = min(0.0, gap)
        shift = left * under
        if (
            contact_work[i, COMPLIANCE] == 0.0 and under + rise < shift
        ):  # compliant contacts are compressed by their load
            contact_work[i, RISE] = rise
            shift = under + rise
        if far > 0.0:
            contact_work[i, BOUNCES] = 1.0
            shift = max(shift, gap + contact[i, RESTITUTION] * far)
        contact_work[i, SHIFT_OF_GAP] = shift
