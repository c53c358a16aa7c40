"""Condition `time`: the time of the run has come."""

from __future__ import annotations

from cbsim.jit import inlined
from cbsim.world.events.tables import COMING_TRUE, DURATION

__all__ = ["has_come"]


@inlined
def has_come(values, n, time):
    """Whether a time [s] is not before that of condition n."""
    return time >= values[n, DURATION] - COMING_TRUE
