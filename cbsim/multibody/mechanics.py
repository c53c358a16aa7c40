"""Energy and momentum of a trajectory, from what bodies have at the nodes (docs/theory/integrator.md §9)."""

from __future__ import annotations

import numpy as np

from cbsim.arrays import Floats
from cbsim.dynamics import energy
from cbsim.geometry.pose import rotate
from cbsim.multibody.mechanism import Mechanism
from cbsim.multibody.storage import Storage, check_storage

__all__ = ["kinetic_energy", "mechanical_energy", "momentum", "potential_energy"]


def kinetic_energy(mechanism: Mechanism, storage: Storage) -> Floats:
    """Kinetic energy (steps,) [J] at every node."""
    check_storage(mechanism, storage)
    mass = np.array([body.mass for body in mechanism.bodies])
    inertia = np.array([body.inertia for body in mechanism.bodies])
    moving = np.einsum("b,kbi,kbi->k", mass, storage.vl, storage.vl)
    turning = np.einsum("bij,kbi,kbj->k", inertia, storage.wl, storage.wl)
    return np.asarray(0.5 * (moving + turning))


def potential_energy(mechanism: Mechanism, storage: Storage) -> Floats:
    """Potential energy (steps,) [J] of gravity (zero at the origin) and springs, at every node."""
    check_storage(mechanism, storage)
    return energy.potential_energy(mechanism.spec, storage.x, storage.q)


def mechanical_energy(mechanism: Mechanism, storage: Storage) -> Floats:
    """Kinetic plus potential energy (steps,) [J] at every node."""
    return kinetic_energy(mechanism, storage) + potential_energy(mechanism, storage)


def momentum(mechanism: Mechanism, storage: Storage) -> Floats:
    """Momentum (steps, 6) in the world at every node: linear [N s], angular about the centre of mass of all [N m s].

    Means of what comes in and what goes out; the impulses of contacts are counted whole in what goes out.
    """
    check_storage(mechanism, storage)
    mass = np.array([body.mass for body in mechanism.bodies])
    linear = storage.px.sum(axis=1)
    share = mass / mass.sum()
    arm = storage.x - np.einsum("b,kbi->ki", share, storage.x)[:, None]
    own = storage.px - share[None, :, None] * linear[:, None]
    angular = (rotate(storage.q, storage.pq) + np.cross(arm, own)).sum(axis=1)
    return np.concatenate([linear, angular], axis=1)
