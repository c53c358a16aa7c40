"""Spheres dropped into a walled box: every step is made, warm starts hold, and nothing penetrates or gains energy."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.dynamics.kernels import columns as c
from cbsim.multibody import Collider, Floating, HalfSpace, Mechanism, Origin, Sphere, ground, rollout

RADIUS, FRICTION, H = 0.1, 0.5, 0.01


def pile(count):
    """Spheres layer over layer in a box about as wide as they are high, and its width."""
    side = max(2, round((count / 1.3) ** (1 / 3)))
    width = 2.2 * RADIUS * side + 0.02
    random = np.random.default_rng(1)
    grid = np.array([[k % side, k // side % side, k // side**2] for k in range(count)], float)
    places = 2.2 * RADIUS * (grid + np.array([0.5, 0.5, 1.0])) - np.array([0.5 * width - 0.01, 0.5 * width - 0.01, 0.0])
    origin = Origin()
    bodies = [Sphere(RADIUS, mass=1.0).body(name=f"sphere {k}") for k in range(count)]
    colliders = [ground(origin, friction_coefficient=FRICTION)]
    colliders += [
        Collider(origin, HalfSpace(normal, position_offset=-0.5 * width * normal), FRICTION)
        for normal in np.array([[1.0, 0, 0], [-1.0, 0, 0], [0, 1.0, 0], [0, -1.0, 0]])
    ]
    colliders += [Collider(body, Sphere(RADIUS), FRICTION) for body in bodies]
    z = np.zeros((count, 13))
    z[:, :3], z[:, 6] = places + random.uniform(-0.008, 0.008, places.shape), 1.0
    made = Mechanism(origin, bodies, [Floating(origin, b) for b in bodies], colliders=colliders, timestep=H)
    return made, z.ravel(), width


def energy(z):
    spin = 0.5 * 0.4 * RADIUS**2 * (z[..., 10:13] ** 2).sum(axis=(-1, -2))
    return 0.5 * (z[..., 3:6] ** 2).sum(axis=(-1, -2)) + spin + 9.81 * z[..., 2].sum(axis=-1)


@pytest.mark.parametrize(("count", "steps"), [(50, 170), (100, 120)])
def test_spheres_fall_into_a_box_and_jam(count, steps):
    """A hundred stopped with a StepError after 60 steps, and fifty took 79 iterations a step once they were jammed."""
    m, z, width = pile(count)
    iterations, attempts, path = 0.0, 0.0, []
    for _ in range(0, steps, 10):
        nodes = rollout(m, z, 10)
        z = nodes[-1]
        path.append(nodes[1:])
        iterations, attempts = iterations + m.last[c.ITERATIONS], attempts + m.last[c.ATTEMPTS]
    z = np.concatenate(path).reshape(steps, count, 13)
    assert m.last[c.ITERATIONS] < 10 * 35, "the last ten steps"
    assert iterations < 60 * steps
    assert attempts < 0.3 * steps, "of which most would be warm starts that fail"
    apart = np.linalg.norm(z[-1, :, None, :3] - z[-1, None, :, :3], axis=2) + 9.0 * np.eye(count)
    assert apart.min() > 2.0 * RADIUS - 1e-6
    assert z[:, :, 2].min() > RADIUS - 1e-6
    assert np.abs(z[:, :, :2]).max() < 0.5 * width - RADIUS + 1e-6
    # velocities are those of the half step before a node, in which gravity does work
    assert np.diff(energy(z)).max() < count * (9.81 * H) ** 2
