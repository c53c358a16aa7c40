"""Piles of spheres in a walled box: every step has a solution, and no energy comes from nowhere."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.dynamics.kernels import columns as c
from cbsim.multibody import Collider, Floating, HalfSpace, Mechanism, Origin, Sphere, ground, rollout

G, H, RADIUS, MASS = 9.81, 0.01, 0.1, 1.0


def pile(count: int, friction: float = 0.5, seed: int = 1) -> tuple[Mechanism, np.ndarray, float]:
    """Spheres in layers above the ground of a box, its mechanism, and half of its width [m]."""
    side = max(2, round((count / 1.3) ** (1 / 3)))
    half = 1.1 * RADIUS * side + 0.01
    grid = np.array([[k % side, k // side % side, k // side**2] for k in range(count)], float)
    places = 2.2 * RADIUS * (grid + np.array([0.5, 0.5, 1.0])) - np.array([half - 0.01, half - 0.01, 0.0])
    places += np.random.default_rng(seed).uniform(-0.008, 0.008, places.shape)
    origin = Origin()
    bodies = [Sphere(RADIUS, mass=MASS).body(name=f"sphere {k}") for k in range(count)]
    walls = [
        Collider(origin, HalfSpace(normal, position_offset=-half * np.array(normal)), friction)
        for normal in ([1.0, 0, 0], [-1.0, 0, 0], [0, 1.0, 0], [0, -1.0, 0])
    ]
    colliders = [ground(origin, friction_coefficient=friction), *walls]
    colliders += [Collider(body, Sphere(RADIUS), friction) for body in bodies]
    state = np.zeros((count, 13))
    state[:, :3], state[:, 6] = places, 1.0
    made = Mechanism(origin, bodies, [Floating(origin, b) for b in bodies], colliders=colliders, timestep=H)
    return made, state.ravel(), half


def overlap(places: np.ndarray, half: float) -> float:
    """Deepest penetration of spheres into one another, the ground and the walls [m]."""
    apart = np.linalg.norm(places[:, None] - places[None], axis=2) + 9.0 * np.eye(len(places))
    to_walls = half - RADIUS - np.abs(places[:, :2])
    return max(0.0, 2.0 * RADIUS - apart.min(), RADIUS - places[:, 2].min(), -to_walls.min())


def energy(states: np.ndarray) -> np.ndarray:
    """Kinetic energy of whole steps, and potential energy half way through each [J].

    Steps that were made in parts are left out: their velocities are those of the last part.
    """
    moved = (states[1:, :, :3] - states[:-1, :, :3]) / H
    whole = np.abs(moved - states[1:, :, 3:6]).max(axis=(1, 2)) < 1e-9
    assert whole.mean() > 0.9
    squares = MASS * states[1:, :, 3:6] ** 2 + 0.4 * MASS * RADIUS**2 * states[1:, :, 10:13] ** 2
    height = 0.5 * (states[1:, :, 2] + states[:-1, :, 2]).sum(axis=1)
    return (0.5 * squares.sum(axis=(1, 2)) + MASS * G * height)[whole]


@pytest.mark.parametrize(("count", "friction", "steps"), [(100, 0.5, 300), (60, 0.1, 150), (60, 1.0, 150)])
def test_spheres_that_fall_into_a_box_come_to_rest_without_overlap_or_added_energy(count, friction, steps):
    mechanism, state, half = pile(count, friction)
    states = rollout(mechanism, state, steps).reshape(steps + 1, count, 13)  # a StepError if one has no solution
    assert mechanism.last[c.STATUS] == c.SOLVED
    assert max(overlap(state[:, :3], half) for state in states) < 1e-6
    total = energy(states)
    # in free fall the sum is constant; a contact takes of it
    assert np.diff(total).max() < 1e-6 * total[0]
    assert total[-1] < total[0]
    if steps * H > 2.5:
        assert 0.5 * MASS * (states[-1, :, 3:6] ** 2).sum() / count < 1e-3


def test_a_pile_settles_to_carry_its_weight():
    count, steps = 60, 200
    mechanism, state, _ = pile(count)
    states = rollout(mechanism, state, steps).reshape(steps + 1, count, 13)
    # all of the weight is borne: momentum is constant, over a tenth of a second
    momentum = MASS * states[-10:, :, 5].sum(axis=1)
    assert np.abs(np.diff(momentum)).max() < 1e-3 * count * MASS * G * H
