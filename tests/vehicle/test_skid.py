"""The dynamic skid vehicle against closed forms: yaw rate of a scrubbing turn, ramps, stops."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cbsim.spec.command import Command
from cbsim.vehicle.parameters import PARAMETERS
from tests.vehicle.plant import SUBSTEP, G, row, run

TRACK, BASE, TOP = 1.5, 0.64 * 3.68, 10.0


def vehicle(**parameters):
    return row("skid", drag_area=0.0, **parameters)


def yaw_rate(difference, track, base, axles):
    """Closed form r = Δv / (T + 4 Σ x² / (n T)) for equal stiffness of all tyres."""
    places = np.linspace(-0.5 * base, 0.5 * base, axles)
    return difference / (track + 4.0 * (places**2).sum() / (axles * track))


@pytest.mark.parametrize("axles", [2, 3])
@pytest.mark.parametrize("base", [1.0, 2.5])
@pytest.mark.parametrize("track", [1.2, 2.0])
@pytest.mark.parametrize("speed", [1.0, 8.0])
def test_gentle_turn_has_the_yaw_rate_of_the_linear_law(axles, base, track, speed):
    levers = (0.998, 1.0)
    parameters = vehicle(axles=axles, wheelbase=base, track=track)
    motion = run("skid", parameters, Command(speed / TOP, levers=levers), 12.0).planar[-1]
    expected = yaw_rate(speed * (levers[1] - levers[0]), track, base, axles)
    assert motion[5] == pytest.approx(expected, rel=2e-3)
    assert motion[3] == pytest.approx(speed * np.mean(levers), rel=1e-3)


@pytest.mark.parametrize("throttle", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("friction", [0.2, 0.9, 5.0])
def test_pivot_on_two_axles_has_that_yaw_rate_at_any_slip(throttle, friction):
    """All four tyres slide alike then, so that their secants are equal whatever the law."""
    command = Command(throttle, levers=(-1.0, 1.0))
    motion = run("skid", vehicle(friction=friction, drive_force=1e9), command, 30.0).planar
    assert motion[-1, 5] == pytest.approx(yaw_rate(2.0 * TOP * throttle, TRACK, BASE, 2), rel=1e-4)
    assert np.abs(motion[:, :2]).max() < 1e-9


def test_six_wheels_on_a_long_base_turn_slower_than_on_a_short_one_and_slower_than_without_slip():
    command = Command(0.5, levers=(0.2, 1.0))
    rates = [run("skid", vehicle(axles=3, wheelbase=base), command, 8.0).planar[-1, 5] for base in (3.0, 1.5, 0.5)]
    assert 0.0 < rates[0] < rates[1] < rates[2] < 0.8 * 0.5 * TOP / TRACK


def test_middle_axle_helps_to_turn():
    """It has grip lengthwise and scrubs little: Σ x² / n is less with three axles."""
    command = Command(0.5, levers=(0.9, 1.0))
    two, three = (run("skid", vehicle(axles=n), command, 8.0).planar[-1, 5] for n in (2, 3))
    assert three > two


def test_speed_of_the_wheels_rises_at_the_largest_acceleration_and_the_vehicle_slips_a_little_behind():
    motion = run("skid", vehicle(), Command(1.0), 10.0)
    radius = row("skid")[PARAMETERS.index("wheel_radius")]
    assert (motion.wheel[400, 1:3] - motion.wheel[200, 1:3]) * radius == pytest.approx(3.0, rel=1e-9)
    slip = 3.0 / (10.0 * G)  # acceleration over stiffness times gravity
    assert motion.planar[400, 3] - motion.planar[200, 3] == pytest.approx(3.0 * (1.0 - slip), rel=5e-3)
    assert motion.planar[-1, 3] == pytest.approx(TOP, rel=1e-6)


def test_closed_throttle_brakes_at_the_largest_deceleration_to_rest():
    roll = TOP / row("skid")[PARAMETERS.index("wheel_radius")]
    motion = run("skid", vehicle(), Command(), 3.0, start=(0, 0, 0, TOP, 0, 0), wheel=(0, roll, roll, 0)).planar
    assert motion[-1, 1] == pytest.approx(TOP**2 / 16.0, rel=1e-3)
    assert not motion[-1, 3:].any()


@pytest.mark.parametrize("friction", [0.2, 0.9])
@pytest.mark.parametrize("drift", [0.0, 0.7, 1.5])
def test_locked_wheels_slide_by_friction_whatever_the_direction(friction, drift):
    start = (0, 0, 0, 9.0 * math.cos(drift), 9.0 * math.sin(drift), 0)
    motion = run("skid", vehicle(friction=friction, cg_height=0.0), Command(handbrake=True), 6.0, start=start).planar
    distance = np.linalg.norm(np.diff(motion[:, :2], axis=0), axis=1).sum()
    assert distance == pytest.approx(9.0**2 / (2.0 * friction * G), rel=1e-2)
    assert not motion[-1, 3:].any()


def test_drive_force_bounds_what_the_wheels_push_with():
    mass = row("skid")[PARAMETERS.index("mass")]
    motion = run("skid", vehicle(drive_force=0.5 * mass * 1.2), Command(1.0), 3.0).planar
    assert (motion[400, 3] - motion[200, 3]) / 1.0 == pytest.approx(1.2, rel=1e-2)


@settings(max_examples=15, deadline=None)
@given(left=st.floats(-1.0, 1.0), right=st.floats(-1.0, 1.0), throttle=st.floats(0.1, 1.0))
def test_reverse_gear_drives_the_same_way_back(left, right, throttle):
    ahead, back = (
        run("skid", vehicle(), Command(throttle, levers=(left, right), reverse=reverse), 3.0).planar
        for reverse in (False, True)
    )
    assert back[:, 3] == pytest.approx(-ahead[:, 3], abs=1e-9)
    assert back[:, 5] == pytest.approx(-ahead[:, 5], abs=1e-9)


def test_handbrake_holds_against_full_throttle():
    assert not run("skid", vehicle(), Command(1.0, levers=(0.3, 1.0), handbrake=True), 2.0).planar.any()


def test_wheel_speeds_are_those_of_the_sides():
    motion = run("skid", vehicle(), Command(0.5, levers=(0.4, 1.0)), 8.0)
    radius = row("skid")[PARAMETERS.index("wheel_radius")]
    assert motion.wheel[-1, 1:3] * radius == pytest.approx([2.0, 5.0], rel=1e-6)


def test_turn_converges_with_the_substep():
    """First order: half the substep, half the error."""
    command = Command(0.6, levers=(0.3, 1.0))
    ends = [run("skid", vehicle(), command, 4.0, dt=SUBSTEP / n).planar[-1] for n in (1, 2, 4, 8, 16)]
    gaps = [np.abs(a[:3] - b[:3]).max() for a, b in itertools.pairwise(ends[1:])]
    assert np.abs(ends[0] - ends[-1])[:3].max() < 0.04
    assert gaps[1] / gaps[0] == pytest.approx(0.5, abs=0.05)
    assert gaps[2] / gaps[1] == pytest.approx(0.5, abs=0.05)
