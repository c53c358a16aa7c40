"""Compiled sensing: where every body was at the instant of a scan, and the first hit of each beam."""

from __future__ import annotations

import math

import numpy as np

from cbsim.geometry.kernels.legs import leg_at, leg_position_into
from cbsim.geometry.kernels.rays import ray_box, ray_cylinder, ray_ground, ray_sphere, ray_triangle
from cbsim.geometry.kernels.rotation import heading_of, heading_quaternion_into, rotate, rotate_back
from cbsim.jit import kernel

__all__ = ["bodies_at_into", "scan_into"]

BOX, SPHERE, CYLINDER, WHEEL, MESH = range(5)


@kernel
def bodies_at_into(constants, state, time, positions, orientations):
    """Write the pose of every body at a time [s] not later than the Snapshot's.

    Literal movers are known in closed form; vehicles go back along their velocity and yaw rate, which is off by at
    most a·dt²/2 over part of a step.
    """
    positions[:] = state.position
    orientations[:] = state.orientation
    for m in range(constants.mover_body.shape[0]):
        body = constants.mover_body[m]
        leg = leg_at(constants.leg_start, constants.mover_first[m], constants.mover_last[m], state.leg[m], time)
        leg_position_into(constants.leg_start, constants.leg_origin, constants.leg_velocity, leg, time, positions[body])
        if leg != state.leg[m] and state.leg[m] >= 0:
            orientations[body] = constants.leg_orientation[leg]
    back = state.clock[0] * constants.step - time
    for v in range(constants.vehicle_body.shape[0]):
        body = constants.vehicle_body[v]
        for k in range(3):
            positions[body, k] -= state.velocity[body, k] * back
        rate = state.angular_velocity[body, 2]
        if rate * back != 0.0:
            heading_quaternion_into(heading_of(state.orientation[body]) - rate * back, orientations[body])


@kernel
def hit(kind, size, px, py, pz, dx, dy, dz, triangles, first, last):
    """Distance [m] to a shape in its own frame, or infinity."""
    if kind == BOX:
        return ray_box(px, py, pz, dx, dy, dz, 0.5 * size[0], 0.5 * size[1], 0.5 * size[2])
    if kind == SPHERE:
        return ray_sphere(px, py, pz, dx, dy, dz, 0.5 * size[0])
    if kind == CYLINDER:
        return ray_cylinder(px, py, pz, dx, dy, dz, 0.5 * size[0], 0.5 * size[2])
    if kind == WHEEL:  # a cylinder whose axis is x
        return ray_cylinder(py, pz, px, dy, dz, dx, 0.5 * size[1], 0.5 * size[0])
    nearest = math.inf
    for t in range(first, last):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        nearest = min(nearest, ray_triangle(px, py, pz, dx, dy, dz, a, b, c))
    return nearest


@kernel
def candidates_into(origin, own, reach, positions, radii, out):
    """Collect the bodies, but the own one, whose bounding spheres come within `reach` of the origin; count them."""
    count = 0
    for body in range(positions.shape[0]):
        gap = reach + radii[body]
        dx, dy, dz = positions[body] - origin
        if body != own and dx * dx + dy * dy + dz * dz <= gap * gap:
            out[count] = body
            count += 1
    return count


@kernel
def scan_into(origin, orientation, directions, own, reach, positions, orientations, shapes, ranges):
    """Cast every beam against every other body and the ground; write true ranges (layers, beams), infinity for none.

    Parameters
    ----------
    origin, orientation : (3,) [m], (4,)
        Pose of the sensor in the world.
    directions : (layers, beams, 3)
        Unit vectors in the sensor frame.
    own : int
        Row of the bot, which its own beams pass.
    reach : float
        Largest range of interest [m].
    positions, orientations : (bodies, 3) [m], (bodies, 4)
        Poses of all bodies at the instant of the scan.
    shapes : Shapes as a tuple
        Kind, size, radius, triangles, first, last.
    ranges : (layers, beams) [m], out
    """
    kinds, sizes, radii, triangles, first, last = shapes
    near = np.empty(positions.shape[0], np.int64)
    count = candidates_into(origin, own, reach, positions, radii, near)
    for layer in range(directions.shape[0]):
        for beam in range(directions.shape[1]):
            bx, by, bz = directions[layer, beam]
            dx, dy, dz = rotate(orientation, bx, by, bz)
            best = ray_ground(origin[2], dz)
            for k in range(count):
                body = near[k]
                cx, cy, cz = positions[body] - origin
                along = cx * dx + cy * dy + cz * dz
                off = cx * cx + cy * cy + cz * cz - along * along
                radius = radii[body]
                if along + radius < 0.0 or off > radius * radius * (1.0 + 1e-12) or along - radius > best:
                    continue
                px, py, pz = rotate_back(orientations[body], -cx, -cy, -cz)
                ux, uy, uz = rotate_back(orientations[body], dx, dy, dz)
                distance = hit(kinds[body], sizes[body], px, py, pz, ux, uy, uz, triangles, first[body], last[body])
                best = min(best, distance)
            ranges[layer, beam] = best
