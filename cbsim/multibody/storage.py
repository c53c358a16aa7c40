"""`Storage`: states of a simulation, with momenta."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cbsim.arrays import Floats
from cbsim.dynamics.options import SolverOptions, chosen_options
from cbsim.errors import ModelError
from cbsim.multibody.mechanism import Mechanism
from cbsim.spec.mechanism.values import floats

__all__ = ["Storage", "check_storage", "generate_storage", "storage_of"]


@dataclass(frozen=True, eq=False)
class Storage:
    """A trajectory in maximal coordinates; row k is node k, before step k, with the velocities that led there.

    Attributes
    ----------
    x : ndarray, shape (steps, bodies, 3)
        Positions [m].
    q : ndarray, shape (steps, bodies, 4)
        Orientations, unit quaternions, scalar first, body to world.
    v, w : ndarray, shape (steps, bodies, 3)
        Velocities of the half step before the node: linear in the world, angular in the body's frame. With
        `SolverOptions.nodal_start` those of row 0 are the node's own, and so are its momenta.
    px, pq : ndarray, shape (steps, bodies, 3)
        Momenta at the node, means of those coming in and going out: linear in the world, angular in the body's frame.
    vl, wl : ndarray, shape (steps, bodies, 3)
        Velocities that go with them.
    is_solved : ndarray of bool, shape (steps,)
        Whether the step after the node was solved.
    """

    x: Floats
    q: Floats
    v: Floats
    w: Floats
    px: Floats
    pq: Floats
    vl: Floats
    wl: Floats
    is_solved: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.x)

    def state(self, k: int) -> Floats:
        """Maximal state (13 per body,) of node k."""
        return np.concatenate([self.x[k], self.v[k], self.q[k], self.w[k]], axis=1).reshape(-1)


def check_storage(mechanism: Mechanism, storage: object) -> None:
    """Refuse what is not a trajectory of a mechanism.

    Raises
    ------
    ModelError
        Telling what it is.
    """
    if not isinstance(storage, Storage):
        raise ModelError(f"the storage is {storage!r}, expected a Storage: generate_storage makes one of states")
    if storage.x.shape[1] != len(mechanism.bodies):
        raise ModelError(f"the storage has {storage.x.shape[1]} bodies, the mechanism {len(mechanism.bodies)}")


def _spin(inertia: Floats, w: Floats, h: float, sign: float) -> Floats:
    """Angular momentum c J w ± (h/2) w × J w of half steps at w (steps, bodies, 3), + going out, − coming in."""
    turned = np.einsum("bij,kbj->kbi", inertia, w)
    c = np.sqrt(np.maximum(0.0, 1.0 - 0.25 * h * h * (w * w).sum(-1, keepdims=True)))
    return np.asarray(c * turned + sign * 0.5 * h * np.cross(w, turned))


def storage_of(mechanism: Mechanism, path: Floats, done: int | None = None, *, nodal: bool = False) -> Storage:
    """Make a Storage of nodes (steps + 1, bodies, 13), of which the last tells only the velocities going out.

    Notes
    -----
    Nodal momenta (docs/theory/integrator.md §9): p = m (v⁻ + v⁺) / 2, and the mean of the two angular ones in the
    body's frame. With ``nodal``, the velocities of the first node are its own: p = m v and J w.
    """
    node, after = path[:-1], path[1:]
    mass = np.array([body.mass for body in mechanism.bodies])[None, :, None]
    inertia = np.array([body.inertia for body in mechanism.bodies])
    h = mechanism.timestep
    px = 0.5 * mass * (node[:, :, 3:6] + after[:, :, 3:6])
    pq = 0.5 * (_spin(inertia, after[:, :, 10:], h, 1.0) + _spin(inertia, node[:, :, 10:], h, -1.0))
    if nodal:
        px[0], pq[0] = mass[0] * node[0, :, 3:6], np.einsum("bij,bj->bi", inertia, node[0, :, 10:])
    return Storage(
        node[:, :, :3].copy(), node[:, :, 6:10].copy(), node[:, :, 3:6].copy(), node[:, :, 10:].copy(),
        px, pq, px / mass, np.linalg.solve(inertia[None], pq[..., None])[..., 0],
        np.arange(len(node)) < (len(node) if done is None else done),
    )  # fmt: skip


def generate_storage(
    mechanism: Mechanism, states: Sequence[ArrayLike] | Floats, *, options: SolverOptions | None = None
) -> Storage:
    """Make a Storage of maximal states (steps, 13 per body), as `rollout` returns them.

    The velocities that go out of the last node are not known, so those that came in stand for them. ``options`` are
    those of the run: with `nodal_start`, velocities of the first node are its own.
    """
    count = len(mechanism.bodies)
    path = floats(states, "", "the trajectory", f"(steps, {13 * count}) numbers")
    if path.ndim < 2 or not len(path) or path[0].size != 13 * count:
        raise ModelError(f"the states have the shape {path.shape}, expected (steps, {13 * count})")
    path = path.reshape(len(path), count, 13)
    return storage_of(mechanism, np.concatenate([path, path[-1:]]), nodal=chosen_options(options).nodal_start)
