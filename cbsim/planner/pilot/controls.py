"""Path-following controls: curvature and speed to steering wheel and pedals, or to levers and throttle."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from cbsim.geometry import elementary as math
from cbsim.planner.pilot.vehicle_geometry import VehicleGeometry
from cbsim.spec.command import Command

__all__ = ["Controls", "Motion", "SkidControls", "SteeringControls", "controls_of"]

SPEED_GAIN = 1.5  # [1/s]
ROLLING = 1.0  # [m/s] above which the resistance is estimated
RESISTANCE_GAIN, MAX_RESISTANCE, TRACKED = 0.3, 1.0, 0.5  # [1/s²], [m/s²], [m/s] error up to which it is estimated
PUSH, JERK = 1.8, 4.0  # [m/s²], [m/s³] greatest acceleration that is asked for, and its rise after braking
HOLD = -0.4  # throttle that holds the car at rest
LEVER_BASE = 0.5  # share of full lever when driving straight: mid-range leaves both levers room to move
ACCELERATION, DECELERATION = 2.0, 3.0  # [m/s²] limits on the rate of change of the speed of the sides
SCRUB_GAIN = 0.1  # gain of the scrub estimate, per step
MIN_TURN, MIN_SPEED = 0.04, 0.5  # [1/m], [m/s] below which the scrub estimate is not updated

MANOEUVRE = 4.0  # [m/s] below which the car slows down until the wheels have turned
BLIND_DISTANCE, MIN_MANOEUVRE_SPEED = 1.0, 0.4  # [m] driven at most while the wheels turn to their target; [m/s]
TYRE_SPEED, TYRE_ACCELERATION = 3.0, 0.8  # [m/s], [m/s²] lateral, above which understeer is estimated
UNDERSTEER_GAIN, MAX_UNDERSTEER = 0.03, 0.01  # gain of that estimate, per step; [rad s²/m]


class Motion(NamedTuple):
    """Speed in the direction of the gear [m/s], yaw rate [rad/s], and time since the last observation [s]."""

    speed: float
    yaw_rate: float
    step: float


class Controls(Protocol):
    """Conversion of the pilot's targets to commands."""

    def drive(self, curvature: float, target_speed: float, planned_acceleration: float, reverse: bool) -> Command:
        """Steer a curvature at a speed.

        Parameters
        ----------
        curvature : float
            Positive to the left in forward driving [1/m].
        target_speed : float
            Speed in the direction of the gear [m/s]; 0 brakes.
        planned_acceleration : float
            Acceleration of the plan, as feed-forward [m/s²].
        reverse : bool
        """

    def stand(self, curvature: float, reverse: bool) -> Command:
        """Stay at rest and turn the wheels."""

    def observe(self, motion: Motion) -> None:
        """Update estimates from the observed motion."""


class SteeringControls:
    """Steering wheel and pedals: feed-forward of the plan's acceleration, and feedback of the speed.

    The understeer gradient, the additional steering that lateral acceleration needs as tyres slip, is estimated online
    from the yaw rate.
    """

    def __init__(self, geometry: VehicleGeometry) -> None:
        self.geometry, self._speed = geometry, 0.0
        self._asked, self._angle = 0.0, 0.0  # [rad] angle of the front wheels: commanded, and estimated
        self._understeer = 0.0  # [rad s²/m] steering angle per lateral acceleration
        self._acceleration, self._step = PUSH, 0.0  # [m/s²] asked for last; [s]
        self._resistance = 0.0  # [m/s²] deceleration without pedals

    def observe(self, motion: Motion) -> None:
        """Update estimates from the observed motion."""
        car, (speed, yaw_rate, step) = self.geometry.vehicle, motion
        self._speed, self._step = speed, step
        limit = car.lever_rate * car.max_steer * step
        self._angle += max(-limit, min(limit, self._asked - self._angle))
        sideways = yaw_rate * speed
        if speed > TYRE_SPEED and abs(sideways) > TYRE_ACCELERATION:
            missing = (self._angle - math.atan(yaw_rate / speed * car.wheelbase)) / sideways
            self._understeer += UNDERSTEER_GAIN * (
                max(-MAX_UNDERSTEER, min(MAX_UNDERSTEER, missing)) - self._understeer
            )

    def drive(self, curvature: float, target_speed: float, planned_acceleration: float, reverse: bool) -> Command:
        """Steer a curvature at a speed."""
        car, speed = self.geometry.vehicle, self._speed
        steering = self._steering(curvature)
        missing, jerk = target_speed - speed, JERK * self._step
        acceleration = min(planned_acceleration + SPEED_GAIN * missing, PUSH, self._acceleration + jerk)
        if speed < MANOEUVRE:  # wait for the wheels to turn
            lag = abs(self._asked - self._angle) / (car.lever_rate * car.max_steer)
            pace = max(MIN_MANOEUVRE_SPEED, BLIND_DISTANCE / max(lag, 0.01))
            acceleration = min(acceleration, max(SPEED_GAIN * (pace - speed), self._acceleration - jerk))
        self._acceleration = acceleration
        if abs(missing) < TRACKED and speed > ROLLING:
            resistance = self._resistance + RESISTANCE_GAIN * missing * self._step
            self._resistance = max(-MAX_RESISTANCE, min(MAX_RESISTANCE, resistance))
        force = acceleration + self._resistance
        if force >= 0.0:  # full pedal also makes up for the resistance
            full = car.max_acceleration * max(0.05, 1.0 - speed / car.max_speed)
            pedal = force / (full + max(self._resistance, 0.0))
        else:
            pedal = force / car.max_deceleration
        if target_speed <= 0.0:
            pedal = min(pedal, HOLD if speed < 1.0 else 0.5 * HOLD)
        return Command(max(-1.0, min(1.0, pedal)), steering, None, reverse)

    def stand(self, curvature: float, reverse: bool) -> Command:
        """Stay at rest and turn the wheels."""
        self._acceleration = PUSH
        return Command(HOLD, self._steering(curvature), None, reverse)

    def _steering(self, curvature: float) -> float:
        car = self.geometry.vehicle
        angle = math.atan(curvature * car.wheelbase) + self._understeer * curvature * self._speed * self._speed
        self._asked = max(-car.max_steer, min(car.max_steer, angle))
        return max(-1.0, min(1.0, angle / car.max_steer))


class SkidControls:
    """Throttle and levers of skid-steered vehicles: the speed is ramped, and the scrub factor is estimated online.

    The scrub factor, the ratio of the kinematic to the actual yaw rate, depends on axles and tyres. Levers move at a
    finite rate; their positions are tracked here, so that the motion is compared with the actual ones.
    """

    def __init__(self, geometry: VehicleGeometry) -> None:
        self.geometry = geometry
        self._side_speed, self._step, self._scrub = 0.0, 0.0, 0.5 * (1.0 + geometry.scrub)
        self._asked = [0.0, 0.0]
        self._levers = [0.0, 0.0]

    def observe(self, motion: Motion) -> None:
        """Update estimates from the observed motion."""
        speed, yaw_rate, self._step = motion
        limit = self.geometry.vehicle.lever_rate * self._step
        for side in (0, 1):
            self._levers[side] += max(-limit, min(limit, self._asked[side] - self._levers[side]))
        left, right = self._levers
        turn = 2.0 * (right - left) / (self.geometry.vehicle.track * max(left + right, 0.1))
        if abs(speed) > MIN_SPEED and abs(turn) > MIN_TURN:
            ratio = max(0.1, abs(yaw_rate / speed) / abs(turn)) if yaw_rate * speed * turn != 0.0 else 1.0
            self._scrub += SCRUB_GAIN * (max(1.0, min(1.2 * self.geometry.scrub, 1.0 / ratio)) - self._scrub)

    def drive(self, curvature: float, target_speed: float, planned_acceleration: float, reverse: bool) -> Command:
        """Steer a curvature at a speed."""
        up, down = (
            max(ACCELERATION, planned_acceleration) * self._step,
            max(DECELERATION, -planned_acceleration) * self._step,
        )
        self._side_speed += max(-down, min(up, target_speed - self._side_speed))
        return self._command(curvature, self._side_speed, reverse)

    def stand(self, curvature: float, reverse: bool) -> Command:
        """Stay at rest and move the levers."""
        self._side_speed = 0.0
        return self._command(curvature, 0.0, reverse)

    def _command(self, curvature: float, speed: float, reverse: bool) -> Command:
        car = self.geometry.vehicle
        part = max(-0.95, min(0.95, 0.5 * curvature * car.track * self._scrub))
        base = min(max(LEVER_BASE, 1.2 * speed / car.max_speed), 1.0 / (1.0 + abs(part)))
        left, right = base * (1.0 - part), base * (1.0 + part)
        self._asked[0], self._asked[1] = left, right
        mean = max(0.5 * (self._levers[0] + self._levers[1]), 0.1)
        return Command(max(0.0, min(1.0, speed / (car.max_speed * mean))), 0.0, (left, right), reverse)


def controls_of(geometry: VehicleGeometry) -> Controls:
    """Return the controls for a kind of vehicle."""
    return SkidControls(geometry) if geometry.vehicle.skid else SteeringControls(geometry)
