"""Rays in any directions from one place: no fan, so no windows; a sphere about the body leaves most out."""

from __future__ import annotations

from cbsim.geometry.kernels.bvh import ray_tree
from cbsim.jit import kernel
from cbsim.sensing.kernels.shapes import MESH, hit, place_in, turn_between, turned

__all__ = ["cast_body_into"]


@kernel
def cast_body_into(origin, turn, directions, body, positions, orientations, shapes, stack, ranges):
    """Shorten every ray that meets one body before its range.

    Parameters
    ----------
    origin, turn : (3,) [m], (4,)
        Pose of the frame in the world that the directions are given in.
    directions : (n, m, 3)
        Unit vectors.
    body : int
        Its row.
    positions, orientations, shapes : as `cbsim.sensing.kernels.still.cast_still_into`
    stack : (DEPTH,) int64, out
        Scratch, as `cbsim.geometry.kernels.bvh.ray_tree`.
    ranges : (n, m) [m], out
        Taken as they are; infinity where nothing has been met yet.
    """
    rows, columns = ranges.shape
    kind, root = shapes.kind[body], shapes.root[body]
    if kind == MESH and root < 0:
        return
    px, py, pz = place_in(positions, orientations, body, origin[0], origin[1], origin[2])
    square, radius = px * px + py * py + pz * pz, shapes.radius[body]
    m = turn_between(orientations, body, turn)
    sx, sy, sz = shapes.size[body, 0], shapes.size[body, 1], shapes.size[body, 2]
    # squared distance of the sensor less the squared radius, reduced for rounding: 0 or less from inside of the sphere
    room = square - radius * radius * (1.0 + 1e-6) - 1e-9 * (1.0 + square)
    for i in range(rows):
        for j in range(columns):
            dx, dy, dz = turned(m, directions[i, j, 0], directions[i, j, 1], directions[i, j, 2])
            along = -(px * dx + py * dy + pz * dz)
            # away from it, or the foot of the perpendicular is farther from the centre than the radius
            if room > 0.0 and (along < 0.0 or along * along < room):
                continue
            if kind == MESH:
                limit = ranges[i, j]
                triangles, boxes, links = shapes.triangles, shapes.node_box, shapes.node_link
                distance = ray_tree(px, py, pz, dx, dy, dz, limit, triangles, boxes, links, root, stack)
            else:
                distance = hit(kind, sx, sy, sz, px, py, pz, dx, dy, dz)
            ranges[i, j] = min(ranges[i, j], distance)
