"""Actuators: from commands to the positions of throttle, steering and levers."""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inner, kernel
from cbsim.vehicle.kernels.columns import (
    HANDBRAKE,
    HEARD_STEERING,
    HEARD_THROTTLE,
    LEFT_LEVER,
    LEVER_RATE,
    MAX_ACCELERATION,
    MAX_DECELERATION,
    MAX_SPEED,
    REVERSE,
    RIGHT_LEVER,
    STEERING,
    STEERING_DELAY,
    THROTTLE,
    THROTTLE_DELAY,
    THROTTLE_RATE,
)

__all__ = ["follow", "hear", "next_speed", "slew", "slew_levers"]


@kernel
def slew(value, target, limit):
    """Move a value towards a target by at most `limit`."""
    return value + min(max(target - value, -limit), limit)


@kernel
def follow(value, target, lag, limit, dt):
    """Move a value towards a target as a first-order lag [s] does, by at most `limit`."""
    # exact solution over dt for a constant target
    gain = 1.0 - math.exp(-dt / lag) if lag > 0.0 else 1.0
    return slew(value, value + gain * (target - value), limit)


@inner
def slew_levers(actuator, command, parameters, dt):
    """Move the throttle and the levers of a skid vehicle; returns the speeds [m/s] that ask for its two sides.

    The handbrake closes the throttle; a negative throttle is a closed one, for closed it brakes.
    """
    wanted = 0.0 if command[HANDBRAKE] > 0.0 else command[THROTTLE]
    actuator[THROTTLE] = slew(actuator[THROTTLE], wanted, parameters[THROTTLE_RATE] * dt)
    actuator[LEFT_LEVER] = slew(actuator[LEFT_LEVER], command[LEFT_LEVER], parameters[LEVER_RATE] * dt)
    actuator[RIGHT_LEVER] = slew(actuator[RIGHT_LEVER], command[RIGHT_LEVER], parameters[LEVER_RATE] * dt)
    gear = -1.0 if command[REVERSE] > 0.0 else 1.0
    scale = gear * max(actuator[THROTTLE], 0.0) * parameters[MAX_SPEED]
    return scale * actuator[LEFT_LEVER], scale * actuator[RIGHT_LEVER]


@inner
def next_speed(speed, throttle, reverse, handbrake, parameters, dt):
    """Speed [m/s] after dt: throttle accelerates up to the top speed, brakes bring to rest and hold there."""
    gear = -1.0 if reverse > 0.0 else 1.0
    if handbrake > 0.0 or throttle < 0.0:
        strength = 1.0 if handbrake > 0.0 else -throttle
        loss = strength * parameters[MAX_DECELERATION] * dt
        return max(speed - loss, 0.0) if speed > 0.0 else min(speed + loss, 0.0)
    top = parameters[MAX_SPEED]
    # the acceleration falls linearly with the speed, to none at the top speed
    drive = gear * throttle * parameters[MAX_ACCELERATION] * max(0.0, 1.0 - gear * speed / top)
    return min(max(speed + drive * dt, -top), top)


@kernel
def hear(ring, clock, elapsed, step, parameters, actuator):
    """Write the throttle and steering that come out of their dead times to an actuator.

    Parameters
    ----------
    ring : (n, 2)
        Throttle and steering commanded in the newest steps, step k in row k mod n; rows of steps before the first
        are zero.
    clock : int
        Number of this step.
    elapsed : float
        Part of this step that is over, 0 to 1.
    step : float
        Length of a step [s].
    parameters : (p,)
    actuator : (6,), out
    """
    # newest step whose command has passed the dead time; the tolerance absorbs rounding of whole multiples
    heard = clock + math.floor(elapsed - parameters[THROTTLE_DELAY] / step + 1e-9)
    actuator[HEARD_THROTTLE] = ring[heard % ring.shape[0], THROTTLE]
    heard = clock + math.floor(elapsed - parameters[STEERING_DELAY] / step + 1e-9)
    actuator[HEARD_STEERING] = ring[heard % ring.shape[0], STEERING]
