"""Condition `after`: a condition came true some time ago."""

from __future__ import annotations

from cbsim.jit import inlined
from cbsim.world.events.tables import COMING_TRUE, DURATION, MEMORY

__all__ = ["has_passed"]


@inlined
def has_passed(nodes, values, state, n, time, is_true):
    """Whether the delay of condition n is over at a time [s], since what it waits for came true; note when it does."""
    memory = nodes[n, MEMORY]
    # only the first time counts
    if is_true and state.condition[memory] < 0.0:
        state.condition[memory] = time
    since = state.condition[memory]
    return since >= 0.0 and time >= since + values[n, DURATION] - COMING_TRUE
