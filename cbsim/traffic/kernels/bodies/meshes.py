"""Meshes in the way of reactive cars: triangle by triangle, so that one drives under a gantry and through a gate."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cbsim.geometry.kernels import elementary as math
from cbsim.geometry.kernels.bvh import DEPTH, overlaps_into
from cbsim.geometry.kernels.rotation import rotate
from cbsim.jit import inlined, inner
from cbsim.traffic.kernels.workspace import EXTENT, OBSTACLES, PACE, SPOT
from cbsim.world.traffic.tables import ALONG

__all__ = ["MeshSearch", "entry_on", "find_mesh", "make_mesh_search"]


class MeshSearch(NamedTuple):
    """Scratch: corners of a box, stack of a traversal, rows of triangles, and the corners of one that is cut off."""

    low: object
    high: object
    stack: object
    rows: object
    corners: object


@inner
def make_mesh_search(triangles):
    """Allocate a search for a number of triangles."""
    return MeshSearch(
        np.empty(3), np.empty(3), np.empty(DEPTH, np.int64), np.empty(triangles, np.int64), np.empty((4, 2))
    )


@inlined
def entry_on(entries, begin, count, lanelet):
    """Entry of a body, of which entries from `begin` on are, on a lanelet; one more than there are if it is new."""
    e = begin
    while e < count and entries.where[e] != lanelet:
        e += 1
    return e


@inner
def cut_off(triangle, top, corners):
    """Write the outline seen from above of what lies below a height of a triangle; return its corners, 0 to 4."""
    count = 0
    for k in range(3):
        a, b = triangle[k], triangle[(k + 1) % 3]
        if a[2] <= top:
            corners[count, 0], corners[count, 1] = a[0], a[1]
            count += 1
        # an edge that passes the height
        if (a[2] <= top) != (b[2] <= top):
            part = (top - a[2]) / (b[2] - a[2])
            corners[count, 0], corners[count, 1] = a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1])
            count += 1
    return count


@inner
def square_from_outline(corners, count, x, y):
    """Square of the distance of a point from a convex polygon, which may have no area [m²]."""
    best, left, right = math.inf, False, False
    for k in range(count):
        m = k + 1 if k + 1 < count else 0
        ex, ey = corners[m, 0] - corners[k, 0], corners[m, 1] - corners[k, 1]
        px, py = x - corners[k, 0], y - corners[k, 1]
        side, square = ex * py - ey * px, ex * ex + ey * ey
        # inside of a convex outline all edges have the point on one side
        left, right = left or side >= 0.0, right or side <= 0.0
        part = min(max((px * ex + py * ey) / square, 0.0), 1.0) if square > 0.0 else 0.0
        gx, gy = px - part * ex, py - part * ey
        best = min(best, gx * gx + gy * gy)
    return best if left and right else 0.0


@inner
def is_near(shapes, body, x, y, half, top, search):
    """Whether some triangle below a height comes within a distance of a point, both in the frame of an upright mesh."""
    low, high = search.low, search.high
    # a column without a lower end
    low[0], low[1], low[2] = x - half, y - half, -math.inf
    high[0], high[1], high[2] = x + half, y + half, top
    found = overlaps_into(
        *(low, high, shapes.triangles, shapes.node_box, shapes.node_link, shapes.root[body]),
        *(search.stack, search.rows),
    )
    for n in range(found):
        corners = cut_off(shapes.triangles[search.rows[n]], top, search.corners)
        if square_from_outline(search.corners, corners, x, y) <= half * half:
            return True
    return False


@inner
def find_mesh(road, around, shapes, state, body, count, entries, swept, top, search):
    """Append the entries of an upright mesh that never moves, `count` of them so far; return how many there are then.

    On each lanelet it reaches from the first to the last sample of the centreline that has a triangle within half of
    the swept width.

    Parameters
    ----------
    swept : float
        Half of the width that a car sweeps [m].
    top : float
        Height from which on nothing is in the way [m].
    search : MeshSearch
    """
    size, x, y = shapes.size[body], state.position[body, 0], state.position[body, 1]
    ax, ay, _ = rotate(state.orientation[body], 1.0, 0.0, 0.0)
    reach = 0.5 * math.sqrt(size[0] * size[0] + size[1] * size[1]) + swept
    cell, columns, rows = around.origin[2], around.size[0], around.size[1]
    left = max(int(math.floor((x - reach - around.origin[0]) / cell)), 0)
    right = min(int(math.floor((x + reach - around.origin[0]) / cell)), columns - 1)
    low = max(int(math.floor((y - reach - around.origin[1]) / cell)), 0)
    high = min(int(math.floor((y + reach - around.origin[1]) / cell)), rows - 1)
    begin = count
    for iy in range(low, high + 1):
        for ix in range(left, right + 1):
            c = iy * columns + ix
            for at in range(around.offsets[c], around.offsets[c + 1]):
                k, lanelet = around.samples[at], around.owners[around.samples[at]]
                u, w = road.samples[k, 0] - x, road.samples[k, 1] - y
                half = min(swept, 0.5 * road.widths[lanelet])
                # in the frame of the mesh
                height = top - state.position[body, 2]
                # the sample in the frame of the upright mesh
                if not is_near(shapes, body, u * ax + w * ay, w * ax - u * ay, half, height, search):
                    continue
                e, station = entry_on(entries, begin, count, lanelet), road.samples[k, ALONG]
                # a body stands on `OBSTACLES` lanelets at most, and the table may be full
                if e == count:
                    if count - begin == OBSTACLES or count == entries.where.shape[0]:
                        # EXTENT holds the last station until all samples are known
                        continue
                    entries.where[e], entries.stands[e, SPOT], entries.stands[e, EXTENT] = lanelet, station, station
                    count += 1
                entries.stands[e, SPOT] = min(entries.stands[e, SPOT], station)
                entries.stands[e, EXTENT] = max(entries.stands[e, EXTENT], station)
    for e in range(begin, count):
        # from here on the length, as of other bodies; a mesh on one sample has some, too
        entries.stands[e, EXTENT] = max(entries.stands[e, EXTENT] - entries.stands[e, SPOT], 0.1)
        entries.stands[e, PACE] = 0.0
    return count
