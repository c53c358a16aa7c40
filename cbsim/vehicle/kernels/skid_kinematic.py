"""Drive `skid-kinematic`: each side runs at its commanded speed, the centre moves on the exact arc."""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inner
from cbsim.vehicle.kernels.actuators import slew_levers
from cbsim.vehicle.kernels.columns import (
    ACCELERATION,
    CENTRE_X,
    CENTRE_Y,
    FORWARD,
    HEADING,
    LEFT_SPIN,
    LEFTWARD,
    RIGHT_SPIN,
    TRACK,
    WHEEL_RADIUS,
    YAW_RATE,
)
from cbsim.vehicle.kernels.kinematic import sinc

__all__ = ["step_skid_kinematic"]


@inner
def step_skid_kinematic(planar, wheel, actuator, command, parameters, dt):
    """Differential drive: each side runs at throttle · lever · top speed."""
    left, right = slew_levers(actuator, command, parameters, dt)
    speed = 0.5 * (left + right)
    rate = (right - left) / parameters[TRACK]
    # an arc of constant curvature: its chord points along the mean heading
    turn = rate * dt
    chord = speed * dt * sinc(0.5 * turn)
    heading = planar[HEADING]
    wheel[ACCELERATION] = (speed - planar[FORWARD]) / dt
    wheel[LEFT_SPIN], wheel[RIGHT_SPIN] = left / parameters[WHEEL_RADIUS], right / parameters[WHEEL_RADIUS]
    planar[CENTRE_X] -= chord * math.sin(heading + 0.5 * turn)
    planar[CENTRE_Y] += chord * math.cos(heading + 0.5 * turn)
    planar[HEADING], planar[FORWARD], planar[LEFTWARD], planar[YAW_RATE] = heading + turn, speed, 0.0, rate
