"""Compiled drives, first form: kinematic single-track and skid vehicles on exact arcs.

The parameter columns are numbered as in `cbsim.vehicle.parameters`.
"""

from __future__ import annotations

import math

from cbsim.jit import kernel

__all__ = ["slew", "step_single_track", "step_skid", "step_vehicle"]

SKID, CONVENTIONAL = 0, 1

WHEELBASE, TRACK, MAX_STEER, THROTTLE_RATE, LEVER_RATE, MAX_ACCELERATION, MAX_DECELERATION, MAX_SPEED = range(8)


@kernel
def slew(value, target, limit):
    """Move a value towards a target by at most `limit`."""
    return value + min(max(target - value, -limit), limit)


@kernel
def sinc(x):
    """Sine of x over x; the ratio of a chord to its arc."""
    return 1.0 - x * x / 6.0 if abs(x) < 1e-4 else math.sin(x) / x


@kernel
def next_speed(speed, throttle, reverse, handbrake, parameters, dt):
    """Speed [m/s] after dt: throttle accelerates up to the top speed, brakes bring to rest and hold there."""
    gear = -1.0 if reverse > 0.0 else 1.0
    if handbrake > 0.0 or throttle < 0.0:
        strength = 1.0 if handbrake > 0.0 else -throttle
        loss = strength * parameters[MAX_DECELERATION] * dt
        return max(speed - loss, 0.0) if speed > 0.0 else min(speed + loss, 0.0)
    top = parameters[MAX_SPEED]
    drive = gear * throttle * parameters[MAX_ACCELERATION] * max(0.0, 1.0 - gear * speed / top)
    return min(max(speed + drive * dt, -top), top)


@kernel
def step_single_track(x, y, heading, speed, actuator, command, parameters, dt):
    """Kinematic single-track model: the rear axle's centre moves on the exact arc of radius L / tan δ.

    `x`, `y` is the body's centre, half a wheelbase ahead of the rear axle. Returns x, y, heading, speed and yaw rate.
    """
    actuator[0] = slew(actuator[0], command[0], parameters[THROTTLE_RATE] * dt)
    actuator[1] = slew(actuator[1], command[1], parameters[LEVER_RATE] * dt)
    before = speed
    speed = next_speed(speed, actuator[0], command[4], command[5], parameters, dt)
    distance = 0.5 * (before + speed) * dt
    half_base = 0.5 * parameters[WHEELBASE]
    curvature = math.tan(actuator[1] * parameters[MAX_STEER]) / parameters[WHEELBASE]
    turn = curvature * distance
    chord = distance * sinc(0.5 * turn)
    middle = heading + 0.5 * turn
    after = heading + turn
    x += half_base * (math.sin(heading) - math.sin(after)) - chord * math.sin(middle)
    y += half_base * (math.cos(after) - math.cos(heading)) + chord * math.cos(middle)
    return x, y, after, speed, curvature * speed


@kernel
def step_skid(x, y, heading, speed, actuator, command, parameters, dt):
    """Skid (differential) model: each side runs at throttle · lever · top speed; the centre moves on the exact arc.

    Returns x, y, heading, speed and yaw rate.
    """
    actuator[0] = slew(actuator[0], 0.0 if command[5] > 0.0 else command[0], parameters[THROTTLE_RATE] * dt)
    actuator[2] = slew(actuator[2], command[2], parameters[LEVER_RATE] * dt)
    actuator[3] = slew(actuator[3], command[3], parameters[LEVER_RATE] * dt)
    gear = -1.0 if command[4] > 0.0 else 1.0
    scale = gear * max(actuator[0], 0.0) * parameters[MAX_SPEED]
    left, right = scale * actuator[2], scale * actuator[3]
    speed = 0.5 * (left + right)
    rate = (right - left) / parameters[TRACK]
    turn = rate * dt
    chord = speed * dt * sinc(0.5 * turn)
    x -= chord * math.sin(heading + 0.5 * turn)
    y += chord * math.cos(heading + 0.5 * turn)
    return x, y, heading + turn, speed, rate


@kernel
def step_vehicle(drive, planar, wheel, actuator, command, parameters, dt):
    """Carry a vehicle through one substep of its drive, in place.

    Parameters
    ----------
    drive : int
        Which model (`cbsim.vehicle.parameters.DRIVES`).
    planar : (6,)
        x, y [m] of the body's centre, heading [rad], forward and leftward velocity of the centre [m/s], yaw rate
        [rad/s].
    wheel : (4,)
        Forward acceleration [m/s²], wheel speeds [rad/s] front and rear, or left and right, and a spare.
    actuator : (4,)
        Throttle, steering, left and right lever after their slew rates.
    command : (6,)
        As `Command.row`.
    parameters : (p,)
        As `cbsim.vehicle.parameters.PARAMETERS`.
    dt : float
        [s]
    """
    x, y, heading, speed = planar[0], planar[1], planar[2], planar[3]
    if drive == SKID:
        x, y, heading, speed, rate = step_skid(x, y, heading, speed, actuator, command, parameters, dt)
        arm = 0.0
    else:
        x, y, heading, speed, rate = step_single_track(x, y, heading, speed, actuator, command, parameters, dt)
        arm = 0.5 * parameters[WHEELBASE]  # the rear axle does not slip, so the centre swings about it
    wheel[0] = (speed - planar[3]) / dt
    planar[0], planar[1], planar[2], planar[3], planar[4], planar[5] = x, y, heading, speed, arm * rate, rate
