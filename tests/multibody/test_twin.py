"""Single steps of every joint against a dense twin in maximal coordinates that shares no code with the kernels."""

import numpy as np
import pytest

from cbsim.multibody import (
    Box,
    Mechanism,
    Origin,
    Prototype,
    close_loops,
    get_maximal_state,
    get_minimal_state,
    minimal_dimension,
    minimal_to_maximal,
    set_minimal_state,
    step,
)
from cbsim.multibody.gallery import fourbar, snake
from tests.multibody.common import EXACT, KINDS, X, Y, Z
from tests.multibody.twin import Twin

TURNED = np.array([0.8, 0.2, -0.4, 0.4])  # a unit quaternion


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_with_springs_dampers_inputs_and_offsets_is_the_twins(kind):
    m = snake(
        3, joint=kind, axes=(X + Y + Z, Y - 2 * Z), spring=4.0, damper=0.7, orientation_offset=TURNED, timestep=0.02,
        gravity=-9.81,
    )  # fmt: skip
    random = np.random.default_rng(5)
    z = minimal_to_maximal(m, random.uniform(0.0, 1.0, minimal_dimension(m)))
    twin = Twin(m)
    for _ in range(2):
        u = random.normal(size=m.compiled.inputs)
        after = step(m, z, u, options=EXACT)
        np.testing.assert_allclose(after, twin.step(z, u), rtol=0, atol=1e-9)
        z = after


@pytest.mark.parametrize("closing", ["Revolute", "Spherical", "Orbital", "Cylindrical", "PlanarAxis", "Prismatic"])
def test_a_step_with_a_loop_is_the_twins(closing):
    m = fourbar(closing=closing, timestep=0.02)
    x = get_minimal_state(m)
    x[::2] += (0.5, -0.3, 0.2, 0.4)
    set_minimal_state(m, x)
    close_loops(m)
    z = get_maximal_state(m)
    u = np.random.default_rng(1).normal(size=m.compiled.inputs)
    np.testing.assert_allclose(step(m, z, u, options=EXACT), Twin(m).step(z, u), rtol=0, atol=1e-8)


@pytest.mark.parametrize("seed", range(6))
def test_a_step_of_a_random_tree_is_the_twins(seed):
    random = np.random.default_rng(100 + seed)

    def direction(n):
        v = random.normal(size=n)
        return v / np.linalg.norm(v)

    origin = Origin()
    bodies = [Box(*random.uniform(0.2, 1.0, 3), mass=random.uniform(0.5, 2.0)).body(name=f"b{i}") for i in range(4)]
    joints = []
    for i, child in enumerate(bodies):
        parent = origin if i == 0 else bodies[random.integers(i)]
        joints.append(
            Prototype(
                KINDS[random.integers(16)], parent, child, direction(3), parent_vertex=random.normal(size=3),
                child_vertex=random.normal(size=3), orientation_offset=direction(4), spring=random.uniform(0, 5),
                damper=random.uniform(0, 1), name=f"j{i}",
            )
        )  # fmt: skip
    m = Mechanism(origin, bodies, random.permutation(np.array(joints, object)).tolist(), timestep=0.01)
    z = minimal_to_maximal(m, random.uniform(-1.0, 1.0, minimal_dimension(m)))
    u = random.normal(size=m.compiled.inputs)
    np.testing.assert_allclose(step(m, z, u, options=EXACT), Twin(m).step(z, u), rtol=0, atol=1e-8)
