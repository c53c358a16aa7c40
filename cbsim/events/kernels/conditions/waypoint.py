"""Condition `waypoint`: the centre of an object passes a waypoint in the direction of the lane."""

from __future__ import annotations

from cbsim.events.kernels.conditions.presence import is_present
from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined
from cbsim.world.events.tables import HEADING, MEMORY, SUBJECT, WITHIN, X, Y

__all__ = ["passes"]


@inlined
def passes(nodes, values, state, n):
    """Whether the object of condition n has come over the line across the lane; note how far before it it is."""
    body, memory = nodes[n, SUBJECT], nodes[n, MEMORY]
    if not is_present(state, body):
        return False
    x, y = state.position[body, 0] - values[n, X], state.position[body, 1] - values[n, Y]
    sine, cosine = math.sin(values[n, HEADING]), math.cos(values[n, HEADING])
    # along the lane from the line, and to the right of its middle
    along, across = y * cosine - x * sine, x * cosine + y * sine
    found = state.condition[memory] < 0.0 <= along and abs(across) <= values[n, WITHIN]
    state.condition[memory] = along
    return found
