"""Batches of independent states of one mechanism, advanced by one thread."""

from __future__ import annotations

from cbsim.dynamics.kernels.step import advance
from cbsim.jit import narrow

__all__ = ["advance_each"]


@narrow
def advance_each(model, work, touching, states, inputs, external, settings, counts, steps, trajectory, reports):
    """Advance every state, in place, by a number of steps with its own constant input; other arguments as `advance`.

    ``states`` is (k, bodies, 13), ``inputs`` (k, nu), ``reports`` (k, REPORT).
    """
    for i in range(len(states)):
        advance(
            model, work, touching, None, states[i], inputs[i : i + 1], external, settings, counts, steps, trajectory,
            reports[i],
        )  # fmt: skip
