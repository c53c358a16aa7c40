"""The dynamic single track against closed forms, and against a Runge-Kutta integration of the published equations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cbsim.spec.command import Command
from cbsim.spec.objects import Steering
from cbsim.vehicle.parameters import PARAMETERS
from tests.vehicle.plant import SUBSTEP, G, row, run

COAST = Command()
FREE = {"rolling_resistance": 0.0, "drag_area": 0.0}
BASE = 0.64 * 3.68
STEER = math.radians(35.0)


def value(parameters, name):
    return parameters[PARAMETERS.index(name)]


# --- closed forms ----------------------------------------------------------------------------------------------------
@settings(max_examples=20, deadline=None)
@given(steering=st.floats(-1.0, 1.0).filter(lambda s: abs(s) > 0.05), speed=st.floats(0.05, 0.5))
def test_slow_turn_is_the_circle_of_wheelbase_over_tangent(steering, speed):
    motion = run("dynamic", row(**FREE), Command(steering=steering), 4.0, start=(0, 0, 0, speed, 0, 0)).planar[200:]
    curvature = math.tan(steering * STEER) / BASE
    assert motion[:, 5] == pytest.approx(motion[:, 3] * curvature, rel=3e-3)
    assert motion[:, 4] == pytest.approx(0.5 * BASE * motion[:, 5], rel=2e-2)  # the rear axle does not slip


def test_the_kinematic_model_is_the_limit_of_low_speed():
    """Slip is proportional to the square of the speed: half the speed, a quarter of the difference."""
    gaps = []
    for speed in (2.0, 1.0, 0.5):
        start, command = (0, 0, 0, speed, 0, 0), Command(steering=0.5)
        ours = run("dynamic", row(**FREE), command, 5.0 / speed, start=start, dt=1e-3 / speed).planar[-1]
        gaps.append(ours[5] / ours[3] / (math.tan(0.5 * STEER) / BASE) - 1.0)
    assert gaps[0] / gaps[1] == pytest.approx(4.0, rel=0.05)
    assert gaps[1] / gaps[2] == pytest.approx(4.0, rel=0.05)


@pytest.mark.parametrize("speed", [3.0, 10.0, 20.0, 29.0])
@pytest.mark.parametrize(("front", "rear"), [(10.0, 13.0), (12.0, 12.0), (13.0, 12.0)])
def test_steady_turn_has_the_understeer_gradient_of_its_axles(speed, front, rear):
    parameters = row(front_stiffness=front, rear_stiffness=rear, friction=1e6, **FREE)
    angle = 1e-3
    motion = run("dynamic", parameters, Command(steering=angle / STEER), 8.0, start=(0, 0, 0, speed, 0, 0)).planar[-1]
    gradient = (1.0 / front - 1.0 / rear) / G
    assert motion[5] == pytest.approx(motion[3] * angle / (BASE + gradient * motion[3] ** 2), rel=2e-3)


@pytest.mark.parametrize("load", [0.4, 0.6])
def test_steady_turn_does_not_depend_on_the_load_of_axles_with_equal_stiffness_per_load(load):
    parameters = row(front_stiffness=12.0, rear_stiffness=12.0, friction=1e6, front_load=load, **FREE)
    motion = run("dynamic", parameters, Command(steering=1e-3 / STEER), 8.0, start=(0, 0, 0, 15.0, 0, 0)).planar[-1]
    assert motion[5] == pytest.approx(motion[3] * 1e-3 / BASE, rel=2e-3)


@pytest.mark.parametrize("friction", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("speed", [1.0, 10.0, 30.0])
@pytest.mark.parametrize("split", [0.3, 0.5])
def test_stopping_distance_at_the_friction_limit_is_speed_squared_over_twice_friction_weight(friction, speed, split):
    parameters = row(friction=friction, max_deceleration=50.0, front_load=split, drag_area=0.0)
    motion = run("dynamic", parameters, Command(throttle=-1.0), 35.0, start=(0, 0, 0, speed, 0, 0)).planar
    assert motion[-1, 1] == pytest.approx(speed**2 / (2.0 * friction * G), rel=1e-4, abs=5.0 * friction * SUBSTEP**2)
    assert not motion[-1, 3:].any()


def test_full_brakes_short_of_the_limit_give_the_largest_deceleration():
    motion = run("dynamic", row(drag_area=0.0), Command(throttle=-1.0), 4.0, start=(0, 0, 0, 20.0, 0, 0)).planar
    assert motion[-1, 1] == pytest.approx(20.0**2 / 16.0, rel=1e-4)


def test_coasting_distance_is_that_of_rolling_resistance():
    motion = run("dynamic", row(drag_area=0.0), COAST, 60.0, start=(0, 0, 0, 5.0, 0, 0)).planar
    assert motion[-1, 1] == pytest.approx(5.0**2 / (2.0 * 0.013 * G), rel=1e-4)
    assert not motion[-1, 3:].any()


def test_full_throttle_gives_the_largest_acceleration_at_first_and_the_top_speed_in_the_end():
    motion = run("dynamic", row(), Command(throttle=1.0), 120.0).planar
    assert motion[1, 3] == pytest.approx(3.0 * SUBSTEP, rel=1e-6)
    assert motion[2000, 3] == pytest.approx(30.0 * (1.0 - math.exp(-1.0)), rel=1e-3)  # 10 s = top speed / acceleration
    assert motion[-1, 3] == pytest.approx(30.0, abs=1e-3)
    assert motion[:, 3].max() < 30.0 + 1e-9


@pytest.mark.parametrize("reverse", [False, True])
def test_reverse_gear_mirrors_the_motion_to_the_back(reverse):
    motion = run("dynamic", row(), Command(throttle=0.5, reverse=reverse), 5.0).planar
    ahead = run("dynamic", row(), Command(throttle=0.5), 5.0).planar
    assert abs(motion[-1, 1]) == pytest.approx(ahead[-1, 1], rel=1e-6 if reverse else 1e-12)
    assert bool(motion[-1, 1] < 0.0) is reverse


def test_wheelspin_is_bounded_by_the_friction_of_the_driven_axle():
    """Rear-wheel drive with load transfer: a = μ g b / (L − μ h)."""
    parameters = row(friction=0.3, max_acceleration=20.0, max_speed=1e6, **FREE)
    motion = run("dynamic", parameters, Command(throttle=1.0), 2.0).planar
    rear = 0.3 * G * 0.5 * BASE / (BASE - 0.3 * value(parameters, "cg_height"))
    assert (motion[-1, 3] - motion[-201, 3]) / 1.0 == pytest.approx(rear, rel=1e-6)


def test_locked_front_wheels_do_not_steer():
    parameters = row(max_deceleration=50.0)
    motion = run("dynamic", parameters, Command(throttle=-1.0, steering=1.0), 4.0, start=(0, 0, 0, 20.0, 0, 0))
    assert abs(motion.planar[-1, 0]) < 1.0
    assert (motion.wheel[1:, 1:3] == 0.0).all()
    rolling = run("dynamic", row(), Command(throttle=-0.3, steering=0.2), 4.0, start=(0, 0, 0, 20.0, 0, 0))
    assert abs(rolling.planar[-1, 0]) > 5.0


def test_handbrake_in_a_turn_spins_the_car():
    command = lambda t: Command(steering=0.3, handbrake=t > 0.5)  # noqa: E731
    motion = run("dynamic", row(), command, 8.0, start=(0, 0, 0, 15.0, 0, 0)).planar
    grip = run("dynamic", row(), Command(steering=0.3), 2.0, start=(0, 0, 0, 15.0, 0, 0)).planar
    slip = np.arctan2(motion[:, 4], np.abs(motion[:, 3]) + 1e-9)
    assert np.abs(slip).max() > math.radians(60.0)
    assert np.abs(np.arctan2(grip[:, 4], grip[:, 3])).max() < math.radians(15.0)
    assert not motion[-1, 3:].any()


def test_handbrake_holds_against_full_throttle():
    assert not run("dynamic", row(), Command(throttle=1.0, handbrake=True), 3.0).planar.any()


def test_actuators_move_at_the_rates_of_the_file():
    slow = row(steering=Steering(throttle_rate=2.0, lever_rate=0.5))
    motion = run("dynamic", slow, Command(throttle=1.0), 0.5).planar
    assert motion[-1, 3] < 0.55 * run("dynamic", row(), Command(throttle=1.0), 0.5).planar[-1, 3]


@pytest.mark.parametrize("name", ["front_load", "cg_height", "mass", "yaw_inertia", "drive_split", "drag_area"])
def test_every_physical_parameter_changes_the_motion(name):
    """Braked in a turn and accelerated out of it, so that all of them matter."""
    command = lambda t: Command(-0.6 if t < 1.0 else 1.0, 0.4)  # noqa: E731
    start = (0, 0, 0, 15.0, 0, 0)
    usual = row()
    changed = row(**{name: 0.5 * value(usual, name) if name != "drive_split" else 0.8})
    gap = (
        run("dynamic", usual, command, 3.0, start=start).planar - run("dynamic", changed, command, 3.0, start=start)[0]
    )
    assert np.abs(gap).max() > 1e-2


def largest_slip(parameters, command, speed):
    motion = run("dynamic", parameters, command, 3.0, start=(0, 0, 0, speed, 0, 0)).planar
    return np.degrees(np.abs(np.arctan2(motion[:, 4], motion[:, 3])).max())


def test_a_usual_car_runs_wide_at_the_limit_and_one_with_all_grip_in_front_spins():
    command = Command(throttle=0.2, steering=0.6)
    file_rates = Steering()
    assert largest_slip(row(steering=file_rates), command, 20.0) < 15.0
    assert largest_slip(row(steering=file_rates, front_grip=1.0), command, 20.0) > 90.0


# --- brute force -----------------------------------------------------------------------------------------------------
def derivative(state, steer, force, row_):
    """Right-hand side of the single track with brush tyres, forces straight from their law (Pacejka §1.3, §3.2)."""
    _, _, heading, u, w, r = state
    mass, inertia, mu = (value(row_, name) for name in ("mass", "yaw_inertia", "friction"))
    half = 0.5 * BASE
    ahead = force  # all that pushes forward, which shifts load
    for _ in range(4):
        transfer, sides = ahead * value(row_, "cg_height") / BASE, []
        for angle, x, load, name in (
            (steer, half, 0.5 * mass * G - transfer, "front_stiffness"),
            (0.0, -half, 0.5 * mass * G + transfer, "rear_stiffness"),
        ):
            rolling = math.cos(angle) * u + math.sin(angle) * (w + x * r)
            sliding = math.cos(angle) * (w + x * r) - math.sin(angle) * u
            most = math.sqrt((mu * load) ** 2 - (force if x < 0.0 else 0.0) ** 2)
            most *= value(row_, "front_grip") if x > 0.0 else 1.0
            p = min(value(row_, name) * load * abs(sliding / rolling) / (3.0 * most), 1.0)
            sides.append(-math.copysign(most * (1.0 - (1.0 - p) ** 3), sliding))
        ahead = force - sides[0] * math.sin(steer)
    front, rear = sides
    return np.array([
        -u * math.sin(heading) - w * math.cos(heading),
        u * math.cos(heading) - w * math.sin(heading),
        r,
        (force - front * math.sin(steer)) / mass + w * r,
        (front * math.cos(steer) + rear) / mass - u * r,
        half * (front * math.cos(steer) - rear) / inertia,
    ])  # fmt: skip


def runge_kutta(start, steering, force, row_, seconds, dt=1e-3):
    states = [np.array(start, float)]
    for k in range(round(seconds / dt)):
        x, t = states[-1], k * dt
        a, b, c = (steering(t + s * dt) * STEER for s in (0.0, 0.5, 1.0))
        k1 = derivative(x, a, force, row_)
        k2 = derivative(x + 0.5 * dt * k1, b, force, row_)
        k3 = derivative(x + 0.5 * dt * k2, b, force, row_)
        k4 = derivative(x + dt * k3, c, force, row_)
        states.append(x + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4))
    return np.array(states)


def wave(t):
    return 0.12 * math.sin(2.0 * math.pi * 0.5 * t)


@pytest.mark.parametrize("throttle", [0.0, 0.5])
@pytest.mark.parametrize("speed", [8.0, 20.0])
def test_a_slalom_converges_to_a_runge_kutta_integration_with_the_substep(speed, throttle):
    """First order: a quarter of the substep, a quarter of the error; at 5 ms the pose is within 0.3 %."""
    parameters = row(max_speed=1e9, **FREE)
    force = throttle * 3.0 * value(parameters, "mass")
    start = (0.0, 0.0, 0.0, speed, 0.0, 0.0)
    exact = runge_kutta(start, wave, force, parameters, 4.0)
    errors = []
    for dt in (0.005, 0.00125):
        # wheel[0]: the load transfer of the acceleration that goes on already
        ours = run(
            "dynamic", parameters, lambda t, dt=dt: Command(throttle, wave(t + dt)), 4.0, dt=dt, start=start,
            wheel=(force / value(parameters, "mass"), 0.0, 0.0, 0.0),
        ).planar[:: round(0.005 / dt)]  # fmt: skip
        errors.append(np.abs(ours - exact[::5]).max(axis=0) / np.ptp(exact, axis=0))
    assert (errors[0] < (0.003, 0.003, 0.003, 0.03, 0.03, 0.01)).all(), errors[0]
    assert (errors[1] < 0.27 * errors[0]).all(), errors
