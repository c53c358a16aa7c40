"""Laws that every drive keeps, from any motion a collision may leave it in."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cbsim.spec.command import Command
from cbsim.spec.drives import DRIVES
from cbsim.vehicle.parameters import PARAMETERS
from tests.vehicle.plant import SUBSTEP, mirrored, row, run

SLIPPING = ["dynamic", "skid"]
SPEED = st.floats(-30.0, 30.0)
MOTIONS = st.tuples(st.just(0.0), st.just(0.0), st.floats(-3.0, 3.0), SPEED, SPEED, st.floats(-15.0, 15.0))
COMMANDS = st.builds(
    Command, st.floats(-1.0, 1.0), st.floats(-1.0, 1.0), st.tuples(st.floats(-1.0, 1.0), st.floats(-1.0, 1.0)),
    st.booleans(), st.booleans(),
)  # fmt: skip


def energy(parameters, planar, drive):
    """Kinetic energy [J] about the centre of gravity."""
    mass, inertia, base, load = (
        parameters[PARAMETERS.index(n)] for n in ("mass", "yaw_inertia", "wheelbase", "front_load")
    )
    ahead = (load - 0.5) * base if drive == "dynamic" else 0.0
    u, w, r = planar[:, 3], planar[:, 4], planar[:, 5]
    return 0.5 * mass * (u**2 + (w + ahead * r) ** 2) + 0.5 * inertia * r**2


@pytest.mark.parametrize("drive", SLIPPING)
@pytest.mark.parametrize("dt", [SUBSTEP, 0.001])
@settings(max_examples=30, deadline=None)
@given(start=MOTIONS, command=COMMANDS, load=st.floats(0.3, 0.7))
def test_energy_never_grows_without_throttle(drive, dt, start, command, load):
    closed = Command(min(command.throttle, 0.0), command.steering, command.levers, command.reverse, command.handbrake)
    parameters = row(drive, front_load=load)
    values = energy(parameters, run(drive, parameters, closed, 1.0, start=start, dt=dt).planar, drive)
    assert (np.diff(values) <= 1e-9 * values[:-1]).all()


@pytest.mark.parametrize("drive", SLIPPING)
@settings(max_examples=20, deadline=None)
@given(start=MOTIONS, steering=st.floats(-1.0, 1.0), handbrake=st.booleans())
def test_tyres_scrub_any_motion_to_rest_in_the_time_that_friction_takes(drive, start, steering, handbrake):
    """With the wheels braked, every metre per second costs 1 / (μ g) at most, a little more where the body turns."""
    command = Command(-1.0, steering, handbrake=handbrake)
    motion = run(drive, row(drive, max_deceleration=20.0), command, 12.0, start=start).planar
    assert not motion[-1, 3:].any()
    assert np.abs(motion[:, 3:5]).max() < 43.0  # never faster than it was


@pytest.mark.parametrize("drive", SLIPPING)
@settings(max_examples=10, deadline=None)
@given(start=MOTIONS)
def test_what_coasts_comes_to_rest_too(drive, start):
    motion = run(drive, row(drive, rolling_resistance=0.5), Command(), 30.0, start=start).planar
    assert not motion[-1, 3:].any()


@pytest.mark.parametrize("drive", DRIVES)
@settings(max_examples=20, deadline=None)
@given(command=COMMANDS, start=MOTIONS)
def test_left_for_right_gives_the_mirrored_motion_bit_for_bit(drive, command, start):
    parameters = row(drive)
    there = run(drive, parameters, command, 1.0, start=start).planar
    flipped = tuple(-value if k in (0, 2, 4, 5) else value for k, value in enumerate(start))
    back = run(drive, parameters, mirrored(command), 1.0, start=flipped).planar
    assert np.array_equal(there * (-1.0, 1.0, -1.0, 1.0, -1.0, -1.0), back)


@pytest.mark.parametrize("drive", DRIVES)
@pytest.mark.parametrize("command", [
    Command(), Command(steering=0.7), Command(throttle=-1.0, steering=-1.0), Command(1.0, 0.3, handbrake=True),
    Command(0.0, levers=(-1.0, 1.0)),
])  # fmt: skip
def test_at_rest_every_bit_of_the_pose_stays_for_a_minute(drive, command):
    start = (1.0 / 3.0, -2.0 / 7.0, math.pi / 5.0, 0.0, 0.0, 0.0)
    motion = run(drive, row(drive), command, 60.0, start=start)
    assert (motion.planar == start).all()
    assert not motion.wheel.any()


@pytest.mark.parametrize("drive", SLIPPING)
@settings(max_examples=30, deadline=None)
@given(command=COMMANDS, start=MOTIONS)
def test_once_at_rest_brakes_keep_every_bit(drive, command, start):
    brakes = Command(-1.0, command.steering, command.levers, command.reverse, command.handbrake)
    motion = run(drive, row(drive), brakes, 13.0, start=start).planar
    still = int(np.argmax(~motion[:, 3:].any(axis=1)))
    assert not motion[still, 3:].any()
    assert (motion[still:] == motion[still]).all()


@pytest.mark.parametrize("drive", DRIVES)
@settings(max_examples=20, deadline=None)
@given(command=COMMANDS, start=MOTIONS)
def test_nothing_ever_is_not_a_number(drive, command, start):
    motion = run(drive, row(drive), command, 2.0, start=start)
    assert np.isfinite(motion.planar).all()
    assert np.isfinite(motion.wheel).all()


EXTREME = {
    "wheelbase": (1e-6, 1e3), "mass": (1e-3, 1e8), "yaw_inertia": (1e-6, 1e9), "friction": (1e-3, 10.0),
    "front_load": (0.05, 0.95), "cg_height": (0.0, 100.0), "front_stiffness": (1e-3, 1e3), "drag_area": (0.0, 1e6),
    "rear_stiffness": (1e-3, 1e3), "max_acceleration": (1e-3, 1e4), "max_deceleration": (1e-3, 1e4),
    "track": (1e-3, 1e3), "max_speed": (1e-3, 1e4), "rolling_resistance": (0.0, 1.0), "drive_split": (0.0, 1.0),
}  # fmt: skip


@pytest.mark.parametrize("drive", SLIPPING)
@settings(max_examples=60, deadline=None)
@given(
    command=COMMANDS,
    start=MOTIONS,
    high=st.sets(st.sampled_from(sorted(EXTREME))),
    low=st.sets(st.sampled_from(sorted(EXTREME))),
)
def test_no_parameter_that_a_file_may_give_breaks_the_motion(drive, command, start, high, low):
    values = {name: EXTREME[name][1] for name in high} | {name: EXTREME[name][0] for name in low - high}
    motion = run(drive, row(drive, **values), command, 0.5, start=start)
    assert np.isfinite(motion.planar).all()


@pytest.mark.parametrize("drive", SLIPPING)
def test_speed_at_walking_pace_does_not_jitter(drive):
    """Turning slowly, no velocity moves back and forth from substep to substep."""
    command = Command(0.06, 0.6, levers=(0.5, 1.0))
    motion = run(drive, row(drive), command, 3.0).planar[200:]
    jumps = np.abs(np.diff(motion[:, 3:], n=2, axis=0)).max(axis=0)
    assert (jumps < 5e-5).all(), jumps  # 2 m/s³ of jerk


@pytest.mark.parametrize("drive", DRIVES)
def test_reported_velocity_is_the_derivative_of_the_position(drive):
    command = Command(0.5, 0.2, levers=(0.8, 1.0))
    motion = run(drive, row(drive), command, 4.0, dt=0.001)
    central = (motion.planar[202:, :2] - motion.planar[200:-2, :2]) / 0.002
    assert np.abs(central - motion.velocity()[201:-1]).max() < 1e-2
    turn = (motion.planar[202:, 2] - motion.planar[200:-2, 2]) / 0.002
    assert np.abs(turn - motion.planar[201:-1, 5]).max() < 1e-2
