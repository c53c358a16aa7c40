"""Every beam against every body and every triangle: slow, without windows or trees, the oracle of the casters."""

from __future__ import annotations

import math

from cbsim.geometry.kernels.rays import ray_ground, ray_triangle
from cbsim.jit import kernel
from cbsim.sensing.kernels.shapes import MESH, hit, matrix_of, place_in, turn_between, turned

__all__ = ["cast_brute_into"]


@kernel
def triangles_hit(shapes, body, px, py, pz, dx, dy, dz):
    """Distance [m] to the nearest triangle of a mesh, each one tried."""
    best = math.inf
    for t in range(shapes.first[body], shapes.last[body]):
        a, b, c = shapes.triangles[t, 0], shapes.triangles[t, 1], shapes.triangles[t, 2]
        best = min(best, ray_triangle(px, py, pz, dx, dy, dz, a, b, c))
    return best


@kernel
def cast_brute_into(origin, turn, directions, own, positions, orientations, shapes, ranges):
    """Write the distance to the first surface of every beam; see `cast_still_into`.

    Parameters
    ----------
    directions : (layers, beams, 3)
        Unit vectors in the sensor frame.
    ranges : (layers, beams) [m], out
    """
    ground = matrix_of(turn[0], turn[1], turn[2], turn[3])
    for layer in range(directions.shape[0]):
        for beam in range(directions.shape[1]):
            bx, by, bz = directions[layer, beam, 0], directions[layer, beam, 1], directions[layer, beam, 2]
            ranges[layer, beam] = ray_ground(origin[2], turned(ground, bx, by, bz)[2])
    for body in range(positions.shape[0]):
        if body == own:
            continue
        px, py, pz = place_in(positions, orientations, body, origin[0], origin[1], origin[2])
        m = turn_between(orientations, body, turn)
        for layer in range(directions.shape[0]):
            for beam in range(directions.shape[1]):
                bx, by, bz = directions[layer, beam, 0], directions[layer, beam, 1], directions[layer, beam, 2]
                dx, dy, dz = turned(m, bx, by, bz)
                if shapes.kind[body] == MESH:
                    distance = triangles_hit(shapes, body, px, py, pz, dx, dy, dz)
                else:
                    sx, sy, sz = shapes.size[body, 0], shapes.size[body, 1], shapes.size[body, 2]
                    distance = hit(shapes.kind[body], sx, sy, sz, px, py, pz, dx, dy, dz)
                ranges[layer, beam] = min(ranges[layer, beam], distance)
