"""Path-following controls: curvature and speed to steering wheel and pedals, or to levers and throttle."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from cbsim.planner.pilot.kernels.controls import PUSH, command_wheel
from cbsim.planner.pilot.vehicle_geometry import VehicleGeometry
from cbsim.spec.command import Command

__all__ = ["Controls", "Motion", "SkidControls", "SteeringControls", "controls_of"]

LEVER_BASE = 0.5  # share of full lever when driving straight: mid-range leaves both levers room to move
ACCELERATION, DECELERATION = 2.0, 3.0  # [m/s²] limits on the rate of change of the speed of the sides
SCRUB_GAIN = 0.1  # gain of the scrub estimate, per step
MIN_TURN, MIN_SPEED = 0.04, 0.5  # [1/m], [m/s] below which the scrub estimate is not updated


class Motion(NamedTuple):
    """Speed in the direction of the gear [m/s], yaw rate [rad/s], and time since the last observation [s]."""

    speed: float
    yaw_rate: float
    step: float


class Controls(Protocol):
    """Conversion of the pilot's targets to commands."""

    def drive(
        self, motion: Motion, curvature: float, target_speed: float, planned_acceleration: float, reverse: bool
    ) -> Command:
        """Update estimates from the observed motion, and steer a curvature at a speed.

        Parameters
        ----------
        motion : Motion
        curvature : float
            Positive to the left in forward driving [1/m].
        target_speed : float
            Speed in the direction of the gear [m/s]; 0 brakes.
        planned_acceleration : float
            Acceleration of the plan, as feed-forward [m/s²].
        reverse : bool
        """

    def stand(self, motion: Motion, curvature: float, reverse: bool) -> Command:
        """Update estimates from the observed motion, stay at rest and turn the wheels."""


class SteeringControls:
    """Steering wheel and pedals: feed-forward of the plan's acceleration, and feedback of the speed.

    The understeer gradient, the additional steering that lateral acceleration needs as tyres slip, is estimated online
    from the yaw rate.
    """

    def __init__(self, geometry: VehicleGeometry) -> None:
        car = geometry.vehicle
        limits = car.max_acceleration, car.max_deceleration, car.max_speed
        self._car = np.array([car.lever_rate, car.max_steer, car.wheelbase, *limits])
        self._state = np.array([0.0, 0.0, 0.0, PUSH, 0.0])

    def drive(
        self, motion: Motion, curvature: float, target_speed: float, planned_acceleration: float, reverse: bool
    ) -> Command:
        """Steer a curvature at a speed."""
        targets = curvature, target_speed, planned_acceleration
        pedal, steering = command_wheel(self._car, False, *motion, *targets, self._state)
        return Command(pedal, steering, None, reverse)

    def stand(self, motion: Motion, curvature: float, reverse: bool) -> Command:
        """Stay at rest and turn the wheels."""
        pedal, steering = command_wheel(self._car, True, *motion, curvature, 0.0, 0.0, self._state)
        return Command(pedal, steering, None, reverse)


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

    def _observe(self, motion: Motion) -> None:
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

    def drive(
        self, motion: Motion, curvature: float, target_speed: float, planned_acceleration: float, reverse: bool
    ) -> Command:
        """Steer a curvature at a speed."""
        self._observe(motion)
        up, down = (
            max(ACCELERATION, planned_acceleration) * self._step,
            max(DECELERATION, -planned_acceleration) * self._step,
        )
        self._side_speed += max(-down, min(up, target_speed - self._side_speed))
        return self._command(curvature, self._side_speed, reverse)

    def stand(self, motion: Motion, curvature: float, reverse: bool) -> Command:
        """Stay at rest and move the levers."""
        self._observe(motion)
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
