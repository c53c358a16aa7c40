"""Collisions of planned trajectories with moving boxes: first step of contact, by separating axes."""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inner, kernel

__all__ = ["first_contacts_into"]


@inner
def boxes_meet(x, y, ca, sa, hax, hay, cb, sb, hbx, hby):
    """Whether two rectangles meet, b's centre at x, y from a's, axes turned by (cosine, sine), half sizes given."""
    # |cosine| and |sine| of the angle between both: half widths of one on the axes of the other, four axes in all
    cosine, sine = abs(ca * cb + sa * sb), abs(ca * sb - sa * cb)
    return (
        abs(x * ca + y * sa) <= hax + hbx * cosine + hby * sine
        and abs(y * ca - x * sa) <= hay + hbx * sine + hby * cosine
        and abs(x * cb + y * sb) <= hbx + hax * cosine + hay * sine
        and abs(y * cb - x * sb) <= hby + hax * sine + hay * cosine
    )


@kernel
def first_contacts_into(poses, size, obstacles, halves, table, near, out):
    """Write the first step at which each trajectory meets an obstacle, -1 for none.

    A trajectory is tested first against the bounds of each obstacle's whole path, then step by step against the
    remaining obstacles: circles first, boxes where circles intersect.

    Parameters
    ----------
    poses : (trajectories, steps, 3)
        x, y [m], heading [rad].
    size : (2,) [m]
        Width and length.
    obstacles : (obstacles, steps, 3)
        The same of each obstacle; nan at steps at which it is absent.
    halves : (obstacles, 3) [m]
        Half width, half length, and radius.
    table : (obstacles, steps + 1, 4)
        Scratch: x, y, cosine, sine at each step, then least x, y and largest x, y of the path.
    near : (obstacles,) int64
        Scratch.
    out : (trajectories,) int64, out
    """
    count, steps = obstacles.shape[0], obstacles.shape[1]
    for k in range(count):
        low_x = low_y = math.inf
        high_x = high_y = -math.inf
        for s in range(steps):
            x, y, heading = obstacles[k, s, 0], obstacles[k, s, 1], obstacles[k, s, 2]
            table[k, s, 0], table[k, s, 1], table[k, s, 2], table[k, s, 3] = x, y, math.cos(heading), math.sin(heading)
            # an absent step has nan, which fails the comparisons below as well
            if not (math.isnan(x) or math.isnan(y) or math.isnan(heading)):
                low_x, low_y, high_x, high_y = min(low_x, x), min(low_y, y), max(high_x, x), max(high_y, y)
        table[k, steps, 0], table[k, steps, 1] = low_x - halves[k, 2], low_y - halves[k, 2]
        table[k, steps, 2], table[k, steps, 3] = high_x + halves[k, 2], high_y + halves[k, 2]
    hax, hay = 0.5 * size[0], 0.5 * size[1]
    radius = math.sqrt(hax * hax + hay * hay)
    for t in range(poses.shape[0]):
        low_x = low_y = math.inf
        high_x = high_y = -math.inf
        for s in range(steps):
            x, y = poses[t, s, 0], poses[t, s, 1]
            low_x, low_y, high_x, high_y = min(low_x, x), min(low_y, y), max(high_x, x), max(high_y, y)
        left = 0
        for k in range(count):
            box = table[k, steps]
            if low_x - radius <= box[2] and high_x + radius >= box[0]:
                if low_y - radius <= box[3] and high_y + radius >= box[1]:
                    near[left] = k
                    left += 1
        first = steps
        for n in range(left):  # only the steps before the earliest contact so far matter
            k = near[n]
            reach = (radius + halves[k, 2]) * (radius + halves[k, 2])
            for s in range(first):
                x, y = table[k, s, 0] - poses[t, s, 0], table[k, s, 1] - poses[t, s, 1]
                if x * x + y * y <= reach:
                    heading = poses[t, s, 2]
                    ca, sa, cb, sb = math.cos(heading), math.sin(heading), table[k, s, 2], table[k, s, 3]
                    if boxes_meet(x, y, ca, sa, hax, hay, cb, sb, halves[k, 0], halves[k, 1]):
                        first = s
                        break
        out[t] = first if first < steps else -1
