"""System of equations of one iteration: residuals, factorisation and solution for a direction.

The equations are those of docs/theory/contact.md §4.
"""

from __future__ import annotations

from cbsim.dynamics.kernels.columns import (
    ACTIVE,
    AFFINE_FORCE,
    AFFINE_SLACK,
    CARRY,
    COMPLIANCE,
    DAMPED,
    DFORCE,
    FLAGS,
    FORCE,
    OFFERED,
    OWN,
    RESIDUAL,
    ROW_COMPLIANCE,
    ROW_DFORCE,
    ROW_FORCE,
    ROW_LINK,
    ROW_MISSING,
    ROW_PAIRS,
    ROW_ROOM,
    ROW_SLACK,
    SLACK,
    WANT,
    WEIGHT,
)
from cbsim.dynamics.kernels.cones import (
    answer,
    ask,
    missing,
    scale,
    violation,
)
from cbsim.dynamics.kernels.contacts import evaluate_contact, follow, push, stiffen
from cbsim.dynamics.kernels.newton import (
    evaluate_bodies,
    factorize_bodies,
)
from cbsim.dynamics.kernels.rows import answer_row, ask_row, change_of, evaluate_row, give, stiffen_row
from cbsim.dynamics.kernels.softness import soft_product
from cbsim.dynamics.kernels.tree import eliminate, gather
from cbsim.dynamics.kernels.tree_solve import solve
from cbsim.jit import inner

__all__ = ["assess", "factorize", "solve_direction"]


@inner
def assess(
    links, link, joint, link_work, contact_link, contact, contact_work, row_link, row, limit_work, h, kappa, pace, share
):
    """Evaluate all equations at node 3: the largest residual, and the largest |s ∘ gamma − kappa| (`violation`)."""
    worst = evaluate_bodies(links, link, joint, link_work, h)
    bilinear = 0.0
    for i in range(len(row_link)):
        b = row_link[i, ROW_LINK]
        if b < links and (i == 0 or b != row_link[i - 1, ROW_LINK]) and not link[b, FLAGS] & DAMPED:
            for k in range(6):
                link_work[b, OWN + k] = 0.0
        evaluate_row(link, joint, link_work, row_link, row, limit_work, i)
        give(link, link_work, limit_work, i, b, limit_work[i, ROW_FORCE], OWN, RESIDUAL)
        worst = max(worst, abs(limit_work[i, ROW_MISSING]))
        for k in range(int(limit_work[i, ROW_PAIRS])):
            bilinear = max(bilinear, abs(limit_work[i, ROW_SLACK + k] * limit_work[i, ROW_ROOM + k] - kappa))
    for i in range(len(contact_link)):
        if contact_work[i, ACTIVE] == 0.0:
            continue
        evaluate_contact(contact_link, contact, contact_work, link_work, i, h)
        push(contact_link, contact, contact_work, link_work, i, FORCE, -1.0, RESIDUAL)
        worst = max(worst, missing(contact_link, contact, contact_work, i))
        bilinear = max(bilinear, violation(contact_link, contact_work, i, kappa, pace, share))
    return max(worst, gather(links, link, joint, link_work)), bilinear


@inner
def factorize(
    links, link, joint, link_work, block, loop_block, program, fan, pair, fanned,
    contact_link, contact, contact_work, row_link, row, limit_work, h,
):  # fmt: skip
    """Assemble and factorize the system at node 3."""
    factorize_bodies(links, link, joint, link_work, block, loop_block, h)
    for i in range(len(row_link)):
        stiffen_row(link, joint, link_work, block, row_link, row, limit_work, i)
    for i in range(len(contact_link)):
        if contact_work[i, ACTIVE] != 0.0:
            scale(contact_link, contact_work, i)
            stiffen(contact_link, contact, contact_work, link_work, block, i, h)
    eliminate(link, link_work, block, program, fan, pair, fanned)


@inner
def solve_direction(
    link,
    link_work,
    program,
    fan,
    fanned,
    contact_link,
    contact,
    contact_work,
    row_link,
    limit_work,
    target,
    pace,
    correct,
    least,
):
    """Solve for the direction to s ∘ gamma = target e; ``correct`` includes the second-order term of the affine step.

    If ``least`` is not 0, the targets of soft contacts and stops are bounded by `soft_product` of that impulse [N s].
    """
    for b in range(len(link)):
        for k in range(6):
            link_work[b, CARRY + k] = 0.0
            link_work[b, OFFERED + k] = 0.0
    for i in range(len(row_link)):
        aimed = target
        if least > 0.0 and limit_work[i, ROW_PAIRS] == 1.0 and limit_work[i, ROW_COMPLIANCE] > 0.0:
            aimed = min(
                target,
                0.1
                * soft_product(limit_work[i, ROW_COMPLIANCE], limit_work[i, ROW_SLACK], limit_work[i, ROW_ROOM], least),
            )
        ask_row(limit_work, i, aimed, correct)
        give(link, link_work, limit_work, i, row_link[i, ROW_LINK], limit_work[i, ROW_DFORCE], OFFERED, CARRY)
    for i in range(len(contact_link)):
        if contact_work[i, ACTIVE] == 0.0:
            continue
        ask(contact_link, contact_work, i, target, pace, AFFINE_SLACK if correct else -1, AFFINE_FORCE)
        if least > 0.0 and contact_work[i, COMPLIANCE] > 0.0:
            weight = contact_work[i, WEIGHT]
            aimed = 0.1 * soft_product(
                contact_work[i, COMPLIANCE], contact_work[i, SLACK], contact_work[i, FORCE], least * weight
            )
            contact_work[i, WANT] += max(0.0, target * weight - aimed)
        answer(contact_link, contact, contact_work, i, 0.0, 0.0, 0.0, 1.0)
        push(contact_link, contact, contact_work, link_work, i, DFORCE, -1.0, CARRY)
    solve(link, link_work, program, fan, fanned)
    for i in range(len(row_link)):
        answer_row(limit_work, i, change_of(link, link_work, limit_work, i, row_link[i, ROW_LINK]))
    for i in range(len(contact_link)):
        if contact_work[i, ACTIVE] != 0.0:
            follow(contact_link, contact, contact_work, link_work, i)
