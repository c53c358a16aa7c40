"""Drives without slip against closed forms: circles, ramps, brakes, slew rates."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cbsim
from cbsim.spec.objects import Steering, Triple, Wheels, WheelType
from tests.worlds import bot as default_bot
from tests.worlds import mesh, world


def bot(**fields):
    skid = fields.get("wheels", Wheels()).type is WheelType.SKID
    return default_bot(drive="skid-kinematic" if skid else "kinematic", **fields)


QUICK = Steering(throttle_rate=1e9, lever_rate=1e9)


def drive(made, command, duration):
    made.first.state.command[0] = command.row()
    return cbsim.run(made, duration=duration)


@settings(max_examples=25, deadline=None)
@given(steering=st.floats(-1.0, 1.0).filter(lambda s: abs(s) > 0.05), throttle=st.floats(0.2, 1.0))
def test_rear_axle_turns_on_the_circle_of_wheelbase_over_tangent(steering, throttle):
    made = world(bot(steering=QUICK))
    recording = drive(made, cbsim.Command(throttle, steering), 10.0)
    base = 0.64 * 3.68
    heading = recording.headings("CajunBot")
    rear = recording.positions("CajunBot")[:, :2] - 0.5 * base * np.stack([-np.sin(heading), np.cos(heading)], axis=1)
    radius = base / math.tan(steering * math.radians(35.0))
    centre = np.array([-radius, -0.5 * base])
    assert np.abs(np.linalg.norm(rear - centre, axis=1) - abs(radius)).max() < 1e-8 * max(1.0, abs(radius))


def test_stopping_distance_is_speed_squared_over_twice_the_deceleration():
    made = world(bot(steering=QUICK))
    made.first.state.velocity[0] = 0.0, 20.0, 0.0
    recording = drive(made, cbsim.Command(throttle=-1.0), 4.0)
    assert recording.positions("CajunBot")[-1, 1] == pytest.approx(20.0**2 / (2 * 8.0), rel=1e-4)
    assert recording.speeds("CajunBot")[-1] == 0.0


@pytest.mark.parametrize("command", [cbsim.Command(throttle=-1.0), cbsim.Command(handbrake=True, throttle=1.0)])
def test_brakes_hold_at_rest_without_creep(command):
    recording = drive(world(bot()), command, 10.0)
    assert not recording.velocities("CajunBot").any()


def test_throttle_and_steering_move_at_their_slew_rates():
    made = world(bot(steering=Steering(throttle_rate=2.0, lever_rate=0.5)))
    made.first.state.command[0] = cbsim.Command(1.0, 1.0).row()
    snapshot = made.start
    for k in range(1, 6):
        snapshot = cbsim.step(made, snapshot)
        assert snapshot.state.actuator[0, :2] == pytest.approx([2.0 * 0.05 * k, 0.5 * 0.05 * k])


def test_reverse_drives_backwards_along_the_heading():
    recording = drive(world(bot()), cbsim.Command(throttle=0.5, reverse=True), 3.0)
    assert recording.speeds("CajunBot")[-1] < -1.0
    assert recording.positions("CajunBot")[-1, 1] < -1.0


def test_top_speed_is_approached_and_never_passed():
    recording = drive(world(bot(parameters=(("max_speed", 5.0),))), cbsim.Command(throttle=1.0), 60.0)
    assert recording.speeds("CajunBot").max() <= 5.0
    assert recording.speeds("CajunBot")[-1] == pytest.approx(5.0, abs=1e-3)


@settings(max_examples=25, deadline=None)
@given(left=st.floats(-1.0, 1.0), right=st.floats(-1.0, 1.0))
def test_skid_vehicle_turns_at_the_difference_of_its_sides_over_its_track(left, right):
    made = world(bot(wheels=Wheels(WheelType.SKID), steering=QUICK))
    recording = drive(made, cbsim.Command(throttle=0.5, levers=(left, right)), 2.0)
    track, top = 1.7 - 0.2, 0.5 * 10.0
    rate, speed = top * (right - left) / track, 0.5 * top * (left + right)
    turned = np.unwrap(recording.headings("CajunBot"))[-1]
    expected = rate * 2.0
    assert math.cos(turned - expected) == pytest.approx(1.0, abs=1e-9)
    if abs(rate) > 0.1:
        radius = speed / rate
        centre = np.array([-radius, 0.0])
        gap = np.linalg.norm(recording.positions("CajunBot")[:, :2] - centre, axis=1)
        assert np.abs(gap - abs(radius)).max() < 1e-8


def test_pivot_turn_stays_in_place():
    made = world(bot(wheels=Wheels(WheelType.SKID), steering=QUICK))
    recording = drive(made, cbsim.Command(throttle=1.0, levers=(-0.3, 0.3)), 3.0)
    assert np.abs(recording.positions("CajunBot")[:, :2]).max() < 1e-12


def test_recorded_velocity_is_the_derivative_of_position():
    made = world(bot(), step=0.001)
    recording = drive(made, cbsim.Command(0.5, 0.5), 3.0)
    path, velocity = recording.positions("CajunBot"), recording.velocities("CajunBot")
    central = (path[2:] - path[:-2]) / 0.002
    assert np.abs(central - velocity[1:-1]).max() < 2e-3


def test_vehicle_follows_a_drivable_mesh():
    corners = [[-5, 2, 0], [5, 2, 0], [5, 12, 1], [-5, 12, 1], [5, 60, 1], [-5, 60, 1]]
    ramp = mesh("ramp", corners, [[0, 1, 2], [0, 2, 3], [3, 2, 4], [3, 4, 5]], drivable=True)
    made = world(bot(size=Triple(1.7, 3.68, 2.0)), ramp)
    recording = drive(made, cbsim.Command(throttle=1.0), 6.5)
    y, z = recording.positions("CajunBot")[:, 1], recording.positions("CajunBot")[:, 2] - 1.0
    assert 30.0 < y[-1] < 60.0
    half = 0.5 * 0.64 * 3.68  # the mean of what the front and the rear wheels stand on, as the body leans with them
    front, rear = (np.clip((y + side * half - 2) / 10, 0, 1) for side in (1.0, -1.0))
    assert z == pytest.approx(0.5 * (front + rear), abs=6e-3)
    flat = (y < 2 - half - 0.01) | (y > 12 + half + 0.01)
    assert z[flat] == pytest.approx(np.clip((y[flat] - 2) / 10, 0, 1), abs=1e-9)
