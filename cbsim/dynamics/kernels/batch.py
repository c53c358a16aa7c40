"""Many states of one mechanism, each advanced by itself: what a thread does with its share of them."""

from __future__ import annotations

from cbsim.dynamics.kernels.gradient_step import linearize
from cbsim.dynamics.kernels.step import advance
from cbsim.jit import kernel

__all__ = ["advance_each", "linearize_each"]


@kernel
def advance_each(model, work, touching, states, inputs, external, settings, counts, steps, trajectory, reports):
    """Advance every state, in place, by a number of steps with its own input held; `advance` says what else is what.

    ``states`` is (k, bodies, 13), ``inputs`` (k, nu), ``reports`` (k, REPORT).
    """
    for i in range(len(states)):
        advance(
            model, work, touching, states[i], inputs[i : i + 1], external, settings, counts, steps, trajectory,
            reports[i],
        )  # fmt: skip


@kernel
def linearize_each(
    model, work, touching, room, states, inputs, external, settings, counts, minimal, trajectory, by_state, by_input,
    reports,
):  # fmt: skip
    """Advance every state, in place, by one step, and write its gradients; `linearize` says what else is what."""
    for i in range(len(states)):
        linearize(
            model, work, touching, room, states[i], inputs[i : i + 1], external, settings, counts, minimal, trajectory,
            by_state[i : i + 1], by_input[i : i + 1], reports[i],
        )  # fmt: skip
