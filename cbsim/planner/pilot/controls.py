"""The driver's hands and feet: a curvature and a speed become steering wheel and pedals, or levers and throttle."""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

from cbsim.planner.pilot.rig import Rig
from cbsim.spec.command import Command

__all__ = ["Controls", "Levers", "Motion", "Wheel", "controls_of"]

SPEED_GAIN = 1.5  # [1/s]
HOLD = -0.4  # throttle that holds the car where it stands
LEVER_BASE = 0.5  # of full lever, straight on: in the middle both sides have room to move, so it turns soonest
QUICKEN, SLACKEN = 2.0, 3.0  # [m/s²] that the speed of the sides may change by
LEARN = 0.1  # share of what a step teaches about scrubbing
LEAST_TURN, LEAST_SPEED = 0.04, 0.5  # [1/m], [m/s] below which it teaches nothing

MANOEUVRE = 4.0  # [m/s] below which speed may wait for the wheels
WAY_BLIND, LEAST_PACE = 1.0, 0.4  # [m] that may be driven while the wheels turn to where they are wanted; [m/s]
FAST, FIRM = 3.0, 0.8  # [m/s], [m/s²] sideways, from which on tyres are felt
LEARN_TYRES, STEEPEST = 0.03, 0.01  # share of what a step teaches about them; [rad s²/m] at most


class Motion(NamedTuple):
    """Speed in the sense of the gear [m/s], yaw rate [rad/s], and time since the last look [s]."""

    speed: float
    yaw_rate: float
    step: float


class Controls(Protocol):
    """What the pilot asks for, as commands."""

    def drive(self, curvature: float, wanted: float, push: float, reverse: bool) -> Command:
        """Steer a curvature at a speed.

        Parameters
        ----------
        curvature : float
            Positive to the left where it drives forwards [1/m].
        wanted : float
            Speed in the sense of the gear [m/s]; 0 brakes.
        push : float
            Acceleration that the plan has there [m/s²].
        reverse : bool
        """

    def stand(self, curvature: float, reverse: bool) -> Command:
        """Stay at rest and turn the wheels."""

    def feel(self, motion: Motion) -> None:
        """Take notice of the motion."""


class Wheel:
    """Steering wheel and pedals: feed-forward of the plan's acceleration, and feedback of the speed.

    Tyres slip: how much more a bend needs the faster it is driven, is learnt from the yaw rate.
    """

    def __init__(self, rig: Rig) -> None:
        self.rig, self._speed = rig, 0.0
        self._asked, self._angle = 0.0, 0.0  # [rad] of the front wheels: wanted, and where they are by now
        self._understeer = 0.0  # [rad s²/m] of steering for each m/s² sideways

    def feel(self, motion: Motion) -> None:
        """Take notice of the motion."""
        car, (speed, yaw_rate, step) = self.rig.vehicle, motion
        self._speed = speed
        limit = car.lever_rate * car.max_steer * step
        self._angle += max(-limit, min(limit, self._asked - self._angle))
        sideways = yaw_rate * speed
        if speed > FAST and abs(sideways) > FIRM:
            missing = (self._angle - math.atan(yaw_rate / speed * car.wheelbase)) / sideways
            self._understeer += LEARN_TYRES * (max(-STEEPEST, min(STEEPEST, missing)) - self._understeer)

    def drive(self, curvature: float, wanted: float, push: float, reverse: bool) -> Command:
        """Steer a curvature at a speed."""
        car, speed = self.rig.vehicle, self._speed
        steering = self._steering(curvature)
        if speed < MANOEUVRE:  # wait for the wheels
            lag = abs(self._asked - self._angle) / (car.lever_rate * car.max_steer)
            pace = max(LEAST_PACE, WAY_BLIND / max(lag, 0.01))
            wanted, push = min(wanted, pace), push if wanted <= pace else min(push, 0.0)
        acceleration = push + SPEED_GAIN * (wanted - speed)
        if acceleration >= 0.0:
            pedal = acceleration / (car.max_acceleration * max(0.05, 1.0 - speed / car.max_speed))
        else:
            pedal = acceleration / car.max_deceleration
        if wanted <= 0.0:
            pedal = min(pedal, HOLD if speed < 1.0 else 0.5 * HOLD)
        return Command(max(-1.0, min(1.0, pedal)), steering, None, reverse)

    def stand(self, curvature: float, reverse: bool) -> Command:
        """Stay at rest and turn the wheels."""
        return Command(HOLD, self._steering(curvature), None, reverse)

    def _steering(self, curvature: float) -> float:
        car = self.rig.vehicle
        angle = math.atan(curvature * car.wheelbase) + self._understeer * curvature * self._speed * self._speed
        self._asked = max(-car.max_steer, min(car.max_steer, angle))
        return max(-1.0, min(1.0, angle / car.max_steer))


class Levers:
    """Throttle and levers of skid wheels: the speed is ramped, and what the wheels scrub off a turn is learnt.

    How much less than its sides' speeds say a vehicle turns depends on axles and tyres; the levers, which move at a
    finite rate, are followed here so that motion is compared with where they are.
    """

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self._belt, self._step, self._scrub = 0.0, 0.0, 0.5 * (1.0 + rig.scrub)
        self._asked = [0.0, 0.0]
        self._levers = [0.0, 0.0]

    def feel(self, motion: Motion) -> None:
        """Take notice of the motion."""
        speed, yaw_rate, self._step = motion
        limit = self.rig.vehicle.lever_rate * self._step
        for side in (0, 1):
            self._levers[side] += max(-limit, min(limit, self._asked[side] - self._levers[side]))
        left, right = self._levers
        turn = 2.0 * (right - left) / (self.rig.vehicle.track * max(left + right, 0.1))
        if abs(speed) > LEAST_SPEED and abs(turn) > LEAST_TURN:
            ratio = max(0.1, abs(yaw_rate / speed) / abs(turn)) if yaw_rate * speed * turn != 0.0 else 1.0
            self._scrub += LEARN * (max(1.0, min(1.2 * self.rig.scrub, 1.0 / ratio)) - self._scrub)

    def drive(self, curvature: float, wanted: float, push: float, reverse: bool) -> Command:
        """Steer a curvature at a speed."""
        up, down = max(QUICKEN, push) * self._step, max(SLACKEN, -push) * self._step
        self._belt += max(-down, min(up, wanted - self._belt))
        return self._command(curvature, self._belt, reverse)

    def stand(self, curvature: float, reverse: bool) -> Command:
        """Stay at rest and move the levers."""
        self._belt = 0.0
        return self._command(curvature, 0.0, reverse)

    def _command(self, curvature: float, speed: float, reverse: bool) -> Command:
        car = self.rig.vehicle
        part = max(-0.95, min(0.95, 0.5 * curvature * car.track * self._scrub))
        base = min(max(LEVER_BASE, 1.2 * speed / car.max_speed), 1.0 / (1.0 + abs(part)))
        left, right = base * (1.0 - part), base * (1.0 + part)
        self._asked[0], self._asked[1] = left, right
        mean = max(0.5 * (self._levers[0] + self._levers[1]), 0.1)
        return Command(max(0.0, min(1.0, speed / (car.max_speed * mean))), 0.0, (left, right), reverse)


def controls_of(rig: Rig) -> Controls:
    """Sit down at the controls of a vehicle."""
    return Levers(rig) if rig.vehicle.skid else Wheel(rig)
