"""Steering wheel and pedals for a curvature and a speed, with estimates of understeer and resistance."""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import kernel
from cbsim.planner.pilot.kernels.follow import larger, smaller

__all__ = ["PUSH", "STATE", "command_wheel"]

STATE = 5
ASKED, ANGLE, UNDERSTEER, ASKED_ACCELERATION, RESISTANCE = range(STATE)
SPEED_GAIN = 1.5  # [1/s]
ROLLING = 1.0  # [m/s] above which the resistance is estimated
RESISTANCE_GAIN, MAX_RESISTANCE, TRACKED = 0.3, 1.0, 0.5  # [1/s²], [m/s²], [m/s] error up to which it is estimated
PUSH, JERK = 1.8, 4.0  # [m/s²], [m/s³] greatest acceleration that is asked for, and its rise after braking
HOLD = -0.4  # throttle that holds the car at rest
MANOEUVRE = 4.0  # [m/s] below which the car slows down until the wheels have turned
BLIND_DISTANCE, MIN_MANOEUVRE_SPEED = 1.0, 0.4  # [m] driven at most while the wheels turn to their target; [m/s]
TYRE_SPEED, TYRE_ACCELERATION = 3.0, 0.8  # [m/s], [m/s²] lateral, above which understeer is estimated
UNDERSTEER_GAIN, MAX_UNDERSTEER = 0.03, 0.01  # gain of that estimate, per step; [rad s²/m]


@kernel
def command_wheel(car, stands, speed, yaw_rate, step, curvature, target_speed, planned_acceleration, state):
    """Update estimates from the observed motion, and find pedal and steering wheel.

    Parameters
    ----------
    car : (6,)
        Lever rate [1/s], largest steering angle [rad], wheelbase [m], largest acceleration, deceleration [m/s²] and
        speed [m/s].
    stands : bool
        Whether to stay at rest.
    speed, yaw_rate, step : float
        Speed in the direction of the gear [m/s], yaw rate [rad/s], and time since the last observation [s].
    curvature, target_speed, planned_acceleration : float
        [1/m], [m/s], [m/s²].
    state : (5,), out
        Angle of the front wheels, commanded and estimated [rad]; steering angle per lateral acceleration [rad s²/m];
        acceleration asked for last [m/s²]; deceleration without pedals [m/s²].

    Returns
    -------
    pedal, steering : float
        Fractions of full.
    """
    lever_rate, max_steer, wheelbase = car[0], car[1], car[2]
    max_acceleration, max_deceleration, max_speed = car[3], car[4], car[5]
    limit = lever_rate * max_steer * step
    state[ANGLE] += larger(-limit, smaller(limit, state[ASKED] - state[ANGLE]))
    sideways = yaw_rate * speed
    if speed > TYRE_SPEED and abs(sideways) > TYRE_ACCELERATION:
        missing = (state[ANGLE] - math.atan(yaw_rate / speed * wheelbase)) / sideways
        missing = larger(-MAX_UNDERSTEER, smaller(MAX_UNDERSTEER, missing))
        state[UNDERSTEER] += UNDERSTEER_GAIN * (missing - state[UNDERSTEER])

    angle = math.atan(curvature * wheelbase) + state[UNDERSTEER] * curvature * speed * speed
    state[ASKED] = larger(-max_steer, smaller(max_steer, angle))
    steering = larger(-1.0, smaller(1.0, angle / max_steer))
    if stands:
        state[ASKED_ACCELERATION] = PUSH
        return HOLD, steering

    missing, jerk = target_speed - speed, JERK * step
    acceleration = smaller(planned_acceleration + SPEED_GAIN * missing, PUSH)
    acceleration = smaller(acceleration, state[ASKED_ACCELERATION] + jerk)
    if speed < MANOEUVRE:  # wait for the wheels to turn
        lag = abs(state[ASKED] - state[ANGLE]) / (lever_rate * max_steer)
        pace = larger(MIN_MANOEUVRE_SPEED, BLIND_DISTANCE / larger(lag, 0.01))
        slowest = larger(SPEED_GAIN * (pace - speed), state[ASKED_ACCELERATION] - jerk)
        acceleration = smaller(acceleration, slowest)
    state[ASKED_ACCELERATION] = acceleration
    if abs(missing) < TRACKED and speed > ROLLING:
        resistance = state[RESISTANCE] + RESISTANCE_GAIN * missing * step
        state[RESISTANCE] = larger(-MAX_RESISTANCE, smaller(MAX_RESISTANCE, resistance))
    force = acceleration + state[RESISTANCE]
    if force >= 0.0:  # full pedal also makes up for the resistance
        full = max_acceleration * larger(0.05, 1.0 - speed / max_speed)
        pedal = force / (full + larger(state[RESISTANCE], 0.0))
    else:
        pedal = force / max_deceleration
    if target_speed <= 0.0:
        pedal = smaller(pedal, HOLD if speed < 1.0 else 0.5 * HOLD)
    return larger(-1.0, smaller(1.0, pedal)), steering
