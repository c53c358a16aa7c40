"""Time of impact of two upright boxes on straight paths, exact, from the interval of each separating axis."""

from __future__ import annotations

import math

from cbsim.jit import inner

__all__ = ["is_upright", "turn_of", "upright_meeting"]

UPRIGHT = 1e-12  # largest x and y of the quaternion


@inner
def is_upright(q):
    """Whether an orientation is a turn about the vertical alone."""
    return abs(q[1]) <= UPRIGHT and abs(q[2]) <= UPRIGHT


@inner
def turn_of(q):
    """Cosine and sine of the heading of an upright body."""
    return 1.0 - 2.0 * q[3] * q[3], 2.0 * q[0] * q[3]  # 1 − 2 sin² and 2 sin cos of half the heading


@inner
def narrow_interval(gap, rate, extent, begin, end):
    """Cut [begin, end] to the times at which |gap + rate · t| ≤ extent."""
    if rate == 0.0:
        return (begin, end) if abs(gap) <= extent else (math.inf, -math.inf)
    a, b = (-extent - gap) / rate, (extent - gap) / rate
    return max(begin, min(a, b)), min(end, max(a, b))


@inner
def upright_meeting(size_a, qa, size_b, qb, x, y, z, vx, vy, vz, duration, slack):
    """Find the first time at which two upright boxes touch.

    Parameters
    ----------
    size_a, size_b : (3,) [m]
        Full extents.
    qa, qb : (4,)
        Orientations, turns about the vertical.
    x, y, z, vx, vy, vz : float
        Centre of b from the centre of a [m], and how that changes [m/s].
    duration : float
        [s]
    slack : float
        Boxes no farther apart than this touch [m].

    Returns
    -------
    float
        Time in [0, duration] [s], or infinity.
    """
    # separating axes of two upright boxes: the vertical, and the horizontal normals of both; on each, the projections
    # overlap during one interval of time, and the boxes touch in the intersection of all intervals
    begin, end = narrow_interval(z, vz, 0.5 * (size_a[2] + size_b[2]) + slack, 0.0, duration)
    if begin > end:
        return math.inf
    ca, sa = turn_of(qa)
    cb, sb = turn_of(qb)
    cosine, sine = abs(ca * cb + sa * sb), abs(ca * sb - sa * cb)
    hax, hay, hbx, hby = 0.5 * size_a[0], 0.5 * size_a[1], 0.5 * size_b[0], 0.5 * size_b[1]
    extent = hax + hbx * cosine + hby * sine + slack
    begin, end = narrow_interval(x * ca + y * sa, vx * ca + vy * sa, extent, begin, end)
    extent = hay + hbx * sine + hby * cosine + slack
    begin, end = narrow_interval(y * ca - x * sa, vy * ca - vx * sa, extent, begin, end)
    if begin > end:
        return math.inf
    extent = hbx + hax * cosine + hay * sine + slack
    begin, end = narrow_interval(x * cb + y * sb, vx * cb + vy * sb, extent, begin, end)
    extent = hby + hax * sine + hay * cosine + slack
    begin, end = narrow_interval(y * cb - x * sb, vy * cb - vx * sb, extent, begin, end)
    return begin if begin <= end else math.inf
