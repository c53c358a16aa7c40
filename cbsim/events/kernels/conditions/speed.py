"""Condition `speed`: the speed of an object is below or above a bound."""

from __future__ import annotations

from cbsim.events.kernels.conditions.presence import is_present
from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined
from cbsim.world.events.tables import ABOVE, BELOW, SUBJECT

__all__ = ["has_speed", "speed_of"]


@inlined
def speed_of(state, body):
    """Speed of a body over the ground [m/s]."""
    u, w = state.velocity[body, 0], state.velocity[body, 1]
    return math.sqrt(u * u + w * w)


@inlined
def has_speed(nodes, values, state, n):
    """Whether the object of condition n is slower or faster than its bound."""
    speed = speed_of(state, nodes[n, SUBJECT])
    return is_present(state, nodes[n, SUBJECT]) and (speed < values[n, BELOW] or speed > values[n, ABOVE])
