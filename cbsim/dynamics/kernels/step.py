"""Steps of a mechanism: the doors for Python.

A step that does not converge is tried again: cold (nothing taken from the step before), along a path of relaxed
problems where there are inequalities, and in halves, quarters and so on of its length. What still fails is reported;
the state is then that before the step.
"""

from __future__ import annotations

import math

from cbsim.dynamics.kernels.algebra import product
from cbsim.dynamics.kernels.columns import (
    ATTEMPTS,
    BODY,
    COLD,
    CONTINUED,
    ITERATIONS,
    KAPPA,
    NODAL,
    ORDER,
    SOLVED,
    SPIN,
    STATE_COLUMNS,
    STATUS,
    STEP_LENGTH,
    STEP_REACHED,
    VELOCITY,
    WARM,
)
from cbsim.dynamics.kernels.interior import interior, start, survey, touched
from cbsim.dynamics.kernels.smooth import begin, finish, newton
from cbsim.dynamics.kernels.stops import begin_stop, see_stop
from cbsim.jit import inlined, inner, kernel

__all__ = ["advance", "solve_step"]

HALVINGS = 6  # a step is cut into 64 parts at most
RELAXATIONS = 5  # a path of relaxed problems starts at kappa = 0.1 and takes a tenth at a time
OUTER = 1.0 / (4.0 - 4.0 ** (1.0 / 3.0))  # share of the four outer stages in Suzuki's composition


@inlined
def copy(source, target):
    """Copy a state."""
    for i in range(len(source)):
        for k in range(STATE_COLUMNS):
            target[i, k] = source[i, k]


@inner
def solve_step(model, work, touching, z, inputs, external, settings, counts, before, h, warm, relaxed, report):
    """Try to find node 3 of a step from ``z``."""
    begin(model.links, model.link, model.joint, work.arena, z, inputs, external, settings, before, h, warm)
    if touching is None:
        newton(
            model.links, model.link, model.joint, work.arena, work.block, model.chord_block,
            model.program, model.fan, model.pair, work.fanned, settings, counts, h, report,
        )  # fmt: skip
    else:
        _touch(model, work, settings, counts, h, warm, relaxed, report)
    return report[STATUS] == SOLVED


@inner
def _attempt(model, work, touching, z, inputs, external, settings, counts, before, h, warm, relaxed, report):
    """Try a step from ``z``; the state is written where it succeeds."""
    done = solve_step(model, work, touching, z, inputs, external, settings, counts, before, h, warm, relaxed, report)
    if done:
        finish(model.links, model.link, work.arena, z, h)
    return done


@inner
def _touch(model, work, settings, counts, h, warm, relaxed, report):
    """Solve a step that has begun and has contacts or stops; one that was left out and is touched is taken in."""
    for i in range(len(model.stop_link)):
        begin_stop(model.link, model.joint, work.arena, model.stop_link, model.stop, work.hold, i)
        see_stop(model.link, model.joint, work.arena, model.stop_link, model.stop, work.hold, i)
    impulse = survey(
        model.links, model.joint, model.contact_link, model.contact, work.touch, work.arena, settings, counts, h
    )
    start(model.contact_link, model.contact, work.touch, work.hold, impulse, warm)
    total, kappa = 0.0, 0.1
    for k in range(1 + RELAXATIONS if relaxed else 1):
        kappa = settings[KAPPA] if not relaxed or k == RELAXATIONS else max(settings[KAPPA], 0.1 ** (k + 1.0))
        while True:
            interior(
                model.links, model.link, model.joint, work.arena, work.block, model.chord_block,
                model.program, model.fan, model.pair, work.fanned, model.contact_link, model.contact, work.touch,
                model.stop_link, model.stop, work.hold, settings, counts, kappa, h, report,
            )  # fmt: skip
            total += report[ITERATIONS]
            if report[STATUS] != SOLVED or not touched(
                model.contact_link, model.contact, work.touch, work.arena, impulse, h
            ):
                break
    report[ITERATIONS] = total


@inner
def _parts(model, work, touching, z, inputs, external, settings, counts, before, h, parts, report):
    """Make a step in equal parts; velocities are then those of the whole step, its last node against its first."""
    total = 0.0
    for k in range(parts):
        first = before if k == 0 else h / parts
        done = _attempt(
            model, work, touching, z, inputs, external, settings, counts, first, h / parts, 0.0, False, report
        )
        total += report[ITERATIONS]
        if not done:
            break
    report[ITERATIONS] = total
    if report[STATUS] != SOLVED:
        return
    for b in range(model.links):
        i = model.link[b, BODY]
        for k in range(3):
            z[i, VELOCITY + k] = (z[i, k] - work.spare[i, k]) / h
        s, x, y, w = product(
            work.spare[i, 6],
            -work.spare[i, 7],
            -work.spare[i, 8],
            -work.spare[i, 9],
            z[i, 6],
            z[i, 7],
            z[i, 8],
            z[i, 9],
        )
        rate = math.copysign(2.0 / h, s)
        z[i, SPIN], z[i, SPIN + 1], z[i, SPIN + 2] = rate * x, rate * y, rate * w


@inner
def _composed(model, work, touching, z, inputs, external, settings, counts, before, h, report):
    """Make a step of fourth order: five stages, the middle one backwards (rb_bench.md §1)."""
    total = 0.0
    for stage in range(5):
        length = h * (OUTER if stage != 2 else 1.0 - 4.0 * OUTER)
        done = _attempt(
            model, work, touching, z, inputs, external, settings, counts, before, length, 0.0, False, report
        )
        total += report[ITERATIONS]
        before = length
        if not done:
            break
    report[ITERATIONS] = total


@inner
def _step(model, work, touching, z, inputs, external, settings, counts, before, warm, report):
    """Make one step, by whichever attempt succeeds first; the state is untouched where none does."""
    h, total = settings[STEP_LENGTH], 0.0
    if counts[ORDER] == 4:
        copy(z, work.spare)
        before = before * OUTER
        _composed(model, work, touching, z, inputs, external, settings, counts, before, h, report)
        if report[STATUS] != SOLVED:
            copy(work.spare, z)
        return
    if _attempt(model, work, touching, z, inputs, external, settings, counts, before, h, warm, False, report):
        return
    copy(z, work.spare)
    for attempt in range(2 + HALVINGS):
        total += report[ITERATIONS]
        report[ATTEMPTS] += 1.0
        if attempt == 0:
            if warm == 0.0:
                continue
            _attempt(model, work, touching, z, inputs, external, settings, counts, before, h, 0.0, False, report)
        elif attempt == 1:
            if touching is None:
                continue
            _attempt(model, work, touching, z, inputs, external, settings, counts, before, h, 0.0, True, report)
        else:
            parts = 1 << (attempt - 1)
            _parts(model, work, touching, z, inputs, external, settings, counts, before, h, parts, report)
        if report[STATUS] == SOLVED:
            break
        copy(work.spare, z)
    report[ITERATIONS] += total


@kernel
def advance(model, work, touching, z, inputs, external, settings, counts, steps, trajectory, report):
    """Advance a mechanism by a number of steps, in place.

    Parameters
    ----------
    model : Model
    work : Work
    touching : None or bool
        None where there is no inequality: what contacts need is then not even compiled.
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
        _step(model, work, touching, z, u, external, settings, counts, before, warm, report)
        total += report[ITERATIONS]
        report[STEP_REACHED] = n
        if report[STATUS] != SOLVED:
            break
    if len(trajectory) > 0 and report[STATUS] == SOLVED:
        copy(z, trajectory[steps])
    report[ITERATIONS] = total
