"""Following a planned path: the place on it, the curvature to steer and the speed to drive at."""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined, kernel

__all__ = ["COLUMNS", "LAST_DECELERATION", "LAST_METRES", "follow_path", "larger", "smaller"]

COLUMNS = 9  # of a path: x, y, sine, cosine, station, heading, curvature, speed, acceleration
X, Y, SINE, COSINE, STATION, HEADING, CURVATURE, SPEED, ACCELERATION = range(COLUMNS)
MIN_LOOK_AHEAD, LOOK_AHEAD_TIME = 2.5, 0.9  # [m], [s]: look-ahead over which a lateral error is corrected
DAMPING = 0.8
STEER_PREVIEW = 0.15  # [s] lag of the steering
SPEED_PREVIEW = 0.1  # [s] lag of the pedals: a step, and the rate at which they move
COURSE = 1.5  # [m/s] above which the course over ground replaces the heading
CREEP = 0.45  # [m/s] at which a last gap to a stop line is closed
LAST_DECELERATION, LAST_METRES = 1.0, 2.0  # [m/s²], [m] of the last way to a halt


@inlined
def larger(one, other):
    """Return the larger of two numbers, as Python's `max` has it."""
    return other if other > one else one


@inlined
def smaller(one, other):
    """Return the smaller of two numbers, as Python's `min` has it."""
    return other if other < one else one


@inlined
def between(path, row, last, station):
    """Find the row before a station, from a row on, and the share of the way to the next; 0 beyond the last."""
    while row < last and path[row + 1, STATION] <= station:
        row += 1
    if row >= last:
        return last, 0.0
    return row, larger(0.0, (station - path[row, STATION]) / (path[row + 1, STATION] - path[row, STATION]))


@inlined
def planned_at(path, row, last, station):
    """Planned speed and acceleration at a station, from a row on."""
    at, share = between(path, row, last, station)
    one, first = path[at, SPEED], path[at, ACCELERATION]
    if share == 0.0:
        return one, first
    two, second = path[at + 1, SPEED], path[at + 1, ACCELERATION]
    if two == 0.0:  # acceleration at a place of rest is that of leaving it
        second = first
    # the square of the speed is linear where the car accelerates
    return math.sqrt(one * one + share * (two * two - one * one)), first + share * (second - first)


@kernel
def follow_path(path, row, begin, last, gear, halt, pose, motion, arm, before):
    """Find the place on a path, and what to steer and to drive there.

    By arc length, the lateral error obeys e'' = κ − κ_path; the feedback makes it decay as a damped oscillator over the
    look-ahead distance.

    Parameters
    ----------
    path : (n, 9)
        Rows of `COLUMNS`.
    row, begin, last : int
        Last row that has been passed, least row that the speed is looked up from, and last row of the run.
    gear : float
        1 forwards, -1 in reverse.
    halt : float
        Station of the next halt [m].
    pose : tuple of float
        Centre [m] and heading [rad] of the vehicle.
    motion : tuple of float
        Its speed [m/s] and yaw rate [rad/s], and the time since the last call [s].
    arm : float
        Distance of the control point behind the centre [m].
    before : tuple of float
        Control point at the last call [m].

    Returns
    -------
    row : int
        Last row that has been passed.
    x, y, station : float
        Control point and its station [m].
    curvature : float
        To steer, in the direction of travel [1/m].
    target_speed, planned_acceleration : float
        In the direction of travel [m/s], [m/s²].
    """
    x, y, heading = pose
    speed, yaw_rate, moved = motion
    sine, cosine = math.sin(heading), math.cos(heading)
    x, y = x + arm * sine, y - arm * cosine
    while row < last:
        n = row + 1
        if (y - path[n, Y]) * path[n, COSINE] - (x - path[n, X]) * path[n, SINE] < 0.0:
            break
        row = n
    along = (y - path[row, Y]) * path[row, COSINE] - (x - path[row, X]) * path[row, SINE]
    station = path[row, STATION] + along
    at, share = between(path, row, last, station)
    px, py, ps, pc = path[at, X], path[at, Y], path[at, SINE], path[at, COSINE]
    if share != 0.0:
        px, py = px + share * (path[at + 1, X] - px), py + share * (path[at + 1, Y] - py)
        turn = path[at, HEADING] + share * (path[at + 1, HEADING] - path[at, HEADING])
        ps, pc = math.sin(turn), math.cos(turn)
    aside = -(x - px) * pc - (y - py) * ps
    speed = gear * speed
    off = gear * (sine * pc - cosine * ps)
    if speed > COURSE:  # with slipping tyres, course and heading differ
        dx, dy = x - before[0], y - before[1]
        way = math.hypot(dx, dy)
        if 0.0 < way < 2.0:
            off = -(dx * pc + dy * ps) / way + 0.5 * yaw_rate * moved
    ahead_speed = larger(speed, 0.0)
    ahead = min(last, row + 1 + int(ahead_speed * STEER_PREVIEW * 4.0))
    look = larger(MIN_LOOK_AHEAD, LOOK_AHEAD_TIME * speed)
    back = aside / (look * look)
    back = larger(-0.5 / look, smaller(0.5 / look, back))
    curvature = path[ahead, CURVATURE] - back - 2.0 * DAMPING * off / look

    first = max(row, begin)
    target_speed, _ = planned_at(path, first, last, station)
    _, planned_acceleration = planned_at(path, first, last, station + ahead_speed * SPEED_PREVIEW)
    if planned_acceleration < 0.0 and speed < target_speed:  # who is slower brakes less, at rest not at all
        share = ahead_speed / target_speed
        planned_acceleration *= share * share
    left = halt - station
    if left < LAST_METRES:
        target_speed = smaller(target_speed, math.sqrt(2.0 * LAST_DECELERATION * larger(left, 0.0)))
        if left < 0.05 + 0.1 * speed:
            return row, x, y, station, curvature, 0.0, 0.0
    return row, x, y, station, curvature, larger(target_speed, CREEP), planned_acceleration
