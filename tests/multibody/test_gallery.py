"""Every mechanism of the gallery is what its page says, and runs ten seconds."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from cbsim.dynamics.kernels import columns as c
from cbsim.errors import UsageError
from cbsim.multibody import (
    SolverOptions,
    gallery,
    get_body,
    get_maximal_state,
    get_sdf,
    input_dimensions,
    momentum,
    rollout,
    simulate,
)
from tests.common import shared


@pytest.mark.parametrize("name", gallery.GALLERY)
def test_ten_seconds_pass_without_a_step_that_fails(name):
    mechanism = gallery.build(name)
    path = rollout(mechanism, get_maximal_state(mechanism), 1000)
    assert np.isfinite(path).all()
    assert mechanism.last[c.STATUS] == c.SOLVED
    assert mechanism.last[c.ATTEMPTS] == 0


def test_a_name_that_is_not_there_is_told_with_the_nearest():
    with pytest.raises(UsageError, match="quadruped"):
        gallery.build("quadroped")


@pytest.mark.parametrize("height", [0.0, 0.3])
@pytest.mark.parametrize("name", ["block", "sphere"])
def test_what_stands_on_the_ground_is_as_high_as_asked(name, height):
    assert min(get_sdf(gallery.build(name, height=height))) == pytest.approx(height, abs=1e-12)


def test_feet_of_the_quadruped_just_touch_and_it_stands_on_its_springs():
    robot = gallery.quadruped(spring=100.0, damper=5.0, timestep=0.02)
    assert get_sdf(robot) == pytest.approx([0.0] * 4, abs=1e-12)
    end = simulate(robot, 250)
    assert np.abs(end.v[-1]).max() < 1e-3
    assert end.x[-1, 0, 2] > 0.28


def test_a_mirrored_leg_is_the_mirror_image():
    robot = gallery.quadruped()
    left, right = (get_body(robot, f"{side}_hip").inertia for side in ("FL", "FR"))
    flip = np.diag([1.0, -1.0, 1.0])
    np.testing.assert_allclose(right, flip @ left @ flip, atol=1e-15)


def test_masses_and_inertias_of_the_quadruped_are_those_of_its_description():
    described = ET.parse(shared("urdf", "quadruped", "quadruped.urdf")).getroot()
    robot = gallery.quadruped()
    for link in described.iter("link"):
        inertial = link.find("inertial")
        if inertial is None:
            continue
        body, told = get_body(robot, link.attrib["name"]), inertial.find("inertia").attrib
        assert body.mass == float(inertial.find("mass").attrib["value"])
        xx, xy, xz, yy, yz, zz = (float(told[key]) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
        np.testing.assert_allclose(body.inertia, [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], atol=1e-15)


def test_the_four_bar_hangs_closed():
    loop = gallery.fourbar()
    path = rollout(loop, get_maximal_state(loop), 500, options=SolverOptions(rtol=1e-10)).reshape(501, 4, 13)
    up = np.stack([np.zeros((501, 4)), -2 * path[..., 6] * path[..., 7], 1 - 2 * path[..., 7] ** 2], axis=-1)
    tips = path[..., :3] - 0.5 * up
    assert np.abs(tips[:, 1] - tips[:, 3]).max() < 1e-10


def test_a_snake_in_space_keeps_its_momentum_whatever_its_joints_do():
    snake = gallery.snake(4, joint="Orbital", twisted=True)
    push = np.zeros(sum(input_dimensions(snake)))
    push[snake.input_index(0).stop :] = 0.3
    storage = simulate(snake, 100, control=np.tile(push, (100, 1)), options=SolverOptions(rtol=1e-12))
    total = momentum(snake, storage)
    assert np.abs(storage.w[-1]).max() > 0.1
    assert np.abs(total - total[0]).max() < 1e-10
