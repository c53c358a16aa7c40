"""Mechanisms of Dojo's environments, each by what it is for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from cbsim.errors import ModelError
from cbsim.geometry.pose import rotate
from cbsim.multibody import (
    SolverOptions,
    gallery,
    get_maximal_state,
    get_minimal_state,
    get_sdf,
    maximal_to_minimal,
    mechanical_energy,
    minimal_to_maximal,
    momentum,
    rollout,
    simulate,
    step,
)
from tests.multibody.common import EXACT

G = 9.81


def euler(moments, rates, times):
    """Angular velocities of a free body in its frame, by Euler's equations."""
    a, b, c = moments

    def slope(_, w):
        return ((b - c) / a * w[1] * w[2], (c - a) / b * w[2] * w[0], (a - b) / c * w[0] * w[1])

    return solve_ivp(slope, (0.0, times[-1]), rates, t_eval=times, rtol=1e-10, atol=1e-12).y.T


# --- tennis racket ----------------------------------------------------------------------------------------------------
def test_a_racket_spun_about_its_middle_axis_turns_over_as_euler_has_it():
    racket = gallery.tennisracket(timestep=1e-3)
    moments = np.diag(racket.bodies[0].inertia)
    assert moments[0] > moments[1] > moments[2]
    storage = simulate(racket, 4000)
    assert storage.w[:, 0, 1].max() > 4.9
    assert storage.w[:, 0, 1].min() < -4.9  # half a turn about another axis
    expected = euler(moments, storage.wl[0, 0], 1e-3 * np.arange(4000))  # velocities at the nodes
    np.testing.assert_allclose(storage.wl[:, 0], expected, atol=1e-3)
    angular = momentum(racket, storage)[:, 3:]
    np.testing.assert_allclose(angular, np.tile(angular[0], (4000, 1)), atol=1e-9)
    assert np.ptp(mechanical_energy(racket, storage)) < 1e-9


@pytest.mark.parametrize("axis", [0, 2])
def test_a_racket_spun_about_another_axis_goes_on(axis):
    rates = np.full(3, 0.01)
    rates[axis] = 5.0
    racket = gallery.tennisracket(angular_velocity=rates)
    w = simulate(racket, 2000).w[:, 0]
    assert w[:, axis].min() > 4.99
    assert np.abs(np.delete(w, axis, axis=1)).max() < 0.03


# --- block in a plane -------------------------------------------------------------------------------------------------
def test_a_block_in_a_plane_moves_as_one_in_space_does_in_that_plane():
    """Eight corners in space, two of each pair at one height, bear what four in the plane do."""
    flat = gallery.block2d(height=0.1, velocity=(1.0, 0.5), angular_velocity=2.0)
    deep = gallery.block(height=0.1, velocity=(0.0, 1.0, 0.5), angular_velocity=(2.0, 0.0, 0.0))
    options = SolverOptions(rtol=1e-10, btol=1e-10)
    one = rollout(flat, get_maximal_state(flat), 150, options=options)
    other = rollout(deep, get_maximal_state(deep), 150, options=options)
    np.testing.assert_array_equal(one[:, [0, 3, 8, 9, 11, 12]], 0.0)  # it stays in its plane
    np.testing.assert_allclose(one[:, :3], other[:, :3], atol=1e-6)
    assert np.ptp(one[:, 10]) > 1.0  # it tumbles


@pytest.mark.parametrize("angle", [0.0, 0.3, 2.0])
def test_a_block_in_a_plane_comes_to_lie_on_a_side(angle):
    block = gallery.block2d(angle=angle, height=0.2)
    assert min(get_sdf(block)) == pytest.approx(0.2)
    last = simulate(block, 400)
    assert last.x[-1, 0, 2] == pytest.approx(0.25, abs=1e-4)
    assert np.abs(last.v[-1]).max() < 1e-4


def test_friction_stops_a_block_that_slides_in_its_plane():
    """v² / (2 mu g) on, as long as it does not topple (mu < 1)."""
    block = gallery.block2d(friction=0.3, velocity=(2.0, 0.0), timestep=0.001)
    last = simulate(block, 1500).x[-1, 0, 1]
    assert last == pytest.approx(2.0**2 / (2.0 * 0.3 * G), rel=5e-3)


# --- underwater vehicle -----------------------------------------------------------------------------------------------
def swim(vehicle, steps, speeds=0.0):
    """States of a vehicle with its thrusters at some speeds."""
    states = [get_maximal_state(vehicle)]
    for _ in range(steps):
        states.append(step(vehicle, states[-1], gallery.uuv_input(vehicle, states[-1], speeds)))
    return np.array(states)


def test_a_vehicle_rises_at_the_speed_at_which_water_brakes_its_lift():
    vehicle = gallery.uuv()
    assert vehicle.bodies[0].mass == pytest.approx(19.1834 + 6 * 0.01)
    path = swim(vehicle, 2500)
    assert path[-1, 5] == pytest.approx((19.5 - 19.2434) * G / 10.0, rel=1e-4)
    np.testing.assert_allclose(path[-1, 6:10], (1, 0, 0, 0), atol=1e-2)


def test_the_lift_of_a_vehicle_rights_it():
    vehicle = gallery.uuv(height=50.0)
    z = get_maximal_state(vehicle)
    z[6:10] = np.cos(0.5), np.sin(0.5), 0.0, 0.0
    for _ in range(3000):
        z = step(vehicle, z, gallery.uuv_input(vehicle, z))
    assert abs(z[6]) > 0.9999


def test_thrusters_drive_it_ahead_turn_it_and_lift_it():
    vehicle = gallery.uuv(height=50.0)
    z = get_maximal_state(vehicle)
    still = gallery.uuv_input(vehicle, z)
    ahead = gallery.uuv_input(vehicle, z, (10, 10, 10, 10, 0, 0)) - still
    np.testing.assert_allclose(ahead[:3], (4.0 * np.sqrt(0.5), 0.0, 0.0), atol=1e-12)
    up = gallery.uuv_input(vehicle, z, (0, 0, 0, 0, 10, 10)) - still
    np.testing.assert_allclose(up[:3], (0.0, 0.0, 2.0), atol=1e-12)
    path = swim(vehicle, 1500, (10, 10, 10, 10, 0, 0))
    speed = np.linalg.norm(path[-1, 3:5])
    assert speed == pytest.approx(4.0 * np.sqrt(0.5) / 10.0, rel=0.1)
    with pytest.raises(ModelError, match="speeds"):
        gallery.uuv_input(vehicle, z, (1, 2))


def test_without_lift_it_sinks_to_the_bottom_and_lies_there():
    vehicle = gallery.uuv(height=0.3)
    last = simulate(vehicle, 500)
    assert min(gap[-1] for gap in get_sdf(vehicle, last)) < 1e-3
    assert np.abs(last.v[-1]).max() < 0.05


# --- hopper on five bars ----------------------------------------------------------------------------------------------
def hop(robot, torque, duration):
    """Push both cranks for a time [s]."""
    steps = round(duration / robot.timestep)

    def control(_, k):
        u = np.zeros(11)
        u[6], u[8] = (-torque, torque) if k < steps else (0.0, 0.0)
        return u

    return control


def test_a_hopper_on_five_bars_jumps_flies_as_a_stone_does_and_keeps_its_loop_closed():
    robot = gallery.rexhopper(damper=0.05, timestep=0.002, friction=1.0)
    masses = np.array([body.mass for body in robot.bodies])
    assert masses.sum() == pytest.approx(6.3293, abs=1e-4)  # 5.596 of the base and 0.733 of the leg
    storage = simulate(robot, 150, None, hop(robot, 40.0, 0.1))
    (foot,) = get_sdf(robot, storage)
    assert foot.min() > -1e-8
    assert foot[-1] > 0.2  # it is off the ground
    up = np.flatnonzero(foot > 1e-2)[0]
    height = storage.x[up:, :, 2] @ masses / masses.sum()
    np.testing.assert_allclose(np.diff(height, 2), -G * 0.002**2, rtol=1e-3)
    loop = robot.joints[-1]
    assert loop.name == "loop_joint"
    one, other = (robot.bodies.index(end) for end in (loop.parent, loop.child))
    for x, q in zip(storage.x[::10], storage.q[::10], strict=True):
        ends = [x[k] + rotate(q[k], v) for k, v in zip((one, other), loop.translational.vertices, strict=True)]
        np.testing.assert_allclose(*ends, atol=1e-6)


def test_the_leg_of_five_bars_is_a_parallelogram_at_first():
    robot = gallery.rexhopper()
    assert robot.pose[0, 2] == pytest.approx(0.3148 + 0.0171, abs=2e-4)  # of the centre of mass, above the base
    turns = robot.pose[1:, 6:10]
    rear_crank, rear_shin, front_crank, front_shin = (rotate(q, (1.0, 0.0, 0.0)) for q in turns)
    np.testing.assert_allclose(rear_crank, front_shin, atol=1e-6)
    np.testing.assert_allclose(rear_shin, front_crank, atol=1e-6)


# --- exoskeleton ------------------------------------------------------------------------------------------------------
def test_an_exoskeleton_is_held_still_by_the_slopes_of_its_potential_energy():
    arm = gallery.exoskeleton(damper=1.0, angles=(0.7, 0.5, -0.2, -0.9))
    assert sum(body.mass for body in arm.bodies) == pytest.approx(6.712 + 3.487 + 1.663 + 0.494 + 2.25 + 1.5)
    x, e = get_minimal_state(arm), 1e-5
    slopes = []
    for k in 2 * np.arange(4):
        heights = [minimal_to_maximal(arm, x + side * e * np.eye(8)[k]).reshape(4, 13)[:, 2] for side in (1, -1)]
        slopes.append(sum(b.mass * G * (h - low) for b, h, low in zip(arm.bodies, *heights, strict=True)) / (2.0 * e))
    path = rollout(arm, get_maximal_state(arm), 100, slopes, options=EXACT)
    np.testing.assert_allclose(path[-1].reshape(4, 13)[:, :3], path[0].reshape(4, 13)[:, :3], atol=1e-4)
    assert np.abs(slopes).max() > 5.0


def test_an_exoskeleton_swings_freely_with_its_energy_and_within_the_bounds_of_an_arm():
    arm = gallery.exoskeleton(timestep=0.001)
    assert np.ptp(mechanical_energy(arm, simulate(arm, 1000))) < 2e-2
    bound = gallery.exoskeleton(limited=True)
    elbow = [maximal_to_minimal(bound, z)[6] for z in rollout(bound, get_maximal_state(bound), 300)]
    assert min(elbow) > np.radians(-125.0) - 1e-6
    assert max(elbow) < 1e-6


# --- biped ------------------------------------------------------------------------------------------------------------
def test_a_biped_stands_on_both_feet_with_stiff_joints():
    robot = gallery.atlas(spring=3000.0, damper=100.0)
    assert (len(robot.bodies), len(robot.joints)) == (31, 31)
    weight = G * sum(body.mass for body in robot.bodies)
    assert weight / G == pytest.approx(174.05, abs=0.01)
    storage = simulate(robot, 300)
    assert storage.is_solved.all()
    np.testing.assert_allclose(storage.x[-1, 0], storage.x[0, 0], atol=0.02)
    points = robot.contact_points()
    assert sum(point.normal_force for point in points) == pytest.approx(weight, rel=0.01)
    for side in "rl":
        carried = sum(point.normal_force for point in points if point.body == f"{side}_foot")
        assert carried == pytest.approx(0.5 * weight, rel=0.1)


def test_the_sides_of_a_biped_are_mirror_images():
    robot = gallery.atlas(knee=0.4)
    x = {body.name: row[:3] for body, row in zip(robot.bodies, robot.pose, strict=True)}
    for name, place in x.items():
        if name.startswith("r_"):
            np.testing.assert_allclose(x[f"l_{name[2:]}"], place * (1.0, -1.0, 1.0), atol=1e-12)
    assert min(get_sdf(robot)) == pytest.approx(0.0, abs=1e-12)
    assert max(get_sdf(robot)) == pytest.approx(0.0, abs=1e-9)  # feet are level
    assert len(gallery.atlas(body_contacts=True).contacts) == 17


def test_a_biped_in_the_air_keeps_its_momentum():
    robot = gallery.atlas(ground=False, gravity=0.0, spring=50.0, damper=1.0)
    random = np.random.default_rng(0)
    pushes = [np.r_[np.zeros(6), random.normal(size=30)] for _ in range(40)]
    moved = momentum(robot, simulate(robot, 40, None, pushes))
    np.testing.assert_allclose(moved, 0.0, atol=2e-4)
