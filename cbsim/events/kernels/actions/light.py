"""Action `light`: a traffic light shows a state until another event changes it, or goes on by its program."""

from __future__ import annotations

from cbsim.jit import inlined
from cbsim.world.events.tables import STATE, TARGET

__all__ = ["set_light"]


@inlined
def set_light(actions, state, a):
    """Set the light of action a; -1 gives it back to its program."""
    state.light[actions[a, TARGET]] = actions[a, STATE]
