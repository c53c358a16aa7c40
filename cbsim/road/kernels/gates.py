"""Passages of vehicles through the gates of a junction, and halts at its stop lines."""

from __future__ import annotations

import numpy as np

from cbsim.geometry.kernels import elementary as math
from cbsim.geometry.kernels.columns import LINE_EAST, LINE_NORTH, LINE_X, LINE_Y, ORIENTATION, POSITION, VELOCITY
from cbsim.jit import inner, kernel

__all__ = ["BEGINS", "CROSSES", "ENDS", "junction_events"]

HALF_WIDTH = 4  # of a gate, behind the columns of a sample of a line
EVENT_KIND, EVENT_TIME, EVENT_WHO, EVENT_GATE, EVENT_STEP = range(5)  # of a row of `out`
BEGINS, CROSSES, ENDS = 0, 1, 2  # kinds of events: begin of waiting, crossing of a gate, end of waiting
WITHIN, OVER = 1.0, 0.01  # [m] before and beyond a stop line, where a bumper waits (A.8)
STILL = 0.1  # [m/s] slower counts as rest
FACING, ALONG = 0.5 * math.sqrt(2.0), 0.5  # least cosine of the angle to a gate that is crossed, and to a line


@kernel
def junction_events(times, motion, half_lengths, watched, gates, count, waits, out):
    """Find crossings of gates, and begins and ends of waiting.

    Parameters
    ----------
    times : (n,) [s]
    motion : (n, k, 13)
        Position, orientation, velocity, angular velocity.
    half_lengths : (k,) [m]
    watched : (n,) bool
        Steps that count.
    gates : (g, 5)
        Place and direction of each gate, and half of its width; stop lines are the last.
    count : int
        Gates that are no stop lines.
    waits : (k, g - count) bool, changed
        Who waits where before the first step; afterwards before the last.
    out : (e, 5), out
        Kind of event, its time [s], column of the motion, gate, and step before it, or at which waiting begins or ends.

    Returns
    -------
    events : int
        How many there are; only those that `out` has room for are written, and `waits` is right only if all are.
    """
    steps, found = len(times), 0
    along, across = np.empty(steps), np.empty(steps)
    poses = np.empty((steps, 4))
    for who in range(motion.shape[1]):
        low_x, low_y, high_x, high_y = np.inf, np.inf, -np.inf, -np.inf
        for i in range(steps):
            body = motion[i, who]
            a, b, c, d = body[ORIENTATION], body[ORIENTATION + 1], body[ORIENTATION + 2], body[ORIENTATION + 3]
            # the body's forward axis, seen from above, and its front bumper
            east, north = 2.0 * (b * c - a * d), 1.0 - 2.0 * (b * b + d * d)
            length = max(math.sqrt(east * east + north * north), 1e-12)
            poses[i, 2], poses[i, 3] = east / length, north / length
            poses[i, 0] = body[POSITION] + half_lengths[who] * poses[i, 2]
            poses[i, 1] = body[POSITION + 1] + half_lengths[who] * poses[i, 3]
            low_x, high_x = min(low_x, poses[i, 0]), max(high_x, poses[i, 0])
            low_y, high_y = min(low_y, poses[i, 1]), max(high_y, poses[i, 1])
        for gate in range(len(gates)):
            x, y, half = gates[gate, LINE_X], gates[gate, LINE_Y], gates[gate, HALF_WIDTH] + WITHIN
            inside = low_x <= x + half and high_x >= x - half and low_y <= y + half and high_y >= y - half
            # nothing can happen at a gate that the bumper never comes near, unless somebody waits there already
            if not inside and not (gate >= count and waits[who, gate - count]):
                continue
            east, north, half = gates[gate, LINE_EAST], gates[gate, LINE_NORTH], gates[gate, HALF_WIDTH]
            for i in range(steps):
                way_x, way_y = poses[i, 0] - x, poses[i, 1] - y
                along[i] = way_x * east + way_y * north
                across[i] = way_y * east - way_x * north
            for i in range(1, steps):
                if not watched[i]:
                    continue
                facing = poses[i, 2] * east + poses[i, 3] * north
                kind, time, step = -1, times[i], i
                if gate >= count:
                    at_line = -WITHIN <= along[i] <= OVER and facing >= ALONG and abs(across[i]) <= half
                    if at_line != waits[who, gate - count]:
                        # waiting begins at rest, and ends when the bumper leaves the stretch before the line
                        if not at_line or speed_of(motion[i, who]) < STILL:
                            kind = BEGINS if at_line else ENDS
                            waits[who, gate - count] = at_line
                # from behind the gate to beyond it within a step: the place of crossing by linear interpolation
                elif along[i - 1] <= 0.0 and along[i] > 0.0 and facing >= FACING:
                    part = along[i - 1] / (along[i - 1] - along[i])
                    if abs(across[i - 1] + part * (across[i] - across[i - 1])) <= half:
                        kind, step = CROSSES, i - 1
                        time = times[i - 1] + part * (times[i] - times[i - 1])
                if kind >= 0:
                    if found < len(out):
                        out[found, EVENT_KIND], out[found, EVENT_TIME], out[found, EVENT_WHO] = kind, time, who
                        out[found, EVENT_GATE], out[found, EVENT_STEP] = gate, step
                    found += 1
    return found


@inner
def speed_of(body):
    """Speed [m/s] of a row of motion."""
    u, v, w = body[VELOCITY], body[VELOCITY + 1], body[VELOCITY + 2]
    return math.sqrt(u * u + v * v + w * w)
