"""Derivatives that kernels write down, each by itself: what they are of, moved a little either way.

Rows of the blueprint that this stands for: `integrator` (here the whole step of a free body, by complex steps),
`mrp` (here rotation vectors: there is no other chart), `impulse_map` (displacements of joints by what they let free,
and that impulses of constraints do no work along it), and the derivative families of `collisions`. Dojo's derivatives
of impulses by configurations have no counterpart: they are in the gradients of a step (`blueprint/test_data.py`).
"""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.kernels.gradients.tables import turning
from cbsim.dynamics.kernels.minimal import exponential
from cbsim.dynamics.kernels.vectors import rotation_vector, slope_of_vector
from cbsim.geometry.pose import multiply
from cbsim.multibody import (
    Body,
    Floating,
    Mechanism,
    Origin,
    SolverOptions,
    contact_normal,
    contact_tangent,
    get_maximal_gradients,
    get_maximal_state,
    get_sdf,
    step,
)
from cbsim.multibody.gallery import snake
from tests.dynamics.probe import AIM, KEEP, MOVE, SEE, Iterate
from tests.dynamics.test_newton_direction import PAIRS, TURNED, at_random, two_bodies
from tests.multibody.common import KINDS, X, Y, Z
from tests.multibody.twin import Twin

ANGLES = (1e-12, 1e-5, 1.1e-3, 0.01, 0.9, 3.0, 3.15, 5.5, 6.1)


def differences(f, n, e=1e-3):
    """Derivative of f, a function of n numbers; four points along each direction."""

    def once(e):
        return np.array([(f(d) - f(-d)) / (2.0 * e) for d in e * np.eye(n)]).T

    return (4.0 * once(e) - once(2.0 * e)) / 3.0


@pytest.mark.parametrize("angle", ANGLES)
def test_the_slope_of_a_rotation_vector_is_that_of_the_logarithm(angle):
    axis = np.array([0.48, 0.6, -0.64])
    vector = angle * axis
    q = np.array(exponential(*vector))
    np.testing.assert_allclose(rotation_vector(*q), vector, rtol=0, atol=1e-14)

    def moved(f):
        return np.array(rotation_vector(*multiply(q, exponential(*f))))

    slope = np.array([slope_of_vector(*vector, *e) for e in np.eye(3)]).T
    tolerance = 1e-9 / abs(np.sin(0.5 * angle)) if angle > 3.5 else 1e-9  # singular at a whole turn
    np.testing.assert_allclose(slope, differences(moved, 3, e=1e-4 if angle > 3.5 else 1e-3), rtol=0, atol=tolerance)
    back = np.array([turning(*vector, *e) for e in np.eye(3)]).T
    np.testing.assert_allclose(back @ slope, np.eye(3), rtol=0, atol=1e-12)


def product(p, q):
    return np.concatenate([[p[0] * q[0] - p[1:] @ q[1:]], p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:])])


def increment(w, h):
    p = 0.5 * h * w
    return np.concatenate([[np.sqrt(1.0 - p @ p)], p])


def free_step(x, v, q, w, inertia, gravity, h):
    """A free body's step in plain words (docs/theory/integrator.md §2, §3), of complex numbers too."""

    def leaving(w, sign):
        return increment(w, h)[0] * (inertia @ w) + sign * 0.5 * h * np.cross(w, inertia @ w)

    want, after = leaving(w, -1.0), w
    for _ in range(50):
        after = after + np.linalg.solve(inertia, want - leaving(after, 1.0))
    v = v + h * gravity
    return x + h * v, v, product(q, increment(after, h)), after


@pytest.mark.parametrize("seed", range(4))
def test_a_free_bodys_step_has_the_gradient_that_complex_steps_find(seed):
    random = np.random.default_rng(seed)
    a = random.normal(size=(3, 3))
    inertia, h = np.diag([1.0, 1.2, 1.4]) + 0.1 * (a + a.T), 0.01
    origin, body = Origin(), Body(1.3, inertia)
    m = Mechanism(origin, [body], [Floating(origin, body)], timestep=h)
    x, v, w = random.normal(size=(3, 3)) * [[1.0], [2.0], [8.0]]
    q = np.array(exponential(*random.normal(size=3)))
    z, options = np.concatenate([x, v, q, w]), SolverOptions(rtol=1e-14)
    after = step(m, z, options=options)
    want = np.empty((12, 12))
    for k in range(12):
        d = np.zeros(12, complex)
        d[k] = 1e-30j
        turn = product(q, np.concatenate([[1.0], d[6:9]]))  # half a rotation vector
        nx, nv, nq, nw = free_step(x + d[:3], v + d[3:6], turn, w + d[9:], inertia, m.gravity, h)
        phi = product(after[6:10] * (1, -1, -1, -1), nq)[1:]
        want[:, k] = np.concatenate([nx, nv, phi, nw]).imag * 1e30
        np.testing.assert_allclose(np.concatenate([nx, nv, nq, nw]).real, after, rtol=0, atol=1e-12)
    by_state, _ = get_maximal_gradients(m, z, options=options)
    np.testing.assert_allclose(by_state, want, rtol=0, atol=1e-12)


def motion(before, after):
    """Motion between two poses (x, q): translation, and rotation vector in the world."""
    turn = multiply(after[3:7], before[3:7] * (1.0, -1.0, -1.0, -1.0))
    return np.concatenate([after[:3] - before[:3], rotation_vector(*turn)])


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_joint_lets_free_is_how_it_moves_its_child(kind):
    m = snake(2, joint=kind, axes=X + Y + Z, orientation_offset=TURNED, gravity=-9.81, timestep=0.02)
    iterate = Iterate(m, at_random(m), np.ones(m.compiled.inputs))
    iterate.scatter(np.random.default_rng(2), 0.3)
    iterate.do(SEE)
    iterate.do(AIM)
    iterate.do(KEEP)
    link_work, dof = iterate.work.link_work, m.joints[1].dof
    here = link_work[1, c.X3 : c.X3 + 7].copy()

    def moved(d):
        link_work[:, c.STEP : c.STEP + 6] = 0.0
        link_work[1, c.STEP : c.STEP + dof] = d
        iterate.do(MOVE, 1.0)
        iterate.do(SEE)
        return motion(here, link_work[1, c.X3 : c.X3 + 7])

    free = link_work[1, c.RIGHT : c.RIGHT + 6 * dof].reshape(dof, 6).copy()
    if dof:
        np.testing.assert_allclose(free.T, differences(moved, dof), rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_impulses_of_a_constraint_do_no_work_along_what_its_joint_lets_free(kind):
    m = snake(2, joint=kind, axes=X + Y + Z, orientation_offset=TURNED, gravity=-9.81)
    z = at_random(m).reshape(-1, 13)
    link_work, joint, twin = Iterate(m, z, np.ones(m.compiled.inputs)).work.link_work, m.joints[1], Twin(m)
    free = link_work[1, c.LEFT : c.LEFT + 6 * joint.dof].reshape(-1, 6)
    assert np.linalg.matrix_rank(free, tol=1e-6) == joint.dof if joint.dof else not len(free)
    if joint.dof == 6:
        return  # nothing is constrained

    def rows(d):
        x, q = z[:, :3].copy(), z[:, 6:10].copy()
        x[1] += d[:3]
        q[1] = multiply(exponential(*d[3:]), q[1])
        return twin.rows(joint, x, q)

    gradient = differences(rows, 6)
    np.testing.assert_allclose(gradient @ free.T, 0.0, atol=1e-10)
    assert np.linalg.matrix_rank(gradient, tol=1e-6) == 6 - joint.dof


@pytest.mark.parametrize("pair", PAIRS)
def test_gap_slip_and_normal_of_two_bodies_change_as_contacts_say(pair):
    m = two_bodies(pair, "nonlinear")
    iterate = Iterate(m, placed(m), np.ones(12))
    iterate.scatter(np.random.default_rng(3), 0.02)
    iterate.do(SEE)
    iterate.do(AIM)
    iterate.do(KEEP)
    link_work, (contact_work,) = iterate.work.link_work, iterate.work.contact_work
    one, other = m.compiled.model.contact_link[0, [c.ONE, c.OTHER]]
    slopes = contact_work[c.GRADIENT : c.GRADIENT + 36].reshape(3, 12).copy()
    bend = contact_work[c.BEND : c.BEND + 9].reshape(3, 3).copy()

    def moved(d):
        link_work[one, c.STEP : c.STEP + 6], link_work[other, c.STEP : c.STEP + 6] = d[:6], d[6:]
        iterate.do(MOVE, 1.0)
        iterate.do(SEE)
        return np.concatenate([contact_work[[c.GAP, c.SLIP, c.SLIP + 1]], contact_work[c.AXES : c.AXES + 3]])

    want = differences(moved, 12)
    np.testing.assert_allclose(slopes, want[:3], rtol=0, atol=1e-8 * np.abs(slopes).max())
    np.testing.assert_allclose(bend, want[3:, :3], rtol=0, atol=1e-8)
    np.testing.assert_allclose(bend, -want[3:, 6:9], rtol=0, atol=1e-8)


def placed(m):
    z = get_maximal_state(m).reshape(-1, 13)
    z[0, :3], z[1, :3], z[0, 6:10] = (0.5, 0.6, 0.9), (0.0, 0.1, -0.1), TURNED
    return z


@pytest.mark.parametrize("pair", PAIRS)
def test_kernels_see_contacts_where_descriptions_put_them(pair):
    m = two_bodies(pair, "nonlinear")
    iterate = Iterate(m, placed(m), np.ones(12))
    iterate.scatter(np.random.default_rng(4), 0.05)
    iterate.do(SEE)
    (contact_work,), (contact,), (first, second) = iterate.work.contact_work, m.contacts, iterate.work.link_work
    where = first[c.X3 : c.X3 + 3], first[c.Q3 : c.Q3 + 4], second[c.X3 : c.X3 + 3], second[c.Q3 : c.Q3 + 4]
    assert contact_work[c.GAP] == pytest.approx(get_sdf(contact, *where), abs=1e-14)
    axes = contact_work[c.AXES : c.AXES + 9].reshape(3, 3)
    np.testing.assert_allclose(axes[0], contact_normal(contact, *where), rtol=0, atol=1e-14)
    np.testing.assert_allclose(axes[1:], contact_tangent(contact, *where), rtol=0, atol=1e-14)
