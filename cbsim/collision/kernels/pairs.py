"""Narrow phase: signed distance of two bodies of any shape, and time of impact on straight paths.

A mesh is a surface of two-sided triangles, each treated as a convex solid; distant triangles are skipped.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.geometry.kernels import polygons
from cbsim.geometry.kernels.boxes import is_upright, turn_of, upright_meeting
from cbsim.geometry.kernels.bvh import DEPTH, overlaps_into
from cbsim.geometry.kernels.epa import DepthWorkspace, make_depth_workspace, signed_distance
from cbsim.geometry.kernels.gjk import DISTANCE, NEAREST_ONE, NEAREST_TWO, NORMAL
from cbsim.geometry.kernels.polygons import TOUCH_WIDTH, polygon_contact, rectangle_into
from cbsim.geometry.kernels.rotation import rotate_back
from cbsim.geometry.kernels.solids import (
    SHAPE_BOX,
    SHAPE_MESH,
    SOLID,
    fill_solid,
    fill_triangle,
    move_solid,
    rotation_into,
)
from cbsim.jit import deferred, inner, kernel

__all__ = [
    "TOUCHING",
    "PairWorkspace",
    "TreeSearch",
    "make_pair_workspace",
    "make_tree_search",
    "pair_distance",
    "pair_time_of_impact",
    "triangles_near",
]

TOUCHING = 1e-9  # [m] largest distance of bodies in contact
NOISE = 1e-7  # [m] distance below which normals at rims of cylinders may be wrong
ADVANCES = 60  # largest number of steps of conservative advancement


class TreeSearch(NamedTuple):
    """Scratch arrays of a search in a tree of triangles.

    Attributes
    ----------
    low, high : (3,)
        Corners of the query box.
    stack : (DEPTH,) int64
    rows : (triangles,) int64
        Triangles found.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    stack: NDArray[np.int64]
    rows: NDArray[np.int64]


class PairWorkspace(NamedTuple):
    """Scratch arrays of the narrow phase.

    Attributes
    ----------
    depth : DepthWorkspace
        Of `signed_distance`.
    solids : (2, 17)
    turns : (2, 9)
    trial : (10,)
    outlines : (2, 4, 2)
    touch : (10,)
    out : (10,)
        For callers.
    search_a, search_b : TreeSearch
    """

    depth: DepthWorkspace
    solids: Annotated[NDArray[np.float64], (SOLID,)]
    turns: Annotated[NDArray[np.float64], (9,)]
    trial: NDArray[np.float64]
    outlines: Annotated[NDArray[np.float64], (4, 2)]
    touch: NDArray[np.float64]
    out: NDArray[np.float64]
    search_a: TreeSearch
    search_b: TreeSearch


def make_pair_workspace(triangles: int) -> PairWorkspace:
    """Allocate a workspace for a number of triangles of meshes."""
    return PairWorkspace(
        depth=make_depth_workspace(),
        solids=np.zeros((2, SOLID)),
        turns=np.zeros((2, 9)),
        trial=np.zeros(10),
        outlines=np.zeros((2, 4, 2)),
        touch=np.zeros(TOUCH_WIDTH),
        out=np.zeros(10),
        search_a=make_tree_search(triangles),
        search_b=make_tree_search(triangles),
    )


def make_tree_search(triangles: int) -> TreeSearch:
    """Allocate a search for a number of triangles."""
    return TreeSearch(np.zeros(3), np.zeros(3), np.zeros(DEPTH, np.int64), np.empty(triangles, np.int64))


@inner
def triangles_near(shapes, mesh, x, y, z, reach, search):
    """Collect the triangles of a mesh whose bounds come within `reach` of a point in its frame; count them."""
    low, high, stack, rows = search.low, search.high, search.stack, search.rows
    low[0], low[1], low[2] = x - reach, y - reach, z - reach
    high[0], high[1], high[2] = x + reach, y + reach, z + reach
    root = shapes.root[mesh]
    if root < 0:
        return 0
    return overlaps_into(low, high, shapes.triangles, shapes.node_box, shapes.node_link, root, stack, rows)


@inner
def upright_distance(size_a, qa, size_b, qb, x, y, z, pair_workspace, out):
    """Fill out (10,) for two upright boxes, b's centre at x, y, z from a's, from horizontal and vertical gaps."""
    outlines, touch = pair_workspace.outlines, pair_workspace.touch
    cosine, sine = turn_of(qa)
    rectangle_into(0.0, 0.0, cosine, sine, 0.5 * size_a[0], 0.5 * size_a[1], outlines[0])
    cosine, sine = turn_of(qb)
    rectangle_into(x, y, cosine, sine, 0.5 * size_b[0], 0.5 * size_b[1], outlines[1])
    polygon_contact(outlines[0], 4, 0.0, outlines[1], 4, 0.0, 0.0, touch)
    planar, nx, ny = touch[polygons.GAP], touch[polygons.NORMAL], touch[polygons.NORMAL + 1]
    px, py = touch[polygons.POINT_X], touch[polygons.POINT_Y]
    if touch[polygons.POINTS] > 1.0:  # midpoint of parallel edges, else the deeper end
        first, second = touch[polygons.POINT_GAP], touch[polygons.POINT_GAP + polygons.EACH]
        part = 0.5 if abs(first - second) < 1e-6 else (0.0 if first < second else 1.0)
        px += part * (touch[polygons.POINT_X + polygons.EACH] - px)
        py += part * (touch[polygons.POINT_Y + polygons.EACH] - py)
    up = 1.0 if z >= 0.0 else -1.0
    gap = abs(z) - 0.5 * (size_a[2] + size_b[2])
    low, high = max(-0.5 * size_a[2], z - 0.5 * size_b[2]), min(0.5 * size_a[2], z + 0.5 * size_b[2])
    pz = 0.5 * (low + high)
    # apart in the plane and in height: along the diagonal; else the larger gap, which in overlap is the least
    # penetration
    if planar > 0.0 and gap > 0.0:
        apart = math.sqrt(planar * planar + gap * gap)
        nx, ny, nz = nx * planar / apart, ny * planar / apart, up * gap / apart
    elif planar >= gap:
        apart, nz = planar, 0.0
    else:
        apart, nx, ny, nz = gap, 0.0, 0.0, up
    out[DISTANCE], out[NORMAL], out[NORMAL + 1], out[NORMAL + 2] = apart, nx, ny, nz
    for k in range(3):
        middle = px if k == 0 else (py if k == 1 else pz)
        shift = 0.5 * apart * out[NORMAL + k]
        out[NEAREST_ONE + k], out[NEAREST_TWO + k] = middle - shift, middle + shift


@inner
def is_beyond(corners, x, y, z, radius):
    """Whether a ball lies outside the bounds of a triangle (3, 3), in its frame."""
    for k in range(3):
        p = x if k == 0 else (y if k == 1 else z)
        a, b, c = corners[0, k], corners[1, k], corners[2, k]
        if p + radius < min(a, b, c) or p - radius > max(a, b, c):
            return True
    return False


@kernel
def pair_distance(shapes, a, pa, qa, b, pb, qb, limit, pair_workspace, out):
    """Compute the signed distance of two bodies.

    Parameters
    ----------
    shapes : Shapes
    a, b : int
        Rows.
    pa, qa, pb, qb : (3,) [m], (4,)
        Poses.
    limit : float
        Distances above this [m] may be reported as infinite.
    pair_workspace : PairWorkspace
    out : (10,), out
        As `signed_distance`, with both points in the world.
    """
    x, y, z = pb[0] - pa[0], pb[1] - pa[1], pb[2] - pa[2]
    upright = is_upright(qa) and is_upright(qb)
    if shapes.kind[a] == SHAPE_BOX and shapes.kind[b] == SHAPE_BOX and upright:
        upright_distance(shapes.size[a], qa, shapes.size[b], qb, x, y, z, pair_workspace, out)
    else:
        # only lesser distances are written
        out[DISTANCE] = limit
        measure_parts(shapes, a, qa, b, qb, (x, y, z), (0.0, 0.0, 0.0), -1.0, pair_workspace, out)
    # so far, points are relative to the centre of a
    for k in range(3):
        out[NEAREST_ONE + k] += pa[k]
        out[NEAREST_TWO + k] += pa[k]


@kernel
def pair_time_of_impact(shapes, a, qa, b, qb, gap, rate, duration, pair_workspace, out):
    """Find the time of impact of two bodies in uniform relative translation.

    Parameters
    ----------
    shapes, a, b, qa, qb, pair_workspace
        As in `pair_distance`.
    gap, rate : (3,) [m], (3,) [m/s]
        Centre of b relative to that of a, and its rate of change.
    duration : float
        [s]
    out : (10,)
        Scratch.

    Returns
    -------
    float
        Time in [0, duration] [s], or infinity.
    """
    x, y, z, vx, vy, vz = gap[0], gap[1], gap[2], rate[0], rate[1], rate[2]
    if shapes.kind[a] == SHAPE_BOX and shapes.kind[b] == SHAPE_BOX and is_upright(qa) and is_upright(qb):
        sizes = shapes.size
        return upright_meeting(sizes[a], qa, sizes[b], qb, x, y, z, vx, vy, vz, duration, TOUCHING)
    return measure_parts(shapes, a, qa, b, qb, (x, y, z), (vx, vy, vz), duration, pair_workspace, out)


@deferred("float64")
def measure_parts(shapes, a, qa, b, qb, offset, rate, duration, pair_workspace, out):
    """Measure all pairs of convex parts of two bodies that are near enough; b's centre is at `offset` from a's.

    With a negative duration, `out` (10,) receives the least signed distance if it is less than its own. Otherwise the
    earliest time of impact is returned, infinity for none.
    """
    depth, solids, trial = pair_workspace.depth, pair_workspace.solids, pair_workspace.trial
    turns, search_a, search_b = pair_workspace.turns, pair_workspace.search_a, pair_workspace.search_b
    (x, y, z), (vx, vy, vz) = offset, rate
    rotation_into(qa, turns[0])
    rotation_into(qb, turns[1])
    a_mesh, b_mesh = shapes.kind[a] == SHAPE_MESH, shapes.kind[b] == SHAPE_MESH
    if not a_mesh:
        fill_solid(shapes.kind[a], shapes.size[a], 0.0, 0.0, 0.0, qa, solids[0])
    if not b_mesh:
        fill_solid(shapes.kind[b], shapes.size[b], x, y, z, qb, solids[1])
    timed = duration >= 0.0
    # half of the relative path: a ball of it about the midpoint holds b's centre at all times
    path = 0.5 * duration * math.sqrt(vx * vx + vy * vy + vz * vz) if timed else 0.0
    half = 0.5 * duration if timed else 0.0
    mx, my, mz = x + half * vx, y + half * vy, z + half * vz  # midpoint of the motion
    ax, ay, az = rotate_back(qa, mx, my, mz)  # b's centre in the frame of a
    bx, by, bz = rotate_back(qb, -mx, -my, -mz)
    earliest = math.inf
    margin = path + (TOUCHING if timed else out[DISTANCE])
    count_a = triangles_near(shapes, a, ax, ay, az, shapes.radius[b] + margin, search_a) if a_mesh else 1
    count_b = triangles_near(shapes, b, bx, by, bz, shapes.radius[a] + margin, search_b) if b_mesh else 1
    rows_a, rows_b = search_a.rows, search_b.rows
    for i in range(count_a):
        if a_mesh:
            row = rows_a[i]
            if not timed and is_beyond(shapes.triangles[row], ax, ay, az, shapes.radius[b] + out[DISTANCE]):
                continue
            fill_triangle(shapes.triangles[row], 0.0, 0.0, 0.0, turns[0], solids[0])
        for j in range(count_b):
            if b_mesh:
                row = rows_b[j]
                if not timed and is_beyond(shapes.triangles[row], bx, by, bz, shapes.radius[a] + out[DISTANCE]):
                    continue
                fill_triangle(shapes.triangles[row], x, y, z, turns[1], solids[1])
            if timed:
                left = min(duration, earliest)
                earliest = min(earliest, part_time_of_impact(solids, offset, rate, left, depth, trial))
            else:
                signed_distance(solids[0], solids[1], depth, trial)
                if trial[DISTANCE] < out[DISTANCE]:
                    for c in range(10):
                        out[c] = trial[c]
    return earliest


@inner
def part_time_of_impact(solids, offset, rate, duration, depth, trial):
    """Time of impact of two convex solids, the second moving: conservative advancement (Mirtich 1996).

    The separating plane bounds the approach by the closing speed along its normal; if that speed is not positive, the
    plane separates the solids at all later times.
    """
    (x, y, z), (vx, vy, vz) = offset, rate
    time = 0.0
    for _ in range(ADVANCES):
        move_solid(solids[1], x + time * vx, y + time * vy, z + time * vz)
        signed_distance(solids[0], solids[1], depth, trial)
        if trial[DISTANCE] <= TOUCHING:
            break
        closing = -(vx * trial[NORMAL] + vy * trial[NORMAL + 1] + vz * trial[NORMAL + 2])
        # going apart: no contact, unless the solids are so near that the sign of their normal is rounding
        if closing <= 0.0:
            time = time if 0.0 < time and trial[DISTANCE] <= NOISE else math.inf
            break
        # no part of b can pass the separating plane before that
        time += trial[DISTANCE] / closing
        if time > duration:
            time = math.inf
            break
    # the next part of a mesh meets it where it was
    move_solid(solids[1], x, y, z)
    return time
