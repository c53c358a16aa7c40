"""Bricard's linkage on the core itself: one more constraint than there are freedoms to take, and it moves all the same.

Five rods of 1 m and 1 kg, 0.1 m wide and high, along the edges of a cube, and the sixth edge stands: the benchmark A04
of the Library of Computational Benchmark Problems (González, Dopico, Lugrís, Cuadrado 2006), gravity along −y.
"""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.geometry.pose import rotate
from cbsim.multibody import (
    Body,
    Mechanism,
    Origin,
    Revolute,
    SolverOptions,
    get_maximal_state,
    mechanical_energy,
    rollout,
    simulate,
)

RODS = np.array([[1, 0, 0], [0, -1, 0], [0, 0, 1], [-1, 0, 0], [0, 1, 0]], float)
AXES = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]], float)
CORNER = 1  # the rod at whose end the point stands that is published
AT_REST = SolverOptions(nodal_start=True)
PUBLISHED = {
    0.5: (0.77471781, -0.97981505, -0.19990616),
    1.0: (0.27448132, -0.88670794, -0.46233000),
    1.25: (-0.00230610, -0.86602694, -0.49999734),
}


def bricard(timestep=0.01):
    """Rods with the axes of the world at first, each from the end of the one before."""
    origin = Origin()
    bodies = [Body(1.0, np.diag(1.01 - 0.99 * rod**2) / 12.0, name=f"rod {k}") for k, rod in enumerate(RODS)]
    joints, before, end = [], origin, np.zeros(3)
    for body, rod, axis in zip(bodies, RODS, AXES, strict=False):
        joints.append(Revolute(before, body, axis, parent_vertex=end, child_vertex=-0.5 * rod))
        before, end = body, 0.5 * rod
    joints.append(Revolute(origin, before, AXES[5], parent_vertex=(0, 0, 1), child_vertex=end, name="last"))
    return Mechanism(origin, bodies, joints, timestep=timestep, gravity=(0.0, -9.81, 0.0))


def ends(z):
    """Both ends (2, steps, rods, 3) of the rods."""
    z = np.asarray(z).reshape(len(z), -1, 13)
    halves = np.array([[rotate(row[6:10], 0.5 * rod) for row, rod in zip(state, RODS, strict=True)] for state in z])
    return z[..., :3] - halves, z[..., :3] + halves


def open_by(z):
    """How far joints are open, at most [m]."""
    low, high = ends(z)
    gaps = [low[:, 0], low[:, 1:] - high[:, :-1], high[:, -1] - (0, 0, 1)]
    return max(float(np.abs(gap).max()) for gap in gaps)


def test_it_goes_where_others_have_it_go():
    """Errors of the second order in the step: extrapolated from two of them, the published digits."""
    ways = []
    for h in (0.005, 0.0025):
        path = rollout(bricard(h), get_maximal_state(bricard(h)), round(1.25 / h), options=AT_REST)
        assert open_by(path) < 1e-8
        ways.append(np.array([ends(path[[round(t / h)]])[1][0, CORNER] for t in PUBLISHED]))
    finest = (4.0 * ways[1] - ways[0]) / 3.0
    np.testing.assert_allclose(finest, list(PUBLISHED.values()), atol=2e-5)


@pytest.mark.slow
def test_for_a_minute_it_stays_closed_and_keeps_its_energy():
    linkage = bricard()
    storage = simulate(linkage, 6000)
    assert storage.is_solved.all()
    z = np.concatenate([storage.x, storage.v, storage.q, storage.w], axis=2)
    assert open_by(z[::50]) < 1e-6
    energy = mechanical_energy(linkage, storage)
    scale = 5 * 9.81  # all rods fall by a metre or so
    assert np.ptp(energy[:3000]) < 1e-2 * scale
    assert abs(energy[-3000:].mean() - energy[:3000].mean()) < 1e-3 * scale
