"""Visible share of a body: rays over its outline, with the body alone and among all others."""

from __future__ import annotations

import numpy as np

from cbsim.geometry.kernels import elementary as math
from cbsim.geometry.kernels.rays import ray_ground
from cbsim.geometry.kernels.rotation import rotate, rotate_back
from cbsim.jit import inner, kernel
from cbsim.sensing.kernels.rays import cast_body_into

__all__ = ["visible_into"]

ACROSS, UP = 24, 6  # rays per body
SAME = 1e-6  # [m] least difference of range of a surface that hides another
NEAR = 0.05  # least depth of corners, as a share of the centre's distance: bounds projections of corners beside the eye


@inner
def aim_into(dx, dy, dz, body, orientations, shapes, directions):
    """Spread unit vectors (1, rays, 3) in the world over a body whose centre lies at (dx, dy, dz) [m] from the eye.

    They form a grid over the box about the projections of its corners on the plane square to the line of sight.
    """
    away = max(math.sqrt(dx * dx + dy * dy + dz * dz), 1e-6)
    fx, fy, fz = dx / away, dy / away, dz / away
    flat = math.hypot(fx, fy)
    # straight up or down: any direction to the right
    rx, ry = (fy / flat, -fx / flat) if flat > 1e-9 else (1.0, 0.0)
    ux, uy, uz = ry * fz, -rx * fz, rx * fy - ry * fx  # right × forward
    low_u, high_u, low_v, high_v = math.inf, -math.inf, math.inf, -math.inf
    for corner in range(8):
        sx = (0.5 if corner & 1 else -0.5) * shapes.size[body, 0]
        sy = (0.5 if corner & 2 else -0.5) * shapes.size[body, 1]
        sz = (0.5 if corner & 4 else -0.5) * shapes.size[body, 2]
        cx, cy, cz = rotate(orientations[body], sx, sy, sz)
        cx, cy, cz = cx + dx, cy + dy, cz + dz
        # perspective projection; corners beside or behind the eye count as ahead of it
        depth = max(cx * fx + cy * fy + cz * fz, NEAR * away)
        u, v = (cx * rx + cy * ry) / depth, (cx * ux + cy * uy + cz * uz) / depth
        low_u, high_u, low_v, high_v = min(low_u, u), max(high_u, u), min(low_v, v), max(high_v, v)
    for i in range(ACROSS):
        for j in range(UP):
            u = low_u + (high_u - low_u) * (i + 0.5) / ACROSS
            v = low_v + (high_v - low_v) * (j + 0.5) / UP
            x, y, z = fx + u * rx + v * ux, fy + u * ry + v * uy, fz + v * uz
            scale = 1.0 / math.sqrt(x * x + y * y + z * z)
            ray = directions[0, i * UP + j]
            ray[0], ray[1], ray[2] = scale * x, scale * y, scale * z


@inner
def in_the_way(dx, dy, dz, radius, origin, position, other):
    """Return whether a body's sphere may touch a ray that is aimed at a sphere at (dx, dy, dz) [m] from the origin."""
    x, y, z = position[0] - origin[0], position[1] - origin[1], position[2] - origin[2]
    square = dx * dx + dy * dy + dz * dz
    # distance of the sphere's centre from the segment between origin and target
    part = min(max((x * dx + y * dy + z * dz) / max(square, 1e-12), 0.0), 1.0)
    x, y, z = x - part * dx, y - part * dy, z - part * dz
    room = other + 2.0 * radius  # the corners of the grid lie a little outside of the sphere
    return x * x + y * y + z * z <= room * room


@kernel
def visible_into(origin, turn, view, own, rows, positions, orientations, shapes, stack, shares):
    """Write the share of each body's outline that is seen.

    Parameters
    ----------
    origin, turn : (3,) [m], (4,)
        Pose of the device in the world.
    view : (4,)
        Field of view from, to [rad], counter-clockwise from forward; least and largest range [m].
    own : int
        Row of the bot, which hides nothing.
    rows : (n,) int64
        Bodies that are asked for.
    positions, orientations : (bodies, 3) [m], (bodies, 4)
        Poses of all bodies at that instant.
    shapes : Shapes
    stack : (DEPTH,) int64, out
        Scratch, as `cbsim.geometry.kernels.bvh.ray_tree`.
    shares : (n,), out
        Rays that meet the body first, within view and range, over those that would if it stood alone on the ground.
    """
    world = np.array([1.0, 0.0, 0.0, 0.0])
    directions, alone, among = np.empty((1, ACROSS * UP, 3)), np.empty((1, ACROSS * UP)), np.empty((1, ACROSS * UP))
    for r in range(rows.shape[0]):
        body = rows[r]
        dx, dy, dz = positions[body, 0] - origin[0], positions[body, 1] - origin[1], positions[body, 2] - origin[2]
        # rays at the outline of the body, which meet it if it stands alone
        aim_into(dx, dy, dz, body, orientations, shapes, directions)
        alone[:] = math.inf
        cast_body_into(origin, world, directions, body, positions, orientations, shapes, stack, alone)
        for k in range(ACROSS * UP):
            among[0, k] = alone[0, k]
        # and what they meet among all bodies that may hide it
        for other in range(positions.shape[0]):
            if other in (body, own):
                continue
            if in_the_way(dx, dy, dz, shapes.radius[body], origin, positions[other], shapes.radius[other]):
                cast_body_into(origin, world, directions, other, positions, orientations, shapes, stack, among)
        total, seen = 0, 0
        for k in range(ACROSS * UP):
            x, y, z = directions[0, k]
            # a ray counts if the body alone would be met above the ground
            if not alone[0, k] < ray_ground(origin[2], z) - SAME:
                continue
            total += 1
            x, y, z = rotate_back(turn, x, y, z)
            azimuth = (math.atan2(-x, y) - view[0]) % (2.0 * math.pi)
            inside = azimuth <= view[1] - view[0] and view[2] <= alone[0, k] <= view[3]
            seen += inside and among[0, k] >= alone[0, k] - SAME
        shares[r] = seen / total if total > 0 else 0.0
