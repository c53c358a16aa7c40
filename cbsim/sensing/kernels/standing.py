"""Static bodies in a scan at one instant: cast in groups of neighbours, the nearest first.

A group is skipped as a whole if no beam can hit its box, or only behind earlier hits. Groups are built once by
`cbsim.sensing.scenery`. Bodies are cast as in `cbsim.sensing.kernels.still`, to the same bits.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.geometry.kernels.bvh import DEPTH
from cbsim.jit import inlined, inner
from cbsim.sensing.kernels.fan import LANES
from cbsim.sensing.kernels.shapes import matrix_of
from cbsim.sensing.kernels.still import ENTRIES, SHELLS, cast_level_box_into, cast_others_into
from cbsim.sensing.kernels.windows import (
    BODY_X,
    BODY_Y,
    BODY_Z,
    CHUNK,
    COSINE,
    FIELDS,
    GAP,
    GROUP,
    HIGH,
    LOW,
    PLACE_X,
    PLACE_Y,
    PLACE_Z,
    RADIUS,
    ROOM,
    SINE,
    SIZE_X,
    SIZE_Y,
    SIZE_Z,
    WORK,
    around_into,
    standing_windows_into,
    view_of,
    window_of,
)
from cbsim.world.packed.kernels import unpacker

__all__ = ["Scenery", "cast_standing_into", "scenery_of"]


class Scenery(NamedTuple):
    """Bodies of a World for scans: static ones in groups, all others in tables of their own.

    Attributes
    ----------
    boxes : (⌈groups / GROUP⌉, FIELDS · GROUP)
        Axis-aligned bounding boxes of the groups, in blocks for `standing_windows_into`.
    blocks : (groups, FIELDS · GROUP)
        The bodies of each group; nan for others than upright boxes.
    rows : (groups, GROUP) int64
        Their rows among all bodies; -1 for none.
    plain : (groups,) int64
        1 for groups of upright boxes.
    loose : (loose,) int64
        Rows of all others: literal movers and tracked bodies in the order of their tables, then the rest.
    kind, size, radius, root
        Columns of `Shapes` of those.
    own : (lasers,) int64
        Which of them carries each laser.
    """

    boxes: Annotated[NDArray[np.float64], (FIELDS * GROUP,)]
    blocks: Annotated[NDArray[np.float64], (FIELDS * GROUP,)]
    rows: Annotated[NDArray[np.int64], (GROUP,)]
    plain: NDArray[np.int64]
    loose: NDArray[np.int64]
    kind: NDArray[np.int64]
    size: Annotated[NDArray[np.float64], (3,)]
    radius: NDArray[np.float64]
    root: NDArray[np.int64]
    own: NDArray[np.int64]


scenery_of = unpacker(Scenery)


@inlined
def reaches_beyond(ranges, begin, end, gap):
    """Whether a beam of a run has no hit up to a distance [m]."""
    # a sum over all, not the first found: a loop without branches is vector code
    open_ones = 0
    for i in range(np.uint64(begin), np.uint64(end)):
        open_ones += ranges[i] > gap
    return open_ones > 0


@inlined
def sort_groups(origin, view, scenery, reach, sorted_too, floats, ints):
    """List the groups that a level sensor may see, optionally the nearest first; return their number.

    Written behind what windows are made in: gap, low, high of each; and its number, behind the list of bodies.
    """
    groups = scenery.plain.shape[0]
    tallies, found, order = ints[:SHELLS], ints[SHELLS : SHELLS + groups], ints[SHELLS + groups :]
    tallies[:] = 0
    count = 0
    for block in range(scenery.boxes.shape[0]):
        box = scenery.boxes[block]
        standing_windows_into(origin, view, box, floats)
        # an empty window has its last beam below its first
        for k in range(min(GROUP, groups - block * GROUP)):
            low, high = floats[k + LOW * CHUNK], floats[k + HIGH * CHUNK]
            if low <= high:
                gap = floats[k + GAP * CHUNK]
                at = WORK + 3 * count
                floats[at], floats[at + 1], floats[at + 2] = gap, low, high
                found[count] = block * GROUP + k
                count += 1
                tallies[shell_of(gap, reach)] += 1
    # with several layers a near group hides little of a far one: sorting would not pay
    if not sorted_too:
        for n in range(count):
            order[n] = n
        return count
    # counting sort by distance shells: near enough to the exact order, and linear
    before = 0
    for shell in range(SHELLS):
        before, tallies[shell] = before + tallies[shell], before
    for n in range(count):
        shell = shell_of(floats[WORK + 3 * n], reach)
        order[tallies[shell]] = n
        tallies[shell] += 1
    return count


@inlined
def shell_of(gap, reach):
    """Index of the shell about the sensor that contains a distance [m]."""
    return int(min(max(gap / reach, 0.0) * SHELLS, SHELLS - 1.0)) if reach > 0.0 else 0


@inlined
def cast_group_into(origin, view, fan, period, occluding, block, floats, ints, ranges):
    """Cast a level sensor against a group of upright boxes."""
    standing_windows_into(origin, view, block, floats)
    last, count = fan.beams - 1, 0
    for k in range(GROUP):
        low, high = floats[k + LOW * CHUNK], floats[k + HIGH * CHUNK]
        # the window does not wrap around
        if low >= 0.0 and high < period:
            # whole lanes of beams; an entry with a > b is overwritten by the next
            a, b = int(low), min(int(high), last)
            ints[3 * count], ints[3 * count + 1], ints[3 * count + 2] = k, a & -LANES, (b | (LANES - 1)) + 1
            count += a <= b
        elif low <= high:
            count = around_into(fan.beams, fan.step, low, high, k, ints, count)
    for e in range(count):
        k, begin, end = ints[3 * e], ints[3 * e + 1], ints[3 * e + 2]
        px, py, pz = floats[k + PLACE_X * CHUNK], floats[k + PLACE_Y * CHUNK], floats[k + PLACE_Z * CHUNK]
        hx, hy, hz = block[k + SIZE_X * GROUP], block[k + SIZE_Y * GROUP], block[k + SIZE_Z * GROUP]
        if occluding and not reaches_beyond(ranges, begin, end, floats[k + GAP * CHUNK]):
            continue
        cosine, sine, room = floats[k + COSINE * CHUNK], floats[k + SINE * CHUNK], floats[k + ROOM * CHUNK]
        cast_level_box_into(fan, (px, py, pz), cosine, sine, room, (hx, hy, hz), begin, end, ranges)


@inlined
def take_rows(rows, left, count):
    """Append the bodies of a group to a list; return its length."""
    for k in range(GROUP):
        left[count] = rows[k]
        count += rows[k] >= 0
    return count


@inner
def cast_level_groups_into(origin, turn, fan, reach, scenery, floats, ints, left, ranges):
    """Cast a level sensor against all static upright boxes; list the others it may see, and return their number."""
    view, period = view_of(turn, fan, reach), 2.0 * math.pi / abs(fan.step)
    occluding = fan.layers == 1
    groups = scenery.plain.shape[0]
    # behind the list of other bodies: tallies, found, order
    table = ints[ints.shape[0] - SHELLS - 2 * groups :]
    order, found = table[SHELLS + groups :], table[SHELLS : SHELLS + groups]
    others = 0
    for n in range(sort_groups(origin, view, scenery, reach, occluding, floats, table)):
        at = WORK + 3 * order[n]
        group = found[order[n]]
        # in a planar scan, a group behind the hits of all its beams is hidden
        if occluding:
            hidden = True
            for run in range(around_into(fan.beams, fan.step, floats[at + 1], floats[at + 2], 0, ints, 0)):
                hidden = hidden and not reaches_beyond(ranges, ints[3 * run + 1], ints[3 * run + 2], floats[at])
            if hidden:
                continue
        if scenery.plain[group] != 0:
            cast_group_into(origin, view, fan, period, occluding, scenery.blocks[group], floats, ints, ranges)
        else:
            others = take_rows(scenery.rows[group], left, others)
    return others


@inner
def list_groups(origin, turn, fan, reach, scenery, ints, left):
    """List the static bodies that a sensor in any attitude may see; return their number."""
    m, count = matrix_of(turn[0], turn[1], turn[2], turn[3]), 0
    for group in range(scenery.plain.shape[0]):
        box, k = scenery.boxes[group // GROUP], group % GROUP
        px, py = origin[0] - box[k + BODY_X * GROUP], origin[1] - box[k + BODY_Y * GROUP]
        pz = origin[2] - box[k + BODY_Z * GROUP]
        if math.sqrt(px * px + py * py + pz * pz) > reach + box[k + RADIUS * GROUP]:
            continue
        hx, hy, hz = box[k + SIZE_X * GROUP], box[k + SIZE_Y * GROUP], box[k + SIZE_Z * GROUP]
        low, high, first, last = window_of(fan.first, fan.step, fan.slack, fan.slopes, m, px, py, pz, hx, hy, hz)
        if first < last and around_into(fan.beams, fan.step, low, high, 0, ints, 0) > 0:
            count = take_rows(scenery.rows[group], left, count)
    return count


@inner
def cast_standing_into(origin, turn, fan, reach, scenery, positions, orientations, shapes, floats, ints, ranges):
    """Reduce the ranges of one scan by hits of static bodies.

    Parameters
    ----------
    origin, turn, fan, reach : as `cbsim.sensing.kernels.still.cast_still_into`
    scenery : Scenery
    positions, orientations, shapes : (bodies, 3) [m], (bodies, 4), Outlines
        Of all bodies; only those of the groups matter.
    floats, ints : out
        From `cbsim.sensing.kernels.still.scratch_for`.
    ranges : (layers · width,) [m], out
        Taken as they are.
    """
    left = ints[ENTRIES + DEPTH :]
    if turn[1] == 0.0 and turn[2] == 0.0:
        count = cast_level_groups_into(origin, turn, fan, reach, scenery, floats, ints, left, ranges)
    else:
        count = list_groups(origin, turn, fan, reach, scenery, ints, left)
    if count > 0:
        cast_others_into(origin, turn, fan, reach, count, False, positions, orientations, shapes, ints, ranges)
        cast_others_into(origin, turn, fan, reach, count, True, positions, orientations, shapes, ints, ranges)
