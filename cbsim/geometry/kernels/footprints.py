"""Footprint of the part of a shape between two heights, which vehicles can collide with.

Outlines are rounded convex polygons (`polygons`). They are exact but for leaning cylinders and wheels, which are taken
as prisms of 32 sides, and leaning capsules, whose caps are kept whole.
"""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.geometry.kernels.boxes import is_upright, turn_of
from cbsim.geometry.kernels.polygons import rectangle_into
from cbsim.geometry.kernels.rotation import rotate
from cbsim.geometry.kernels.solids import SHAPE_BOX, SHAPE_CAPSULE, SHAPE_CYLINDER, SHAPE_SPHERE, SHAPE_WHEEL
from cbsim.jit import inner, kernel

__all__ = ["OUTLINE", "half_height", "outline_into", "slab_into"]

SIDES = 32
HALF = 8 * SIDES  # largest number of points before the hull is taken, which needs as many again
OUTLINE = 2 * HALF


@kernel
def half_height(shape, size, q):
    """Half of the vertical extent of a body that is no mesh [m]."""
    hx, hy, hz = 0.5 * size[0], 0.5 * size[1], 0.5 * size[2]
    if shape == SHAPE_SPHERE:
        return hx
    _, _, up_x = rotate(q, 1.0, 0.0, 0.0)
    _, _, up_y = rotate(q, 0.0, 1.0, 0.0)
    _, _, up_z = rotate(q, 0.0, 0.0, 1.0)
    # support function of each shape along the vertical
    if shape == SHAPE_CYLINDER:
        return hx * math.sqrt(max(1.0 - up_z * up_z, 0.0)) + hz * abs(up_z)
    if shape == SHAPE_WHEEL:
        return hy * math.sqrt(max(1.0 - up_x * up_x, 0.0)) + hx * abs(up_x)
    if shape == SHAPE_CAPSULE:
        return hx + max(hz - hx, 0.0) * abs(up_z)
    return hx * abs(up_x) + hy * abs(up_y) + hz * abs(up_z)


@inner
def chord(radius, gap):
    """Half chord of a circle at a distance from its centre; negative where there is none."""
    return math.sqrt(radius * radius - gap * gap) if gap < radius else -1.0


@kernel
def outline_into(shape, size, x, y, z, q, low, high, out):
    """Write the outline of a body that is no mesh between the heights `low` and `high`.

    Parameters
    ----------
    shape, size : int, (3,) [m]
    x, y, z, q : float [m], (4,)
        Its pose.
    low, high : float
        [m]
    out : (512, 2) [m], out
        Corners, counter-clockwise.

    Returns
    -------
    corners, radius : int, float
        0 corners where nothing of it lies there.
    """
    if shape == SHAPE_SPHERE:
        out[0, 0], out[0, 1] = x, y
        # the widest circle in the slab: at the centre's height, or at the slab's edge nearest to it
        radius = chord(0.5 * size[0], max(low - z, z - high, 0.0))
        return (1 if radius >= 0.0 else 0), radius
    if not is_upright(q):
        return leaning_into(shape, size, x, y, z, q, low, high, out)
    c, s = turn_of(q)
    if shape == SHAPE_WHEEL:
        half = chord(0.5 * size[1], max(low - z, z - high, 0.0))
        rectangle_into(x, y, c, s, 0.5 * size[0], half, out)
        # half < 0 where the wheel ends above or below the slab
        return (4 if half >= 0.0 else 0), 0.0
    out[0, 0], out[0, 1] = x, y
    if shape == SHAPE_CAPSULE:
        straight = max(0.5 * (size[2] - size[0]), 0.0)
        radius = chord(0.5 * size[0], max(low - (z + straight), (z - straight) - high, 0.0))
        return (1 if radius >= 0.0 else 0), radius
    if z - 0.5 * size[2] > high or z + 0.5 * size[2] < low:
        return 0, 0.0
    if shape == SHAPE_CYLINDER:
        return 1, 0.5 * size[0]
    rectangle_into(x, y, c, s, 0.5 * size[0], 0.5 * size[1], out)
    return 4, 0.0


@inner
def leaning_into(shape, size, x, y, z, q, low, high, out):
    """`outline_into` for a body that is not upright: cut its edges at both heights, and wrap what is left."""
    if shape == SHAPE_CAPSULE:
        # the axis, cut at heights farther by the radius, so that caps that reach into the slab are kept whole
        reach = 0.5 * size[0]
        straight = max(0.5 * size[2] - reach, 0.0)
        ax, ay, az = rotate(q, 0.0, 0.0, straight)
        count = cut_into(x - ax, y - ay, z - az, x + ax, y + ay, z + az, low - reach, high + reach, 0, out)
        return min(count, 2), reach
    # a convex solid's slab is the hull of its edges cut at both heights: those of both ends, and those between them
    sides = 4 if shape == SHAPE_BOX else SIDES
    count = 0
    for k in range(sides):
        px, py, pz = rim(shape, size, k, sides, 1.0)
        qx, qy, qz = rim(shape, size, k + 1, sides, 1.0)
        rx, ry, rz = rim(shape, size, k, sides, -1.0)
        sx, sy, sz = rim(shape, size, k + 1, sides, -1.0)
        px, py, pz = rotate(q, px, py, pz)
        qx, qy, qz = rotate(q, qx, qy, qz)
        rx, ry, rz = rotate(q, rx, ry, rz)
        sx, sy, sz = rotate(q, sx, sy, sz)
        count = cut_into(x + px, y + py, z + pz, x + qx, y + qy, z + qz, low, high, count, out)
        count = cut_into(x + rx, y + ry, z + rz, x + sx, y + sy, z + sz, low, high, count, out)
        count = cut_into(x + px, y + py, z + pz, x + rx, y + ry, z + rz, low, high, count, out)
    return wrap(out, count), 0.0


@inner
def rim(shape, size, k, sides, end):
    """Corner k of the prism that stands for a box, cylinder or wheel, at either end."""
    if shape == SHAPE_BOX:
        sx = -0.5 if k % 4 in (0, 3) else 0.5
        sy = -0.5 if k % 4 in (0, 1) else 0.5
        return sx * size[0], sy * size[1], 0.5 * end * size[2]
    angle = 2.0 * math.pi * (k % sides) / sides
    if shape == SHAPE_WHEEL:
        return 0.5 * end * size[0], 0.5 * size[1] * math.cos(angle), 0.5 * size[1] * math.sin(angle)
    return 0.5 * size[0] * math.cos(angle), 0.5 * size[0] * math.sin(angle), 0.5 * end * size[2]


@inner
def cut_into(ax, ay, az, bx, by, bz, low, high, count, out):
    """Append the ends of the part of a segment between two heights, seen from above; return the new count."""
    begin, end = 0.0, 1.0
    rise = bz - az
    # a level segment is in or out as a whole
    if rise == 0.0:
        if az < low or az > high:
            return count
    else:
        u, v = (low - az) / rise, (high - az) / rise
        begin, end = max(begin, min(u, v)), min(end, max(u, v))
        if begin > end:
            return count
    out[count, 0], out[count, 1] = ax + begin * (bx - ax), ay + begin * (by - ay)
    out[count + 1, 0], out[count + 1, 1] = ax + end * (bx - ax), ay + end * (by - ay)
    return count + 2


@kernel
def slab_into(a, b, c, low, high, out):
    """Write the outline of the part of a triangle with corners a, b, c (3,) [m] between two heights; count corners."""
    count = cut_into(a[0], a[1], a[2], b[0], b[1], b[2], low, high, 0, out)
    count = cut_into(b[0], b[1], b[2], c[0], c[1], c[2], low, high, count, out)
    count = cut_into(c[0], c[1], c[2], a[0], a[1], a[2], low, high, count, out)
    return wrap(out, count)


@kernel
def wrap(points, count):
    """Turn points (count, 2) into their convex hull in place, counter-clockwise (Andrew 1979); return its corners."""
    for k in range(1, count):  # by x, then y; by insertion, as there are few points
        x, y = points[k, 0], points[k, 1]
        at = k - 1
        while at >= 0 and (points[at, 0] > x or (points[at, 0] == x and points[at, 1] > y)):
            points[at + 1, 0], points[at + 1, 1] = points[at, 0], points[at, 1]
            at -= 1
        points[at + 1, 0], points[at + 1, 1] = x, y
    if count < 2:
        return count
    hull, size, floor = points[HALF:], 0, 2
    for step in range(2 * count - 1):  # the lower chain from left to right, the upper one back
        k = step if step < count else 2 * count - 2 - step
        # turned round: the upper chain must not take corners off the lower one
        if step == count:
            floor = size + 1
        while size >= floor and bends_right(hull, size, points[k]):
            size -= 1
        hull[size, 0], hull[size, 1] = points[k, 0], points[k, 1]
        size += 1
    size -= 1  # the last is the first
    for k in range(size):
        points[k, 0], points[k, 1] = hull[k, 0], hull[k, 1]
    return size


@inner
def bends_right(hull, size, point):
    """Whether the last corner of a chain is no left turn on the way to a point."""
    ax, ay = hull[size - 1, 0] - hull[size - 2, 0], hull[size - 1, 1] - hull[size - 2, 1]
    bx, by = point[0] - hull[size - 1, 0], point[1] - hull[size - 1, 1]
    return ax * by - ay * bx <= 1e-15
