"""Steps of a mechanism; entry points from Python.

A step that does not converge is repeated: with a cold start, along a path of relaxed problems with decreasing products
of slack and impulse, and in halves, quarters and so on of its length. If all attempts fail, the report says so, and
the state is that before the step.
"""

from __future__ import annotations

import math

from cbsim.dynamics.detection.kernels.columns import BLOCKS, CONTACTS, FANS, FULL, PAIRS
from cbsim.dynamics.detection.kernels.detect import got_faster
from cbsim.dynamics.detection.kernels.drift import look_for_contacts
from cbsim.dynamics.kernels.algebra import turned
from cbsim.dynamics.kernels.columns import (
    ATTEMPTS,
    BODY,
    BTOL,
    COLD,
    CONTINUED,
    ITERATIONS,
    KAPPA,
    MAX_ITER,
    MAX_RELAXED_ITER,
    NODAL,
    ORDER,
    OUT_OF_ROOM,
    R2,
    REPORT,
    SOLVED,
    SPIN,
    STATE_COLUMNS,
    STATUS,
    STEP_LENGTH,
    STEP_REACHED,
    TOO_FAST,
    TURN,
    TURNED_TOO_FAR,
    WARM,
)
from cbsim.dynamics.kernels.cone_starts import start
from cbsim.dynamics.kernels.impulses import add_impulses
from cbsim.dynamics.kernels.interior import ARRIVING, DIRECT, NEARLY, PASSING, interior
from cbsim.dynamics.kernels.newton import begin, finish, is_near, newton
from cbsim.dynamics.kernels.rescale_step import rescale_step
from cbsim.dynamics.kernels.rows import begin_row
from cbsim.dynamics.kernels.screening import DEPTH, screen_contacts, touched
from cbsim.dynamics.kernels.softness import soften_gaps
from cbsim.dynamics.kernels.tables import Loads, Model, Options, Work
from cbsim.jit import inlined, inner, narrow, shared

__all__ = ["BLOWS", "advance", "copy", "make_steps"]

PLAIN, RELAXED = range(2)  # modes of solving a step: directly, or along a path of relaxed problems
HALVINGS = 6  # a step is divided into 64 parts at most
RELAXATION = 10.0  # initial ratio of consecutive relaxed problems on a path
TURNS_BACK = 2  # restarts of a path, with decreasing steps
BLOWS = 2  # repetitions of a step with contacts that an impact in it has added
LEAP = 0.35  # change of the half-angle vector of a body's rotation by an impact above which a step is suspect
OUTER = 0.4144907717943757  # 1 / (4 − ∛4), share of the four outer stages in Suzuki's composition


@inlined
def copy(source, target):
    """Copy a state."""
    for i in range(len(source)):
        for k in range(STATE_COLUMNS):
            target[i, k] = source[i, k]


@inner
def solve_step(model, work, touching, z, loads, options, before, h, warm, mode, report):
    """Attempt to find node 3 of a step from ``z``."""
    if not begin(
        model.links, model.link, model.joint, work.link_work, z, loads.inputs, loads.external, options.settings, before,
        h, warm,
    ):  # fmt: skip
        report[STATUS], report[ITERATIONS] = TOO_FAST, 0.0
    elif not touching:
        newton(model, work, options.settings, options.counts, h, report)
    else:
        _solve_with_contacts(model, work, z, loads, options, before, h, warm, mode, report)
    # beyond a quarter of a turn lies a second root (docs/theory/integrator.md §3)
    if report[STATUS] == SOLVED and not is_near(model.links, work.link_work):
        report[STATUS] = TOO_FAST
    return report[STATUS] == SOLVED


@inlined
def _turns_too_far(links, link, link_work, z, h):
    """Whether an impact changes the rotation of a body so much that the solver may have found a wrong root.

    Momentum c J w (docs/theory/integrator.md §3) increases with the spin w only up to a right angle per step: a second
    root lies about half a turn ahead, with little momentum and a huge velocity. Towards it, the lever arm of a
    contact's impulse, taken at the end of the step, is less and less related to the motion of its point.
    """
    for b in range(links):
        i = link[b, BODY]
        x, y, w = turned(link_work, b, R2, z[i, SPIN], z[i, SPIN + 1], z[i, SPIN + 2])
        dx = link_work[b, TURN + 1] - 0.5 * h * x
        dy = link_work[b, TURN + 2] - 0.5 * h * y
        dz = link_work[b, TURN + 3] - 0.5 * h * w
        if dx * dx + dy * dy + dz * dz > LEAP * LEAP:
            return True
    return False


@inner
def _solve_with_contacts(model, work, z, loads, options, before, h, warm, mode, report):
    """Solve a prepared step with contacts or rows; omitted contacts that have closed are added."""
    inputs, settings, counts = loads.inputs, options.settings, options.counts
    for i in range(len(model.row_link)):
        begin_row(
            model.link, model.joint, work.link_work, model.row_link, model.row, work.limit_work, i, inputs, before, h,
            settings[STEP_LENGTH],
        )  # fmt: skip
    impulse, hover = screen_contacts(
        model.links,
        model.joint,
        model.contact_link,
        model.contact,
        work.contact_work,
        work.link_work,
        settings,
        counts,
        h,
    )
    soften_gaps(
        model.link,
        model.contact_link,
        model.contact,
        work.contact_work,
        work.link_work,
        z,
        settings,
        impulse,
        before,
        h,
    )
    least = start(
        model.link, model.joint, work.link_work, model.contact_link, model.contact, work.contact_work,
        model.row_link, model.row, work.limit_work, impulse, DEPTH, warm,
    )  # fmt: skip
    total, mode_of_last = 0.0, DIRECT
    # a warm start that helps converges early; from another point all iterations may be needed
    patience = counts[MAX_ITER] if warm == 0.0 else 3 * counts[MAX_ITER] // 5
    if mode == RELAXED:
        total, least = _follow_path(model, work, settings, counts, impulse, hover, least, h, report)
        if settings[KAPPA] < 0.0:
            mode_of_last = ARRIVING
    # contacts that were screened out and have closed join, and the problem is solved again
    while True:
        interior(model, work, settings, counts, settings[KAPPA], least, hover, mode_of_last, patience, h, report)
        total += report[ITERATIONS]
        if report[STATUS] != SOLVED or not touched(
            model.contact_link, model.contact, work.contact_work, work.link_work, impulse, h
        ):
            break
    report[ITERATIONS] = total


@inner
def _follow_path(model, work, settings, counts, impulse, hover, least, h, report):
    """Solve a sequence of relaxed problems, until products are as small as required.

    Return the number of iterations, and the least slack or impulse of a good solution.
    """
    total = 0.0
    target = max(settings[KAPPA], NEARLY * min(settings[BTOL], hover * least))
    # a path begins where a cold start lies on the central path
    kappa = max(impulse * DEPTH, target)
    ratio, turns, reached = RELAXATION, 0, math.inf
    while turns <= TURNS_BACK:
        interior(model, work, settings, counts, kappa, least, hover, PASSING, counts[MAX_RELAXED_ITER], h, report)
        total += report[ITERATIONS]
        if report[STATUS] != SOLVED:  # off the path: back to a larger product, then smaller steps
            kappa, ratio, turns = kappa * ratio * ratio, math.sqrt(ratio), turns + 1
            if turns > TURNS_BACK and reached < NEARLY * settings[BTOL]:
                # the path ends here: the required products may still be reached
                turns, ratio, target, least = 0, RELAXATION, 2.0 * reached, 4.0 * reached / hover
                kappa, reached = target * ratio * ratio, math.inf
            start(
                model.link, model.joint, work.link_work, model.contact_link, model.contact, work.contact_work,
                model.row_link, model.row, work.limit_work, kappa / DEPTH, DEPTH, 0.0,
            )  # fmt: skip
        elif kappa <= target:
            break
        else:
            reached = min(reached, kappa)
            kappa = max(kappa / ratio, target)
    return total, least


@inner
def _step_in_parts(model, work, touching, z, loads, options, before, warm, parts, first, last, report):
    """Make a step in equal parts, each stage in the first of the modes ``first`` to ``last`` that succeeds.

    A part has one stage, or five at fourth order, the middle one backwards (docs/theory/integrator.md §6). Contacts may
    fail in a backward stage; after such a failure parts have one stage. The resulting velocities are those of the last
    stage of a whole step, the state that after the last stage made. A step that does not end is solved only.
    """
    counts, h, total = options.counts, options.settings[STEP_LENGTH], 0.0
    part, stages = h / parts, 5 if options.ends and counts[ORDER] == 4 and (parts == 1 or not touching) else 1
    length = part
    for stage in range(stages * parts):
        if stages == 5:
            length = part * (OUTER if stage % 5 != 2 else 1.0 - 4.0 * OUTER)
        for mode in range(first, last + 1):
            done = solve_step(model, work, touching, z, loads, options, before, length, warm, mode, report)
            total += report[ITERATIONS]
            if (
                options.ends
                and touching
                and done
                and _turns_too_far(model.links, model.link, work.link_work, z, length)
            ):
                report[STATUS], done = TURNED_TOO_FAR, False
            if done:
                if options.ends:
                    finish(model.links, model.link, work.link_work, z, length)
                    if touching:
                        add_impulses(model.contact_link, model.contact, work.contact_work, stage == 0)
                break
        if report[STATUS] != SOLVED:
            break
        # the next stage follows a step of this length, and starts cold
        before, warm = length, 0.0
    report[ITERATIONS] = total
    # of a whole step the state has the velocities of its last stage
    if report[STATUS] == SOLVED and parts > 1:
        last_stage = h * OUTER if counts[ORDER] == 4 else h
        if not rescale_step(model, work, z, loads.inputs, loads.external, options.settings, length, last_stage):
            report[STATUS] = TOO_FAST
    return report[STATUS] == SOLVED


@inner
def _step(model, work, touching, z, loads, options, before, warm, report):
    """Make one step by the first attempt that succeeds; the state is unchanged if none does."""
    total = 0.0
    # the step before ended with its last stage
    if options.ends and options.counts[ORDER] == 4:
        before, warm = before * OUTER, 0.0
    copy(z, work.spare)
    # −1: warm; 0: cold; 1: along a path; 2 and on: in 2, 4, … parts, each of them cold and then along a path
    for attempt in range(-1, RELAXED + 1 + (HALVINGS if options.ends else 0)):
        if (attempt == PLAIN and warm == 0.0) or (attempt == RELAXED and not touching):
            continue
        parts = 1 << max(0, attempt - RELAXED)
        first = RELAXED if attempt == RELAXED else PLAIN
        last = RELAXED if attempt >= RELAXED and touching else PLAIN
        start = warm if attempt < 0 else 0.0
        done = _step_in_parts(model, work, touching, z, loads, options, before, start, parts, first, last, report)
        total += report[ITERATIONS]
        if done:
            break
        report[ATTEMPTS] += 1.0
        copy(work.spare, z)
    report[ITERATIONS] = total


@shared
def make_steps(model, work, touching, z, inputs, external, options, steps, before, warm, trajectory, report):
    """Make steps with the contacts of the mechanism, the first after one of length ``before``.

    A step that does not end is solved in the first way that succeeds, and z remains that at its node 2: halves of it
    are a different map than the one that is differentiated.

    Both overloads of `advance` and `linearize` share this. Without colliders, it is called once for all steps, of which
    the shortest take no longer than ten calls, else for each step, which takes longer by its contacts or gradients.
    """
    total = 0.0
    for n in range(steps):
        if len(trajectory) > 0:
            copy(z, trajectory[n])
        loads = Loads(inputs[min(n, len(inputs) - 1)], external)
        _step(model, work, touching, z, loads, options, before, warm, report)
        total += report[ITERATIONS]
        report[STEP_REACHED] = n
        if report[STATUS] != SOLVED:
            break
        before, warm = options.settings[STEP_LENGTH], 0.0 if options.settings[WARM] == COLD else 1.0
    report[ITERATIONS] = total


@inlined
def _with_contacts(model, colliders):
    """Return the mechanism with the contacts found."""
    contacts, fans, pairs = colliders.found[CONTACTS], colliders.found[FANS], colliders.found[PAIRS]
    return Model(
        model.links, model.link, model.joint, colliders.loop_block, colliders.program, colliders.fan[:fans],
        colliders.pair[:pairs], colliders.found[BLOCKS], colliders.contact_link[:contacts],
        colliders.contact[:contacts], model.row_link, model.row,
    )  # fmt: skip


@inlined
def _workspace_for(work, colliders):
    """Return the part of the workspace of those contacts."""
    contacts, fans, blocks = colliders.found[CONTACTS], colliders.found[FANS], colliders.found[BLOCKS]
    return Work(
        work.link_work, work.block[:blocks], work.fanned[:fans], work.contact_work[:contacts], work.limit_work,
        work.spare, work.past,
    )  # fmt: skip


@inner
def _step_with_colliders(
    model, colliders, work, touching, z, inputs, external, options, before, warm, trajectory, report
):  # fmt: skip
    """Detect the contacts of a step and make it; repeat it if an impact drives a body beyond the detection margin.

    If the step with the added contacts has no solution, that without them is kept.
    """
    settings, total, blows = options.settings, 0.0, 0
    nothing = work.contact_work[:0], colliders.contact_link[:0]  # no drift
    while True:
        # again: speeds count at least half of those at the end of the rejected step
        again = 0 < blows <= BLOWS
        if not look_for_contacts(model, colliders, work, z, settings, False, again, *nothing):
            report[STATUS] = OUT_OF_ROOM
            break
        seen, part = _with_contacts(model, colliders), _workspace_for(work, colliders)
        make_steps(seen, part, touching, z, inputs, external, options, 1, before, warm, trajectory[:0], report)
        total += report[ITERATIONS]
        if report[STATUS] == SOLVED:
            if blows >= BLOWS or not got_faster(model, colliders, z, settings):
                break
            if not look_for_contacts(model, colliders, work, z, settings, True, again, *nothing):
                break
            copy(work.spare, z)
            if colliders.found[FULL] != 0:
                report[STATUS] = OUT_OF_ROOM
                break
            blows += 1
        elif 0 < blows <= BLOWS:
            blows = BLOWS + 1  # once more without the added contacts
        else:
            break
    report[ITERATIONS] = total


@narrow
def advance(model, work, touching, colliders, z, inputs, external, settings, counts, steps, trajectory, report):
    """Advance a mechanism by a number of steps, in place.

    Parameters
    ----------
    model : Model
    work : Work
    touching : bool
        Whether there are inequalities. One overload serves both cases, which compiles less in total.
    colliders : None or ColliderTables
        Colliders, and the workspace of detection before every step; None without colliders, which is compiled apart: to
        pass empty tables would take as long as a short step.
    z : (bodies, 13) or (states · bodies, 13) float64
        Position, velocity, orientation, angular velocity of each body; overwritten. Several states are independent.
    inputs : (k, nu) float64
        Inputs of the steps; the last row is repeated. Of several states, each has a row of its own, for all steps.
    external : (bodies, 6) float64
        Force and torque about the centre of mass, in the body's frame.
    settings, counts : (SETTINGS,) float64, (COUNTS,) int64
    steps : int
    trajectory : (steps + 1 or 0, bodies, 13) float64
        If not empty, node n of a single state is written to row n.
    report : (REPORT,) or (states · REPORT,) float64
        Of the last step of a state; ITERATIONS and ATTEMPTS summed over all steps.
    """
    h, mode, options = settings[STEP_LENGTH], settings[WARM], Options(settings, counts, True)
    states, bodies = len(report) // REPORT, len(external)
    for i in range(states):
        state, told = z[i * bodies : (i + 1) * bodies], report[i * REPORT : (i + 1) * REPORT]
        # one state: a row for each step; several: a row for each state
        rows = inputs[i : len(inputs) if states == 1 else i + 1]
        told[ATTEMPTS] = 0.0
        # 0: the first step begins with velocities of node 2 itself
        before, warm = 0.0 if mode == NODAL else h, 1.0 if mode == CONTINUED else 0.0
        if colliders is None:
            make_steps(model, work, touching, state, rows, external, options, steps, before, warm, trajectory, told)
        else:
            total = 0.0
            for n in range(steps):
                if len(trajectory) > 0:
                    copy(state, trajectory[n])
                k = min(n, len(rows) - 1)
                _step_with_colliders(
                    model, colliders, work, touching, state, rows[k : k + 1], external, options, before, warm,
                    trajectory, told,
                )  # fmt: skip
                total += told[ITERATIONS]
                told[STEP_REACHED] = n
                if told[STATUS] != SOLVED:
                    break
                before, warm = h, 0.0 if mode == COLD else 1.0
            told[ITERATIONS] = total
        if len(trajectory) > 0 and told[STATUS] == SOLVED:
            copy(state, trajectory[steps])
