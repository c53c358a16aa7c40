"""Paths of bodies between steps, as two straight pieces each: durations of the pieces, and lengths of the paths."""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.geometry.kernels.columns import POSITION, VELOCITY
from cbsim.jit import inner, kernel

__all__ = ["SLACK", "durations_into", "path_lengths_into"]

TIME, PLACE, EAST, NORTH = 0, 1, 4, 5  # columns of `before`, of the velocity the horizontal ones
SLACK = 1e-6  # fraction of a step, for rounding of times
ALIGNED = 1e-6  # fraction of the path's length that it may deviate from a straight line


@kernel
def durations_into(times, places, velocities, out):
    """Compute how long both pieces of each step last.

    Parameters
    ----------
    times : (n + 1,) [s]
    places, velocities : (n + 1, 2) [m], [m/s]
    out : (n, 2) [s], out
        0 and the whole step where no two pieces fit.
    """
    for k in range(out.shape[0]):
        here, there = places[k], places[k + 1]
        before, after = velocities[k], velocities[k + 1]
        step, x, y = times[k + 1] - times[k], there[0] - here[POSITION], there[1] - here[POSITION + 1]
        out[k, 0], out[k, 1] = pieces_of(step, x, y, before[0], before[1], after[0], after[1])


@kernel
def path_lengths_into(motion, times, before, lengths):
    """Compute the lengths of paths in each step: from the place before it to a corner, and on to the place after it.

    The corner is where a straight piece at the velocity before the step meets one at the velocity after it; without
    one, the path is straight.

    Parameters
    ----------
    motion : (n, m, 13)
        Position, orientation, velocity, angular velocity.
    times : (n,) [s]
    before : (m, 6), in and out
        Time, position and horizontal velocity before the first step; the time is nan where none is known. Those of the
        last step on return.
    lengths : (m, n) [m], out
    """
    for m in range(motion.shape[1]):
        last = before[m]
        if math.isnan(last[TIME]):
            hold(motion[0, m], times[0], last)
        for k in range(motion.shape[0]):
            here, step = motion[k, m], times[k] - last[TIME]
            x, y = here[POSITION] - last[PLACE], here[POSITION + 1] - last[PLACE + 1]
            a, _ = pieces_of(step, x, y, last[EAST], last[NORTH], here[VELOCITY], here[VELOCITY + 1])
            p, q = a * last[EAST], a * last[NORTH]
            level = math.sqrt(p * p + q * q) + math.sqrt((x - p) * (x - p) + (y - q) * (y - q))
            lengths[m, k] = math.hypot(level, here[POSITION + 2] - last[PLACE + 2])
            hold(here, times[k], last)


@inner
def hold(here, time, out):
    out[TIME] = time
    for k in range(3):
        out[PLACE + k] = here[k]
    out[EAST], out[NORTH] = here[VELOCITY], here[VELOCITY + 1]


@inner
def pieces_of(step, x, y, u, v, p, q):
    """Durations [s] of both pieces of a step on way (x, y) [m], given both velocities; 0 and all of it if none fit."""
    turn, fast, slow = u * q - v * p, math.hypot(u, v), math.hypot(p, q)
    if abs(turn) > ALIGNED * fast * slow:
        a, b = (x * q - y * p) / turn, (u * y - v * x) / turn
    else:
        # on one line: when the speed changes from one to the other
        along = max(fast, slow)
        if not along > 0.0:
            return 0.0, step
        east, north = (u / along, v / along) if fast >= slow else (p / along, q / along)
        change = (u - p) * east + (v - q) * north
        if change == 0.0 or abs(x * north - y * east) > ALIGNED * math.hypot(x, y):
            return 0.0, step
        a = (x * east + y * north - (p * east + q * north) * step) / change
        b = step - a
    # not so for nan, too
    if a >= -SLACK * step and b >= -SLACK * step and a + b <= (1.0 + SLACK) * step:
        return min(max(a, 0.0), step), min(max(b, 0.0), step)
    return 0.0, step
