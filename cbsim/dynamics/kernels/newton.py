"""Newton's method for a step of a mechanism without inequalities, with a line search on the residual."""

from __future__ import annotations

import math

from cbsim.dynamics.kernels.algebra import turned_back
from cbsim.dynamics.kernels.begin_step import QUARTER, apply_torque, begin_body, begin_joint, carry_body, guess
from cbsim.dynamics.kernels.bodies import momentum, slope
from cbsim.dynamics.kernels.columns import (
    APPLIED,
    BILINEAR_LEFT,
    BODY,
    CARRY,
    CHILD,
    DAMPED,
    DELTA,
    DOF,
    FLAGS,
    FREE,
    ITERATIONS,
    KEPT,
    KINEMATIC,
    LATEST,
    LEFT,
    LOCAL,
    LS_SCALE,
    MASS,
    MAX_ITER,
    MAX_LS,
    MULTIPLIER,
    N_ROT,
    N_TRANS,
    NOT_FINITE,
    OFFERED,
    OWN,
    POSITION,
    Q3,
    R2,
    R3,
    RELATIVE,
    RELATIVE2,
    RESIDUAL_LEFT,
    RIGHT,
    ROTATION,
    ROWED,
    RTOL,
    SCALING,
    SOLVED,
    SPIN,
    STATUS,
    STEP,
    STEP_LENGTH,
    STUCK,
    TURN,
    VELOCITY,
    X2,
    X3,
)
from cbsim.dynamics.kernels.dampers import damp, damp_before, damp_slope
from cbsim.dynamics.kernels.joints import free_motions, increment, place
from cbsim.dynamics.kernels.loop_joints import apply_loop_joint, begin_loop_joint, evaluate_loop_joint, loop_blocks
from cbsim.dynamics.kernels.tree import eliminate, gather
from cbsim.dynamics.kernels.tree_solve import solve
from cbsim.jit import inlined, inner

__all__ = [
    "REFINED",
    "all_free",
    "begin",
    "evaluate_bodies",
    "factorize_bodies",
    "finish",
    "is_near",
    "is_rounding",
    "keep",
    "newton",
    "refine",
    "restore",
    "rounding_of",
    "total",
]

REFINED = 1e-6  # share of the tolerance of residuals below which refinement is skipped
ROUNDED = 2.0**-52  # relative rounding error of a stored number


@inner
def begin(links, link, joint, link_work, z, inputs, external, settings, before, h, warm):
    """Read the state of node 2 and guess node 3; return whether no body turns by a quarter of a turn or more.

    A part of a step has its share of an input's impulse, as of the time that forces act.
    """
    # forces at node 2 act for half of the steps on either side
    pull, fits = 0.5 * (before + h), True
    scaling = settings[SCALING] * (pull / settings[STEP_LENGTH])
    for b in range(links):
        fits &= begin_body(joint, link_work, b, link[b, BODY], z, external, settings, before, h, warm)
        if link[b, FLAGS] & KINEMATIC:
            carry_body(link_work, b, link[b, BODY], z, settings[STEP_LENGTH], h)
        tx, ty, tz = begin_joint(link, joint, link_work, b, inputs, pull, scaling)
        # virtual motions are those at node 2: along them constraint impulses do no work, so that they drop out
        free_motions(link, joint, link_work, b, LEFT, R2, RELATIVE2, R2)
        apply_torque(link, joint, link_work, b, link[b, N_TRANS], link[b, N_ROT], APPLIED, tx, ty, tz)
        if link[b, FLAGS] & DAMPED:
            damp_before(link, joint, link_work, b, z, before, h)
        guess(link, joint, link_work, b)
        # written again only where there are dampers or rows
        for i in range(6):
            link_work[b, OWN + i] = 0.0
            link_work[b, OFFERED + i] = 0.0
    for j in range(links, len(link)):
        # a loop joint works on its child: the row begins with the child's pose at node 2
        for k in range(16):  # X2, Q2 and R2
            link_work[j, k] = link_work[link[j, CHILD], k]
        tx, ty, tz = begin_joint(link, joint, link_work, j, inputs, pull, scaling)
        begin_loop_joint(link, joint, link_work, j, tx, ty, tz)
        for i in range(6):
            link_work[j, MULTIPLIER + i] = 0.0
            link_work[j, OFFERED + i] = 0.0
    return fits


@inner
def evaluate_bodies(links, link, joint, link_work, h):
    """Compute poses at node 3 and residuals of bodies and loop joints; return the largest gap of a loop."""
    for b in range(links):
        place(link, joint, link_work, b)
        momentum(joint, link_work, b, h)
        if link[b, FLAGS] & DAMPED:
            damp(link, joint, link_work, b)
    worst = 0.0
    for j in range(links, len(link)):
        worst = max(worst, evaluate_loop_joint(link, joint, link_work, j))
        apply_loop_joint(link, link_work, j)
    return worst


@inner
def factorize_bodies(links, link, joint, link_work, block, loop_block, h):
    """Write the blocks of bodies and loop joints at node 3."""
    # blocks of fill-in, which contacts and eliminations add to
    for i in range(len(link), len(block)):
        for k in range(36):
            block[i, k] = 0.0
    # increments of joints act at node 3: their motions of bodies are RIGHT, as those of residuals are LEFT
    for b in range(links):
        free_motions(link, joint, link_work, b, RIGHT, R3, RELATIVE, R3)
        slope(joint, link_work, block, b, h)
        # `solve` begins with no wrench besides RESIDUAL; contacts add theirs later
        for j in range(6):
            link_work[b, CARRY + j] = 0.0
        # dampers and rows add their slopes to it
        if link[b, FLAGS] & (DAMPED | ROWED):
            for k in range(36):
                link_work[b, LOCAL + k] = 0.0
            if link[b, FLAGS] & DAMPED:
                damp_slope(link, joint, link_work, b)
    for j in range(links, len(link)):
        # a constraint has no slope by its own multipliers: its pivot is what the elimination of its loop leaves
        for k in range(36):
            block[j, k] = 0.0
        for k in range(6):
            link_work[j, CARRY + k] = 0.0
        loop_blocks(link, joint, link_work, block, loop_block, j, j - links)


@inlined
def keep(links, link_work):
    """Store the joints before a trial step; loop joints keep their multipliers."""
    for b in range(len(link_work)):
        for k in range(7):  # RELATIVE and SHIFT are adjacent
            # of a loop joint the six multipliers
            link_work[b, KEPT + k] = link_work[b, RELATIVE + k] if b < links else link_work[b, MULTIPLIER + k % 6]


@inlined
def restore(links, link, joint, link_work, step):
    """Step from the stored joints; kinematic bodies follow their motion."""
    for b in range(links):
        if link[b, FLAGS] & KINEMATIC:
            continue
        # from the stored joint, not the last trial: quaternions of trials do not add up exactly
        for k in range(7):
            link_work[b, RELATIVE + k] = link_work[b, KEPT + k]
        increment(link, joint, link_work, b, step)
    for j in range(links, len(link)):
        for i in range(link[j, DOF]):
            link_work[j, MULTIPLIER + i] = link_work[j, KEPT + i] + step * link_work[j, STEP + i]


@inner
def total(links, link, joint, link_work, h):
    """Evaluate the residual of a mechanism without inequalities; return its largest component."""
    loop = evaluate_bodies(links, link, joint, link_work, h)
    return max(loop, gather(links, link, joint, link_work))


@inlined
def all_free(links, link):
    """Whether every body floats freely in the world or is kinematic, without joints between bodies."""
    if len(link) > links:
        return False
    for b in range(links):
        if not link[b, FLAGS] & (FREE | KINEMATIC):
            return False
    return True


@inner
def refine(links, link, joint, link_work, program, fan, fanned, h):
    """Make one more increment of free bodies with the existing factors; return the residual after it.

    Near the solution slopes hardly change, so this gains as many digits again for a fraction of an iteration. Otherwise
    momentum would drift by that residual in every step.
    """
    for b in range(len(link)):
        for k in range(6):
            link_work[b, CARRY + k] = 0.0
    solve(link, link_work, program, fan, fanned)
    keep(links, link_work)
    restore(links, link, joint, link_work, 1.0)
    return total(links, link, joint, link_work, h)


@inner
def newton(model, work, settings, counts, h, report):
    """Solve the step, with at least one iteration: accepting sufficient guesses would cause drift.

    Writes STATUS, ITERATIONS and RESIDUAL_LEFT of the report.
    """
    links, link, joint, link_work = model.links, model.link, model.joint, work.link_work
    worst = total(links, link, joint, link_work, h)
    n = 0
    while (worst >= settings[RTOL] or n == 0) and n < counts[MAX_ITER] and math.isfinite(worst):
        factorize_bodies(links, link, joint, link_work, work.block, model.loop_block, h)
        eliminate(link, link_work, work.block, model.program, model.fan, model.pair, work.fanned)
        solve(link, link_work, model.program, model.fan, work.fanned)
        keep(links, link_work)
        step, old = 1.0, worst
        # the last trial stands even if the residual has not decreased
        for _ in range(counts[MAX_LS] + 1):
            restore(links, link, joint, link_work, step)
            worst = total(links, link, joint, link_work, h)
            if worst < old or worst < settings[RTOL]:
                break
            step *= settings[LS_SCALE]
        n += 1
        # a whole step that changes nothing: far from the origin, residuals stay above the tolerance for ever
        if step == 1.0 and is_rounding(links, link_work):
            break
    if n > 0 and worst > REFINED * settings[RTOL] and all_free(links, link):
        worst = refine(links, link, joint, link_work, model.program, model.fan, work.fanned, h)
    report[ITERATIONS] = n
    report[RESIDUAL_LEFT] = worst
    report[BILINEAR_LEFT] = 0.0
    fine = worst < settings[RTOL] or (n > 0 and is_rounding(links, link_work))
    report[STATUS] = SOLVED if fine and math.isfinite(worst) else STUCK if math.isfinite(worst) else NOT_FINITE


@inlined
def is_rounding(links, link_work):
    """Whether the last increment is a rounding error, so that residuals cannot decrease further."""
    largest, extent = 0.0, 1.0
    # positions are the largest numbers that an increment is added to
    for b in range(links):
        for k in range(6):
            largest = max(largest, abs(link_work[b, DELTA + k]))
        for k in range(3):
            extent = max(extent, abs(link_work[b, X3 + k]))
    return largest <= 1e-14 * extent


@inlined
def rounding_of(links, joint, link_work, h):
    """Momentum error [N s] by rounding of positions, which limits velocities far from the origin.

    Forty tonnes at 10 km, in steps of a millisecond, have a residual of 1.2e-4 at best; this bound is six times that.
    """
    most = 0.0
    for b in range(links):
        for k in range(3):
            most = max(most, joint[b, MASS] * abs(link_work[b, X3 + k]))
    return 8.0 * ROUNDED * most / abs(h)


@inlined
def is_near(links, link_work):
    """Whether no body turns by a quarter of a turn or more: beyond lie other roots with the same momentum."""
    for b in range(links):
        if link_work[b, TURN] * link_work[b, TURN] < QUARTER:
            return False
    return True


@inner
def finish(links, link, link_work, z, h):
    """Write node 3: positions, and the velocities of the step; LATEST stores their change.

    Kinematic bodies keep their velocities exactly.
    """
    k = 2.0 / h
    for b in range(links):
        i = link[b, BODY]
        if link[b, FLAGS] & KINEMATIC:
            for m in range(3):
                z[i, POSITION + m], link_work[b, LATEST + m], link_work[b, LATEST + 3 + m] = (
                    link_work[b, X3 + m],
                    0.0,
                    0.0,
                )
            for m in range(4):
                z[i, ROTATION + m] = link_work[b, Q3 + m]
            continue
        for m in range(3):
            v = (link_work[b, X3 + m] - link_work[b, X2 + m]) / h
            link_work[b, LATEST + m] = v - z[i, VELOCITY + m]
            z[i, VELOCITY + m] = v
            z[i, POSITION + m] = link_work[b, X3 + m]
        for m in range(4):
            z[i, ROTATION + m] = link_work[b, Q3 + m]
        # (2/h) Vec(q₂⁻¹ ∘ q₃): the rotation of the step in axes of the body at node 2
        x, y, w = turned_back(link_work, b, R2, link_work[b, TURN + 1], link_work[b, TURN + 2], link_work[b, TURN + 3])
        x, y, w = k * x, k * y, k * w
        link_work[b, LATEST + 3], link_work[b, LATEST + 4] = x - z[i, SPIN], y - z[i, SPIN + 1]
        link_work[b, LATEST + 5] = w - z[i, SPIN + 2]
        z[i, SPIN], z[i, SPIN + 1], z[i, SPIN + 2] = x, y, w
