"""Effective masses: closed forms, and what a step of the core makes of a small push."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cbsim import multibody as mb
from cbsim.dynamics.compile import compile_mechanism
from cbsim.dynamics.effective_mass import EffectiveMasses
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.start_state import start_state
from cbsim.dynamics.workspaces import SolverWorkspaces
from cbsim.geometry.pose import rotate
from tests.coupling.test_anchored import klann, post


def inverse(spec, z, body, point, direction):
    return EffectiveMasses(compile_mechanism(spec), z).inverse(body, np.asarray(point, float), np.asarray(direction))


def upright(*places):
    z = np.zeros((len(places), 13))
    z[:, :3], z[:, 6] = places, 1.0
    return z


@pytest.mark.parametrize("mass", [1e-3, 1.0, 1e3])
def test_a_free_body_weighs_its_mass_through_its_centre_and_less_beside_it(mass):
    origin, body = mb.Origin(), mb.Box(1, 1, 2).body(mass=mass, name="b")
    spec = mb.Mechanism(origin, [body], [mb.Floating(origin, body)]).spec
    z = upright((3.0, 4.0, 5.0))
    assert inverse(spec, z, 0, (3.0, 3.5, 5.0), (0.0, 1.0, 0.0)) == pytest.approx(1.0 / mass)
    beside = 1.0 / mass + 0.4**2 / (mass * 2.0 / 12.0)
    assert inverse(spec, z, 0, (3.4, 3.5, 5.0), (0.0, 1.0, 0.0)) == pytest.approx(beside)
    assert inverse(spec, z, -1, (3.0, 3.5, 5.0), (0.0, 1.0, 0.0)) == 0.0


@pytest.mark.parametrize("mass", [1e-3, 1.0, 1e3])
def test_a_hinged_body_weighs_its_inertia_over_its_lever_squared_and_no_push_moves_it_at_the_hinge(mass):
    spec, z = post(mass).spec, upright((0.0, 0.0, 1.0))
    about = mass * 2.0 / 12.0
    assert inverse(spec, z, 0, (0.4, -0.5, 1.0), (0.0, 1.0, 0.0)) == pytest.approx(0.4**2 / about)
    assert inverse(spec, z, 0, (0.0, -0.5, 1.0), (0.0, 1.0, 0.0)) == 0.0
    assert inverse(spec, z, 0, (0.4, -0.5, 1.0), (0.0, 0.0, 1.0)) == 0.0


def test_loops_hold_a_leg_across_their_plane_and_let_it_move_in_it():
    description = klann(1.0)
    compiled = compile_mechanism(description.spec)
    masses = EffectiveMasses(compiled, start_state(description, compiled))
    leg, foot = 4, np.array([-1.5, 0.0, 0.4])
    assert masses.inverse(leg, foot, np.array([0.0, 1.0, 0.0])) == 0.0
    across, up = (masses.inverse(leg, foot, np.array(way)) for way in ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0)))
    assert max(across, up) > 1.0
    ways = [np.array([np.cos(a), 0.0, np.sin(a)]) for a in np.linspace(0.0, np.pi, 181)]
    assert min(masses.inverse(leg, foot, way) for way in ways) < 1e-3 * max(across, up)  # one freedom: one way


JOINTS = ["Fixed", "Revolute", "Orbital", "Spherical", "Prismatic", "Cylindrical", "PlanarAxis", "Floating"]


@settings(max_examples=15, deadline=None)
@given(st.lists(st.sampled_from(JOINTS), min_size=1, max_size=4), st.integers(0, 10**6), st.floats(-3.0, 3.0))
def test_a_step_of_the_core_gives_what_is_pushed_the_speed_that_its_effective_mass_says(kinds, seed, scale):
    """Over trees of any joints and masses 1e-3 to 1e3 kg, at random poses."""
    random, mass = np.random.default_rng(seed), 10.0**scale
    origin = mb.Origin()
    bodies, joints = [], []
    for k, kind in enumerate(kinds):
        size = random.uniform(0.2, 1.0, 3)
        bodies.append(mb.Box(*size).body(mass=mass * random.uniform(0.2, 2.0), name=f"b{k}"))
        parent = bodies[k - 1] if k else origin
        given_axis = () if kind in ("Fixed", "Spherical", "Floating") else (random.normal(size=3),)
        ends = {} if kind == "Floating" else {"parent_vertex": random.normal(size=3), "child_vertex": (0.2, 0.3, -0.1)}
        joints.append(getattr(mb, kind)(parent, bodies[k], *given_axis, name=f"j{k}", **ends))
    h = 1e-4
    made = mb.Mechanism(origin, bodies, joints, timestep=h, gravity=0.0)
    x = np.zeros(mb.minimal_dimension(made))
    first = 0
    for joint in joints:
        x[first : first + joint.dof] = random.uniform(-0.6, 0.6, joint.dof)
        first += 2 * joint.dof
    z = mb.minimal_to_maximal(made, x).reshape(-1, 13)
    body = int(random.integers(len(bodies)))
    arm, way = random.uniform(-0.5, 0.5, 3), random.normal(size=3)
    way /= np.linalg.norm(way)
    point, turn = z[body, :3] + rotate(z[body, 6:10], arm), z[body, 6:10] * (1.0, -1.0, -1.0, -1.0)
    push = 1e-3 * mass
    force, torque = rotate(turn, push / h * way), rotate(turn, np.cross(point - z[body, :3], push / h * way))
    after = pushed(made, z, body, force, torque)
    spin = rotate(z[body, 6:10], after[body, 10:13])
    gained = float(way @ (after[body, 3:6] + np.cross(spin, point - z[body, :3])))
    found = inverse(made.spec, z, body, point, way)
    assert found == pytest.approx(gained / push, rel=2e-3, abs=1e-4 / mass)


def pushed(mechanism, z, body, force, torque):
    """State after a step in which a force [N] and a torque [N m] act on a body, in its frame."""
    compiled, after, report = mechanism.compiled, z.copy(), np.zeros(c.REPORT)
    external = np.zeros((len(z), 6))
    external[body] = *force, *torque
    chosen = mb.SolverOptions(rtol=1e-12, btol=1e-12, warm_start=False)
    settings, counts = chosen.encode(mechanism.timestep, np.zeros(3), None, False)
    inputs = np.zeros((1, max(1, compiled.inputs)))
    SolverWorkspaces(compiled).advance(
        after, inputs, external, settings, counts, 1, np.zeros((0, 0, 13)), report, own=False
    )
    return after
