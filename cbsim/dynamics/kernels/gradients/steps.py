"""Steps with gradients; entry points from Python.

``settings`` are those of the solver, except tolerances: gradients hold at a solution, so the equations are solved to
``RTOL`` of about 1e-10, at contacts and stops with slack · impulse = ``KAPPA``.
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
from cbsim.dynamics.kernels.gradients.gradient import differentiate
from cbsim.dynamics.kernels.interior import factorize
from cbsim.dynamics.kernels.newton import factorize_bodies, finish
from cbsim.dynamics.kernels.step import copy, make_steps
from cbsim.dynamics.kernels.tables import Options
from cbsim.dynamics.kernels.tree import eliminate
from cbsim.jit import inner, narrow

__all__ = ["linearize"]


@inner
def _factor(model, work, touching, h):
    """Factorize the system at the solution."""
    if not touching:
        factorize_bodies(model.links, model.link, model.joint, work.link_work, work.block, model.loop_block, h)
        eliminate(model.link, work.link_work, work.block, model.program, model.fan, model.pair, work.fanned)
    else:
        factorize(model, work, h)


@narrow
def linearize(model, work, touching, scratch, states, inputs, external, settings, counts, minimal, apart, out):
    """Advance a mechanism, in place, and write the gradients of every step.

    Parameters
    ----------
    model, work, external, settings, counts
        As `cbsim.dynamics.kernels.step.advance` has them.
    touching : bool
        Whether there are inequalities. One overload serves both cases, which compiles less in total.
    scratch : Slopes
    states : (1 or steps, bodies, 13) float64
        The first state, or an independent state for each step; overwritten.
    inputs : (k, nu) float64
        Inputs of the steps; the last row is repeated.
    minimal : bool
        Gradients in (coordinates, velocities) of the joints, link by link; else in (x, v, phi, w) of the bodies.
    apart : bool
        Whether every step has a state of its own; a failure does not end the others.
    out : tuple of ndarray
        Nodes (steps + 1 or 0, bodies, 13), if there is room. Gradients by the state (steps, n, n) and by inputs
        (steps, n, nu). Reports of steps (1 or steps, REPORT); ITERATIONS and ATTEMPTS summed over all steps from one
        state.
    """
    trajectory, by_state, by_input, reports = out
    h, mode, total, options = settings[STEP_LENGTH], settings[WARM], 0.0, Options(settings, counts, False)
    for n in range(len(by_state)):
        z, report = states[n if apart else 0], reports[n if apart else 0]
        if apart or n == 0:
            report[ATTEMPTS], total = 0.0, 0.0
        if len(trajectory) > 0:
            copy(z, trajectory[n])
        # independent states begin cold: the workspace holds the solution of another one
        warm = 1.0 if not apart and (mode == CONTINUED or (mode != COLD and n > 0)) else 0.0
        k = min(n, len(inputs) - 1)
        make_steps(
            model, work, touching, z, inputs[k : k + 1], external, options, 1, h, warm, trajectory[:0], report
        )  # fmt: skip
        total += report[ITERATIONS]
        report[ITERATIONS] = total
        report[STEP_REACHED] = n
        if report[STATUS] == SOLVED:
            # before `finish`: gradients need z at node 2
            _factor(model, work, touching, h)
            differentiate(
                model, work, scratch, z, inputs[k], external, settings, h, h, minimal, by_state[n], by_input[n]
            )
            finish(model.links, model.link, work.link_work, z, h)
        elif not apart:
            break
    if len(trajectory) > 0 and reports[0, STATUS] == SOLVED:
        copy(states[0], trajectory[len(by_state)])
