"""What tests of drives share: a parameter row, and a run of one drive substep by substep, without a World."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cbsim.spec.command import Command
from cbsim.spec.drives import DRIVES
from cbsim.spec.objects import Controller, Kind, Steering, TrafficObject, Triple, Wheels, WheelType
from cbsim.vehicle.kernels import step_vehicle
from cbsim.vehicle.parameters import vehicle_parameters

SIZE = Triple(1.7, 3.68, 2.16)
QUICK = Steering(throttle_rate=1e9, lever_rate=1e9)
SUBSTEP = 0.005
G = 9.81


class Motion(NamedTuple):
    """Rows of `planar` and `wheel` at the start and after every substep."""

    planar: np.ndarray
    wheel: np.ndarray

    def velocity(self) -> np.ndarray:
        """Velocities in the world (n, 2) [m/s]."""
        heading = self.planar[:, 2]
        forward = np.stack([-np.sin(heading), np.cos(heading)], axis=1)
        left = np.stack([-forward[:, 1], forward[:, 0]], axis=1)
        return self.planar[:, 3:4] * forward + self.planar[:, 4:5] * left


def row(drive="dynamic", steering=QUICK, size=SIZE, **parameters):
    """Parameter row of a vehicle with that drive."""
    wheels = Wheels(DRIVES[drive].wheels)
    item = TrafficObject(
        Kind.AUTONOMOUS, "car", controller=Controller.SENSOR, size=size, wheels=wheels, steering=steering,
        parameters=tuple(parameters.items()),
    )  # fmt: skip
    return vehicle_parameters(item)


LEVEL = (0.0, 0.0, G)


def run(drive, parameters, command, seconds, *, dt=SUBSTEP, start=(0.0,) * 6, wheel=(0.0,) * 4, pull=LEVEL):
    """Drive for some seconds; `command` is a Command, or a function of time that gives one."""
    code = list(DRIVES).index(drive)
    planar, wheels, actuator = np.array(start, float), np.array(wheel, float), np.zeros(6)
    actuator[2:4] = 1.0
    steps = round(seconds / dt)
    states, spins = np.empty((steps + 1, 6)), np.empty((steps + 1, 4))
    states[0], spins[0] = planar, wheels
    orders = np.array((command if isinstance(command, Command) else command(0.0)).row())
    for k in range(steps):
        if not isinstance(command, Command):
            orders = np.array(command(k * dt).row())
        actuator[4:6] = orders[:2]
        step_vehicle(code, planar, wheels, actuator, orders, parameters, pull, dt)
        states[k + 1], spins[k + 1] = planar, wheels
    return Motion(states, spins)


def mirrored(command):
    """Command left for right."""
    levers = None if command.levers is None else command.levers[::-1]
    return Command(command.throttle, -command.steering, levers, command.reverse, command.handbrake)


def is_skid(drive):
    return DRIVES[drive].wheels is WheelType.SKID
