"""Condition `standstill`: an object has stood still for some time."""

from __future__ import annotations

from cbsim.events.kernels.conditions.presence import is_present
from cbsim.events.kernels.conditions.speed import speed_of
from cbsim.jit import inlined
from cbsim.world.events.tables import COMING_TRUE, DURATION, MEMORY, SUBJECT

__all__ = ["stands"]

STILL = 0.1  # [m/s]


@inlined
def stands(nodes, values, state, n, time):
    """Whether the object of condition n has been slow for its duration at a time [s]; note since when it is."""
    body, memory = nodes[n, SUBJECT], nodes[n, MEMORY]
    if speed_of(state, body) >= STILL or not is_present(state, body):
        state.condition[memory] = -1.0
    elif state.condition[memory] < 0.0:
        state.condition[memory] = time
    since = state.condition[memory]
    return since >= 0.0 and time >= since + values[n, DURATION] - COMING_TRUE
