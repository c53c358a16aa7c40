"""Condition `distance`: an object is near or far from another one, or from a place."""

from __future__ import annotations

from cbsim.events.kernels.conditions.presence import is_present
from cbsim.geometry.kernels import elementary as math
from cbsim.geometry.kernels.boxes import upright_meeting
from cbsim.geometry.kernels.rotation import rotate
from cbsim.jit import inlined, inner
from cbsim.world.events.tables import ABOVE, BELOW, FREESPACE, OTHER, SUBJECT, X, Y

__all__ = ["is_in_distance"]


@inner
def corner_gap(shapes, state, one, other):
    """Least distance of the corners of a body's outline from that of another one [m].

    The outline of a body is the rectangle of its width and length.
    """
    best = math.inf
    ax, ay, _ = rotate(state.orientation[one], 0.5 * shapes.size[one, 0], 0.0, 0.0)
    bx, by, _ = rotate(state.orientation[one], 0.0, 0.5 * shapes.size[one, 1], 0.0)
    for corner in range(4):
        p, q = 1.0 - 2.0 * (corner % 2), 1.0 - 2.0 * (corner // 2)
        cx = state.position[one, 0] + p * ax + q * bx
        cy = state.position[one, 1] + p * ay + q * by
        best = min(best, gap_of_point(shapes, state, other, cx, cy))
    return best


@inner
def gap_of_point(shapes, state, body, x, y):
    """Distance of a point from the outline of a body; 0 inside [m]."""
    u, w = x - state.position[body, 0], y - state.position[body, 1]
    ax, ay, _ = rotate(state.orientation[body], 1.0, 0.0, 0.0)
    bx, by, _ = rotate(state.orientation[body], 0.0, 1.0, 0.0)
    across = max(abs(u * ax + w * ay) - 0.5 * shapes.size[body, 0], 0.0)
    along = max(abs(u * bx + w * by) - 0.5 * shapes.size[body, 1], 0.0)
    return math.sqrt(across * across + along * along)


@inner
def freespace(shapes, state, one, other, x, y):
    """Distance of the outline of a body from that of another one, or from a point where there is none [m].

    The nearest points of two rectangles that do not overlap include a corner of one of them.
    """
    if other < 0:
        return gap_of_point(shapes, state, one, x, y)
    u, w = state.position[other, 0] - state.position[one, 0], state.position[other, 1] - state.position[one, 1]
    first, second = state.orientation[one], state.orientation[other]
    if upright_meeting(shapes.size[one], first, shapes.size[other], second, u, w, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0) == 0.0:
        return 0.0
    return min(corner_gap(shapes, state, one, other), corner_gap(shapes, state, other, one))


@inlined
def is_in_distance(nodes, values, shapes, state, n):
    """Whether the object of condition n is nearer or farther than its bound."""
    body, other = nodes[n, SUBJECT], nodes[n, OTHER]
    if not is_present(state, body) or (other >= 0 and not is_present(state, other)):
        return False
    x, y = (state.position[other, 0], state.position[other, 1]) if other >= 0 else (values[n, X], values[n, Y])
    u, w = state.position[body, 0] - x, state.position[body, 1] - y
    gap = math.sqrt(u * u + w * w)
    if nodes[n, FREESPACE] != 0:
        # bounds by circles: not nearer than the gap of the circles, not farther than the centres
        radii = shapes.radius[body] + (shapes.radius[other] if other >= 0 else 0.0)
        if gap - radii >= values[n, BELOW] and gap <= values[n, ABOVE]:  # it is between the two
            return False
        gap = freespace(shapes, state, body, other, values[n, X], values[n, Y])
    return gap < values[n, BELOW] or gap > values[n, ABOVE]
