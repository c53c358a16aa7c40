"""Broad phase: candidate pairs with at least one moving body, from bounding boxes in a hierarchical grid.

The bounds of a body cover its motion over the next steps: the trajectory of a literal mover is known, and a vehicle
that leaves its margin triggers a new search. Cached pairs omit only pairs that cannot touch, so results don't depend on
them. A body lies in the grid level whose cells are as large as its bounds, so that a body a kilometre long
covers few cells. Pairs are ordered by their rows, whatever the grid.
"""

from __future__ import annotations

import math

import numpy as np

from cbsim.collision.kernels.workspace import GROUND, LEVELS, MOVING, VEHICLE
from cbsim.geometry.kernels.grid import BUCKET, NO_BUCKET, near_into, overlap, sort_into_buckets
from cbsim.geometry.kernels.trajectory_segments import segment_at, segment_position_into
from cbsim.jit import inner, kernel
from cbsim.vehicle.kernels.columns import CENTRE_X, CENTRE_Y, FORWARD, LEFTWARD

__all__ = ["find_pairs", "has_left", "set_bounds"]

ANCHOR_X, ANCHOR_Y, ANCHOR_ROOM = range(3)  # of `anchors`: place of a vehicle, and how far from it its bounds hold [m]
MARGIN = 0.5  # [m] least margin of a vehicle, taken at rest
SPEED_FACTOR = 1.5  # times the distance that a vehicle covers at its speed
CELL, STRIDE = 8.0, 2.0  # [m] width of cells of the finest level; ratio of widths of consecutive levels
ANYWHERE = 2**62  # beyond all cells
MOVERS, STATICS = range(2)  # columns of the tally of a level
GRID_THRESHOLD = 6000  # product of moving bodies and bodies up to which all pairs are tested without a grid


@inner
def widen(x, y, radius, out):
    """Extend bounds (4,) by a disc."""
    out[0], out[1] = min(out[0], x - radius), min(out[1], y - radius)
    out[2], out[3] = max(out[2], x + radius), max(out[3], y + radius)


@kernel
def set_bounds(segments, radii, movers, vehicles, planar, since, step, steps, workspace):
    """Set the bounds of all moving bodies over a number of steps.

    Parameters
    ----------
    segments : TrajectoryTables
    radii : (bodies,) [m]
    movers, vehicles : (movers,), (vehicles,) int64
        Their rows.
    planar : (vehicles, 6)
        Motion of vehicles in the plane.
    since, step, steps : float, float, int
        Beginning and length of a step [s], and the number of steps.
    workspace : BroadWorkspace
        Written.
    """
    bounds, reach, anchors = workspace.bounds, workspace.reach, workspace.anchors
    place = np.empty(3)
    until = since + steps * step
    starts, origins, velocities = segments.starts, segments.origins, segments.velocities
    firsts, lasts, guess = segments.firsts, segments.lasts, segments.guess
    for m in range(movers.shape[0]):
        body, last = movers[m], lasts[m]
        radius = radii[body] + 1e-6
        segment = segment_at(starts, firsts[m], last, guess[m], since)
        # the bounds of a path of straight segments are those of its corners
        segment_position_into(starts, origins, velocities, segment, since, place)
        out, fastest = bounds[body], 0.0
        out[0] = out[1] = math.inf
        out[2] = out[3] = -math.inf
        widen(place[0], place[1], radius, out)
        while True:
            u, v, w = velocities[segment, 0], velocities[segment, 1], velocities[segment, 2]
            fastest = max(fastest, u * u + v * v + w * w)
            if segment == last or starts[segment + 1] > until:
                break
            segment += 1
            widen(origins[segment, 0], origins[segment, 1], radius, out)
        segment_position_into(starts, origins, velocities, segment, until, place)
        widen(place[0], place[1], radius, out)
        reach[body] = radius + math.sqrt(fastest) * step
    for v in range(vehicles.shape[0]):
        body = vehicles[v]
        speed = math.sqrt(planar[v, FORWARD] * planar[v, FORWARD] + planar[v, LEFTWARD] * planar[v, LEFTWARD])
        anchors[v, ANCHOR_X], anchors[v, ANCHOR_Y] = planar[v, CENTRE_X], planar[v, CENTRE_Y]
        # vehicles may steer: their bounds have a margin, which `has_left` watches
        anchors[v, ANCHOR_ROOM] = max(MARGIN, SPEED_FACTOR * speed * steps * step)
        out = bounds[body]
        out[0] = out[1] = math.inf
        out[2] = out[3] = -math.inf
        widen(planar[v, CENTRE_X], planar[v, CENTRE_Y], radii[body] + anchors[v, ANCHOR_ROOM] + 1e-6, out)


@kernel
def has_left(planar, anchors):
    """Whether a vehicle has left the margin of its bounds (vehicles, 3)."""
    for v in range(anchors.shape[0]):
        x, y = planar[v, CENTRE_X] - anchors[v, ANCHOR_X], planar[v, CENTRE_Y] - anchors[v, ANCHOR_Y]
        # negated, so that a position that is not a number has left as well
        if not x * x + y * y <= anchors[v, ANCHOR_ROOM] * anchors[v, ANCHOR_ROOM]:
            return True
    return False


@inner
def fill_grid(workspace):
    """Sort obstacles into the cells of their centres, in the level of their size; count those of each level."""
    roles, bounds, tally, cells = workspace.roles, workspace.bounds, workspace.tally, workspace.grid.cells
    bodies = bounds.shape[0]
    for level in range(LEVELS):
        tally[level, MOVERS], tally[level, STATICS] = 0, 0
    for body in range(bodies):
        # ground touches nobody; empty bounds are of absent cars
        if roles[body, MOVING] == GROUND or bounds[body, 0] > bounds[body, 2]:
            cells[body, BUCKET] = NO_BUCKET
            continue
        box = bounds[body]
        level, width = 0, CELL
        while width < max(box[2] - box[0], box[3] - box[1]) and level < LEVELS - 1:
            level, width = level + 1, STRIDE * width
        tally[level, STATICS if roles[body, MOVING] < 0 else MOVERS] += 1
        cells[body, 0] = math.floor(0.5 * (box[0] + box[2]) / width)
        cells[body, 1] = math.floor(0.5 * (box[1] + box[3]) / width)
        cells[body, 2], cells[body, BUCKET] = level, 0
    sort_into_buckets(workspace.grid, bounds, 0, bodies)


@inner
def query_grid(a, workspace):
    """Collect the obstacles near a moving body from the cells around it; return their number.

    Of two moving bodies the one with the finer level finds the other, the first one if both have the same. Static
    bodies, which look for nobody, are found at every level.
    """
    roles, bounds, tally, near = workspace.roles, workspace.bounds, workspace.tally, workspace.near
    own = workspace.grid.cells[a, 2]
    x0, y0, x1, y1 = bounds[a, 0], bounds[a, 1], bounds[a, 2], bounds[a, 3]
    count, width = 0, CELL
    for level in range(LEVELS):
        if tally[level, STATICS] > 0 or (level >= own and tally[level, MOVERS] > 0):
            left, right, low, high = -ANYWHERE, ANYWHERE, -ANYWHERE, ANYWHERE
            if level < LEVELS - 1:  # the last level has no largest size
                # obstacles are at most one cell wide, so centres lie within half a cell of the bounds
                left, low = math.floor(x0 / width - 0.5), math.floor(y0 / width - 0.5)
                right, high = math.floor(x1 / width + 0.5), math.floor(y1 / width + 0.5)
            found = near_into(workspace.grid, bounds, a, 0, left, right, low, high, level, level)
            for n in range(found):
                b = workspace.grid.near[n]
                # pairs of moving bodies count once
                if roles[b, MOVING] < 0 or level > own or (level == own and b > a):
                    near[count] = b
                    count += 1
        width *= STRIDE
    return count


@inner
def query_all(a, roles, bounds, near):
    """Collect the obstacles near a moving body by testing all; return their number."""
    count = 0
    for b in range(bounds.shape[0]):
        if not overlap(bounds, b, 0, bounds, a, 0, 2):
            continue
        if b != a and roles[b, MOVING] != GROUND and (roles[b, MOVING] < 0 or b > a):
            near[count] = b
            count += 1
    return count


@inner
def append_pair(pairs, count, a, b):
    """Append a pair; return the table, a larger one if it was full."""
    if count == pairs.shape[0]:
        larger = np.empty((2 * count + 64, 2), np.int64)
        for k in range(count):
            larger[k, 0], larger[k, 1] = pairs[k, 0], pairs[k, 1]
        pairs = larger
    pairs[count, 0], pairs[count, 1] = a, b
    return pairs


@inner
def order_pairs(pairs, count, counts, out):
    """Write pairs to `out` (count, 2) in the order of their first, then their second bodies (counting sort).

    Parameters
    ----------
    counts : (bodies,) int64
        Scratch.
    """
    for body in range(counts.shape[0]):
        counts[body] = 0
    for k in range(count):
        counts[pairs[k, 0]] += 1
        out[k, 0] = -1  # what is not written yet belongs to nobody
    total = 0
    for body in range(counts.shape[0]):
        total, counts[body] = total + counts[body], total
    for k in range(count):
        a, b = pairs[k, 0], pairs[k, 1]
        at = counts[a]
        counts[a] = at + 1
        while at > 0 and out[at - 1, 0] == a and out[at - 1, 1] > b:
            out[at, 0], out[at, 1] = a, out[at - 1, 1]
            at -= 1
        out[at, 0], out[at, 1] = a, b


@kernel
def find_pairs(moving, workspace, literal, driven):
    """Find the pairs whose bounds overlap, in the order of rows.

    Parameters
    ----------
    moving : (moving,) int64
        Rows of bodies that move, in order.
    workspace : BroadWorkspace
        With bounds set.
    literal, driven : (≥ n, 2) int64
        Tables for pairs without and with a vehicle; larger ones are returned if need be.

    Returns
    -------
    literal, literal_count, driven, driven_count
        The first body of a pair moves; it is the vehicle if there is one.
    """
    roles, bounds, near = workspace.roles, workspace.bounds, workspace.near
    in_grid = moving.shape[0] * bounds.shape[0] > GRID_THRESHOLD
    if in_grid:
        fill_grid(workspace)
    total = 0
    for k in range(moving.shape[0]):
        a = moving[k]
        if bounds[a, 0] > bounds[a, 2]:  # empty bounds: an absent reactive car
            continue
        if in_grid:
            count = query_grid(a, workspace)
        else:
            count = query_all(a, roles, bounds, near)
        for n in range(count):
            b = near[n]
            # the first of a pair moves; of two that do, the lower row
            one, two = (b, a) if roles[b, MOVING] >= 0 and b < a else (a, b)
            literal = append_pair(literal, total, one, two)
            total += 1
    # pairs come in the order of cells: they are sorted so that results do not depend on the grid
    found = np.empty((total, 2), np.int64)
    order_pairs(literal, total, workspace.grid.order, found)
    first, second = 0, 0
    for k in range(total):
        a, b = found[k, 0], found[k, 1]
        if roles[a, VEHICLE] >= 0:
            driven = append_pair(driven, second, a, b)
            second += 1
        elif roles[b, VEHICLE] >= 0:
            driven = append_pair(driven, second, b, a)
            second += 1
        else:
            literal[first, 0], literal[first, 1] = a, b
            first += 1
    return literal, first, driven, second
