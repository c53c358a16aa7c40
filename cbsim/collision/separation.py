"""`separation`: distance, normal and nearest points of two objects of a Snapshot."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from cbsim.arrays import Floats
from cbsim.collision.kernels.pairs import make_pair_workspace, pair_distance
from cbsim.world.snapshot import Snapshot
from cbsim.world.world import World

__all__ = ["Separation", "separation"]


@dataclass(frozen=True, slots=True)
class Separation:
    """Distance between two bodies.

    Attributes
    ----------
    distance : float
        [m]; negative where they overlap: the shift along the normal that separates them.
    normal : (3,)
        Unit vector from the first to the second.
    points : (2, 3) [m]
        Nearest points on the first and the second surface; the deepest points where they overlap.
    """

    distance: float
    normal: Floats
    points: Floats


def separation(world: World, snapshot: Snapshot, one: str, two: str) -> Separation:
    """Measure two objects of a Snapshot, whatever their shapes.

    A mesh is the surface of its triangles: an object inside a closed mesh that touches none of them is separate.

    Parameters
    ----------
    world : World
    snapshot : Snapshot
    one, two : str
        Names of objects.

    Returns
    -------
    Separation
        Exact to 1e-9 m; 1e-6 m for rims of cylinders and wheels.

    Raises
    ------
    UsageError
        If there is no object of that name, or the Snapshot belongs to another World.
    """
    world.require(snapshot)
    a, b = world[one].row, world[two].row
    out, state = np.zeros(10), snapshot.columns
    pair_distance(
        world.shapes,
        a,
        state.position[a],
        state.orientation[a],
        b,
        state.position[b],
        state.orientation[b],
        math.inf,
        make_pair_workspace(len(world.shapes.triangles)),
        out,
    )
    return Separation(float(out[0]), out[1:4], out[4:].reshape(2, 3))
