"""Steps and their gradients: the door for Python.

``settings`` are those of the solver, but for tolerances: a gradient belongs to a solution, so the equations are solved
to ``RTOL`` of 1e-10 or so, at contacts and stops with slack · impulse = ``KAPPA``.
"""

from __future__ import annotations

from cbsim.dynamics.kernels.columns import (
    ATTEMPTS,
    COLD,
    CONTINUED,
    ITERATIONS,
    SOLVED,
    STATUS,
    STEP_LENGTH,
    STEP_REACHED,
    WARM,
)
from cbsim.dynamics.kernels.gradient import differentiate
from cbsim.dynamics.kernels.interior import direct
from cbsim.dynamics.kernels.smooth import direct_bodies, finish
from cbsim.dynamics.kernels.step import FARTHER, PLAIN, solve_step
from cbsim.dynamics.kernels.tree import eliminate
from cbsim.jit import inner, kernel

__all__ = ["linearize"]


@inner
def _solve(model, work, touching, z, inputs, external, settings, counts, h, warm, report):
    """Solve a step: from the one before where that is asked for, else cold, else from other starts.

    Halves of a step are another map than the step, so that they are no way out here.
    """
    total = 0.0
    for attempt in range(2 + FARTHER):
        if (attempt == 1 and warm == 0.0) or (attempt > 1 and touching is None):
            continue
        solve_step(
            model, work, touching, z, inputs, external, settings, counts, h, h,
            warm if attempt == 0 else 0.0, max(PLAIN, attempt - 1), report,
        )  # fmt: skip
        total += report[ITERATIONS]
        if report[STATUS] == SOLVED:
            break
        report[ATTEMPTS] += 1.0
    report[ITERATIONS] = total


@inner
def _factor(model, work, touching, h):
    """Factor the system at the solution."""
    if touching is None:
        direct_bodies(model.links, model.link, model.joint, work.arena, work.block, model.chord_block, h)
        eliminate(model.link, work.arena, work.block, model.program, model.fan, model.pair, work.fanned)
    else:
        direct(
            model.links, model.link, model.joint, work.arena, work.block, model.chord_block,
            model.program, model.fan, model.pair, work.fanned, model.contact_link, model.contact, work.touch,
            model.stop_link, model.stop, work.hold, h,
        )  # fmt: skip


@kernel
def linearize(
    model, work, touching, room, z, inputs, external, settings, counts, minimal, trajectory, by_state, by_input, report
):
    """Advance a mechanism, in place, and write the gradients of every step.

    Parameters
    ----------
    model, work, touching, z, inputs, external, settings, counts
        As `cbsim.dynamics.kernels.step.advance` has them.
    room : Slopes
    minimal : bool
        Gradients in (coordinates, velocities) of the joints, link by link; else in (x, v, phi, w) of the bodies.
    trajectory : (steps + 1 or 0, bodies, 13) float64
        Where not empty, node n is written to row n.
    by_state : (steps, n, n) float64
    by_input : (steps, n, nu) float64
    report : (REPORT,) float64
        How the last step ended; ITERATIONS and ATTEMPTS summed over all steps.
    """
    h, mode, total = settings[STEP_LENGTH], settings[WARM], 0.0
    report[ATTEMPTS] = 0.0
    for n in range(len(by_state)):
        if len(trajectory) > 0:
            trajectory[n] = z
        warm = 1.0 if mode == CONTINUED or (mode != COLD and n > 0) else 0.0
        u = inputs[min(n, len(inputs) - 1)]
        _solve(model, work, touching, z, u, external, settings, counts, h, warm, report)
        total += report[ITERATIONS]
        report[STEP_REACHED] = n
        if report[STATUS] != SOLVED:
            break
        _factor(model, work, touching, h)
        differentiate(model, work, room, z, u, external, settings, h, h, minimal, by_state[n], by_input[n])
        finish(model.links, model.link, work.arena, z, h)
    if len(trajectory) > 0 and report[STATUS] == SOLVED:
        trajectory[len(by_state)] = z
    report[ITERATIONS] = total
