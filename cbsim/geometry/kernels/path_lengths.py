"""Lengths of the paths of bodies between steps, of two straight pieces each."""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inner, kernel

__all__ = ["ALIGNED", "SLACK", "path_lengths_into"]

SLACK = 1e-6  # fraction of a step, for rounding of times
ALIGNED = 1e-6  # fraction of the path's length that it may deviate from a straight line


@kernel
def path_lengths_into(motion, columns, times, before, lengths):
    """Compute the lengths of paths in each step: from the place before it to a corner, and on to the place after it.

    The corner is where a straight piece at the velocity before the step meets one at the velocity after it; without
    one, the path is straight.

    Parameters
    ----------
    motion : (n, bodies, 13)
        Position, orientation, velocity, angular velocity.
    columns : (m,) int64
        Bodies that are asked for.
    times : (n,) [s]
    before : (m, 6), in and out
        Time, position and horizontal velocity before the first step; the time is nan where none is known. Those of the
        last step on return.
    lengths : (m, n) [m], out
    """
    for m in range(columns.shape[0]):
        body, last = columns[m], before[m]
        if math.isnan(last[0]):
            hold(motion[0, body], times[0], last)
        for k in range(motion.shape[0]):
            here, step = motion[k, body], times[k] - last[0]
            x, y, u, v = here[0] - last[1], here[1] - last[2], here[7], here[8]
            a = time_to_corner(step, x, y, last[4], last[5], u, v)
            p, q = a * last[4], a * last[5]
            level = math.sqrt(p * p + q * q) + math.sqrt((x - p) * (x - p) + (y - q) * (y - q))
            lengths[m, k] = math.hypot(level, here[2] - last[3])
            hold(here, times[k], last)


@inner
def hold(here, time, out):
    out[0] = time
    for k in range(3):
        out[1 + k] = here[k]
    out[4], out[5] = here[7], here[8]


@inner
def time_to_corner(step, x, y, u, v, p, q):
    """Time [s] from the beginning of a step on way (x, y) [m] to its corner, given both velocities; 0 if none fits."""
    turn, fast, slow = u * q - v * p, math.hypot(u, v), math.hypot(p, q)
    if abs(turn) > ALIGNED * fast * slow:
        a, b = (x * q - y * p) / turn, (u * y - v * x) / turn
    else:
        # on one line: when the speed changes from one to the other
        along = max(fast, slow)
        if not along > 0.0:
            return 0.0
        east, north = (u / along, v / along) if fast >= slow else (p / along, q / along)
        change = (u - p) * east + (v - q) * north
        if change == 0.0 or abs(x * north - y * east) > ALIGNED * math.hypot(x, y):
            return 0.0
        a = (x * east + y * north - (p * east + q * north) * step) / change
        b = step - a
    # not so for nan, too
    if a >= -SLACK * step and b >= -SLACK * step and a + b <= (1.0 + SLACK) * step:
        return min(max(a, 0.0), step)
    return 0.0
