"""Bodies of models as a page draws them: corners that span them, heights and turns, so that they may tilt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cbsim.recording.batch import Header
from cbsim.world.figures import triangles_of
from cbsim.world.scene import Scene

__all__ = ["Figure", "corners_of", "figure_of", "steady"]

Floats = NDArray[np.float64]

MOST = 60  # corners of a body
GOLDEN = np.pi * (3.0 - np.sqrt(5.0))


@dataclass(frozen=True, eq=False)
class Figure:
    """How a body of a model stands.

    Attributes
    ----------
    corners : ndarray, shape (k, 3)
        Whose convex hull it is drawn as, in its own axes [m].
    height : ndarray, shape (n,)
        Of its centre at every step [m].
    turn : ndarray, shape (n, 4)
        Its quaternion at every step, without changes of sign.
    """

    corners: Floats
    height: Floats
    turn: Floats


def figure_of(corners: Floats, motion: Floats) -> Figure:
    """Make the figure of a body from its recorded position and orientation (n, 7)."""
    return Figure(corners, motion[:, 2].copy(), steady(motion[:, 3:7]))


def corners_of(header: Header, scene: Scene | None) -> dict[int, Floats]:
    """Row of each body of a model that has a shape → the corners (k, 3) that span it [m].

    Notes
    -----
    Of a shape with more than `MOST` corners, those are taken that lie farthest in as many directions, even over the
    sphere.
    """
    if scene is None:
        return {}
    bodies = [(model.scale, body.shape) for model in scene.models for body in model.description.bodies]
    first, found = len(scene.actors), dict[int, Floats]()
    for row, (scale, shape) in enumerate(bodies, first):
        corners = np.unique((scale * triangles_of(shape)).reshape(-1, 3).round(6), axis=0)
        if row < len(header.objects) and len(corners):
            found[row] = (
                corners if len(corners) <= MOST else corners[np.unique((corners @ _directions().T).argmax(axis=0))]
            )
    return found


def _directions() -> Floats:
    """Spread unit vectors (MOST, 3) evenly over the sphere: Fibonacci's spiral."""
    height = 1.0 - 2.0 * (np.arange(MOST) + 0.5) / MOST
    angle, radius = GOLDEN * np.arange(MOST), np.sqrt(1.0 - height**2)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), height], axis=1)


def steady(turn: Floats) -> Floats:
    """Turn the signs of quaternions (n, 4) so that each is near the one before."""
    flips = np.where((turn[1:] * turn[:-1]).sum(axis=1) < 0.0, -1.0, 1.0)
    return np.asarray(turn * np.concatenate([[1.0], np.cumprod(flips)])[:, None])
