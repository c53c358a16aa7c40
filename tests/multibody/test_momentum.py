"""Momentum is kept whatever joints, springs, dampers and inputs do between bodies."""

import numpy as np
import pytest

from cbsim.multibody import (
    Box,
    Collider,
    Floating,
    Mechanism,
    Origin,
    minimal_dimension,
    minimal_to_maximal,
    momentum,
    simulate,
    with_parameters,
)
from cbsim.multibody.gallery import snake
from tests.multibody.common import EXACT, KINDS, X, Y, Z


@pytest.mark.parametrize("axes", [(X,), (Y, Z, X)], ids=["snake", "twister"])
@pytest.mark.parametrize("kind", KINDS)
def test_momentum_is_kept_with_springs_dampers_and_random_inputs(kind, axes):
    m = snake(5, joint=kind, axes=axes, spring=4.0, damper=0.5, timestep=0.03)
    random = np.random.default_rng(9)
    x = np.zeros(minimal_dimension(m))
    x[6:12] = 1.0, 2.0, 3.0, 1.0, 2.0, 3.0
    inputs = 0.2 * random.normal(size=(100, m.compiled.inputs))
    inputs[:, :6] = 0.0  # the base's joint ties it to the world
    storage = simulate(m, 100, minimal_to_maximal(m, x), inputs, options=EXACT)
    kept = momentum(m, storage)
    assert np.abs(kept[0, :3]).max() > 1.0
    assert np.abs(kept - kept[0]).max() <= 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_momentum_is_kept_by_springs_that_pull_to_one_side(kind):
    m = snake(5, joint=kind, axes=(Y, Z, X), spring=0.4, timestep=0.03)
    random = np.random.default_rng(9)
    springs = {(j.name, "spring_offset"): random.uniform(-1.0, 1.0, j.dof) for j in m.joints[1:] if j.dof}
    m = with_parameters(m, springs)
    x = np.zeros(minimal_dimension(m))
    x[6:12] = 1.0, 2.0, 3.0, 1.0, 2.0, 3.0
    kept = momentum(m, simulate(m, 100, minimal_to_maximal(m, x), options=EXACT))
    assert np.abs(kept - kept[0]).max() <= 1e-9


@pytest.mark.parametrize("mass", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("solid", [False, True], ids=["bare", "collider"])
def test_a_body_that_turns_freely_keeps_its_momentum_at_default_tolerances(mass, solid):
    """Unlike half-axes and a turn about no principal axis: the solver has something to do in every step."""
    origin, body = Origin(), Box(0.3, 0.2, 0.1, mass=mass).body(name="box")
    colliders = [Collider(body, body.shape)] if solid else []
    m = Mechanism(origin, [body], [Floating(origin, body)], colliders=colliders, timestep=0.01, gravity=0.0)
    z = np.array([0, 0, 0, 0.3, -0.2, 0.1, 1, 0, 0, 0, 4.0, 7.0, -4.0], float)
    kept = momentum(m, simulate(m, 10_000, z))
    size = np.linalg.norm(kept[0, 3:])
    assert np.abs(kept - kept[0]).max() <= 1e-8 * size
