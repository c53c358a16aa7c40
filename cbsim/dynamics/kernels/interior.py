"""Interior-point solution of a step: Mehrotra's predictor–corrector method on the sparse system of the bodies.

The method is described in docs/theory/contact.md §4 to §6.
"""

from __future__ import annotations

import math

from cbsim.dynamics.kernels.columns import (
    ACTIVE,
    AFFINE_FORCE,
    AFFINE_SLACK,
    BILINEAR_LEFT,
    BTOL,
    CARRY,
    COMPLIANCE,
    DAMPED,
    DFORCE,
    DOF,
    DSLACK,
    FLAGS,
    FORCE,
    ITERATIONS,
    LS_SCALE,
    MAX_LS,
    N_TRANS,
    NO_PROGRESS_MAX,
    NO_PROGRESS_UNDERCUT,
    NOT_FINITE,
    OFFERED,
    OWN,
    RESIDUAL,
    RESIDUAL_LEFT,
    ROW_AFFINE_ROOM,
    ROW_COMPLIANCE,
    ROW_DFORCE,
    ROW_DROOM,
    ROW_FORCE,
    ROW_LINK,
    ROW_MISSING,
    ROW_PAIRS,
    ROW_ROOM,
    ROW_SLACK,
    RTOL,
    SLACK,
    SOLVED,
    STATUS,
    STEP,
    STUCK,
    UNDERCUT,
    WANT,
    WEIGHT,
)
from cbsim.dynamics.kernels.cone_steps import (
    couple,
    is_crowded,
    keep_pairs,
    longest_step,
    measure,
    soft_left,
    step_pairs,
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
    REFINED,
    all_free,
    evaluate_bodies,
    factorize_bodies,
    is_rounding,
    keep,
    refine,
    restore,
    rounding_of,
)
from cbsim.dynamics.kernels.rows import answer_row, ask_row, change_of, evaluate_row, give, stiffen_row
from cbsim.dynamics.kernels.softness import soft_product
from cbsim.dynamics.kernels.tree import eliminate, gather
from cbsim.dynamics.kernels.tree_solve import solve
from cbsim.jit import inlined, inner

__all__ = ["assess", "factorize", "interior"]

WEAKEST = 1e-4  # share of the typical contact impulse from which the errors of soft contacts are relative
POLISH = 8  # iterations for refining soft contacts
ROUGH = 10.0  # largest residual over the mean of s·gamma: early iterates need not be exact
CREEPING = 1e3  # multiple of the tolerance within which slow convergence continues
COARSE = 5.0  # multiple of the tolerance of products accepted after many iterations
STALLED, WEARY = 2, 20  # iterations without progress, or in total, after which the requested tolerance suffices
CAREFUL = 12  # iterations after which the target is a third of s·gamma, without corrector
FLOOR = 1e3  # least target of products relative to their tolerance, so that residuals converge by full steps
DIRECT, PASSING, ARRIVING = range(
    3
)  # modes: the problem itself, a relaxed problem on the path, the last problem of the path
ROUGH_WAY = 1e-3  # residual accepted on the path
NEAR_PATH = 1e-2  # residual below which an iterate on the path is centred, without predictor
NEARLY = 0.3  # share of the tolerance of products at the end of the path
ROUNDING = 1e-9  # residual accepted once increments are rounding errors, whatever the tolerance
JAM = 0.1  # step length below which pairs are centred first
JAMS = 8  # consecutive iterations with such steps after which an attempt with many contacts ends
LOOSE, LOOSENED = 0.8, 6  # `COUPLING` after two of them, and for how many iterations
NEAR = 0.995  # share of the distance to the boundary of a round cone that is stepped, until a step is short
FAR_TURN = 0.5  # largest rotation of a joint in an iteration [rad]: another root lies half a turn away


@inner
def assess(model, work, h, kappa, share):
    """Evaluate all equations at node 3: the largest residual, and the largest |s ∘ gamma − kappa| (`violation`)."""
    links, link, joint, link_work = model.links, model.link, model.joint, work.link_work
    contact_link, contact, contact_work = model.contact_link, model.contact, work.contact_work
    row_link, row, limit_work = model.row_link, model.row, work.limit_work
    worst = evaluate_bodies(links, link, joint, link_work, h)
    bilinear = 0.0
    for i in range(len(row_link)):
        b = row_link[i, ROW_LINK]
        # rows of one link are adjacent: OWN is cleared by the first of them, unless a damper has set it before
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
        bilinear = max(bilinear, violation(contact_link, contact_work, i, kappa, share))
    return max(worst, gather(links, link, joint, link_work)), bilinear


@inner
def factorize(model, work, h):
    """Assemble and factorize the system at node 3."""
    link, link_work, block = model.link, work.link_work, work.block
    contact_link, contact, contact_work = model.contact_link, model.contact, work.contact_work
    factorize_bodies(model.links, link, model.joint, link_work, block, model.loop_block, h)
    for i in range(len(model.row_link)):
        stiffen_row(link, model.joint, link_work, block, model.row_link, model.row, work.limit_work, i)
    for i in range(len(contact_link)):
        if contact_work[i, ACTIVE] != 0.0:
            scale(contact_link, contact_work, i)
            stiffen(contact_link, contact, contact_work, link_work, block, i, h)
    eliminate(link, link_work, block, model.program, model.fan, model.pair, work.fanned)


@inner
def solve_direction(model, work, target, correct, least):
    """Solve for the direction to s ∘ gamma = target e; ``correct`` includes the second-order term of the affine step.

    If ``least`` is not 0, the targets of soft contacts and stops are bounded by `soft_product` of that impulse [N s].
    """
    link, link_work, row_link, limit_work = model.link, work.link_work, model.row_link, work.limit_work
    contact_link, contact, contact_work = model.contact_link, model.contact, work.contact_work
    # right-hand sides, which rows and contacts add to with the bodies held where they are
    for b in range(len(link)):
        for k in range(6):
            link_work[b, CARRY + k] = 0.0
            link_work[b, OFFERED + k] = 0.0
    for i in range(len(row_link)):
        # a soft stop aims at a tenth of the product that its softness bears
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
        ask(contact_link, contact_work, i, target, AFFINE_SLACK if correct else -1, AFFINE_FORCE)
        if least > 0.0 and contact_work[i, COMPLIANCE] > 0.0:
            weight = contact_work[i, WEIGHT]
            aimed = 0.1 * soft_product(
                contact_work[i, COMPLIANCE], contact_work[i, SLACK], contact_work[i, FORCE], least * weight
            )
            # WANT is s gamma less its target: a lower target raises it
            contact_work[i, WANT] += max(0.0, target * weight - aimed)
        answer(contact_link, contact, contact_work, i, 0.0, 0.0, 0.0, 1.0)
        push(contact_link, contact, contact_work, link_work, i, DFORCE, -1.0, CARRY)
    solve(link, link_work, model.program, model.fan, work.fanned)
    # unknowns that were condensed follow from the increments of the bodies
    for i in range(len(row_link)):
        answer_row(limit_work, i, change_of(link, link_work, limit_work, i, row_link[i, ROW_LINK]))
    for i in range(len(contact_link)):
        if contact_work[i, ACTIVE] != 0.0:
            follow(contact_link, contact, contact_work, link_work, i)


@inlined
def largest_turn(links, link, link_work):
    """Largest increment of a joint's rotation about one of its axes."""
    largest = 0.0
    for b in range(links):
        for i in range(link[b, N_TRANS], link[b, DOF]):
            largest = max(largest, abs(link_work[b, STEP + i]))
    return largest


@inner
def predict(model, work):
    """Solve for the affine direction, to s ∘ gamma = 0, store it for the corrector, and return the target product."""
    contact_link, contact_work, limit_work = model.contact_link, work.contact_work, work.limit_work
    solve_direction(model, work, 0.0, False, 0.0)
    step = longest_step(contact_link, contact_work, limit_work, 0.95, 0.95)
    before, after = (
        measure(contact_link, contact_work, limit_work, 0.0),
        measure(contact_link, contact_work, limit_work, step),
    )
    # Mehrotra's sigma = (ν' / ν)³ times ν (docs/theory/contact.md §5)
    left = min(1.0, max(0.0, after / before)) if before > 0.0 else 0.0
    for i in range(len(contact_work)):
        for k in range(12):
            contact_work[i, AFFINE_SLACK + k] = contact_work[i, DSLACK + k]
    for i in range(len(limit_work)):
        # both distances, then both slacks
        for k in range(4):
            limit_work[i, ROW_AFFINE_ROOM + k] = limit_work[i, ROW_DROOM + k]
    return before * left**3


@inner
def search(model, work, settings, counts, h, kappa, share, step, old, old_bilinear, rtol, btol):
    """Line search along the current direction; return the step and the residuals after it."""
    contact_link, contact_work, limit_work = model.contact_link, work.contact_work, work.limit_work
    keep(model.links, work.link_work)
    keep_pairs(contact_work, limit_work)
    worst, bilinear, mean = old, old_bilinear, measure(contact_link, contact_work, limit_work, 0.0)
    for _ in range(counts[MAX_LS] + 1):
        restore(model.links, model.link, model.joint, work.link_work, step)
        step_pairs(contact_link, contact_work, limit_work, step)
        worst, bilinear = assess(model, work, h, kappa, share)
        # residuals may grow where the products are still larger, or where the products fall
        if worst <= max(old, ROUGH * mean) or bilinear <= old_bilinear or (worst < rtol and bilinear < btol):
            break
        step *= settings[LS_SCALE]
    return step, worst, bilinear


@inlined
def _any_active(contact_work):
    """Whether some contact may close in this step."""
    for i in range(len(contact_work)):
        if contact_work[i, ACTIVE] != 0.0:
            return True
    return False


@inner
def interior(model, work, settings, counts, kappa, impulse, hover, mode, patience, h, report):
    """Solve the step from the current point, with at least one iteration and at most ``patience``.

    Iterations that are nearly converged by then may take as many again.

    On a path of relaxed problems, intermediate ones (PASSING) are solved loosely, and the true one (ARRIVING) starts
    close to its solution: both by plain steps of Newton's method.

    Writes STATUS, ITERATIONS, RESIDUAL_LEFT and BILINEAR_LEFT of the report.
    """
    links, link, joint, link_work = model.links, model.link, model.joint, work.link_work
    contact_link, contact_work, limit_work = model.contact_link, work.contact_work, work.limit_work
    rtol, btol, is_relaxed = settings[RTOL], settings[BTOL], kappa >= 0.0
    kappa = max(0.0, kappa)  # a negative one stands for the true problem
    # gaps at rest are btol / impulse: a light body would hover; the error of friction is its product over eta
    asked = min(btol, rtol, 1e-3 * kappa) if is_relaxed else btol
    btol = 0.01 * asked if is_relaxed else min(btol, hover * impulse)
    if mode == PASSING:
        rtol, btol, asked = max(rtol, ROUGH_WAY), 0.5 * kappa, 0.5 * kappa
    share = 1.0 if is_relaxed else btol / asked  # weight of the direction of round cones in `violation`
    undercut, stalled, n, is_jammed, share_round = settings[UNDERCUT], 0, 0, False, NEAR
    most = patience
    # the central path of a crowd may turn back (docs/theory/contact.md §13): count short steps, to leave it
    crowded, jams, loose = is_crowded(contact_work), 0, 0
    worst, bilinear = assess(model, work, h, kappa, share)
    least, polished = WEAKEST * impulse, 0
    while n < most and math.isfinite(worst + bilinear):
        # solved; soft contacts are refined further, by plain steps at their own tolerance
        if worst < rtol and bilinear < btol and n > 0:
            if is_relaxed or mode == PASSING or polished >= POLISH or soft_left(contact_work, limit_work, least) < 1.0:
                break
            polished += 1
        if crowded:
            loose = LOOSENED if loose == 0 and jams >= 2 else max(0, loose - 1)
            couple(contact_work, LOOSE if loose > 0 else 1.0)
        factorize(model, work, h)
        # near a relaxed solution the corrector cycles
        plain = mode == ARRIVING or (is_relaxed and bilinear < (10.0 if worst < 1e-4 else 0.5) * kappa)
        plain = plain or polished > 0
        # the target: on a path its kappa, at its end the tolerance; else of centring, if the iteration is in trouble,
        # or the predictor's
        target = kappa if mode != ARRIVING else NEARLY * btol
        if polished > 0:
            target = btol / FLOOR
        is_careful = is_jammed or n >= CAREFUL or (mode == PASSING and worst < NEAR_PATH)
        if is_careful and not plain:
            target = (1.0 if is_jammed else 0.3) * measure(contact_link, contact_work, limit_work, 0.0)
            target = max(target, btol / FLOOR, kappa)
        elif not plain:
            target = max(predict(model, work), btol / min(undercut, FLOOR), kappa)
        corrects = not (plain or is_careful)
        solve_direction(model, work, target, corrects, least if polished > 0 else 0.0)
        # the closer to the solution, the closer to the boundary a step may end
        edge = max(0.95, 1.0 - max(worst, bilinear) ** 2)
        step = longest_step(contact_link, contact_work, limit_work, edge, min(edge, share_round) if not plain else edge)
        step = min(step, FAR_TURN / max(FAR_TURN, largest_turn(links, link, link_work)))
        old, old_bilinear = worst, bilinear
        step, worst, bilinear = search(
            model, work, settings, counts, h, kappa, share, step, old, old_bilinear, rtol, btol
        )
        n += 1
        jams = jams + 1 if step < JAM else 0
        if crowded and jams >= JAMS:
            break
        is_jammed = step < JAM and not is_jammed  # one centring step at a time
        share_round = NEAR if step > 0.9 and share_round == NEAR else 0.95
        better = (worst < 0.8 * old and old >= rtol) or (bilinear < 0.8 * old_bilinear and old_bilinear >= btol)
        stalled = 0 if better else stalled + 1
        # without progress the next targets are lower
        if stalled >= counts[NO_PROGRESS_MAX]:
            undercut *= settings[NO_PROGRESS_UNDERCUT]
        if n >= CAREFUL and worst < rtol:
            enough = asked if stalled >= STALLED or n >= WEARY else min(asked, COARSE * btol)
            if bilinear < enough:
                btol = asked  # the tolerance is reached, and further progress is unlikely
        # nearly solved when patience ends: as many iterations again, once
        if n == patience and n == most and worst < CREEPING * rtol:
            most *= 2
        # a full step at the level of rounding: no further iteration can do better
        if step == 1.0 and bilinear < asked and is_rounding(links, link_work):
            rtol, btol = max(rtol, ROUNDING, rounding_of(links, joint, link_work, h)), asked
    if crowded:
        couple(contact_work, 1.0)  # gradients take the whole response
    fine = worst < rtol and bilinear < btol
    if fine and worst > REFINED * rtol and all_free(links, link) and not _any_active(contact_work):
        worst = refine(links, link, joint, link_work, model.program, model.fan, work.fanned, h)
    report[ITERATIONS] = n
    report[RESIDUAL_LEFT], report[BILINEAR_LEFT] = worst, bilinear
    report[STATUS] = SOLVED if fine else STUCK if math.isfinite(worst + bilinear) else NOT_FINITE
