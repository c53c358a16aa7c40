"""Drive `skid-kinematic`: each side runs at its commanded speed, the centre moves on the exact arc."""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inner
from cbsim.vehicle.kernels.actuators import slew_levers
from cbsim.vehicle.kernels.columns import TRACK, WHEEL_RADIUS
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
    heading = planar[2]
    wheel[0] = (speed - planar[3]) / dt
    wheel[1], wheel[2] = left / parameters[WHEEL_RADIUS], right / parameters[WHEEL_RADIUS]
    planar[0] -= chord * math.sin(heading + 0.5 * turn)
    planar[1] += chord * math.cos(heading + 0.5 * turn)
    planar[2], planar[3], planar[4], planar[5] = heading + turn, speed, 0.0, rate
