"""Condition `region`: the centre of an object is inside a polygon.

Even–odd rule by crossings of a ray eastwards (Shimrat, "Algorithm 112", Communications of the ACM 5, 1962).
"""

from __future__ import annotations

from cbsim.events.kernels.conditions.presence import is_present
from cbsim.jit import inlined
from cbsim.world.events.tables import FIRST, LAST, SUBJECT

__all__ = ["is_inside"]


@inlined
def is_inside(nodes, values, corners, state, n):
    """Whether the object of condition n is inside its polygon, whose bounds are the first of its values."""
    body, first, last = nodes[n, SUBJECT], nodes[n, FIRST], nodes[n, LAST]
    x, y, inside = state.position[body, 0], state.position[body, 1], False
    if x < values[n, 0] or y < values[n, 1] or x > values[n, 2] or y > values[n, 3]:
        return False
    before = last - 1
    for k in range(first, last):
        # an edge that passes the height of the point, to the east of it
        if (corners[k, 1] > y) != (corners[before, 1] > y):
            slope = (corners[before, 0] - corners[k, 0]) / (corners[before, 1] - corners[k, 1])
            if x < corners[k, 0] + slope * (y - corners[k, 1]):
                inside = not inside
        before = k
    return inside and is_present(state, body)
