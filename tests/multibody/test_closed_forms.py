"""Motions that are known exactly: recursions to rounding, differential equations to their order."""

import numpy as np
import pytest

from cbsim.geometry.pose import rotate
from cbsim.multibody import (
    Box,
    Floating,
    Mechanism,
    Origin,
    Prototype,
    SolverOptions,
    contact_constraint,
    generate_storage,
    kinetic_energy,
    maximal_to_minimal,
    mechanical_energy,
    minimal_to_maximal,
    momentum,
    rollout,
    set_limits,
    simulate,
    zero_velocities,
)
from cbsim.multibody.gallery import chain, dzhanibekov, fourbar, pendulum, slider, sphere, tippetop, top
from tests.multibody.common import EXACT, Z, angles_of

G = 9.81
NODAL = SolverOptions(rtol=1e-12, nodal_start=True)


def recursion(theta, rate, h, steps, *, spring=0.0, torque=0.0, inertia=1.01 / 12 + 0.25):
    """Sin D_k − sin D_{k−1} = −(h²/I)(m g l sin θ + k θ) + h² u / I."""
    out, before = [theta], rate * h
    for _ in range(steps):
        push = -G * 0.5 * np.sin(out[-1]) - spring * out[-1] + torque
        before = np.arcsin(np.sin(before) + h * h / inertia * push)
        out.append(out[-1] + before)
    return np.array(out)


@pytest.mark.parametrize("h", [0.01, 0.05])
@pytest.mark.parametrize(("spring", "torque"), [(0.0, 0.0), (3.0, 0.7)])
def test_a_pendulum_follows_its_recursion_to_rounding(h, spring, torque):
    m = pendulum(spring=spring, timestep=h)
    z = minimal_to_maximal(m, (np.pi / 4, 0.0))
    seen = angles_of(m, rollout(m, z, 200, [torque], options=EXACT))[:, 0]
    np.testing.assert_allclose(seen, recursion(np.pi / 4, 0.0, h, 200, spring=spring, torque=torque), atol=1e-12)
    if (h, spring) == (0.01, 0.0):
        assert seen[-1] == pytest.approx(0.3573894452242604, abs=1e-12)


def test_a_pendulums_energy_is_off_by_the_square_of_the_step_and_never_drifts():
    errors = []
    for h in (0.05, 0.01, 0.002):
        m = pendulum(timestep=h)
        energy = mechanical_energy(
            m, simulate(m, round(50 / h), minimal_to_maximal(m, (np.pi / 4, 0.0)), options=EXACT)
        )
        errors.append(np.ptp(energy))
        late, early = energy[len(energy) // 2 :], energy[: len(energy) // 2]
        assert np.ptp(late) == pytest.approx(np.ptp(early), rel=0.02)
    slopes = np.diff(np.log(errors)) / np.log(0.2)
    np.testing.assert_allclose(slopes, 2.0, atol=0.1)


def test_a_pendulums_energy_stays_bounded_over_a_hundred_thousand_steps():
    m = pendulum()
    path = rollout(m, minimal_to_maximal(m, (np.pi / 4, 0.0)), 100_000, options=EXACT)
    energy = mechanical_energy(m, generate_storage(m, path))[:-1]
    early, late = energy[:10_000], energy[-10_000:]
    assert np.ptp(late) == pytest.approx(6.05e-4, rel=0.01)
    assert abs(late.mean() - early.mean()) < 1e-6


def test_a_slider_on_a_spring_is_the_discrete_cosine():
    h, m = 0.01, slider(spring=10.0, mass=2.0, gravity=0.0)
    w = 2.0 / h * np.arcsin(0.5 * h * np.sqrt(10.0 / 2.0))
    k = np.arange(301)
    seen = angles_of(m, rollout(m, minimal_to_maximal(m, (0.3, 0.0)), 300, options=EXACT))[:, 0]
    np.testing.assert_allclose(seen, 0.3 * np.cos(w * h * (k + 0.5)) / np.cos(0.5 * w * h), atol=1e-12)


def test_a_damper_slows_by_the_same_share_in_every_step():
    m = slider(damper=0.7, mass=2.0, gravity=0.0)
    path = rollout(m, minimal_to_maximal(m, (0.0, 1.5)), 100, options=EXACT)
    left = (2.0 - 0.5 * 0.01 * 0.7) / (2.0 + 0.5 * 0.01 * 0.7)
    np.testing.assert_allclose(path[:, 5], 1.5 * left ** np.arange(101.0), atol=1e-13)


def test_what_falls_freely_falls_by_the_sum_of_the_steps():
    m = slider()
    n, h = np.arange(101.0), 0.01
    path = rollout(m, minimal_to_maximal(m, (1.0, 0.4)), 100, options=EXACT)
    np.testing.assert_allclose(path[:, 2], 0.5 + n * h * 0.4 - G * h * h * n * (n + 1) / 2, atol=1e-12)


@pytest.mark.parametrize("h", [0.01, 0.1])
def test_a_free_body_keeps_its_angular_momentum_and_its_energy(h):
    m = top(timestep=h)
    z = np.array([0, 0, 0, 1, 2, 3, 1, 0, 0, 0, 0.01, 5.0, 0.01], float)
    s = simulate(m, 1000, z, options=EXACT)
    turning = rotate(s.q, s.pq)[:, 0]
    assert np.abs(turning - turning[0]).max() < 1e-10 * np.abs(turning[0]).max() * 10
    energy = kinetic_energy(m, s)
    assert np.abs(energy - energy[0]).max() < 1e-10 * energy[0]
    assert np.abs(momentum(m, s) - momentum(m, s)[0]).max() < 1e-9


def test_a_free_body_turns_as_eulers_equations_say():
    seen = []
    for h in (0.01, 0.005):
        m = top(timestep=h)
        z = np.array([0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0.01, 5.0, 0.01], float)
        s = simulate(m, round(5 / h) + 1, z, options=NODAL)
        seen.append(np.concatenate([s.wl[round(1 / h), 0], s.wl[round(5 / h), 0], s.q[round(1 / h), 0]]))
    want = [-0.06488260954, 4.999589007806, 0.03833950539, -0.011325693901, -4.999997172865, 0.010460582239,
            -0.80113211, 0.00176343, 0.59843994, 0.00733909]  # fmt: skip
    np.testing.assert_allclose((4.0 * seen[1] - seen[0]) / 3.0, want, atol=2e-5)
    assert np.abs(seen[1] - want).max() < 0.3 * np.abs(seen[0] - want).max()  # second order


DOUBLE = {0.5: (0.12002695, 0.40287361), 1.0: (-0.61187107, -0.81190549), 2.0: (0.24256677, 0.64144546)}


def richardson(make, start, times, options, steps=(0.01, 0.005)):
    """Angles at some times, extrapolated from two step lengths; and those of the longer one."""
    seen = []
    for h in steps:
        m = make(h)
        path = rollout(m, start(m), round(max(times) / h), options=options)
        seen.append(angles_of(m, [path[round(t / h)] for t in times]))
    return (4.0 * seen[1] - seen[0]) / 3.0, seen[0]


def test_a_double_pendulum_follows_its_equations_of_motion():
    got, rough = richardson(
        lambda h: chain(2, timestep=h), lambda m: minimal_to_maximal(m, (np.pi / 4, 0, 0, 0)), DOUBLE, NODAL
    )
    want = np.array(list(DOUBLE.values()))
    np.testing.assert_allclose(np.cumsum(got, axis=1), want, atol=2e-5)
    assert 1e-5 < np.abs(np.cumsum(rough, axis=1) - want).max() < 2e-3


def test_the_fourth_order_composition_is_of_fourth_order():
    errors = []
    for h in (0.05, 0.025):
        m = chain(2, timestep=h)
        options = SolverOptions(rtol=1e-12, nodal_start=True, order=4)
        path = rollout(m, minimal_to_maximal(m, (np.pi / 4, 0, 0, 0)), round(1 / h), options=options)
        errors.append(np.abs(np.cumsum(angles_of(m, path[-1:])[0]) - DOUBLE[1.0]).max())
    assert errors[0] / errors[1] > 12.0
    assert errors[1] < 2e-5


FOURBAR = {0.5: (0.04897768, 0.37903148), 1.0: (-0.51093562, -0.84250044), 2.0: (0.32394676, 0.43973876)}


def test_a_four_bar_follows_its_equations_of_motion_and_keeps_its_loop():
    a, b = np.pi / 4 + 0.25, np.pi / 4 - 0.25
    got, _ = richardson(
        lambda h: fourbar(timestep=h), lambda m: minimal_to_maximal(m, (a, 0, b - a, 0, b, 0, a - b, 0)), FOURBAR, NODAL
    )
    np.testing.assert_allclose(got[:, [0, 2]], list(FOURBAR.values()), atol=5e-5)
    np.testing.assert_allclose(got[:, 0] + got[:, 1], got[:, 2], atol=1e-5)


def sledge(friction, gravity=-G, contact_type="nonlinear", h=0.01):
    """A body that touches the ground with its centre of mass, so that it never tips."""
    origin, box = Origin(), Box(0.5, 0.5, 0.5, mass=1.0).body(name="sledge")
    contact = contact_constraint(box, Z, friction_coefficient=friction, contact_type=contact_type)
    return Mechanism(origin, [box], [Floating(origin, box)], contact, timestep=h, gravity=gravity)


def row(x=(0, 0, 0), v=(0, 0, 0), w=(0, 0, 0)):
    return np.array([*x, *v, 1, 0, 0, 0, *w], float)


FINE = SolverOptions(rtol=1e-8, btol=1e-8)


def test_a_block_slides_straight_and_stops_where_friction_stops_it():
    m = sledge(0.25)
    path = rollout(m, row(v=(4, 0.8, 0)), 250, options=FINE)
    speed = np.hypot(4, 0.8) - 0.01 * 0.25 * G * np.arange(1, 200)
    way = 0.01 * speed[speed > 0].sum()
    np.testing.assert_allclose(path[-1, :2], way * np.array([4, 0.8]) / np.hypot(4, 0.8), atol=1e-4)
    np.testing.assert_allclose(path[-1, :2], (3.3066040, 0.6613208), atol=1e-4)
    np.testing.assert_allclose(path[:, 1], 0.2 * path[:, 0], atol=1e-6)
    assert path[:, 2].min() > -1e-8


@pytest.mark.parametrize("degrees", [0.0, 22.5, 45.0])
@pytest.mark.parametrize("h", [0.01, 0.05])
def test_friction_brakes_the_same_in_every_direction(degrees, h):
    angle = np.radians(degrees)
    way = np.array([np.cos(angle), np.sin(angle)])
    end = rollout(sledge(0.25, h=h), row(v=(*(4.0 * way), 0)), round(2.5 / h), options=FINE)[-1, :2]
    speed = 4.0 - h * 0.25 * G * np.arange(1, round(2.5 / h))
    assert np.hypot(*end) == pytest.approx(h * speed[speed > 0].sum(), rel=1e-3)
    assert np.degrees(np.arctan2(end[1], end[0])) == pytest.approx(degrees, abs=0.01)


def test_a_pyramid_of_friction_drifts_off_the_straight_way():
    end = rollout(sledge(0.25, contact_type="linear"), row(v=(4, 0.8, 0)), 180, options=FINE)[-1, :2]
    np.testing.assert_allclose(end, (3.3583, 1.2866), atol=5e-3)


def test_without_friction_nothing_brakes():
    path = rollout(sledge(1.0, contact_type="impact"), row(v=(4, 0.8, 0)), 100, options=FINE)
    np.testing.assert_allclose(path[-1, :2], (4.0, 0.8), atol=1e-9)


def inclined(degrees):
    return G * np.array([np.sin(np.radians(degrees)), 0.0, -np.cos(np.radians(degrees))])


def test_a_block_slides_down_a_slope_steeper_than_its_friction():
    path = rollout(sledge(0.5, inclined(30.0)), row(), 100, options=FINE)
    assert path[-1, 0] == pytest.approx(0.3318584241908505, abs=5e-6)


def test_a_block_sticks_on_a_slope_that_is_flatter():
    path = rollout(sledge(0.5, inclined(20.0)), row(), 100, options=FINE)
    assert abs(path[-1, 3]) < 1e-5
    assert path[-1, 0] < 1e-5


def test_a_sliding_ball_ends_up_rolling_at_five_sevenths_of_its_speed():
    m = sphere(friction=0.2)
    s = simulate(m, 60, row((0, 0, 0.5), (2, 0, 0)), options=FINE)
    v, w = s.v[:, 0, 0], rotate(s.q, s.w)[:, 0, 1]
    np.testing.assert_allclose(v + 0.4 * 0.5 * w, 2.0, atol=1e-3)
    assert v[-1] == pytest.approx(10 / 7, abs=1e-3)
    assert w[-1] == pytest.approx(20 / 7, abs=2e-3)
    rolling = np.flatnonzero(np.abs(v - 0.5 * w) < 1e-2)[0] * 0.01
    assert rolling == pytest.approx(2 * 2 / (7 * 0.2 * G), abs=0.02)


def test_a_limit_stops_a_pendulum():
    m = pendulum(limits=(np.pi / 4, np.pi))
    s = simulate(m, 100, minimal_to_maximal(m, (0.4 * np.pi, 0)), options=SolverOptions(rtol=1e-5, btol=1e-5))
    angle = angles_of(m, [s.state(k) for k in range(100)])[:, 0]
    assert angle.min() > np.pi / 4 - 1e-5
    assert angle[-1] == pytest.approx(np.pi / 4, abs=1e-3)


def test_a_stop_carries_what_slides_onto_it():
    m = slider()
    set_limits(m, {m.joints[0].name: (-0.2, 1.0)})
    path = rollout(m, minimal_to_maximal(m, (0.0, 0.0)), 100, options=FINE)
    place = angles_of(m, path)[:, 0]
    assert place.min() > -0.2 - 1e-7
    assert place[-1] == pytest.approx(-0.2, abs=1e-6)
    assert abs(path[-1, 5]) < 1e-6


@pytest.mark.parametrize("kind", ["Cylindrical", "Orbital", "Spherical", "Planar", "PlanarAxis"])
def test_every_bound_of_a_joint_with_several_freedoms_holds(kind):
    origin, box = Origin(), Box(0.3, 0.4, 0.5, mass=1.0).body(name="box")
    joint = Prototype(kind, origin, box, (1, 1, 0), child_vertex=(0.3, 0.2, 0.1), joint_limits=(-0.3, 0.4), name="j")
    m = Mechanism(origin, [box], [joint], gravity=(3.0, -4.0, -5.0))
    x = np.zeros(2 * joint.dof)
    x[joint.dof :] = np.arange(1, joint.dof + 1)
    path = rollout(m, minimal_to_maximal(m, x), 200, options=FINE)
    seen = np.array([maximal_to_minimal(m, z)[: joint.dof] for z in path])
    assert seen.min() > -0.3 - 1e-6
    assert seen.max() < 0.4 + 1e-6
    assert np.abs(seen[-1]).max() > 0.29  # something did come to a stop


def test_the_intermediate_axis_turns_over():
    m = dzhanibekov()
    s = simulate(m, 400)
    rod = s.x[:, 1, 0]  # on one side of the common centre, a twelfth of a metre off, then on the other
    assert rod[0] == pytest.approx(0.25)
    assert rod.min() == pytest.approx(-1 / 12, abs=1e-4)
    assert np.flatnonzero(rod < -0.05)[0] * 0.01 == pytest.approx(1.49, abs=0.05)
    kept = momentum(m, s)
    assert np.abs(kept - kept[0]).max() < 1e-4  # the default tolerance, 400 times


@pytest.mark.parametrize("height", [0.0, 0.5])
def test_a_tippe_top_turns_over(height):
    s = simulate(tippetop(height=height), 600)
    up = rotate(s.q, Z)[:, 0, 2]
    assert 1.5 < np.flatnonzero(up < 0.0)[0] * 0.01 < 5.0
    assert up.min() < -0.9


@pytest.mark.parametrize("kappa", [1e-4, 1e-6])
def test_a_relaxed_contact_rests_at_kappa_over_the_impulse(kappa):
    m = sledge(0.5)
    relaxed = SolverOptions(rtol=1e-12, kappa=kappa)
    end = rollout(m, row((0, 0, kappa / (G * 0.01))), 3, options=relaxed)[-1]
    assert end[2] == pytest.approx(kappa / (G * 0.01), rel=1e-9)


def test_a_relaxed_contact_that_sticks_creeps_by_the_law():
    kappa, h, angle = 1e-4, 0.01, np.radians(20.0)
    load, grip = G * h * np.sin(angle), 0.5 * G * h * np.cos(angle)
    share = load / grip
    m = sledge(0.5, inclined(20.0))
    gap = kappa / (G * h * np.cos(angle))
    end = rollout(m, row((0, 0, gap), (kappa * share / (grip * (1 - share**2)), 0, 0)), 5,
                  options=SolverOptions(rtol=1e-12, kappa=kappa))[-1]  # fmt: skip
    assert end[3] == pytest.approx(3.3595284e-3, rel=1e-7)
    assert end[3] == pytest.approx(kappa * share / (grip * (1 - share**2)), rel=1e-9)
    assert gap == pytest.approx(1.0847888e-3, rel=1e-7)


@pytest.mark.parametrize(("push", "want"), [(0.05, 1.5311288742e-3), (0.1, 3.1622776602e-3), (0.15, 6.5311288741e-3)])
def test_a_relaxed_impact_is_the_root_of_its_quadratic(push, want):
    m = sledge(0.0, gravity=-1.0, contact_type="impact", h=0.1)
    m.input_scaling = 1.0
    u = np.array([0, 0, push, 0, 0, 0])
    end = rollout(m, row(), 1, u, options=SolverOptions(rtol=1e-14, kappa=1e-4))[-1]
    assert end[2] == pytest.approx(want, rel=1e-9)


def test_velocities_can_be_taken_away():
    m = pendulum()
    m.pose[:] = minimal_to_maximal(m, (0.3, 2.0)).reshape(1, 13)
    zero_velocities(m)
    assert not m.pose[:, 3:6].any()
    assert not m.pose[:, 10:].any()
    np.testing.assert_allclose(maximal_to_minimal(m, m.pose), (0.3, 0.0), atol=1e-12)
