"""One step with inequalities: Mehrotra's predictor and corrector on the sparse system of the bodies.

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
    DAMPED,
    DFORCE,
    DOF,
    DSLACK,
    FLAGS,
    FORCE,
    FRESH,
    GIVE,
    ITERATIONS,
    LS_SCALE,
    MAX_LS,
    MOST,
    NO_PROGRESS_MAX,
    NO_PROGRESS_UNDERCUT,
    NOT_FINITE,
    OFFERED,
    OWN,
    RESIDUAL,
    RESIDUAL_LEFT,
    ROW_AFFINE_ROOM,
    ROW_DFORCE,
    ROW_DROOM,
    ROW_FORCE,
    ROW_GIVE,
    ROW_LINK,
    ROW_MISSING,
    ROW_MOST,
    ROW_PAIRS,
    ROW_ROOM,
    ROW_SLACK,
    RTOL,
    SLACK,
    SLIDES,
    SOLVED,
    STATUS,
    STEP,
    STUCK,
    UNDERCUT,
    WANT,
    WEIGHT,
)
from cbsim.dynamics.kernels.cones import (
    answer,
    ask,
    missing,
    scale,
    set_in,
    set_out,
    violation,
)
from cbsim.dynamics.kernels.pair_steps import furthest, keep_pairs, measure, soft_left, step_pairs
from cbsim.dynamics.kernels.rows import answer_row, ask_row, change_of, give, row_in, row_out, see_row, stiffen_row
from cbsim.dynamics.kernels.smooth import (
    REFINED,
    all_free,
    direct_bodies,
    evaluate_bodies,
    is_rounding,
    keep,
    refine,
    restore,
    rounding_of,
)
from cbsim.dynamics.kernels.softness import soft_product
from cbsim.dynamics.kernels.touching import follow, push, see, stiffen
from cbsim.dynamics.kernels.tree import eliminate, gather, solve
from cbsim.jit import inlined, inner

__all__ = ["assess", "direct", "interior", "start"]

WEAKEST = 1e-4  # share of the impulse at contacts for which soft ones are as exact as for more
POLISH = 8  # iterations for that
ROUGH = 10.0  # residuals may be so many times the mean of s·gamma: what is rough yet need not be exact yet
CREEPING = 1e3  # times what is asked for: what has come so near gets there, if slowly
COARSE = 5.0  # times what products may be that will do after many iterations
STALLED, WEARY = 2, 20  # iterations without progress, or at all, after which whatever was asked for will do
CAREFUL = 12  # after so many iterations a third of s·gamma is aimed at, and no correction made
FLOOR = 1e3  # products are led to a thousandth of what they may be, no lower: residuals then close with whole steps
DIRECT, PASSING, ARRIVING = range(3)  # manners of solving: the problem itself, one on the way to it, from beside it
ROUGH_WAY = 1e-3  # residual that will do on the way
NEAR_PATH = 1e-2  # residual below which an iterate on the way is led, not predicted
NEARLY = 0.3  # share of what products of slack and impulse may be, at the end of the way
ROUNDING = 1e-9  # residual that counts as nothing once increments are down to rounding, whatever was asked for
JAM = 0.1  # after a shorter step than this the pairs are led away from the edges of their cones first
NEAR = 0.995  # share of the way to the edge of a round cone that is taken, until a step turns out short
FAR_TURN = 0.5  # most that a joint turns in an iteration [rad]: half a turn on lies another root
WEAK = 1e-3  # share of the impulse at contacts below which that of a drive need not be as exact


@inner
def start(link, joint, arena, contact_link, contact, touch, row_link, row, hold, impulse, depth, warm):
    """Set the pairs: from the step before, moved a little into their cones, or anew.

    Returns the least of ``impulse`` and of what drives and boxed friction may give, but for very weak ones: by that
    the exactness of pairs is measured.
    """
    least = impulse
    for i in range(len(contact_link)):
        if touch[i, ACTIVE] == 0.0:
            continue
        for k in range(6):
            touch[i, WANT + k] = 0.0  # of an attempt that left the numbers it is none, and so is nothing times it
        if warm == 0.0 or touch[i, FRESH] != 0.0:
            set_out(contact_link, contact, touch, i, impulse, depth)
        else:
            set_in(contact_link, touch, i)
        if touch[i, MOST] > 0.0:
            least = min(least, touch[i, MOST] / touch[i, WEIGHT])
    for i in range(len(hold)):
        measure = see_row(link, joint, arena, row_link, row, hold, i)
        if warm == 0.0:
            row_out(hold, i, measure, impulse, depth)
        else:
            row_in(hold, i)
        if hold[i, ROW_PAIRS] == 2.0:
            least = min(least, hold[i, ROW_MOST])
    return max(least, WEAK * impulse)


@inner
def assess(links, link, joint, arena, contact_link, contact, touch, row_link, row, hold, h, kappa, share):
    """Evaluate all equations at node 3: the largest residual, and the largest |s ∘ gamma − kappa| (`violation`)."""
    worst = evaluate_bodies(links, link, joint, arena, h)
    bilinear = 0.0
    for i in range(len(row_link)):
        b = row_link[i, ROW_LINK]
        if b < links and (i == 0 or b != row_link[i - 1, ROW_LINK]) and not link[b, FLAGS] & DAMPED:
            for k in range(6):
                arena[b, OWN + k] = 0.0
        see_row(link, joint, arena, row_link, row, hold, i)
        give(link, arena, hold, i, b, hold[i, ROW_FORCE], OWN, RESIDUAL)
        worst = max(worst, abs(hold[i, ROW_MISSING]))
        for k in range(int(hold[i, ROW_PAIRS])):
            bilinear = max(bilinear, abs(hold[i, ROW_SLACK + k] * hold[i, ROW_ROOM + k] - kappa))
    for i in range(len(contact_link)):
        if touch[i, ACTIVE] == 0.0:
            continue
        see(contact_link, contact, touch, arena, i, h)
        push(contact_link, contact, touch, arena, i, FORCE, -1.0, RESIDUAL)
        worst = max(worst, missing(contact_link, contact, touch, i))
        bilinear = max(bilinear, violation(contact_link, touch, i, kappa, share))
    return max(worst, gather(links, link, joint, arena)), bilinear


@inner
def direct(
    links, link, joint, arena, block, chord_block, program, fan, pair, fanned,
    contact_link, contact, touch, row_link, row, hold, h,
):  # fmt: skip
    """Assemble and factor the system at node 3."""
    direct_bodies(links, link, joint, arena, block, chord_block, h)
    for i in range(len(row_link)):
        stiffen_row(link, joint, arena, block, row_link, row, hold, i)
    for i in range(len(contact_link)):
        if touch[i, ACTIVE] != 0.0:
            scale(contact_link, touch, i)
            stiffen(contact_link, contact, touch, arena, block, i, h)
    eliminate(link, arena, block, program, fan, pair, fanned)


@inner
def aim(link, arena, program, fan, fanned, contact_link, contact, touch, row_link, hold, target, correct, least):
    """Solve for the direction to s ∘ gamma = target e; ``correct`` allows for the affine step's own product.

    Where ``least`` is not 0, soft contacts and stops aim as low as `soft_product` asks with that impulse [N s].
    """
    for b in range(len(link)):
        for k in range(6):
            arena[b, CARRY + k] = 0.0
            arena[b, OFFERED + k] = 0.0
    for i in range(len(row_link)):
        aimed = target
        if least > 0.0 and hold[i, ROW_PAIRS] == 1.0 and hold[i, ROW_GIVE] > 0.0:
            aimed = min(target, 0.1 * soft_product(hold[i, ROW_GIVE], hold[i, ROW_SLACK], hold[i, ROW_ROOM], least))
        ask_row(hold, i, aimed, correct)
        give(link, arena, hold, i, row_link[i, ROW_LINK], hold[i, ROW_DFORCE], OFFERED, CARRY)
    for i in range(len(contact_link)):
        if touch[i, ACTIVE] == 0.0:
            continue
        ask(contact_link, touch, i, target, AFFINE_SLACK if correct else -1, AFFINE_FORCE)
        if least > 0.0 and touch[i, GIVE] > 0.0:
            weight = touch[i, WEIGHT]
            aimed = 0.1 * soft_product(touch[i, GIVE], touch[i, SLACK], touch[i, FORCE], least * weight)
            touch[i, WANT] += max(0.0, target * weight - aimed)
        answer(contact_link, contact, touch, i, 0.0, 0.0, 0.0, 1.0)
        push(contact_link, contact, touch, arena, i, DFORCE, -1.0, CARRY)
    solve(link, arena, program, fan, fanned)
    for i in range(len(row_link)):
        answer_row(hold, i, change_of(link, arena, hold, i, row_link[i, ROW_LINK]))
    for i in range(len(contact_link)):
        if touch[i, ACTIVE] != 0.0:
            follow(contact_link, contact, touch, arena, i)


@inlined
def largest_turn(links, link, arena):
    """Largest increment of a joint's rotation about one of its axes."""
    largest = 0.0
    for b in range(links):
        for i in range(link[b, SLIDES], link[b, DOF]):
            largest = max(largest, abs(arena[b, STEP + i]))
    return largest


@inner
def predict(link, arena, program, fan, fanned, contact_link, contact, touch, row_link, hold):
    """Solve for the affine direction, to s ∘ gamma = 0, keep it for the corrector, and return the product to aim at."""
    aim(link, arena, program, fan, fanned, contact_link, contact, touch, row_link, hold, 0.0, False, 0.0)
    step = furthest(contact_link, touch, hold, 0.95, 0.95)
    before, after = measure(contact_link, touch, hold, 0.0), measure(contact_link, touch, hold, step)
    left = min(1.0, max(0.0, after / before)) if before > 0.0 else 0.0
    for i in range(len(touch)):
        for k in range(12):
            touch[i, AFFINE_SLACK + k] = touch[i, DSLACK + k]
    for i in range(len(hold)):
        for k in range(4):
            hold[i, ROW_AFFINE_ROOM + k] = hold[i, ROW_DROOM + k]
    return before * left**3


@inner
def search(
    links, link, joint, arena, contact_link, contact, touch, row_link, row, hold, settings, counts, h,
    kappa, share, step, old, old_bilinear, rtol, btol,
):  # fmt: skip
    """Step along the direction at hand, by less until that is good enough; the step, and what is missing after it."""
    keep(links, arena)
    keep_pairs(touch, hold)
    worst, bilinear, mean = old, old_bilinear, measure(contact_link, touch, hold, 0.0)
    for _ in range(counts[MAX_LS] + 1):
        restore(links, link, joint, arena, step)
        step_pairs(contact_link, touch, hold, step)
        worst, bilinear = assess(
            links, link, joint, arena, contact_link, contact, touch, row_link, row, hold, h, kappa, share
        )
        if worst <= max(old, ROUGH * mean) or bilinear <= old_bilinear or (worst < rtol and bilinear < btol):
            break
        step *= settings[LS_SCALE]
    return step, worst, bilinear


@inlined
def _any_active(touch):
    """Whether some contact may close in this step."""
    for i in range(len(touch)):
        if touch[i, ACTIVE] != 0.0:
            return True
    return False


@inner
def interior(
    links, link, joint, arena, block, chord_block, program, fan, pair, fanned,
    contact_link, contact, touch, row_link, row, hold,
    settings, counts, kappa, impulse, hover, manner, patience, h, report,
):  # fmt: skip
    """Solve the step from the point at hand, with one iteration at least and ``patience`` at most.

    What is nearly there by then has as many again.

    On a path of relaxed problems those on the way (PASSING) need only be solved so far that they lead on, and the true
    one (ARRIVING) is solved from right beside it: all are approached by plain steps of Newton's method.

    Writes STATUS, ITERATIONS, RESIDUAL_LEFT and BILINEAR_LEFT of the report.
    """
    rtol, btol, is_relaxed = settings[RTOL], settings[BTOL], kappa >= 0.0
    kappa = max(0.0, kappa)
    # gaps at rest are btol / impulse: a light body would hover; friction is as far off as its product over eta
    asked = min(btol, rtol, 1e-3 * kappa) if is_relaxed else btol
    btol = 0.01 * asked if is_relaxed else min(btol, hover * impulse)
    if manner == PASSING:
        rtol, btol, asked = max(rtol, ROUGH_WAY), 0.5 * kappa, 0.5 * kappa
    share = 1.0 if is_relaxed else btol / asked
    undercut, stalled, n, is_jammed, share_round = settings[UNDERCUT], 0, 0, False, NEAR
    most = patience
    worst, bilinear = assess(
        links, link, joint, arena, contact_link, contact, touch, row_link, row, hold, h, kappa, share
    )
    least, polished = WEAKEST * impulse, 0
    while n < most and math.isfinite(worst + bilinear):
        if worst < rtol and bilinear < btol and n > 0:
            if is_relaxed or manner == PASSING or polished >= POLISH or soft_left(touch, hold, least) < 1.0:
                break
            polished += 1
        direct(
            links, link, joint, arena, block, chord_block, program, fan, pair, fanned,
            contact_link, contact, touch, row_link, row, hold, h,
        )  # fmt: skip
        # near its end the corrector goes round in circles about a relaxed solution
        plain = manner == ARRIVING or (is_relaxed and bilinear < (10.0 if worst < 1e-4 else 0.5) * kappa)
        plain = plain or polished > 0
        target = kappa if manner != ARRIVING else NEARLY * btol
        if polished > 0:
            target = btol / FLOOR
        is_careful = is_jammed or n >= CAREFUL or (manner == PASSING and worst < NEAR_PATH)
        if is_careful and not plain:
            target = (1.0 if is_jammed else 0.3) * measure(contact_link, touch, hold, 0.0)
            target = max(target, btol / FLOOR, kappa)
        elif not plain:
            target = predict(link, arena, program, fan, fanned, contact_link, contact, touch, row_link, hold)
            target = max(target, btol / min(undercut, FLOOR), kappa)
        corrects = not (plain or is_careful)
        aim(
            link, arena, program, fan, fanned, contact_link, contact, touch, row_link, hold,
            target, corrects, least if polished > 0 else 0.0,
        )  # fmt: skip
        edge = max(0.95, 1.0 - max(worst, bilinear) ** 2)
        step = furthest(contact_link, touch, hold, edge, min(edge, share_round) if not plain else edge)
        step = min(step, FAR_TURN / max(FAR_TURN, largest_turn(links, link, arena)))
        old, old_bilinear = worst, bilinear
        step, worst, bilinear = search(
            links, link, joint, arena, contact_link, contact, touch, row_link, row, hold, settings, counts, h,
            kappa, share, step, old, old_bilinear, rtol, btol,
        )  # fmt: skip
        n += 1
        is_jammed = step < JAM and not is_jammed
        share_round = NEAR if step > 0.9 and share_round == NEAR else 0.95
        better = (worst < 0.8 * old and old >= rtol) or (bilinear < 0.8 * old_bilinear and old_bilinear >= btol)
        stalled = 0 if better else stalled + 1
        if stalled >= counts[NO_PROGRESS_MAX]:
            undercut *= settings[NO_PROGRESS_UNDERCUT]
        if n >= CAREFUL and worst < rtol:
            enough = asked if stalled >= STALLED or n >= WEARY else min(asked, COARSE * btol)
            if bilinear < enough:
                btol = asked  # what was asked for is there; more is hardly to be had
        if n == patience and n == most and worst < CREEPING * rtol:
            most *= 2
        if step == 1.0 and bilinear < asked and is_rounding(links, arena):
            rtol, btol = max(rtol, ROUNDING, rounding_of(links, joint, arena, h)), asked
    fine = worst < rtol and bilinear < btol
    if fine and worst > REFINED * rtol and all_free(links, link) and not _any_active(touch):
        worst = refine(links, link, joint, arena, program, fan, fanned, h)
    report[ITERATIONS] = n
    report[RESIDUAL_LEFT], report[BILINEAR_LEFT] = worst, bilinear
    report[STATUS] = SOLVED if fine else STUCK if math.isfinite(worst + bilinear) else NOT_FINITE
