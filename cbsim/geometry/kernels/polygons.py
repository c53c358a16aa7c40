"""Signed distance, normal and contact points of two convex polygons in the plane, rounded by radii.

A polygon is its corners (n, 2) [m], counter-clockwise, with n = 1 for a point and n = 2 for a segment, and the radius
of the disc that rounds it. The axis of greatest separation is the normal of an edge (Gottschalk, Lin and Manocha 1996);
contact points are those of the facing edge, clipped to the edge that it faces (Catto, Box2D).
"""

from __future__ import annotations

import math

from cbsim.jit import inner, kernel

__all__ = ["TOUCH_WIDTH", "polygon_contact", "rectangle_into"]

TOUCH_WIDTH = 10  # separation, normal x, y, points, then x, y, separation of each of two points
GAP, NORMAL, POINTS, POINT_X, POINT_Y, POINT_GAP = 0, 1, 3, 4, 5, 6  # columns; the last three of the first point
EACH = 3  # columns of a point


@inner
def rectangle_into(x, y, cosine, sine, half_x, half_y, corners):
    """Write the corners (4, 2) of a rectangle whose x axis points along (cosine, sine)."""
    ax, ay, bx, by = half_x * cosine, half_x * sine, -half_y * sine, half_y * cosine
    corners[0, 0], corners[0, 1] = x - ax - bx, y - ay - by
    corners[1, 0], corners[1, 1] = x + ax - bx, y + ay - by
    corners[2, 0], corners[2, 1] = x + ax + bx, y + ay + by
    corners[3, 0], corners[3, 1] = x - ax + bx, y - ay + by


@inner
def edge_normal(corners, n, edge):
    """Outward unit normal of an edge; zero where it has no length."""
    following = edge + 1 if edge + 1 < n else 0
    ex, ey = corners[following, 0] - corners[edge, 0], corners[following, 1] - corners[edge, 1]
    length = math.sqrt(ex * ex + ey * ey)
    return (ey / length, -ex / length) if length > 1e-12 else (0.0, 0.0)


@inner
def widest_edge(one, n, two, m):
    """Edge of `one` beyond which `two` lies farthest out, and how far; -1 and minus infinity where there is none."""
    best, chosen = -math.inf, -1
    for edge in range(n if n > 1 else 0):
        nx, ny = edge_normal(one, n, edge)
        if nx == 0.0 and ny == 0.0:
            continue
        # separation along this normal: that of the other polygon's support point
        nearest = math.inf
        for k in range(m):
            nearest = min(nearest, (two[k, 0] - one[edge, 0]) * nx + (two[k, 1] - one[edge, 1]) * ny)
        if nearest > best:
            best, chosen = nearest, edge
    return chosen, best


@inner
def nearest_corner(one, n, two, m):
    """Shortest way from the edges of `one` to a corner of `two`, for polygons apart: square, and both points."""
    best, px, py, qx, qy = math.inf, 0.0, 0.0, 0.0, 0.0
    for edge in range(n):
        following = edge + 1 if edge + 1 < n else 0
        ax, ay = one[edge, 0], one[edge, 1]
        ex, ey = one[following, 0] - ax, one[following, 1] - ay
        square = ex * ex + ey * ey
        for k in range(m):
            dx, dy = two[k, 0] - ax, two[k, 1] - ay
            part = min(max((dx * ex + dy * ey) / square, 0.0), 1.0) if square > 0.0 else 0.0
            dx, dy = dx - part * ex, dy - part * ey
            if dx * dx + dy * dy < best:
                best, px, py, qx, qy = dx * dx + dy * dy, ax + part * ex, ay + part * ey, two[k, 0], two[k, 1]
    return best, px, py, qx, qy


@inner
def write_point(out, x, y, separation):
    """Append a point of touch."""
    row = POINT_X + EACH * int(out[POINTS])
    out[row], out[row + 1], out[row + 2] = x, y, separation
    out[POINTS] += 1.0


@inner
def clip_facing(one, n, edge, r_one, two, m, r_two, sign, out):
    """Write the points of `two`'s edge that faces an edge of `one`; `sign` is -1 where `one` is the second polygon."""
    nx, ny = edge_normal(one, n, edge)
    out[NORMAL], out[NORMAL + 1] = sign * nx, sign * ny
    following = edge + 1 if edge + 1 < n else 0
    ax, ay = one[edge, 0], one[edge, 1]
    length = -(one[following, 0] - ax) * ny + (one[following, 1] - ay) * nx
    # incident edge: its normal is the most opposite; ties go to the first
    facing, most = 0, math.inf
    for k in range(m):
        fx, fy = edge_normal(two, m, k) if m > 1 else (0.0, 0.0)
        if fx * nx + fy * ny < most - 1e-12:
            facing, most = k, fx * nx + fy * ny
    after = facing + 1 if facing + 1 < m else 0
    out[POINTS], low, low_x, low_y = 0.0, math.inf, 0.0, 0.0
    px, py, qx, qy = two[facing, 0] - ax, two[facing, 1] - ay, two[after, 0] - ax, two[after, 1] - ay
    p_along, q_along = -px * ny + py * nx, -qx * ny + qy * nx
    p_out, q_out = px * nx + py * ny, qx * nx + qy * ny
    span = q_along - p_along
    if m > 1 and max(p_along, q_along) > 0.0 and min(p_along, q_along) < length and abs(span) > 1e-12:
        # both ends of the incident edge, cut at the ends of the reference edge: two points that hold a face on a face
        for k in range(2):
            along = min(max(p_along if k == 0 else q_along, 0.0), length)
            height = p_out + (along - p_along) / span * (q_out - p_out)
            # contact point midway between both surfaces
            middle = 0.5 * (height + r_one - r_two)
            separation = height - r_one - r_two
            write_point(out, ax - along * ny + middle * nx, ay + along * nx + middle * ny, separation)
        return
    for k in range(m):  # no overlap along the edge: the deepest corner
        dx, dy = two[k, 0] - ax, two[k, 1] - ay
        if dx * nx + dy * ny < low:
            low, low_x, low_y = dx * nx + dy * ny, two[k, 0], two[k, 1]
    shift = 0.5 * (low - r_one + r_two)
    write_point(out, low_x - shift * nx, low_y - shift * ny, low - r_one - r_two)


@inner
def write_corners(square, px, py, r_one, qx, qy, r_two, sign, out):
    """Write the touch of two corners, or of a corner and an edge; of equal places, along x."""
    apart = math.sqrt(square)
    nx, ny = ((qx - px) / apart, (qy - py) / apart) if apart > 0.0 else (1.0, 0.0)
    out[GAP], out[NORMAL], out[NORMAL + 1], out[POINTS] = apart - r_one - r_two, sign * nx, sign * ny, 0.0
    middle = 0.5 * (apart + r_one - r_two)
    write_point(out, px + middle * nx, py + middle * ny, out[GAP])


@kernel
def polygon_contact(one, n, r_one, two, m, r_two, surface, out):
    """Measure two rounded convex polygons.

    Parameters
    ----------
    one, two : (≥ n, 2), (≥ m, 2) [m]
        Corners, counter-clockwise.
    n, m : int
        Number of corners.
    r_one, r_two : float
        Radii [m].
    surface : float
        An edge of `two` is kept as the one that is touched unless `one` is deeper than this in it [m]: so what slides
        along a wall of several pieces does not catch on their seams. 0 for none.
    out : (10,), out
        Signed distance [m], unit normal from one to two, number of points, and x, y, signed distance of each.
    """
    # the axis of least penetration, or of greatest distance, is the normal of an edge of one of both (separating axes)
    edge, s_one = widest_edge(one, n, two, m)
    other, s_two = widest_edge(two, m, one, n)
    r = r_one + r_two
    if max(s_one, s_two) > 0.0 or (edge < 0 and other < 0):
        first, px, py, qx, qy = nearest_corner(one, n, two, m)
        second, sx, sy, tx, ty = nearest_corner(two, m, one, n)
        apart = math.sqrt(min(first, second))
        if max(s_one, s_two) < apart - 1e-9 or apart == 0.0:  # nearest features are corners, not an edge and its normal
            if first <= second:
                write_corners(first, px, py, r_one, qx, qy, r_two, 1.0, out)
            else:
                write_corners(second, sx, sy, r_two, tx, ty, r_one, -1.0, out)
            return
    # of equal ones the first polygon's edge, with a tolerance: rounding must not make the normal flip from step to step
    if other >= 0 and (s_two > s_one + 1e-9 or (surface > 0.0 and s_two - r > -surface)):
        out[GAP] = s_two - r
        clip_facing(two, m, other, r_two, one, n, r_one, -1.0, out)
    else:
        out[GAP] = s_one - r
        clip_facing(one, n, edge, r_one, two, m, r_two, 1.0, out)
