"""Scans at one instant, cast body by body.

Upright boxes before a level sensor, the usual case on roads, have windows by vector code over bodies and a slab test in
the plane; all other bodies take the general path in the same scan.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.geometry.kernels.bvh import DEPTH, ray_tree
from cbsim.geometry.kernels.rays import first_of, ray_box, ray_ground, slab
from cbsim.jit import inlined, inner, kernel
from cbsim.sensing.kernels.fan import LANES, Fan
from cbsim.sensing.kernels.poses import AFAR
from cbsim.sensing.kernels.shapes import BOX, MESH, hit, matrix_of, nearer, place_in, turn_between, turned
from cbsim.sensing.kernels.windows import (
    CHUNK,
    COSINE,
    GROUP,
    HIGH,
    LOW,
    PLACE_X,
    PLACE_Y,
    PLACE_Z,
    ROOM,
    SINE,
    WORK,
    around_into,
    layers_of,
    level_windows_into,
    window_of,
)

__all__ = [
    "ENTRIES",
    "SHELLS",
    "Outlines",
    "cast_into",
    "cast_level_box_into",
    "cast_others_into",
    "cast_still_into",
    "scratch_for",
]

LISTED = 3 * 7  # integers per body in the lists of other bodies, and of bodies in a run of beams
SHELLS = 64  # distance shells by which groups of static bodies are sorted
ENTRIES = 3 * 2 * CHUNK  # a window over the end of the fan consists of two runs of beams


class Outlines(NamedTuple):
    """Columns of `cbsim.world.tables.Shapes` for casters."""

    kind: NDArray[np.int64]
    size: NDArray[np.float64]
    radius: NDArray[np.float64]
    root: NDArray[np.int64]
    triangles: NDArray[np.float64]
    node_box: NDArray[np.float64]
    node_link: NDArray[np.int64]


def scratch_for(bodies: int, groups: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Allocate the scratch arrays of scans for numbers of bodies and of groups of static ones: floats, ints."""
    floats = WORK + 3 * groups
    return np.empty(floats), np.empty(ENTRIES + DEPTH + LISTED * bodies + GROUP + SHELLS + 2 * groups, np.int64)


@inlined
def cast_ground_into(origin, turn, fan, ranges):
    """Write the distance to the plane z = 0 for every beam."""
    m = matrix_of(turn[0], turn[1], turn[2], turn[3])
    if m[2][0] == 0.0 and m[2][1] == 0.0:  # level: one distance per layer
        for layer in range(fan.layers):
            start = layer * fan.width
            distance = ray_ground(origin[2], m[2][2] * fan.up[start])
            for i in range(np.uint64(start), np.uint64(start + fan.width)):
                ranges[i] = distance
        return
    height = origin[2] if origin[2] >= 0.0 else math.inf  # from below, no beam meets it
    zx, zy, zz = m[2]
    for layer in range(fan.layers):
        start = layer * fan.width
        rise = zz * fan.up[start]  # of all beams of a layer
        for i in range(np.uint64(start), np.uint64(start + fan.width)):
            dz = zx * fan.east[i] + zy * fan.north[i] + rise
            # without a branch, so that the loop vectorizes
            falls = dz < 0.0
            distance = -height / (dz if falls else 1.0)
            ranges[i] = distance if falls else math.inf


@inlined
def cast_level_box_into(fan, place, cosine, sine, room, half, begin, end, ranges):
    """Cast beams `begin` … `end` - 1 of every layer against an upright box; arguments as `placed` gives them."""
    (px, py, pz), (hx, hy, hz) = place, half
    first, last = 0, fan.layers
    if fan.layers > 1:
        # layers whose slopes can reach the box between its nearest and farthest corners
        lateral, radial = hx * abs(py) + hy * abs(px), hx * abs(px) + hy * abs(py)
        square = px * px + py * py
        first, last = layers_of(fan.slopes, square, room, lateral + radial, hx + hy, -pz - hz, hz - pz)
    for row in range(first, last):
        offset = fan.order[row] * fan.width
        # all beams of a layer share the vertical slab
        nz, fz = slab(pz, fan.up[offset], hz)
        if nz > fz or fz < 0.0:
            continue
        for i in range(np.uint64(offset + begin), np.uint64(offset + end)):
            bx, by = fan.east[i], fan.north[i]
            dx, dy = cosine * bx - sine * by, sine * bx + cosine * by
            nx, fx = slab(px, dx, hx)
            ny, fy = slab(py, dy, hy)
            ranges[i] = nearer(ranges[i], first_of(max(nx, ny, nz), min(fx, fy, fz)))


@inlined
def cast_level_boxes_into(fan, shapes, entries, count, work, start, ranges):
    """Cast the beams of each entry (body from `start`, first beam, beam after the last) against an upright box."""
    for e in range(count):
        k, begin, end = entries[3 * e], entries[3 * e + 1], entries[3 * e + 2]
        body = start + k
        half = (0.5 * shapes.size[body, 0], 0.5 * shapes.size[body, 1], 0.5 * shapes.size[body, 2])
        place = (work[k + PLACE_X * CHUNK], work[k + PLACE_Y * CHUNK], work[k + PLACE_Z * CHUNK])
        cosine, sine, room = work[k + COSINE * CHUNK], work[k + SINE * CHUNK], work[k + ROOM * CHUNK]
        cast_level_box_into(fan, place, cosine, sine, room, half, begin, end, ranges)


@inlined
def cast_level_into(origin, turn, fan, own, reach, positions, orientations, shapes, floats, ints, ranges):
    """Cast a level sensor against all upright boxes; list the other bodies, and return how many there are."""
    # ints: entries, stack of the tree, list of the other bodies
    left = ints[ENTRIES + DEPTH :]
    period, last = 2.0 * math.pi / abs(fan.step), fan.beams - 1
    others = 0
    for start in range(0, positions.shape[0], CHUNK):
        stop = min(start + CHUNK, positions.shape[0])
        level_windows_into(origin, turn, fan, reach, positions, orientations, shapes, start, stop, floats)
        count = 0
        for k in range(stop - start):
            body = start + k
            if shapes.kind[body] != BOX or orientations[body, 1] != 0.0 or orientations[body, 2] != 0.0:
                left[others] = body
                others += body != own
                continue
            low, high = floats[k + LOW * CHUNK], floats[k + HIGH * CHUNK]
            if low >= 0.0 and high < period:
                # whole vector lanes: beams in excess miss the box
                a, b = math.ceil(low), min(math.floor(high), last)
                ints[3 * count], ints[3 * count + 1], ints[3 * count + 2] = k, a & -LANES, (b | (LANES - 1)) + 1
                # an entry counts unless it is empty or the sensor's own body; the next one overwrites it otherwise
                count += (a <= b) & (body != own)
            elif body != own and low <= high:
                count = around_into(fan.beams, fan.step, low, high, k, ints, count)
        cast_level_boxes_into(fan, shapes, ints, count, floats, start, ranges)
    return others


@inner
def cast_box_into(fan, m, px, py, pz, hx, hy, hz, begin, end, ranges):
    """Cast a run of beams of one layer against a box in any attitude."""
    for i in range(np.uint64(begin), np.uint64(end)):
        dx, dy, dz = turned(m, fan.east[i], fan.north[i], fan.up[i])
        ranges[i] = nearer(ranges[i], ray_box(px, py, pz, dx, dy, dz, hx, hy, hz))


@inner
def cast_solid_into(fan, kind, size, m, place, gap, begin, end, ranges):
    """Cast a run of beams of one layer against any shape but a box or a mesh, no nearer than `gap` [m]."""
    for i in range(begin, end):
        if ranges[i] > gap:
            dx, dy, dz = turned(m, fan.east[i], fan.north[i], fan.up[i])
            ranges[i] = min(ranges[i], hit(kind, *size, *place, dx, dy, dz))


@inner
def cast_mesh_into(fan, tree, root, m, place, gap, begin, end, stack, ranges):
    """Cast a run of beams of one layer against a mesh, no nearer than `gap` [m]."""
    triangles, boxes, links = tree
    for i in range(begin, end):
        if ranges[i] > gap:
            dx, dy, dz = turned(m, fan.east[i], fan.north[i], fan.up[i])
            distance = ray_tree(*place, dx, dy, dz, ranges[i], triangles, boxes, links, root, stack)
            ranges[i] = min(ranges[i], distance)


@inner
def cast_others_into(origin, turn, fan, reach, count, meshes, positions, orientations, shapes, ints, ranges):
    """Cast against the meshes, or all others, of a list of bodies of any shape and attitude."""
    ox, oy, oz = origin[0], origin[1], origin[2]
    stack = ints[ENTRIES : ENTRIES + DEPTH]
    for entry in range(count):
        body = ints[ENTRIES + DEPTH + entry]
        # meshes in a pass of their own: `cast_still_into` casts them last
        kind, root = shapes.kind[body], shapes.root[body]
        if (kind == MESH) != meshes or (meshes and root < 0):
            continue
        px, py, pz = place_in(positions, orientations, body, ox, oy, oz)
        gap = math.sqrt(px * px + py * py + pz * pz) - shapes.radius[body]
        if gap > reach:
            continue
        # lower bound of the body's distance: beams with nearer hits are skipped
        gap -= 1e-9 * (1.0 + abs(gap))
        m = turn_between(orientations, body, turn)
        sx, sy, sz = shapes.size[body, 0], shapes.size[body, 1], shapes.size[body, 2]
        hx, hy, hz = 0.5 * sx, 0.5 * sy, 0.5 * sz
        low, high, first, last = window_of(fan.first, fan.step, fan.slack, fan.slopes, m, px, py, pz, hx, hy, hz)
        if first >= last:
            continue
        for run in range(around_into(fan.beams, fan.step, low, high, 0, ints, 0)):
            begin, end = ints[3 * run + 1], ints[3 * run + 2]
            for row in range(first, last):
                offset = fan.order[row] * fan.width
                a, b = offset + begin, offset + min(end, fan.beams)
                if kind == BOX:
                    cast_box_into(fan, m, px, py, pz, hx, hy, hz, a, offset + end, ranges)
                elif kind == MESH:
                    tree = (shapes.triangles, shapes.node_box, shapes.node_link)
                    cast_mesh_into(fan, tree, root, m, (px, py, pz), gap, a, b, stack, ranges)
                else:
                    cast_solid_into(fan, kind, (sx, sy, sz), m, (px, py, pz), gap, a, b, ranges)


@kernel
def cast_still_into(origin, turn, fan, own, reach, positions, orientations, shapes, floats, ints, ranges):
    """Write the distance to the first surface of every beam, infinity where there is none.

    Parameters
    ----------
    origin, turn : (3,) [m], (4,)
        Pose of the sensor in the world.
    fan : Fan
        Its beams.
    own : int
        Row of the bot, which its own beams pass; -1 for none.
    reach : float
        Largest range of interest [m]; surfaces beyond it may be missing.
    positions, orientations : (bodies, 3) [m], (bodies, 4)
        Poses of all bodies at the instant of the scan.
    shapes : Shapes
    floats, ints : out
        From `scratch_for`.
    ranges : (layers · width,) [m], out
        Row by row; the beams that fill a row up repeat its last.
    """
    cast_ground_into(origin, turn, fan, ranges)
    if turn[1] == 0.0 and turn[2] == 0.0:
        count = cast_level_into(origin, turn, fan, own, reach, positions, orientations, shapes, floats, ints, ranges)
    else:
        count = 0
        for body in range(positions.shape[0]):
            ints[ENTRIES + DEPTH + count] = body
            count += (body != own) & (positions[body, 0] != AFAR)
    if count > 0:  # meshes last, when most of their beams have nearer hits
        cast_others_into(origin, turn, fan, reach, count, False, positions, orientations, shapes, ints, ranges)
        cast_others_into(origin, turn, fan, reach, count, True, positions, orientations, shapes, ints, ranges)


@kernel
def cast_into(pose, beams, own, reach, positions, orientations, outlines, scratch, ranges):
    """Cast one scan as `cast_still_into`, with tables in plain tuples, which Python passes in half the time.

    Parameters
    ----------
    pose : (7,) [m], 1
        Position and orientation of the sensor in the world.
    beams : tuple of ndarray
        Number of beams, and the `first`, `step` and `slack` of a `Fan`, (4,); its `east`, `north` and `up`,
        (3, layers · width); its `slopes` and `order`, (layers,).
    own, reach, positions, orientations, ranges : as `cast_still_into`
    outlines : tuple of ndarray
        Values of an `Outlines`.
    scratch : tuple of ndarray
        The `floats` and `ints` of `cast_still_into`.
    """
    grid, rays, slopes, order = beams
    layers, width = slopes.shape[0], rays.shape[1] // slopes.shape[0]
    fan = Fan(layers, int(grid[0]), width, grid[1], grid[2], grid[3], rays[0], rays[1], rays[2], slopes, order)
    origin, turn, shapes = pose[:3], pose[3:], Outlines(*outlines)
    cast_still_into(origin, turn, fan, own, reach, positions, orientations, shapes, *scratch, ranges)
