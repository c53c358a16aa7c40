"""Springs that are too stiff for the step: told of when a mechanism is made, and stable where they are implicit."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from cbsim.errors import ModelError
from cbsim.multibody import (
    Box,
    Mechanism,
    Origin,
    Prismatic,
    SolverOptions,
    StabilityWarning,
    diagnostics,
    mechanical_energy,
    minimal_dimension,
    minimal_to_maximal,
    rollout,
    set_springs,
    simulate,
    step,
)
from cbsim.multibody.gallery import fourbar, slider, snake
from tests.multibody import differences
from tests.multibody.common import EXACT, KINDS, Z
from tests.multibody.twin import Twin

SCALES = [(1e-3, 3e-4), (1.0, 0.01), (1e3, 0.2), (4e4, 1.0)]  # [kg], [s]


def coupled(stiffness, mass=1.0, h=0.01, *, implicit=False, damping=0.0):
    """Return bodies of one and three masses on one rail, each on a spring of h² k / mass as given."""
    origin, k = Origin(), stiffness * mass / h**2
    one, two = (Box(0.2, 0.2, 0.2, mass=n * mass).body(name=name) for n, name in ((1, "one"), (3, "two")))
    options = {"spring": k, "damper": damping * mass / h, "implicit_spring": implicit}
    joints = [Prismatic(origin, one, Z, name="near", **options), Prismatic(one, two, Z, name="far", **options)]
    return Mechanism(origin, [one, two], joints, timestep=h, gravity=0.0)


@pytest.mark.parametrize(("mass", "h"), SCALES)
def test_a_spring_is_told_of_from_nine_tenths_of_what_is_stable_on_with_the_step_that_would_do(mass, h):
    slider(mass=mass, spring=3.5 * mass / h**2, timestep=h)
    with pytest.warns(StabilityWarning, match=r"the spring of 'rail': h²k/m is 3.7 .*implicit_spring=True"):
        m = slider(mass=mass, spring=3.7 * mass / h**2, timestep=h)
    found = diagnostics(m).springs[0]
    assert (found.joint, found.implicit) == ("rail", False)
    assert found.stiffness == pytest.approx(3.7)
    assert found.step == pytest.approx(h * np.sqrt(3.6 / 3.7))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        m.timestep = 0.999 * found.step


@pytest.mark.parametrize(("mass", "h"), SCALES)
@pytest.mark.parametrize("damping", [0.0, 0.5, 30.0])
def test_what_explodes_is_told_of_and_what_is_not_told_of_does_not_explode(damping, mass, h):
    for stiffness in (0.5, 1.0, 1.5, 2.0, 3.0, 10.0):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            m = coupled(stiffness, mass, h, damping=damping)
        options = SolverOptions(rtol=1e-9 * mass / h)
        try:
            path = rollout(m, minimal_to_maximal(m, (0.1, 0.0, 0.05, 0.0)), 3000, options=options)
            grown = np.abs(path[-300:, [2, 15]]).max()
        except Exception:
            grown = np.inf
        assert grown < 1.0 or told
        assert not told or diagnostics(m).springs[0].together > 3.6


def test_springs_that_are_stable_each_may_not_be_together():
    with pytest.warns(StabilityWarning, match="springs of 'near', 'far'"):
        m = coupled(2.4)
    found = diagnostics(m).springs
    assert max(one.stiffness for one in found) < 3.6 < found[0].together


def test_a_loop_makes_what_a_spring_moves_heavier():
    """Two rails share a spring each of h² k/m = 0.005; knees of a four-bar move both halves."""
    origin, box = Origin(), Box(0.4, 0.4, 0.4, mass=2.0).body(name="box")
    rails = [Prismatic(origin, box, Z, spring=100.0, name=f"rail {k}") for k in range(2)]
    found = diagnostics(Mechanism(origin, [box], rails)).springs
    assert [one.stiffness for one in found] == pytest.approx([0.005, 0.005])
    assert [one.together for one in found] == pytest.approx([0.01, 0.01])
    loop, tree = (diagnostics(m).springs for m in (fourbar(spring=2.0), fourbar(spring=2.0, closing="PlanarAxis")))
    assert [one.joint for one in loop] == ["left", "left_knee", "right", "right_knee"]
    assert all(shut.stiffness < 0.9 * free.stiffness for shut, free in zip(loop, tree, strict=True))


def test_setting_springs_tells_too_and_makes_them_implicit():
    m = slider(spring=1.0)
    with pytest.warns(StabilityWarning):
        set_springs(m, 1e6)
    set_springs(m, 1e6, implicit=True)
    assert diagnostics(m).springs[0].implicit


@pytest.mark.parametrize(("mass", "h"), SCALES)
@pytest.mark.parametrize("stiffness", [1e-2, 1.0, 4.0, 50.0, 1e6])
def test_the_energy_of_implicit_springs_never_grows(stiffness, mass, h):
    """Kinetic energy of half steps and potential energy where they end; and both at the nodes, the first one too."""
    m = coupled(stiffness, mass, h, implicit=True)
    options = SolverOptions(rtol=1e-15 * mass / h)
    for start in ((0.1, 0.0, 0.05, 0.0), (0.1, -0.3 / h, 0.05, 1.0 / h), (0.0, 0.0, 0.0, 1.0 / h)):
        z = minimal_to_maximal(m, start)
        path = rollout(m, z, 400, options=options).reshape(-1, 2, 13)
        kinetic = 0.5 * mass * (path[:, 0, 5] ** 2 + 3.0 * path[:, 1, 5] ** 2)
        k = stiffness * mass / h**2
        energy = kinetic + 0.5 * k * (path[:, 0, 2] ** 2 + (path[:, 1, 2] - path[:, 0, 2]) ** 2)
        assert (np.diff(energy) <= 1e-9 * energy[0]).all()
        nodal = mechanical_energy(m, simulate(m, 400, z, options=options))
        assert nodal.max() <= nodal[0] * (1.0 + 1e-9)


@pytest.mark.parametrize("kind", ["Revolute", "Orbital", "Spherical", "PlanarFree"])
def test_the_energy_of_implicit_springs_of_several_axes_does_not_explode(kind):
    m = snake(3, joint=kind, twisted=True, timestep=0.01)
    set_springs(m, 1e5, implicit=True)
    x = np.random.default_rng(1).uniform(-0.3, 0.3, minimal_dimension(m))
    energy = mechanical_energy(m, simulate(m, 300, minimal_to_maximal(m, x)))
    assert energy.max() <= energy[0]
    assert energy[-1] < 1e-2 * energy[0]


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_with_implicit_springs_is_the_twins(kind):
    m = snake(3, joint=kind, spring=40.0, damper=0.7, timestep=0.02, twisted=True)
    set_springs(m, 40.0, implicit=True)
    x = np.random.default_rng(3).uniform(0.0, 1.0, minimal_dimension(m))
    z, u = minimal_to_maximal(m, x), np.ones(m.compiled.inputs)
    np.testing.assert_allclose(step(m, z, u, options=EXACT), Twin(m).step(z, u), rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", ["Revolute", "Orbital", "Spherical", "Cylindrical"])
def test_gradients_go_through_implicit_springs(kind):
    m = snake(2, joint=kind, spring=4.0, damper=0.1, timestep=0.02, axes=(Z + 0.5, Z))
    set_springs(m, 400.0, implicit=True)
    x = np.random.default_rng(4).uniform(-0.5, 0.5, minimal_dimension(m))
    u = np.ones(m.compiled.inputs)
    differences.check(m, x, u)
    differences.check_parameters(m, minimal_to_maximal(m, x), u, only=lambda p: p.quantity in {"spring", "damper"})


def test_an_implicit_spring_is_refused_where_it_closes_a_loop_and_in_steps_of_fourth_order():
    origin, box = Origin(), Box(0.2, 0.2, 0.2, mass=1.0).body(name="box")
    rails = [Prismatic(origin, box, Z, spring=1.0, implicit_spring=True, name=f"rail {k}") for k in range(2)]
    with pytest.raises(ModelError, match="closes a loop and cannot have an implicit spring"):
        Mechanism(origin, [box], rails)
    m = Mechanism(origin, [box], rails[:1])
    with pytest.raises(ModelError, match="implicit spring is of first order"):
        rollout(m, minimal_to_maximal(m, (0.0, 0.0)), 1, options=SolverOptions(order=4))
    with pytest.raises(ModelError, match="implicit_spring is 1, expected True or False"):
        Prismatic(origin, box, Z, implicit_spring=1)
