"""Steps of a mechanism: the doors for Python.

A step that does not converge is tried again: cold (nothing taken from the step before), along a path of relaxed
problems whose products of slack and impulse become less and less, and in halves, quarters and so on of its length.
What still fails is reported; the state is then that before the step.
"""

from __future__ import annotations

import math

from cbsim.dynamics.detection.kernels.columns import BLOCKS, CONTACTS, FANS, FULL, PAIRS
from cbsim.dynamics.detection.kernels.detect import detect, outran
from cbsim.dynamics.kernels.algebra import turned
from cbsim.dynamics.kernels.columns import (
    ATTEMPTS,
    BODY,
    BTOL,
    COLD,
    CONTINUED,
    CROWDED,
    ITERATIONS,
    KAPPA,
    LEAPT,
    MAX_ITER,
    NODAL,
    ORDER,
    R2,
    SOLVED,
    SPIN,
    STATE_COLUMNS,
    STATUS,
    STEP_LENGTH,
    STEP_REACHED,
    TOO_FAST,
    TURN,
    WARM,
    WAYSIDE,
)
from cbsim.dynamics.kernels.impulses import add_impulses
from cbsim.dynamics.kernels.interior import (
    ARRIVING,
    DIRECT,
    NEARLY,
    PASSING,
    interior,
    start,
)
from cbsim.dynamics.kernels.lengthen import lengthen
from cbsim.dynamics.kernels.rows import begin_row
from cbsim.dynamics.kernels.smooth import begin, finish, is_near, newton
from cbsim.dynamics.kernels.softness import yield_gaps
from cbsim.dynamics.kernels.survey import DEPTH, survey, touched
from cbsim.dynamics.kernels.tables import Model, Work
from cbsim.jit import inlined, inner, narrow

__all__ = ["BLOWS", "advance", "solve_step"]

PLAIN, RELAXED = range(2)  # manners of solving a step: at once, or along a path of relaxed problems
HALVINGS = 6  # a step is cut into 64 parts at most
RELAXATION = 10.0  # by which a path of relaxed problems goes from one to the next at first
TURNS_BACK = 2  # times that a path is taken up again, with smaller and smaller steps
BLOWS = 2  # times that a step is made again with what something runs into that was hit in it
LEAP = 0.35  # change of the half-angle vector of a body's turning in a step, by which a blow makes the step suspect
OUTER = 0.4144907717943757  # 1 / (4 − ∛4), share of the four outer stages in Suzuki's composition


@inlined
def copy(source, target):
    """Copy a state."""
    for i in range(len(source)):
        for k in range(STATE_COLUMNS):
            target[i, k] = source[i, k]


@inner
def solve_step(model, work, touching, z, inputs, external, settings, counts, before, h, warm, manner, report):
    """Try to find node 3 of a step from ``z``."""
    if not begin(model.links, model.link, model.joint, work.arena, z, inputs, external, settings, before, h, warm):
        report[STATUS], report[ITERATIONS] = TOO_FAST, 0.0
    elif touching is None:
        newton(
            model.links, model.link, model.joint, work.arena, work.block, model.chord_block,
            model.program, model.fan, model.pair, work.fanned, settings, counts, h, report,
        )  # fmt: skip
    else:
        _touch(model, work, z, inputs, settings, counts, before, h, warm, manner, report)
    if report[STATUS] == SOLVED and not is_near(model.links, work.arena):
        report[STATUS] = TOO_FAST
    return report[STATUS] == SOLVED


@inlined
def _leaps(links, link, arena, z, h):
    """Whether some body's turning is changed so much by a blow that the root may be another than the one that is meant.

    Momentum c J w (dojo.md §2.2) grows with the spin w only to where a step turns by a right angle: a second root is
    about half a turn on, with little momentum and a huge velocity. On the way there the lever of a contact's impulse,
    which is that at the end of the step, has less and less to do with how its point came there.
    """
    for b in range(links):
        i = link[b, BODY]
        x, y, w = turned(arena, b, R2, z[i, SPIN], z[i, SPIN + 1], z[i, SPIN + 2])
        dx = arena[b, TURN + 1] - 0.5 * h * x
        dy = arena[b, TURN + 2] - 0.5 * h * y
        dz = arena[b, TURN + 3] - 0.5 * h * w
        if dx * dx + dy * dy + dz * dz > LEAP * LEAP:
            return True
    return False


@inner
def _touch(model, work, z, inputs, settings, counts, before, h, warm, manner, report):
    """Solve a step that has begun and has contacts or rows; one that was left out and is touched is taken in."""
    for i in range(len(model.row_link)):
        begin_row(
            model.link, model.joint, work.arena, model.row_link, model.row, work.hold, i, inputs, before, h,
            settings[STEP_LENGTH],
        )  # fmt: skip
    impulse, hover = survey(
        model.links, model.joint, model.contact_link, model.contact, work.touch, work.arena, settings, counts, h
    )
    yield_gaps(model.link, model.contact_link, model.contact, work.touch, work.arena, z, settings, impulse, before, h)
    least = start(
        model.link, model.joint, work.arena, model.contact_link, model.contact, work.touch, model.row_link, model.row,
        work.hold, impulse, DEPTH, warm,
    )  # fmt: skip
    total, manner_of_last = 0.0, DIRECT
    patience = counts[MAX_ITER] if warm == 0.0 else 3 * counts[MAX_ITER] // 5
    if manner == RELAXED:
        total, least = _follow_path(model, work, settings, counts, impulse, hover, least, h, report)
        if settings[KAPPA] < 0.0:
            manner_of_last = ARRIVING
    while True:
        interior(
            model.links, model.link, model.joint, work.arena, work.block, model.chord_block,
            model.program, model.fan, model.pair, work.fanned, model.contact_link, model.contact, work.touch,
            model.row_link, model.row, work.hold, settings, counts, settings[KAPPA], least, hover, manner_of_last,
            patience, h, report,
        )  # fmt: skip
        total += report[ITERATIONS]
        if report[STATUS] != SOLVED or not touched(
            model.contact_link, model.contact, work.touch, work.arena, impulse, h
        ):
            break
    report[ITERATIONS] = total


@inner
def _follow_path(model, work, settings, counts, impulse, hover, least, h, report):
    """Go from one relaxed problem to the next, to where products are as small as asked for.

    Returns the iterations it took, and the least slack or impulse that a good solution has.
    """
    total = 0.0
    aim = max(settings[KAPPA], NEARLY * min(settings[BTOL], hover * least))
    kappa = max(impulse * DEPTH, aim)
    ratio, turns, reached = RELAXATION, 0, math.inf
    while turns <= TURNS_BACK:
        interior(
            model.links, model.link, model.joint, work.arena, work.block, model.chord_block,
            model.program, model.fan, model.pair, work.fanned, model.contact_link, model.contact, work.touch,
            model.row_link, model.row, work.hold, settings, counts, kappa, least, hover, PASSING,
            counts[WAYSIDE], h, report,
        )  # fmt: skip
        total += report[ITERATIONS]
        if report[STATUS] != SOLVED:  # off the path: back to where it was wider, and on in smaller steps
            kappa, ratio, turns = kappa * ratio * ratio, math.sqrt(ratio), turns + 1
            if turns > TURNS_BACK and reached < NEARLY * settings[BTOL]:
                # the path ends here: what products were asked for may be had, if not what a good step has
                turns, ratio, aim, least = 0, RELAXATION, 2.0 * reached, 4.0 * reached / hover
                kappa, reached = aim * ratio * ratio, math.inf
            start(
                model.link, model.joint, work.arena, model.contact_link, model.contact, work.touch, model.row_link,
                model.row, work.hold, kappa / DEPTH, DEPTH, 0.0,
            )  # fmt: skip
        elif kappa <= aim:
            break
        else:
            reached = min(reached, kappa)
            kappa = max(kappa / ratio, aim)
    return total, least


@inner
def _walk(model, work, touching, z, inputs, external, settings, counts, before, warm, parts, first, last, report):
    """Make a step in equal parts, each stage of them in the first of the manners ``first`` to ``last`` that succeeds.

    A part has one stage, or of fourth order five, the middle one backwards (Suzuki's composition, rb_bench.md §1); but
    what touches is not to be pushed backwards: parts of a step in which that failed have one. The velocities that are
    left are those of the last stage of a whole step. The state is that after the last stage made.
    """
    h, total = settings[STEP_LENGTH], 0.0
    part, stages = h / parts, 5 if counts[ORDER] == 4 and (parts == 1 or touching is None) else 1
    length = part
    for stage in range(stages * parts):
        if stages == 5:
            length = part * (OUTER if stage % 5 != 2 else 1.0 - 4.0 * OUTER)
        for manner in range(first, last + 1):
            done = solve_step(
                model, work, touching, z, inputs, external, settings, counts, before, length, warm, manner, report
            )
            total += report[ITERATIONS]
            if touching is not None and done and _leaps(model.links, model.link, work.arena, z, length):
                report[STATUS], done = LEAPT, False
            if done:
                finish(model.links, model.link, work.arena, z, length)
                if touching is not None:
                    add_impulses(model.contact_link, model.contact, work.touch, stage == 0)
                break
        if report[STATUS] != SOLVED:
            break
        before, warm = length, 0.0
    report[ITERATIONS] = total
    if report[STATUS] == SOLVED and parts > 1:
        last_stage = h * OUTER if counts[ORDER] == 4 else h
        if not lengthen(model, work, z, inputs, external, settings, length, last_stage):
            report[STATUS] = TOO_FAST
    return report[STATUS] == SOLVED


@inner
def _step(model, work, touching, z, inputs, external, settings, counts, before, warm, report):
    """Make one step, by whichever attempt succeeds first; the state is untouched where none does."""
    total = 0.0
    if counts[ORDER] == 4:
        before, warm = before * OUTER, 0.0
    copy(z, work.spare)
    for attempt in range(-1, RELAXED + 1 + HALVINGS):
        if (attempt == PLAIN and warm == 0.0) or (attempt == RELAXED and touching is None):
            continue
        parts = 1 << max(0, attempt - RELAXED)
        first = RELAXED if attempt == RELAXED else PLAIN
        last = RELAXED if attempt >= RELAXED and touching is not None else PLAIN
        start = warm if attempt < 0 else 0.0
        done = _walk(
            model, work, touching, z, inputs, external, settings, counts, before, start, parts, first, last, report
        )
        total += report[ITERATIONS]
        if done:
            break
        report[ATTEMPTS] += 1.0
        copy(work.spare, z)
    report[ITERATIONS] = total


@inlined
def _with_contacts(model, crowd):
    """Return the mechanism with the contacts that were found."""
    contacts, fans, pairs = crowd.found[CONTACTS], crowd.found[FANS], crowd.found[PAIRS]
    return Model(
        model.links, model.link, model.joint, crowd.chord_block, crowd.program, crowd.fan[:fans], crowd.pair[:pairs],
        crowd.found[BLOCKS], crowd.contact_link[:contacts], crowd.contact[:contacts], model.row_link, model.row,
    )  # fmt: skip


@inlined
def _room_for(work, crowd):
    """Return the part of the room that those contacts take."""
    contacts, fans, blocks = crowd.found[CONTACTS], crowd.found[FANS], crowd.found[BLOCKS]
    return Work(
        work.arena, work.block[:blocks], work.fanned[:fans], work.touch[:contacts], work.hold, work.spare, work.past,
    )  # fmt: skip


@inner
def _step_among(model, crowd, work, touching, z, inputs, external, settings, counts, before, warm, report):
    """Find the contacts of a step and make it, again where a blow in it threw something into what was not looked at.

    Where it cannot be made with those that come in then, it is made without.
    """
    total, blows = 0.0, 0
    while True:
        if not detect(model, crowd, work, z, settings, settings[STEP_LENGTH], 0 < blows <= BLOWS):
            report[STATUS] = CROWDED
            break
        seen, room = _with_contacts(model, crowd), _room_for(work, crowd)
        _step(seen, room, touching, z, inputs, external, settings, counts, before, warm, report)
        total += report[ITERATIONS]
        if report[STATUS] == SOLVED:
            if blows >= BLOWS or not outran(model, crowd, z, settings):
                break
            copy(work.spare, z)
            if crowd.found[FULL] != 0:
                report[STATUS] = CROWDED
                break
            blows += 1
        elif 0 < blows <= BLOWS:
            blows = BLOWS + 1
        else:
            break
    report[ITERATIONS] = total


@narrow
def advance(model, work, touching, crowd, z, inputs, external, settings, counts, steps, trajectory, report):
    """Advance a mechanism by a number of steps, in place.

    Parameters
    ----------
    model : Model
    work : Work
    touching : None or bool
        None where there is no inequality: what contacts need is then not even compiled.
    crowd : None or Crowd
        Colliders, and the room in which their contacts are found before every step; None where there are none.
    z : (bodies, 13) float64
        Position, velocity, orientation, angular velocity of each body; overwritten.
    inputs : (k, nu) float64
        Inputs of the steps; the last row holds on.
    external : (bodies, 6) float64
        Force and torque about the centre of mass, in the body's frame.
    settings, counts : (SETTINGS,) float64, (COUNTS,) int64
    steps : int
    trajectory : (steps + 1 or 0, bodies, 13) float64
        Where not empty, node n is written to row n.
    report : (REPORT,) float64
        How the last step ended; ITERATIONS and ATTEMPTS summed over all steps.
    """
    h, mode = settings[STEP_LENGTH], settings[WARM]
    total = 0.0
    report[ATTEMPTS] = 0.0
    for n in range(steps):
        if len(trajectory) > 0:
            copy(z, trajectory[n])
        before = 0.0 if mode == NODAL and n == 0 else h
        warm = 1.0 if mode == CONTINUED or (mode != COLD and n > 0) else 0.0
        u = inputs[n if n < len(inputs) else len(inputs) - 1]
        if crowd is None:
            _step(model, work, touching, z, u, external, settings, counts, before, warm, report)
        else:
            _step_among(model, crowd, work, touching, z, u, external, settings, counts, before, warm, report)
        total += report[ITERATIONS]
        report[STEP_REACHED] = n
        if report[STATUS] != SOLVED:
            break
    if len(trajectory) > 0 and report[STATUS] == SOLVED:
        copy(z, trajectory[steps])
    report[ITERATIONS] = total
