"""Compiled sensing: where every body was at the instant of a scan, and the first hit of each beam."""

from __future__ import annotations

import math

import numpy as np

from cbsim.geometry.kernels.legs import leg_at, leg_position_into
from cbsim.geometry.kernels.rays import ray_box, ray_cylinder, ray_ground, ray_sphere, ray_triangle
from cbsim.geometry.kernels.rotation import rotate, rotate_back
from cbsim.jit import kernel

__all__ = ["bodies_at_into", "scan_into"]

BOX, SPHERE, CYLINDER, WHEEL, MESH = range(5)


@kernel
def bodies_at_into(constants, state, time, positions, orientations):
    """Write the pose of every body at a time [s] not later than the Snapshot's, nor older than its memory.

    Literal movers are known in closed form. Vehicles are interpolated between the remembered steps about that time:
    positions by the cubic that has their velocities too, orientations along the shorter arc.
    """
    positions[:] = state.position
    orientations[:] = state.orientation
    for m in range(constants.mover_body.shape[0]):
        body = constants.mover_body[m]
        leg = leg_at(constants.leg_start, constants.mover_first[m], constants.mover_last[m], state.leg[m], time)
        leg_position_into(constants.leg_start, constants.leg_origin, constants.leg_velocity, leg, time, positions[body])
        if leg != state.leg[m] and state.leg[m] >= 0:
            orientations[body] = constants.leg_orientation[leg]
    before = math.floor(time / constants.step + 1e-9)
    if before >= state.clock[0] or constants.memory == 0:
        return
    before = max(before, state.clock[0] - constants.memory + 1, 0)
    part = max(time / constants.step - before, 0.0)
    for v in range(constants.vehicle_body.shape[0]):
        body = constants.vehicle_body[v]
        one = state.past[v * constants.memory + before % constants.memory]
        two = state.past[v * constants.memory + (before + 1) % constants.memory]
        between_into(one, two, part, constants.step, positions[body], orientations[body])


@kernel
def between_into(one, two, part, step, position, orientation):
    """Interpolate between two remembered rows (10,), `part` of a step after the first."""
    p2, p3 = part * part, part * part * part
    rise, leave, arrive = 3.0 * p2 - 2.0 * p3, p3 - 2.0 * p2 + part, p3 - p2
    for k in range(3):
        bend = leave * one[7 + k] + arrive * two[7 + k]
        position[k] = one[k] + rise * (two[k] - one[k]) + step * bend  # a body at rest keeps every bit
    sign = 1.0 if one[3] * two[3] + one[4] * two[4] + one[5] * two[5] + one[6] * two[6] >= 0.0 else -1.0
    square, turned = 0.0, False
    for k in range(3, 7):
        gap = sign * two[k] - one[k]
        turned = turned or gap != 0.0
        orientation[k - 3] = one[k] + part * gap
        square += orientation[k - 3] * orientation[k - 3]
    if turned:
        for k in range(4):
            orientation[k] /= math.sqrt(square)


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
    shapes : Shapes
    ranges : (layers, beams) [m], out
    """
    kinds, sizes, radii = shapes.kind, shapes.size, shapes.radius
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
                first, last = shapes.first[body], shapes.last[body]
                distance = hit(kinds[body], sizes[body], px, py, pz, ux, uy, uz, shapes.triangles, first, last)
                best = min(best, distance)
            ranges[layer, beam] = best
