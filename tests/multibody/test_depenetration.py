"""What overlaps when a run begins is parted at a bounded speed, within 5 %, whatever its mass and the step."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.errors import ModelError
from cbsim.multibody import (
    Collider,
    Floating,
    Mechanism,
    Origin,
    SolverOptions,
    Sphere,
    contact_constraint,
    get_maximal_gradients,
    rollout,
)
from tests.multibody.common import Z

DEFAULT = 3.0  # [m/s]


def ball(mass, timestep, law="nonlinear", gravity=0.0):
    origin, body = Origin(), Sphere(0.1, mass=mass).body(name="ball")
    ground = contact_constraint(body, Z, contact_radius=0.1, friction_coefficient=0.3, contact_type=law)
    return Mechanism(origin, [body], [Floating(origin, body)], ground, timestep=timestep, gravity=gravity)


def at(height):
    return np.array([0.0, 0.0, height, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0])


@pytest.mark.parametrize("law", ["impact", "linear", "nonlinear"])
@pytest.mark.parametrize("timestep", [3e-4, 1e-3, 0.01, 0.05])
@pytest.mark.parametrize("mass", [1e-3, 1.0, 1e4])
def test_a_ball_that_begins_in_the_ground_comes_out_at_the_speed_that_is_set(law, timestep, mass):
    for speed in (DEFAULT, 0.5, 20.0):
        options = SolverOptions(max_depenetration_speed=speed)
        way_out = int(1.0 / (speed * timestep)) + 3  # steps, from a metre deep
        path = rollout(ball(mass, timestep, law), at(-0.9), min(way_out, 400), options=options)
        assert path[1, 5] == pytest.approx(min(speed, 1.0 / timestep), rel=1e-3)
        assert path[1:, 5].min() > 0.999 * path[1, 5]
        assert path[:, 5].max() < 1.05 * path[1, 5]
        assert way_out > 400 or path[-1, 2] > 0.1 - 1e-7


def test_without_a_bound_it_is_out_in_one_step():
    path = rollout(ball(1.0, 0.01), at(-0.9), 1, options=SolverOptions(max_depenetration_speed=np.inf))
    assert path[-1, 2] == pytest.approx(0.1, abs=1e-6)


def test_two_bodies_that_begin_in_one_another_part_slowly_and_keep_their_momentum():
    origin = Origin()
    bodies = [Sphere(0.5, mass=mass).body(name=f"ball {mass}") for mass in (1.0, 200.0)]
    colliders = [Collider(body, body.shape, friction_coefficient=0.5) for body in bodies]
    joints = [Floating(origin, body) for body in bodies]
    m = Mechanism(origin, bodies, joints, colliders=colliders, timestep=0.01, gravity=0.0)
    z = np.array([at(0.0), at(0.1)]).ravel()
    path = rollout(m, z, 60).reshape(-1, 2, 13)
    apart = np.diff(path[:, :, 5], axis=1)
    assert np.abs(apart).max() == pytest.approx(DEFAULT, rel=0.03)
    np.testing.assert_allclose(path[:, :, 5] @ (1.0, 200.0), 0.0, atol=1e-9)


def test_the_gradient_of_a_ball_in_the_ground_is_that_of_its_way_out():
    m, e = ball(2.0, 0.01, gravity=-9.81), 1e-6
    z = at(-0.4)
    a, _ = get_maximal_gradients(m, z)
    options = SolverOptions(rtol=1e-12, btol=1e-12)
    ends = [rollout(m, z + sign * e * np.eye(13)[2], 1, options=options)[-1] for sign in (1.0, -1.0)]
    assert (ends[0] - ends[1])[2] / (2.0 * e) == pytest.approx(1.0, abs=1e-6)
    assert a[2, 2] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("speed", [0.0, -1.0, np.nan])
def test_a_speed_that_is_none_is_refused(speed):
    with pytest.raises(ModelError, match="max_depenetration_speed"):
        SolverOptions(max_depenetration_speed=speed)
