"""Drive `kinematic`: a single track without slip on exact arcs; and `delayed`, the same behind dead times and lags."""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import bits_of, inlined, inner
from cbsim.vehicle.kernels.actuators import follow, next_speed, slew
from cbsim.vehicle.kernels.columns import (
    ACCELERATION,
    CENTRE_X,
    CENTRE_Y,
    FORWARD,
    FRONT_SPIN,
    HANDBRAKE,
    HEADING,
    HEARD_STEERING,
    HEARD_THROTTLE,
    KNOWN_ANGLE,
    KNOWN_COSINE,
    KNOWN_HEADING,
    KNOWN_SINE,
    KNOWN_TANGENT,
    LEFTWARD,
    LEVER_RATE,
    MAX_STEER,
    PLANAR,
    REAR_SPIN,
    REVERSE,
    STEERING,
    STEERING_LAG,
    THROTTLE,
    THROTTLE_LAG,
    THROTTLE_RATE,
    WHEEL_RADIUS,
    WHEELBASE,
    YAW_RATE,
)

__all__ = ["ARC_ROWS", "arc_numbers", "roll_through", "sinc", "step_delayed", "step_kinematic"]


@inlined
def sinc(x):
    """Sine of x over x; the ratio of a chord to its arc."""
    return 1.0 - x * x / 6.0 if abs(x) < 1e-4 else math.sin(x) / x


@inlined
def step_kinematic(planar, wheel, actuator, command, parameters, dt, is_last):
    """Drive `kinematic`; see `roll_on_arc`."""
    actuator[THROTTLE] = slew(actuator[THROTTLE], command[THROTTLE], parameters[THROTTLE_RATE] * dt)
    actuator[STEERING] = slew(actuator[STEERING], command[STEERING], parameters[LEVER_RATE] * dt)
    roll_on_arc(planar, wheel, actuator, command, parameters, dt, is_last)


@inner
def step_delayed(planar, wheel, actuator, command, parameters, dt):
    """Drive `delayed`: what comes out of the dead times stands in `actuator`, too (`actuators.hear`).

    Throttle and steering follow it with a first-order lag and, as all do, at their slew rates at most: the plant of
    scenario_simulator_v2's DELAY_STEER_ACC. Gear and handbrake have no delay.
    """
    throttle, steering = actuator[THROTTLE], actuator[STEERING]
    to_throttle, to_steering = actuator[HEARD_THROTTLE], actuator[HEARD_STEERING]
    actuator[THROTTLE] = follow(throttle, to_throttle, parameters[THROTTLE_LAG], parameters[THROTTLE_RATE] * dt, dt)
    actuator[STEERING] = follow(steering, to_steering, parameters[STEERING_LAG], parameters[LEVER_RATE] * dt, dt)
    roll_on_arc(planar, wheel, actuator, command, parameters, dt, True)


@inlined
def sine_cosine_of(heading, planar):
    """Sine and cosine of a heading, from the row of planar motion if they stand there."""
    if planar.shape[0] == PLANAR and bits_of(planar[KNOWN_HEADING]) == bits_of(heading):  # zeros have signs
        return planar[KNOWN_SINE], planar[KNOWN_COSINE]
    return math.sin_cos(heading)


@inlined
def tangent_of(angle, planar):
    """Tangent of a steering angle, from the row of planar motion if it stands there."""
    if planar.shape[0] < PLANAR:
        return math.tan(angle)
    if bits_of(planar[KNOWN_ANGLE]) != bits_of(angle):
        planar[KNOWN_ANGLE], planar[KNOWN_TANGENT] = angle, math.tan(angle)
    return planar[KNOWN_TANGENT]


@inlined
def roll_on_arc(planar, wheel, actuator, command, parameters, dt, is_last):
    """Kinematic single-track model: the rear axle's centre moves on the exact arc of radius L / tan δ.

    The body's centre is half a wheelbase ahead of the rear axle and swings about it. Velocities other than the forward
    one are what the arc makes of them. `wheel`, which this model does not read, is written if `is_last`.
    """
    x, y, heading, before = planar[CENTRE_X], planar[CENTRE_Y], planar[HEADING], planar[FORWARD]
    speed = next_speed(before, actuator[THROTTLE], command[REVERSE], command[HANDBRAKE], parameters, dt)
    distance = 0.5 * (before + speed) * dt
    half_base = 0.5 * parameters[WHEELBASE]
    slope = tangent_of(actuator[STEERING] * parameters[MAX_STEER], planar)
    curvature = slope / parameters[WHEELBASE]
    turn = curvature * distance
    chord = distance * sinc(0.5 * turn)
    after = heading + turn
    sine, cosine = sine_cosine_of(heading, planar)
    if bits_of(after) == bits_of(heading):
        next_sine, next_cosine = sine, cosine
    else:
        next_sine, next_cosine = math.sin_cos(after)
    middle = heading + 0.5 * turn
    middle_sine, middle_cosine = (sine, cosine) if bits_of(middle) == bits_of(heading) else math.sin_cos(middle)
    if planar.shape[0] == PLANAR:
        planar[KNOWN_HEADING], planar[KNOWN_SINE], planar[KNOWN_COSINE] = after, next_sine, next_cosine
    # the rear axle moves along the chord at the mean heading; half a wheelbase ahead of it is the centre
    planar[CENTRE_X] = x + half_base * (sine - next_sine) - chord * middle_sine
    planar[CENTRE_Y] = y + half_base * (next_cosine - cosine) + chord * middle_cosine
    planar[HEADING], planar[FORWARD] = after, speed
    planar[LEFTWARD], planar[YAW_RATE] = half_base * curvature * speed, curvature * speed
    if not is_last:
        return
    wheel[ACCELERATION] = (speed - before) / dt
    # the front wheels run on the larger circle: 1 / cos δ = √(1 + tan² δ)
    wheel[FRONT_SPIN] = speed * math.sqrt(1.0 + slope * slope) / parameters[WHEEL_RADIUS]
    wheel[REAR_SPIN] = speed / parameters[WHEEL_RADIUS]


ARC_ROWS = 4  # angles, sines, cosines, ways
LANES = 4  # numbers that one instruction handles: rows of arcs are filled up to a multiple


def arc_numbers(substeps: int) -> int:
    """Angles in a step of `roll_through`: three for each substep."""
    return 3 * LANES * ((substeps + LANES - 1) // LANES)


@inner
def roll_through(planar, wheel, actuator, command, parameters, dt, substeps, arcs):
    """Carry a vehicle that nothing can touch through all substeps of a step, with the bits of `step_kinematic`.

    First speeds and headings, then sines and cosines of all angles at once, then places.

    Parameters
    ----------
    planar, wheel, actuator, command, parameters, dt
        As `cbsim.vehicle.kernels.step_vehicle` has them.
    substeps : int
    arcs : (4, n)
        Scratch, n from `arc_numbers`: angles, sines, cosines, ways.
    """
    angles, sines, cosines, ways = arcs[0], arcs[1], arcs[2], arcs[3]
    row = angles.shape[0] // 3
    x, y, heading, speed = planar[CENTRE_X], planar[CENTRE_Y], planar[HEADING], planar[FORWARD]
    before, slope, curvature = planar[FORWARD], 0.0, 0.0
    sine, cosine = sine_cosine_of(heading, planar)
    throttle, steering = actuator[THROTTLE], actuator[STEERING]
    for k in range(row):
        # places that fill a row up
        if k >= substeps:
            angles[k], angles[row + k], angles[2 * row + k] = 0.0, 0.0, 0.0
            continue
        throttle = slew(throttle, command[THROTTLE], parameters[THROTTLE_RATE] * dt)
        steering = slew(steering, command[STEERING], parameters[LEVER_RATE] * dt)
        before, speed = speed, next_speed(speed, throttle, command[REVERSE], command[HANDBRAKE], parameters, dt)
        slope = tangent_of(steering * parameters[MAX_STEER], planar)
        curvature = slope / parameters[WHEELBASE]
        distance = 0.5 * (before + speed) * dt
        turn = curvature * distance
        angles[k], angles[row + k], angles[2 * row + k] = heading + turn, heading + 0.5 * turn, 0.5 * turn
        ways[k], heading = distance, heading + turn
    math.sin_cos_into(angles, sines, cosines)
    half_base = 0.5 * parameters[WHEELBASE]
    for k in range(substeps):
        half = angles[2 * row + k]
        # `sinc`, with the sine that is known already
        ratio = 1.0 - half * half / 6.0 if abs(half) < 1e-4 else sines[2 * row + k] / half
        chord = ways[k] * ratio
        # the rear axle moves along the chord; the place is half a wheelbase ahead of it
        x = x + half_base * (sine - sines[k]) - chord * sines[row + k]
        y = y + half_base * (cosines[k] - cosine) + chord * cosines[row + k]
        sine, cosine = sines[k], cosines[k]
    actuator[THROTTLE], actuator[STEERING] = throttle, steering
    planar[CENTRE_X], planar[CENTRE_Y], planar[HEADING], planar[FORWARD] = x, y, heading, speed
    planar[LEFTWARD], planar[YAW_RATE] = half_base * curvature * speed, curvature * speed
    planar[KNOWN_HEADING], planar[KNOWN_SINE], planar[KNOWN_COSINE] = heading, sine, cosine
    wheel[ACCELERATION] = (speed - before) / dt
    # front wheels roll faster, by 1 / cosine of their steering angle
    wheel[FRONT_SPIN] = speed * math.sqrt(1.0 + slope * slope) / parameters[WHEEL_RADIUS]
    wheel[REAR_SPIN] = speed / parameters[WHEEL_RADIUS]
