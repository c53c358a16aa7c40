"""Ground under wheels: height, plane of four wheels, and attitude of a body on it.

Ground is the plane z = 0 and, above it, triangles with their tree (`bvh`). A gradient (p, q) is the plane's rise per
metre east and north.
"""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.geometry.kernels.bvh import COUNT, FIRST
from cbsim.geometry.kernels.columns import HIGH_X, HIGH_Y, HIGH_Z, LOW_X, LOW_Y, LOW_Z
from cbsim.geometry.kernels.rays import ray_triangle
from cbsim.geometry.kernels.rotation import rotate
from cbsim.jit import inner, kernel

__all__ = ["gradient_of", "ground_height", "lean_into", "stand"]

LEVEL = 1e-9  # smaller gradients are rounding errors, taken as level


@kernel
def ground_height(triangles, boxes, links, x, y, below, stack):
    """Height [m] of the highest ground at (x, y) that is not above `below`; 0 where there are no triangles.

    Parameters
    ----------
    triangles, boxes, links : (n, 3, 3) [m], (nodes, 6) [m], (nodes, 2)
        Of the ground, with its tree.
    x, y, below : float
        [m]
    stack : (DEPTH,) int64, out
        Scratch.
    """
    height, top = 0.0, 1 if triangles.shape[0] > 0 else 0
    stack[0] = 0
    while top > 0:
        top -= 1
        node = stack[top]
        # skip boxes beside the point, above the limit, or below the highest ground so far
        box = boxes[node]
        if x < box[LOW_X] or x > box[HIGH_X] or y < box[LOW_Y] or y > box[HIGH_Y]:
            continue
        if box[LOW_Z] > below or box[HIGH_Z] < height:
            continue
        if links[node, COUNT] == 0:
            stack[top], stack[top + 1] = links[node, FIRST], node + 1
            top += 2
            continue
        for t in range(links[node, FIRST], links[node, FIRST] + links[node, COUNT]):
            drop = ray_triangle(x, y, below, 0.0, 0.0, -1.0, triangles[t, 0], triangles[t, 1], triangles[t, 2])
            if drop < math.inf:
                height = max(height, below - drop)
    return height


@kernel
def stand(triangles, boxes, links, x, y, heading, half_base, half_track, plane, reach, stack):
    """Stand four wheels on the ground: height [m] of the middle between them, and the gradient p, q.

    Parameters
    ----------
    triangles, boxes, links, stack
        As `ground_height`.
    x, y, heading : float
        Middle [m] of the wheels, and heading [rad].
    half_base, half_track : float
        Distances of the wheels from their middle lines [m].
    plane : (float, float, float)
        Height [m] and gradient of the plane that they stood on before.
    reach : float
        How far above and below that plane a wheel may find its ground [m].

    Notes
    -----
    The plane is the least squares fit to the four. A wheel without ground within reach hangs in the plane of before.
    Where three hang, or two and the middle has no ground either, all fall onto the ground below the middle.
    """
    feet, p, q = plane
    fx, fy = -math.sin(heading), math.cos(heading)
    mean = ahead = right = 0.0
    for attempt in range(2):
        mean = ahead = right = 0.0
        hanging = 0
        for wheel in range(4):
            front, side = 1.0 - 2.0 * (wheel // 2), 1.0 - 2.0 * (wheel % 2)
            # right of forward (f_x, f_y) is (f_y, −f_x)
            dx = front * half_base * fx + side * half_track * fy
            dy = front * half_base * fy - side * half_track * fx
            # height of the last plane at the wheel; ground farther than `reach` from it is not in contact
            level = feet + p * dx + q * dy
            height = ground_height(triangles, boxes, links, x + dx, y + dy, level + reach, stack)
            if height < level - reach:
                height = level
                hanging += 1
            mean += 0.25 * height
            ahead += 0.25 * front * height
            right += 0.25 * side * height
        if attempt == 1 or hanging < 2:
            break
        below = ground_height(triangles, boxes, links, x, y, feet + reach, stack)
        if hanging == 2 and below >= feet - reach:
            break
        # without support, the vehicle falls: level, onto the ground below its middle
        feet, p, q = below, 0.0, 0.0
    # least squares plane of the four corners of a rectangle: mean slopes along and across
    ahead, right = ahead / half_base, right / half_track
    p, q = ahead * fx + right * fy, ahead * fy - right * fx
    if abs(p) < LEVEL and abs(q) < LEVEL:
        p = q = 0.0
    return mean, p, q


@inner
def gradient_of(q):
    """Gradient of the plane that a body of the orientation q (4,) stands on with its z axis as the normal."""
    # a plane with the normal (x, y, z) rises by −x / z per metre east
    x, y, z = rotate(q, 0.0, 0.0, 1.0)
    east, north = -x / z, -y / z
    if abs(east) < LEVEL and abs(north) < LEVEL:
        return 0.0, 0.0
    return east, north


@kernel
def lean_into(heading, p, q, out):
    """Write the orientation (4,) of a body that stands on a plane of the gradient p, q, its heading seen from above.

    As an object file has it: about z by the heading, then about x by the pitch, then about y by the roll.
    """
    fx, fy = -math.sin(heading), math.cos(heading)
    ahead, right = p * fx + q * fy, p * fy - q * fx
    pitch = math.atan(ahead)
    # the roll turns about the pitched forward axis, in a plane that leans by the pitch
    roll = -math.atan(right * math.cos(pitch))
    a, b = math.cos(0.5 * heading), math.sin(0.5 * heading)
    c, d = math.cos(0.5 * pitch), math.sin(0.5 * pitch)
    e, f = math.cos(0.5 * roll), math.sin(0.5 * roll)
    # (a, 0, 0, b) ∘ (c, d, 0, 0), then times (e, 0, f, 0)
    w, x, y, z = a * c, a * d, b * d, b * c
    out[0], out[1], out[2], out[3] = w * e - y * f, x * e - z * f, w * f + y * e, x * f + z * e
