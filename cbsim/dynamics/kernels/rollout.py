"""Many steps in one kernel, every state kept: what `simulate` and `rollout` run while no Python has a say."""

from __future__ import annotations

from cbsim.dynamics.kernels.columns import ITERATIONS, SOLVED, STATUS
from cbsim.dynamics.kernels.step import advance, advance_touching
from cbsim.jit import inlined, kernel

__all__ = ["roll", "roll_touching"]


@inlined
def next_row(path, k):
    """Start a state from the one before."""
    for i in range(path.shape[1]):
        for j in range(13):
            path[k + 1, i, j] = path[k, i, j]


@kernel
def roll(model, work, path, inputs, external, settings, counts, report, marks):
    """Advance a mechanism without inequalities from ``path[0]`` until the path is full; the number of steps made.

    Step k has row k of the inputs, the last one for ever. Outside wrenches act in the first step alone. ``marks`` gets
    status and iterations of every step.
    """
    for k in range(len(path) - 1):
        next_row(path, k)
        advance(model, work, path[k + 1], inputs[min(k, len(inputs) - 1)], external, settings, counts, 1, report)
        marks[k, 0], marks[k, 1] = report[STATUS], report[ITERATIONS]
        external[:] = 0.0
        if report[STATUS] != SOLVED:
            return k
    return len(path) - 1


@kernel
def roll_touching(model, work, path, inputs, external, settings, counts, report, marks):
    """Advance a mechanism with contacts or stops, as `roll` does."""
    for k in range(len(path) - 1):
        next_row(path, k)
        advance_touching(
            model, work, path[k + 1], inputs[min(k, len(inputs) - 1)], external, settings, counts, 1, report
        )
        marks[k, 0], marks[k, 1] = report[STATUS], report[ITERATIONS]
        external[:] = 0.0
        if report[STATUS] != SOLVED:
            return k
    return len(path) - 1
