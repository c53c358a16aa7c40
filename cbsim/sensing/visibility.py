"""How much of a body can be seen from a place: rays spread over its outline, against everything else."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cbsim.geometry.kernels.bvh import DEPTH
from cbsim.geometry.pose import Pose, rotate
from cbsim.sensing.kernels.rays import cast_rays_into
from cbsim.world.tables import Floats, Ints
from cbsim.world.world import Sensor, World

__all__ = ["visible_shares"]

ACROSS, UP = 24, 6  # rays per object: a share is known to about one column of them
CORNERS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
GRID = np.stack(
    np.meshgrid((np.arange(ACROSS) + 0.5) / ACROSS, (np.arange(UP) + 0.5) / UP, indexing="ij"), axis=-1
).reshape(-1, 2)
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])
FAR = 1e9  # [m] where bodies are put that are to be out of the way
SAME = 1e-6  # [m] by which two casts of the same ray may differ


def visible_shares(
    world: World, sensor: Sensor, pose: Pose, rows: Ints, positions: Floats, orientations: Floats
) -> Floats:
    """Share (n,) of each body's outline that a device sees, within its field of view and range.

    Parameters
    ----------
    world : World
    sensor : Sensor
        Its own bot hides nothing.
    pose : Pose
        Of the device in the world.
    rows : (n,) int64
        Bodies that are asked for.
    positions, orientations : (bodies, 3) [m], (bodies, 4)
        Poses of all bodies at that instant.

    Notes
    -----
    The rays form a grid over the box about the body's corners in the plane square to the line of sight; those that
    would meet the body if it stood alone on the ground are counted.
    """
    if not len(rows):
        return np.zeros(0)
    rays = _rays(world, pose.position, rows, positions, orientations)
    among = _cast(world, sensor, pose.position, rays, positions, orientations)
    alone = np.empty_like(among)
    lonely = np.full_like(positions, FAR)
    for k, row in enumerate(rows):
        lonely[row] = positions[row]
        alone[k] = _cast(world, sensor, pose.position, rays[k : k + 1], lonely, orientations)[0]
        lonely[row] = FAR
    with np.errstate(divide="ignore"):
        ground = np.where(rays[..., 2] < 0.0, -pose.position[2] / rays[..., 2], np.inf)
    own = alone < np.maximum(ground, 0.0) - SAME
    seen = own & (among >= alone - SAME) & _in_view(sensor, pose, rays, among)
    total = own.sum(axis=1)
    return np.asarray(seen.sum(axis=1) / np.maximum(total, 1))


def _cast(world: World, sensor: Sensor, eye: Floats, rays: Floats, positions: Floats, orientations: Floats) -> Floats:
    """Distances (n, rays) [m] along directions in the world; the sensor's own bot is passed."""
    ranges = np.empty(rays.shape[:2])
    reach = sensor.conf.max_range + 2.0 * float(world.shapes.radius.max())
    stack = np.empty(DEPTH, np.int64)
    cast_rays_into(eye, UPRIGHT, rays, sensor.body, reach, positions, orientations, world.shapes, stack, ranges)
    return ranges


def _in_view(sensor: Sensor, pose: Pose, rays: Floats, ranges: Floats) -> NDArray[np.bool_]:
    conf = sensor.conf
    w, x, y, z = pose.orientation
    local = rotate(np.array([w, -x, -y, -z]), rays)
    azimuth = np.arctan2(-local[..., 0], local[..., 1])
    inside = np.mod(azimuth - conf.start_angle, 2.0 * math.pi) <= conf.end_angle - conf.start_angle
    return np.asarray(inside & (ranges >= conf.min_range) & (ranges <= conf.max_range))


def _rays(world: World, eye: Floats, rows: Ints, positions: Floats, orientations: Floats) -> Floats:
    """Spread unit vectors (n, rays, 3) in the world over the outline of each body."""
    centres = positions[rows] - eye
    away = np.maximum(np.linalg.norm(centres, axis=1), 1e-6)
    forward = centres / away[:, None]
    flat = np.hypot(forward[:, 0], forward[:, 1])
    level = np.where((flat > 1e-9)[:, None], forward, [0.0, 1.0, 0.0])
    right = np.stack([level[:, 1], -level[:, 0], np.zeros(len(rows))], axis=1)
    right /= np.linalg.norm(right, axis=1)[:, None]
    up = np.cross(right, forward)
    corners = centres[:, None] + rotate(orientations[rows][:, None], world.shapes.size[rows][:, None] * CORNERS)
    depth = np.maximum((corners * forward[:, None]).sum(-1), 0.05 * away[:, None])
    plane = np.stack([(corners * right[:, None]).sum(-1) / depth, (corners * up[:, None]).sum(-1) / depth], axis=-1)
    low, high = plane.min(axis=1)[:, None], plane.max(axis=1)[:, None]
    spots = low + (high - low) * GRID
    rays = forward[:, None] + spots[..., :1] * right[:, None] + spots[..., 1:] * up[:, None]
    return np.ascontiguousarray(rays / np.linalg.norm(rays, axis=-1)[..., None])
