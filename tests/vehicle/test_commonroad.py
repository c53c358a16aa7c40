"""The dynamic single track against that of commonroad-vehicle-models (Althoff, Koschi, Manzinger 2017), if installed.

The peer's tyres are linear and its speed is an input, so ours get much friction, and no drag or rolling resistance.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from cbsim.spec.command import Command
from cbsim.spec.objects import Steering
from cbsim.vehicle.parameters import PARAMETERS
from tests.vehicle.plant import row, run

peer = pytest.importorskip("vehiclemodels.vehicle_dynamics_st").vehicle_dynamics_st
cars = [
    getattr(pytest.importorskip(f"vehiclemodels.parameters_vehicle{n}"), f"parameters_vehicle{n}")() for n in (1, 2, 3)
]
WINDING = 0.35  # [rad/s] of the front wheels, within all their limits


def ours(car):
    """Parameters of the peer's car in our row."""
    stiffness = -car.tire.p_ky1
    base = car.a + car.b
    values = {
        "wheelbase": base, "mass": car.m, "yaw_inertia": car.I_z, "cg_height": car.h_s, "front_load": car.b / base,
        "front_stiffness": stiffness, "rear_stiffness": stiffness, "friction": 1e6, "front_grip": 1.0,
        "rolling_resistance": 0.0, "drag_area": 0.0, "max_speed": 1e9, "max_steer": 1.0, "max_acceleration": 2.0,
        "max_deceleration": 2.0,
    }  # fmt: skip
    return row(steering=Steering(throttle_rate=1e9, lever_rate=WINDING), **values)


def theirs(car, speed, aim, acceleration, seconds, dt=1e-3):
    """Runge-Kutta integration of the peer's model; the wheels wind towards the angle that is aimed at."""
    x, rows = np.array([0.0, 0.0, 0.0, speed, 0.0, 0.0, 0.0]), []
    for k in range(round(seconds / dt)):
        rows.append(x)
        u = [min(max((aim(k * dt) - x[2]) / dt, -WINDING), WINDING), acceleration]
        k1 = np.array(peer(x, u, car))
        k2 = np.array(peer(x + 0.5 * dt * k1, u, car))
        k3 = np.array(peer(x + 0.5 * dt * k2, u, car))
        k4 = np.array(peer(x + dt * k3, u, car))
        x = x + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return np.array([*rows, x])


MANOEUVRES = {
    "step steer": (lambda _: 0.02, 0.0),
    "lane change": (lambda t: 0.02 * math.sin(math.pi * t) if t < 2.0 else 0.0, 0.0),
    "braked in a bend": (lambda _: 0.015, -1.5),
    "out of a bend at full throttle": (lambda _: 0.015, 1.5),
}


@pytest.mark.parametrize("car", cars, ids=["Escort", "BMW", "Vanagon"])
@pytest.mark.parametrize("speed", [8.0, 15.0, 25.0])
@pytest.mark.parametrize("name", MANOEUVRES)
@pytest.mark.parametrize(("dt", "tolerance"), [(0.005, 0.02), (0.001, 0.013)])
def test_linear_range_agrees_with_the_peer(car, speed, name, dt, tolerance):
    """Within 2 % of the largest yaw rate, heading and way to the side at 5 ms; most of that is our substep.

    The rest is what the peer leaves away: the lengthwise part of lateral forces, the lateral part of braking in front.
    """
    aim, acceleration = MANOEUVRES[name]
    parameters = ours(car)
    reference = theirs(car, speed, aim, acceleration, 3.0)[:: round(dt / 1e-3)]
    motion = run(
        "dynamic", parameters, lambda t: Command(acceleration / 2.0, aim(t)), 3.0, dt=dt, start=(0, 0, 0, speed, 0, 0),
        wheel=(acceleration, 0.0, 0.0, 0.0),
    ).planar  # fmt: skip
    ahead = (parameters[PARAMETERS.index("front_load")] - 0.5) * (car.a + car.b)  # the peer's point is that of gravity
    heading = motion[:, 2]
    pairs = {
        "yaw rate": (motion[:, 5], reference[:, 5]),
        "heading": (heading, reference[:, 4]),
        "sideways": (-motion[:, 0] + ahead * np.sin(heading), reference[:, 1]),
        "along": (motion[:, 1] + ahead * (np.cos(heading) - 1.0), reference[:, 0]),
    }
    worst = {what: np.abs(a - b).max() / np.abs(b).max() for what, (a, b) in pairs.items()}
    assert max(worst.values()) < tolerance, worst
