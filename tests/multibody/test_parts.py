"""Steps that are made in parts: what pushes in them does no more and no less than in whole ones.

A rotor that turns by more than a quarter of a turn in a step makes every step one of several parts.
"""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.dynamics.kernels import columns as c
from cbsim.multibody import (
    Box,
    Mechanism,
    Origin,
    Prismatic,
    Revolute,
    SolverOptions,
    contact_constraint,
    minimal_to_maximal,
    rollout,
)
from tests.multibody.common import X, Y, Z

H, FAST = 0.01, 180.0  # [s], [rad/s]: 103 degrees in a step
TIGHT = SolverOptions(rtol=1e-11, btol=1e-11)


def carrying(joints, *, gravity=0.0, scaling=None):
    """Return a cart of 1 kg that joints carry, and in its centre a balanced rotor of 1 kg that turns about y."""
    origin = Origin()
    cart, rotor = Box(0.4, 0.4, 0.4, mass=1.0).body(name="cart"), Box(0.2, 0.1, 0.2, mass=1.0).body(name="rotor")
    tied = [*joints(origin, cart), Revolute(cart, rotor, Y, name="axle")]
    return Mechanism(origin, [cart, rotor], tied, timestep=H, gravity=gravity, input_scaling=scaling)


def cart_of(m, x, steps, inputs=None, options=TIGHT):
    """Return how the cart moves (steps + 1, 13), every step of it made in parts."""
    path = rollout(m, minimal_to_maximal(m, x), steps, inputs, options=options).reshape(-1, 2, 13)
    assert m.last[c.ATTEMPTS] >= steps
    return path[:, 0]


def rail(origin, cart, name="rail", **options):
    return Prismatic(origin, cart, X, name=name, **options)


def one(origin, cart, **options):
    return [rail(origin, cart, **options)]


def two(origin, cart, **options):
    """Return two rails, the second of which closes a loop."""
    return [rail(origin, cart, **options), rail(origin, cart, "other", **options)]


@pytest.mark.parametrize("rails", [one, two])
def test_a_spring_swings_a_cart_in_its_time(rails):
    """A spring of 8 N/m, or two of 4, at 2 kg; the speed at first is that of half a step before."""
    m = carrying(lambda *ends: rails(*ends, spring=8.0 if rails is one else 4.0))
    far = cart_of(m, [1.0, 0.0, 0.0, FAST], 300)[:, 0]
    np.testing.assert_allclose(far, np.cos(2.0 * H * (np.arange(301) + 0.5)), atol=1e-4)


@pytest.mark.parametrize("rails", [one, two])
@pytest.mark.parametrize("scaling", [None, 1.0, 0.02])
def test_an_input_gives_its_impulse(rails, scaling):
    m = carrying(rails, scaling=scaling)
    u = np.zeros((30, len(m.joints)))
    u[:, :-1] = 2.0 * np.sin(np.arange(30))[:, None]
    v = cart_of(m, [0.0, 0.5, 0.0, FAST], 30, u)[:, 3]
    given = (scaling or H) * u[:, :-1].sum(axis=1) / 2.0
    np.testing.assert_allclose(v, 0.5 + np.r_[0.0, np.cumsum(given)], rtol=1e-9)


@pytest.mark.parametrize("damper", [40.0, 1e3])
def test_a_damper_lets_an_input_drive_a_cart_as_fast_as_it_does(damper):
    m = carrying(lambda *ends: one(*ends, damper=damper))
    v = cart_of(m, [0.0, 0.0, 0.0, FAST], 500, np.array([[8.0, 0.0]]))[-1, 3]
    assert v == pytest.approx(8.0 / damper, rel=1e-8)


def test_a_pendulum_that_hangs_still_stays_so():
    """Its hinge takes gravity in every part, and so in what velocities of parts are lengthened by."""
    m = carrying(lambda *ends: [Revolute(*ends, X, child_vertex=Z, name="hinge")], gravity=-9.81)
    path = cart_of(m, [0.0, 0.0, 0.0, FAST], 30)
    np.testing.assert_allclose(path[:, 3:6], 0.0, atol=1e-9)
    np.testing.assert_allclose(path[:, 10:], 0.0, atol=1e-9)


@pytest.mark.parametrize(("erp", "cfm"), [(1.0, 0.05), (0.2, 0.01), (0.6, 0.0)])
def test_a_soft_stop_gives_way_as_far_as_in_whole_steps(erp, cfm):
    """CFM h F/ERP, as springs of ERP/(h CFM) do; without CFM it comes back to its bound."""
    m = carrying(lambda *ends: one(*ends, joint_limits=(-1.0, 1.0), stop_softness=(erp, cfm), damper=20.0))
    x = cart_of(m, [-1.01, 0.0, 0.0, FAST], 300, np.array([[-5.0, 0.0]]))[-1, 0]
    assert -1.0 - x == pytest.approx(cfm * H * 5.0 / erp, rel=4e-3, abs=1e-6)


def test_a_soft_contact_gives_way_as_far_as_in_whole_steps():
    def touched(origin, cart):
        return [Prismatic(origin, cart, Z, name="lift")]

    m = carrying(touched, gravity=-10.0)
    m = Mechanism(
        m.origin, m.bodies, m.joints, contact_constraint(m.bodies[0], (0, 0, 1), softness=(0.2, 0.01)), timestep=H,
        gravity=-10.0,
    )  # fmt: skip
    z = cart_of(m, [0.05, 0.0, 0.0, FAST], 400)[-1, 2]
    assert -z == pytest.approx(0.01 * H * 20.0 / 0.2, rel=4e-3)


def test_parts_are_of_second_order():
    """A pendulum with a spring, pushed by an input: half the step, a quarter of the error."""

    def angle(h):
        m = carrying(lambda *ends: [Revolute(*ends, Y, child_vertex=Z, spring=3.0, name="hinge")], gravity=-9.81)
        m.timestep = h
        x = minimal_to_maximal(m, [0.5, 0.0, 0.0, 1.9 / h])
        start = SolverOptions(rtol=1e-11, nodal_start=True)
        path = rollout(m, x, round(0.5 / h), np.array([[2.0, 0.0]]), options=start)
        assert m.last[c.ATTEMPTS] >= round(0.5 / h)
        return path[-1, 0]

    near = [angle(h) for h in (0.02, 0.01, 0.005)]
    assert (near[0] - near[1]) / (near[1] - near[2]) == pytest.approx(4.0, rel=0.1)
