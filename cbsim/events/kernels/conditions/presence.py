"""Presence of objects: conditions on one that has not appeared, or has left, do not hold."""

from __future__ import annotations

from cbsim.jit import inlined
from cbsim.world.traffic.tables import PARKED_HEIGHT

__all__ = ["is_present"]


@inlined
def is_present(state, body):
    """Whether a body is where it can be seen."""
    return state.position[body, 2] > 0.5 * PARKED_HEIGHT
