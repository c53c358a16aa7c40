"""`first_contacts`: the first steps at which planned trajectories collide with moving boxes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cbsim.collision.kernels.trajectories import first_contacts_into
from cbsim.errors import UsageError
from cbsim.geometry import elementary as math

__all__ = ["first_contacts"]


def first_contacts(
    poses: ArrayLike, size: ArrayLike, obstacle_poses: ArrayLike, obstacle_sizes: ArrayLike
) -> NDArray[np.int64]:
    """Find the first step at which each trajectory touches a moving box.

    Boxes that just touch count as in contact. Only the poses at steps are tested: choose steps shorter than the
    shortest box over the fastest relative speed.

    Parameters
    ----------
    poses : array_like, shape (trajectories, steps, 3)
        x, y [m] of the box's centre and heading [rad], 0 = north, counter-clockwise positive, in map axes.
    size : array_like, shape (2,) or (3,)
        Width, length [m] of the moving box; a height is ignored.
    obstacle_poses : array_like, shape (obstacles, steps, 3)
        The same for obstacles; nan where an obstacle is absent.
    obstacle_sizes : array_like, shape (obstacles, 2) or (obstacles, 3)
        Width, length [m] of each.

    Returns
    -------
    ndarray of int64, shape (trajectories,)
        Number of the step, -1 for a trajectory without contact.

    Raises
    ------
    UsageError
        If the shapes of arrays do not match, a trajectory is not finite, or a size is negative.

    Notes
    -----
    Source: Gottschalk, Lin and Manocha, "OBBTree", SIGGRAPH 1996: separating axes of oriented boxes, in the plane.

    Examples
    --------
    >>> ahead = [[(0.0, 2.0 * k, 0.0) for k in range(6)]]
    >>> crossing = [[(6.0 - k, 8.0, 1.57) for k in range(6)]]
    >>> first_contacts(ahead, (1.8, 4.5), crossing, [(1.8, 4.5)])
    array([3])
    """
    go, stand = np.asarray(poses, float), np.asarray(obstacle_poses, float)
    own, sizes = np.asarray(size, float), np.asarray(obstacle_sizes, float)
    stand = stand.reshape(0, go.shape[1], 3) if go.ndim == 3 and stand.size == 0 else stand
    sizes = sizes.reshape(0, 2) if sizes.size == 0 else sizes
    _check(go, own, stand, sizes)
    halves = np.empty((len(stand), 3))
    halves[:, :2] = 0.5 * sizes[:, :2]
    halves[:, 2] = math.hypot(halves[:, 0], halves[:, 1])
    table, near = np.empty((len(stand), go.shape[1] + 1, 4)), np.empty(len(stand), np.int64)
    out = np.empty(len(go), np.int64)
    flat = np.ascontiguousarray
    first_contacts_into(flat(go), flat(own[:2]), flat(stand), halves, table, near, out)
    return out


def _check(
    go: NDArray[np.float64], own: NDArray[np.float64], stand: NDArray[np.float64], sizes: NDArray[np.float64]
) -> None:
    """Raise `UsageError` for arrays that do not match or are not finite."""
    if go.ndim != 3 or go.shape[2] != 3:
        raise UsageError(f"poses have the shape {go.shape}, expected (trajectories, steps, 3)")
    if stand.ndim != 3 or stand.shape[1:] != go.shape[1:]:
        raise UsageError(f"obstacle poses have the shape {stand.shape}, expected (obstacles, {go.shape[1]}, 3)")
    if own.ndim != 1 or len(own) not in {2, 3}:
        raise UsageError(f"a size has the shape {own.shape}, expected (2,) or (3,)")
    if sizes.ndim != 2 or len(sizes) != len(stand) or sizes.shape[1] not in {2, 3}:
        raise UsageError(f"obstacle sizes have the shape {sizes.shape}, expected ({len(stand)}, 2)")
    if not np.isfinite(go).all():
        raise UsageError("a trajectory has numbers that are not finite")
    if not (np.isfinite(own).all() and np.isfinite(sizes).all() and (own >= 0.0).all() and (sizes >= 0.0).all()):
        raise UsageError("a size is negative or not finite")
