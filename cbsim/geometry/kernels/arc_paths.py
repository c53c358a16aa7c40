"""Paths of three arcs between poses: Dubins paths and three-point turns (`cbsim.planner.pilot.arc_paths`)."""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inner, kernel

__all__ = ["advance", "dubins_into", "three_point_into"]

EXACT = 1e-6  # [m] and [rad] largest miss of a solution; formulas may give spurious ones
TAU = 2.0 * math.pi


@inner
def advance(x, y, heading, curvature, length):
    """Move a pose along one arc."""
    after = heading + curvature * length
    if abs(curvature) < 1e-9:
        return x - length * math.sin(heading), y + length * math.cos(heading), heading
    radius = 1.0 / curvature
    x += radius * (math.cos(after) - math.cos(heading))
    y += radius * (math.sin(after) - math.sin(heading))
    return x, y, after


@inner
def turned(angle):
    """Normalise an angle to [0, 2π); full turns up to rounding become 0."""
    rest = angle % TAU
    return 0.0 if rest > TAU - EXACT else rest


@inner
def family(k, d, a, b):
    """Compute turns and lengths of a family of Dubins paths (Shkel and Lumelsky 2001); the last is 0 if there is none.

    `k` is LSL, RSR, LSR, RSL, RLR, LRL; the poses are `d` radii apart, at angles `a` and `b` to the line between them.
    """
    sa, ca, sb, cb, cab = math.sin(a), math.cos(a), math.sin(b), math.cos(b), math.cos(a - b)
    side = 1.0 if k % 2 == 0 else -1.0  # of the first arc in the first four
    if k < 2:
        square = 2.0 + d * d - 2.0 * cab + side * 2.0 * d * (sa - sb)
        if square < 0.0:
            return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0
        way = math.atan2(side * (cb - ca), d + side * (sa - sb))
        return side, 0.0, side, turned(side * (way - a)), math.sqrt(square), turned(side * (b - way)), 1
    if k < 4:
        square = d * d - 2.0 + 2.0 * cab + side * 2.0 * d * (sa + sb)
        if square < 0.0:
            return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0
        p = math.sqrt(square)
        way = math.atan2(-side * (ca + cb), d + side * (sa + sb)) - math.atan2(-side * 2.0, p)
        return side, 0.0, -side, turned(side * (way - a)), p, turned(side * (way - b)), 1
    # three arcs: the second turns the other way by more than half a turn
    side = -side
    cosine = (6.0 - d * d + 2.0 * cab - side * 2.0 * d * (sa - sb)) / 8.0
    if abs(cosine) > 1.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0
    p = TAU - math.acos(cosine)
    t = turned(-side * a - math.atan2(ca - cb, d + side * (sa - sb)) + 0.5 * p)
    return side, -side, side, t, p, turned(side * (b - a) - t + p), 1


@kernel
def dubins_into(start, goal, radius, out):
    """Write all Dubins paths from one pose (3,) to another to `out` (6, 3, 2); returns their number."""
    dx, dy = goal[0] - start[0], goal[1] - start[1]
    line, count = math.atan2(dy, dx), 0
    # headings count from north; the formulas want lengths in radii and angles to the line between the poses
    d, a, b = math.hypot(dx, dy) / radius, start[2] + 0.5 * math.pi - line, goal[2] + 0.5 * math.pi - line
    for k in range(6):
        one, two, three, p, q, r, found = family(k, d, a, b)
        if found == 0:
            continue
        word = out[count]
        word[0, 0], word[1, 0], word[2, 0] = one / radius, two / radius, three / radius
        word[0, 1], word[1, 1], word[2, 1] = p * radius, q * radius, r * radius
        # formulas give words that miss the goal too: drive each and see
        x, y, heading = start[0], start[1], start[2]
        for arc in range(3):
            x, y, heading = advance(x, y, heading, word[arc, 0], word[arc, 1])
        if math.hypot(x - goal[0], y - goal[1]) < 1e3 * EXACT and abs(math.sin(0.5 * (heading - goal[2]))) < EXACT:
            count += 1
    return count


@kernel
def three_point_into(start, goal, radius, out):
    """Write the three-point turns from one pose (3,) to another to `out` (4, 3, 2); returns their number."""
    count = 0
    for n in range(2):
        side = 1.0 - 2.0 * n
        bend = side * radius
        fx, fy = start[0] - bend * math.cos(start[2]), start[1] - bend * math.sin(start[2])
        lx, ly = goal[0] - bend * math.cos(goal[2]), goal[1] - bend * math.sin(goal[2])
        dx, dy = lx - fx, ly - fy
        apart = math.hypot(dx, dy)
        if not 1e-9 < apart <= 4.0 * radius:
            continue
        # circles of the first and last arc; the middle one touches both, so its centre is two radii from either
        height = math.sqrt(4.0 * radius * radius - 0.25 * apart * apart) / apart
        for m in range(2):
            sign = 1.0 - 2.0 * m
            mx, my = fx + 0.5 * dx - sign * height * dy, fy + 0.5 * dy + sign * height * dx
            one = math.atan2(side * (my - fy), side * (mx - fx))
            two = math.atan2(side * (my - ly), side * (mx - lx))
            word = out[count]
            word[0, 0], word[1, 0], word[2, 0] = side / radius, -side / radius, side / radius
            word[0, 1] = turned(side * (one - start[2])) * radius
            # the middle arc is driven backwards: its length is negative
            word[1, 1] = -turned(side * (two - one)) * radius
            word[2, 1] = turned(side * (goal[2] - two)) * radius
            count += 1
    return count
