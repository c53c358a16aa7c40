"""The solver under stress: it finds every step, however it starts, and says so where there is none."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.dynamics.kernels import columns as c
from cbsim.errors import CbsimError
from cbsim.multibody import (
    SolverOptions,
    gallery,
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
    assert np.diff(energy).max() < 0.5 * kinetic_energy(robot, storage)[0]  # levers of 50 ms give some
    assert energy[-1] < energy[0]


def test_a_light_link_that_is_spun_too_fast_is_told_and_no_number_is_lost():
    robot = gallery.quadruped(timestep=0.05, height=0.2)
    torques = np.zeros(18)
    torques[6:] = 200.0
    with pytest.raises(CbsimError, match=r"half a turn|spin is changed|no solution|left the numbers"):
        rollout(robot, get_maximal_state(robot), 100, torques)


def test_tolerances_far_below_the_default_are_met():
    cube = gallery.block(height=0.0, velocity=(1.0, 0.3, 0.0), friction=0.5)
    rollout(cube, get_maximal_state(cube), 50, options=SolverOptions(rtol=1e-11, btol=1e-8))
    assert cube.last[c.RESIDUAL_LEFT] < 1e-9
    assert cube.last[c.BILINEAR_LEFT] < 1e-8
    assert cube.last[c.ATTEMPTS] == 0
