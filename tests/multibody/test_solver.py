"""The solver under stress: it finds every step, however it starts, and says so where there is none."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.dynamics.kernels import columns as c
from cbsim.errors import CbsimError, StepError
from cbsim.multibody import (
    Body,
    Floating,
    Mechanism,
    Origin,
    SolverOptions,
    gallery,
    get_maximal_gradients,
    get_maximal_state,
    get_minimal_state,
    kinetic_energy,
    mechanical_energy,
    minimal_to_maximal,
    momentum,
    rollout,
    set_minimal_state,
    simulate,
)

TIGHT = {"rtol": 1e-9, "btol": 1e-9}


@pytest.mark.parametrize(("h", "steps"), [(0.001, 600), (0.01, 120), (0.05, 40), (0.1, 30)])
@pytest.mark.parametrize("friction", [0.1, 0.5, 1.0])
def test_cubes_tossed_at_random_find_every_step_and_never_sink(h, steps, friction):
    rng = np.random.default_rng(7)
    for _ in range(4):
        cube = gallery.block(
            timestep=h, friction=friction, height=rng.uniform(0.05, 0.25), velocity=rng.normal(size=3) * (2, 2, 1),
            angular_velocity=rng.normal(size=3) * 4.0 * min(1.0, 0.04 / h),
        )  # fmt: skip
        path = rollout(cube, get_maximal_state(cube), steps).reshape(steps + 1, 13)
        assert lowest_corner(path) > -1e-8
        assert np.abs(np.linalg.norm(path[:, 6:10], axis=1) - 1.0).max() < 1e-12


def lowest_corner(path):
    """Height of the lowest corner of a cube of half a metre at any node of its states (nodes, 13) [m]."""
    w, x, y, z = path[:, 6], path[:, 7], path[:, 8], path[:, 9]
    down = np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=1)
    return (path[:, 2] - 0.25 * np.abs(down).sum(axis=1)).min()


@pytest.mark.parametrize("option", [{"warm_start": False}, {"screen": False}])
def test_a_start_from_the_step_before_and_left_out_contacts_change_nothing_but_the_cost(option):
    cube = gallery.block(height=0.1, velocity=(2.0, 0.5, 0.0), angular_velocity=(0.5, 1.0, 0.2), friction=0.4)
    z = get_maximal_state(cube)
    exact = {"rtol": 1e-11, "btol": 1e-11}  # impacts make what steps leave larger, each about tenfold
    usual, other = (rollout(cube, z, 40, options=SolverOptions(**exact, **more))[-1] for more in ({}, option))
    assert other == pytest.approx(usual, abs=1e-6)


def test_a_chain_of_fifty_lives_at_a_tenth_of_a_second_and_gains_no_energy():
    chain = gallery.chain(50, timestep=0.1)
    storage = simulate(chain, 40)
    energy = mechanical_energy(chain, storage)
    assert np.isfinite(storage.x).all()
    swing = 50 * 9.81 * 25.0 * (1.0 - np.cos(0.25 * np.pi))  # what it can fall
    assert energy.max() - energy[0] < 0.05 * swing


def test_steps_made_in_parts_keep_momentum():
    snake = gallery.snake(10, joint="Spherical", twisted=True, timestep=0.05)
    x = get_minimal_state(snake)
    x[:] = np.random.default_rng(1).uniform(-0.5, 0.5, x.size)
    set_minimal_state(snake, x)
    options = SolverOptions(rtol=1e-11)
    rollout(snake, get_maximal_state(snake), 1200, options=options)
    assert snake.last[c.ATTEMPTS] > 0  # it whips about: some steps cannot be made at once
    total = momentum(snake, simulate(snake, 1200, options=options))
    scale = np.abs(total[0]).max()
    off = np.abs(total - total[0]).max(axis=1) / scale
    assert (off > 1e-9).sum() <= snake.last[c.ATTEMPTS]  # only where the way of telling velocities changes
    assert off[-1] < 1e-9


def test_what_turns_by_half_a_turn_in_a_step_is_told_by_name():
    pendulum = gallery.pendulum(timestep=0.1)
    z = minimal_to_maximal(pendulum, [0.0, 0.0])
    z[10] = 25.0
    with pytest.raises(CbsimError, match=r"'rod'.*half a turn"):
        rollout(pendulum, z, 1)


@pytest.mark.parametrize("seed", [0, 3, 4])
def test_legs_that_are_flung_about_find_no_root_half_a_turn_on(seed):
    """Of a calf that is stopped by the ground a step of 50 ms has a second root, with a spin of 2 / h more."""
    robot = gallery.quadruped(timestep=0.05)
    chance, at = np.random.default_rng(seed), 0
    x = get_minimal_state(robot)
    for joint in robot.joints:
        free = joint.translational.free + joint.rotational.free
        speeds = [0.0, 0.0, 2.0, *chance.normal(size=3) * 3.0] if free == 6 else chance.normal(size=free) * 20.0
        x[at + free : at + 2 * free] += speeds
        at += 2 * free
    set_minimal_state(robot, x)
    storage = simulate(robot, 80)
    energy = mechanical_energy(robot, storage)
    # a step in parts tells velocities otherwise, so that one node may seem to dip: what counts is above two before it
    gained = energy[2:] - np.maximum(energy[1:-1], energy[:-2])
    assert gained.max() < 0.5 * kinetic_energy(robot, storage)[0]  # levers of 50 ms give some
    assert energy[-1] < energy[0]


def test_a_light_link_that_is_spun_too_fast_is_told_and_no_number_is_lost():
    robot = gallery.quadruped(timestep=0.05, height=0.2)
    torques = np.zeros(18)
    torques[6:] = 200.0
    with pytest.raises(CbsimError, match=r"half a turn|spin is changed|no solution|diverged to non-finite"):
        rollout(robot, get_maximal_state(robot), 100, torques)


def test_tolerances_far_below_the_default_are_met():
    cube = gallery.block(height=0.0, velocity=(1.0, 0.3, 0.0), friction=0.5)
    rollout(cube, get_maximal_state(cube), 50, options=SolverOptions(rtol=1e-11, btol=1e-8))
    assert cube.last[c.RESIDUAL_LEFT] < 1e-9
    assert cube.last[c.BILINEAR_LEFT] < 1e-8
    assert cube.last[c.ATTEMPTS] == 0


def spun(rate, h=0.1, moments=(1.0, 1.0, 1.0)):
    """A body that floats and turns at a rate in the sense of steps: half of it times h is the sine of half an angle."""
    origin, body = Origin(), Body(1.0, np.diag(moments), name="wheel")
    m = Mechanism(origin, [body], [Floating(origin, body, name="base")], timestep=h, gravity=0.0)
    z = get_maximal_state(m)
    z[10:13] = rate
    return m, z


@pytest.mark.parametrize("turn", [1.3, 1.45, 1.7, 1.9, 1.99])
def test_what_turns_by_nearly_half_a_turn_in_a_step_goes_on_as_fast(turn):
    """A quarter of a turn on lies another root, of the same momentum: no step may take it."""
    m, z = spun((10.0 * turn, 0.0, 0.0))
    path = rollout(m, z, 20, options=SolverOptions(rtol=1e-10))
    np.testing.assert_allclose(path[:, 10:13], np.tile(z[10:13], (21, 1)), atol=1e-6)
    assert (m.last[c.ATTEMPTS] > 0) == (turn > np.sqrt(2.0))


def test_a_brake_slows_what_turns_very_fast():
    m, z = spun((-19.0, 0.0, 0.0))
    brake = np.zeros((4, 6))
    brake[:, 3] = 20.0
    rates = rollout(m, z, 4, brake)[:, 10]
    assert (np.diff(rates) > 0.5).all()


def test_what_is_driven_faster_than_steps_can_follow_is_named_with_the_step_that_would_do():
    m, z = spun((12.0, 0.0, 0.0))
    with pytest.raises(
        StepError, match=r"body 'wheel' turns too far .* at \d\d.* rad/s, for which steps below 0.0\d"
    ) as e:
        rollout(m, z, 20, [0.0, 0.0, 0.0, 40.0, 0.0, 0.0])
    assert e.value.worst == "body 'wheel'"
    with pytest.raises(StepError, match="body 'wheel' turns too far"):
        get_maximal_gradients(*spun((17.0, 0.0, 0.0)))


def test_no_step_is_advised_that_is_longer_than_the_one_that_failed():
    m = gallery.fourbar(timestep=1.0)
    with pytest.raises(StepError, match=r"rod_\d.*the timestep has to be shorter") as e:
        rollout(m, get_maximal_state(m), 50)
    assert "steps below" not in str(e.value)


def test_an_iteration_that_leaves_the_numbers_says_so_and_warns_of_nothing():
    cube = gallery.block(velocity=(1e300, 0.0, 0.0))
    with pytest.raises(StepError, match="diverged to non-finite"):
        rollout(cube, get_maximal_state(cube), 1)


def test_steps_of_fourth_order_that_meet_the_ground_are_made_in_parts():
    m = gallery.block(timestep=0.1, height=0.3, velocity=(1, 1.5, 1), angular_velocity=(3, 4, 2))
    path = rollout(m, get_maximal_state(m), 30, options=SolverOptions(order=4)).reshape(31, 13)
    assert m.last[c.ATTEMPTS] > 0
    assert lowest_corner(path) > -1e-6
    np.testing.assert_allclose(path[-5:], np.tile(path[-1], (5, 1)), atol=1e-6)  # it has come to rest


def test_smooth_steps_of_fourth_order_in_parts_are_nearer_to_the_truth():
    whole, hasty, fine = (SolverOptions(rtol=1e-12, order=4, nodal_start=True, max_iter=most) for most in (50, 2, 50))
    m, slow = gallery.chain(2, timestep=0.1, angle=1.0), gallery.chain(2, timestep=0.00625, angle=1.0)
    z = get_maximal_state(m)
    want = rollout(slow, z, 160, options=fine)[::16, :3]
    assert 1e-4 < np.abs(rollout(m, z, 10, options=whole)[:, :3] - want).max() < 1e-3
    assert np.abs(rollout(m, z, 10, options=hasty)[:, :3] - want).max() < 1e-6
    assert m.last[c.ATTEMPTS] > 0
