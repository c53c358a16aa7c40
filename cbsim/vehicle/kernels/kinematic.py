"""Drive `kinematic`: a single track without slip on exact arcs; and `delayed`, the same behind dead times and lags."""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inner
from cbsim.vehicle.kernels.actuators import follow, next_speed, slew
from cbsim.vehicle.kernels.columns import (
    LEVER_RATE,
    MAX_STEER,
    STEERING_LAG,
    THROTTLE_LAG,
    THROTTLE_RATE,
    WHEEL_RADIUS,
    WHEELBASE,
)

__all__ = ["sinc", "step_delayed", "step_kinematic"]


@inner
def sinc(x):
    """Sine of x over x; the ratio of a chord to its arc."""
    return 1.0 - x * x / 6.0 if abs(x) < 1e-4 else math.sin(x) / x


@inner
def step_kinematic(planar, wheel, actuator, command, parameters, dt):
    """Drive `kinematic`; see `roll_on_arc`."""
    actuator[0] = slew(actuator[0], command[0], parameters[THROTTLE_RATE] * dt)
    actuator[1] = slew(actuator[1], command[1], parameters[LEVER_RATE] * dt)
    roll_on_arc(planar, wheel, actuator, command, parameters, dt)


@inner
def step_delayed(planar, wheel, actuator, command, parameters, dt):
    """Drive `delayed`: what comes out of the dead times stands in `actuator` columns 4 and 5 (`actuators.hear`).

    Throttle and steering follow it with a first-order lag and, as all do, at their slew rates at most: the plant of
    scenario_simulator_v2's DELAY_STEER_ACC. Gear and handbrake have no delay.
    """
    actuator[0] = follow(actuator[0], actuator[4], parameters[THROTTLE_LAG], parameters[THROTTLE_RATE] * dt, dt)
    actuator[1] = follow(actuator[1], actuator[5], parameters[STEERING_LAG], parameters[LEVER_RATE] * dt, dt)
    roll_on_arc(planar, wheel, actuator, command, parameters, dt)


@inner
def roll_on_arc(planar, wheel, actuator, command, parameters, dt):
    """Kinematic single-track model: the rear axle's centre moves on the exact arc of radius L / tan δ.

    The body's centre is half a wheelbase ahead of the rear axle and swings about it. Velocities other than the forward
    one are what the arc makes of them.
    """
    x, y, heading, before = planar[0], planar[1], planar[2], planar[3]
    speed = next_speed(before, actuator[0], command[4], command[5], parameters, dt)
    distance = 0.5 * (before + speed) * dt
    half_base = 0.5 * parameters[WHEELBASE]
    slope = math.tan(actuator[1] * parameters[MAX_STEER])
    curvature = slope / parameters[WHEELBASE]
    turn = curvature * distance
    chord = distance * sinc(0.5 * turn)
    middle = heading + 0.5 * turn
    after = heading + turn
    planar[0] = x + half_base * (math.sin(heading) - math.sin(after)) - chord * math.sin(middle)
    planar[1] = y + half_base * (math.cos(after) - math.cos(heading)) + chord * math.cos(middle)
    planar[2], planar[3], planar[4], planar[5] = after, speed, half_base * curvature * speed, curvature * speed
    wheel[0] = (speed - before) / dt
    wheel[1] = speed * math.sqrt(1.0 + slope * slope) / parameters[WHEEL_RADIUS]
    wheel[2] = speed / parameters[WHEEL_RADIUS]
