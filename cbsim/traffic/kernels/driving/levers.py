"""Lever control of a follower with skid steering: bends are driven, sharp corners are turned on the spot.

Levers move slowly, over their whole range in seconds; at full throttle they need to move least. So levers are set to
the speeds of the sides over the top speed, and the throttle makes up for where the levers are still elsewhere.
"""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inner
from cbsim.vehicle.kernels.columns import (
    AXLES,
    LEFT_LEVER,
    LEVER_RATE,
    MAX_SPEED,
    RIGHT_LEVER,
    SKID,
    THROTTLE,
    TRACK,
    WHEELBASE,
)

__all__ = ["scrub_of", "steer_levers", "turning_time"]

TURN_GAIN = 2.0  # of a wrong yaw rate
SPIN = 1.2  # [rad/s] on the spot
AIM_GAIN = 3.0  # [1/s] yaw rate for a wrong direction on the spot, when it is nearly right
EASE = 0.6  # of what the slew of the levers can change the yaw rate by
SLOW, CALM = 0.2, 0.3  # [m/s], [rad/s] it is not turning on the spot yet
STRAIGHT, ASKEW = 0.2, 0.5  # [rad] off its direction it drives at full speed, and turns on the spot


@inner
def scrub_of(drive, parameters):
    """How much faster than without scrubbing the sides must run for a turn, see `cbsim.vehicle.kernels.skid`."""
    if drive != SKID:
        return 1.0
    axles, half = parameters[AXLES], 0.5 * parameters[WHEELBASE]
    mean_square = half * half * (axles + 1.0) / (3.0 * (axles - 1.0))  # of axles spread evenly
    return 1.0 + 4.0 * mean_square / parameters[TRACK] ** 2


@inner
def quickest(scrub, parameters):
    """Yaw rate [rad/s] to turn on the spot with, and how fast it can be taken back [rad/s²]."""
    # yaw rate with the sides at full speed against each other
    reach = parameters[MAX_SPEED] / (0.5 * parameters[TRACK] * scrub)
    return min(SPIN, reach), EASE * parameters[LEVER_RATE] * reach


@inner
def turning_time(angle, scrub, parameters):
    """Time [s] that a turn on the spot takes: a trapezium of yaw rate."""
    rate, ease = quickest(scrub, parameters)
    # a triangle where the full rate is not reached
    angle = abs(angle)
    if angle < rate * rate / ease:
        return 2.0 * math.sqrt(angle / ease)
    return angle / rate + rate / ease


@inner
def steer_levers(wanted, ahead, left, speed, rate, scrub, actuator, parameters, command):
    """Command two levers and a throttle towards a point `ahead` and `left` [m] at a wanted speed.

    `speed` [m/s] and `rate` [rad/s] are those it has. It brakes before it turns on the spot: wheels that scrub sideways
    do not hold it back any more.
    """
    angle, top = math.atan2(left, ahead), parameters[MAX_SPEED]
    share = min(max((ASKEW - abs(angle)) / (ASKEW - STRAIGHT), 0.0), 1.0)
    wanted *= share
    spin, ease = quickest(scrub, parameters)
    # no faster than it can stop by the time that it looks there
    on_the_spot = math.copysign(min(spin, math.sqrt(2.0 * ease * abs(angle)), AIM_GAIN * abs(angle)), angle)
    turn = share * 2.0 * left / max(ahead * ahead + left * left, 1e-6) * wanted + (1.0 - share) * on_the_spot
    if share == 0.0 and abs(speed) > SLOW and abs(rate) < CALM:
        turn = 0.0
    # speed of a side against the middle, with scrubbing made up for and the error of the yaw rate fed back
    side = 0.5 * parameters[TRACK] * (scrub * turn + TURN_GAIN * (turn - rate))
    most = max(abs(wanted - side), abs(wanted + side), top)
    one, two = (wanted - side) / most, (wanted + side) / most
    a, b = actuator[LEFT_LEVER], actuator[RIGHT_LEVER]
    # the throttle for which sides at the present levers are nearest to the wanted speeds (least squares)
    square = a * a + b * b
    needed = (one * a + two * b) / square if square > 1e-12 else 1.0
    command[THROTTLE], command[LEFT_LEVER], command[RIGHT_LEVER] = min(max(needed, 0.0), 1.0), one, two
