"""Poses of model bodies in a report, drawn as convex hulls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cbsim.arrays import Floats
from cbsim.recording.batch import Header
from cbsim.world.figures import triangles_of
from cbsim.world.scene import Scene

__all__ = ["ModelPose", "continuous_quaternions", "hulls_of", "model_pose_of"]

MOST = 60  # corners per body at most
GOLDEN = np.pi * (3.0 - np.sqrt(5.0))


@dataclass(frozen=True, eq=False)
class ModelPose:
    """Pose of a model body over time.

    Attributes
    ----------
    corners : ndarray, shape (k, 3)
        Corners of its convex hull in the body frame [m].
    height : ndarray, shape (n,)
        Height of its centre at every step [m].
    turn : ndarray, shape (n, 4)
        Quaternion at every step, continuous in sign.
    """

    corners: Floats
    height: Floats
    turn: Floats


def model_pose_of(corners: Floats, motion: Floats) -> ModelPose:
    """Create the pose of a body from its recorded position and orientation (n, 7)."""
    return ModelPose(corners, motion[:, 2].copy(), continuous_quaternions(motion[:, 3:7]))


def hulls_of(header: Header, scene: Scene | None) -> dict[int, Floats]:
    """Row of each model body with a shape → corners (k, 3) of its convex hull [m].

    Notes
    -----
    A hull of more than `MOST` corners is reduced to the extreme points in that many directions, spread evenly over the
    sphere.
    """
    if scene is None:
        return {}
    bodies = [(model.scale, body.shape) for model in scene.models for body in model.description.bodies]
    first, found = header.first_model, dict[int, Floats]()
    for row, (scale, shape) in enumerate(bodies, first):
        corners = np.unique((scale * triangles_of(shape)).reshape(-1, 3).round(6), axis=0)
        if row < len(header.objects) and len(corners):
            found[row] = (
                corners if len(corners) <= MOST else corners[np.unique((corners @ _directions().T).argmax(axis=0))]
            )
    return found


def _directions() -> Floats:
    """Fibonacci sphere: evenly spread unit vectors (MOST, 3)."""
    height = 1.0 - 2.0 * (np.arange(MOST) + 0.5) / MOST
    angle, radius = GOLDEN * np.arange(MOST), np.sqrt(1.0 - height**2)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), height], axis=1)


def continuous_quaternions(turn: Floats) -> Floats:
    """Flip signs of quaternions (n, 4) so that consecutive ones are close."""
    flips = np.where((turn[1:] * turn[:-1]).sum(axis=1) < 0.0, -1.0, 1.0)
    return np.asarray(turn * np.concatenate([[1.0], np.cumprod(flips)])[:, None])
