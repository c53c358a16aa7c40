"""Observations of agents as rows of float32: own state, route ahead, nearest objects, nearest pieces of road."""

from __future__ import annotations

import numpy as np

from cbsim.geometry.kernels import elementary as math
from cbsim.geometry.kernels.rotation import rotate
from cbsim.gym.kernels.columns import (
    ACCELERATION,
    BASE,
    HEADING,
    HEADING_ERROR,
    LIMIT,
    NUMBER,
    OBJECT,
    OFFSET,
    OWN,
    PIECE,
    POINT,
    SAMPLE,
    SAMPLE_HEADING,
    SAMPLE_STATION,
    SAMPLE_X,
    SAMPLE_Y,
    SPEED,
    STOP_DISTANCE,
    WAY,
    YAW_RATE,
    X,
    Y,
)
from cbsim.jit import inlined, inner, kernel
from cbsim.world.packed.kernels import shapes_of, state_of
from cbsim.world.traffic.tables import PARKED_HEIGHT

__all__ = ["observe_into"]

# rows of objects of a World: place [m], direction, speed ahead [m/s], width and length [m]
OBJECT_X, OBJECT_Y, OBJECT_EAST, OBJECT_NORTH, OBJECT_SPEED, OBJECT_WIDTH, OBJECT_LENGTH, GATHERED = range(8)
# rows of objects as an agent sees them: place to its right and ahead, cosine and sine of their turn, and the same
RIGHT, AHEAD, COSINE, SINE, SEEN_SPEED, SEEN_WIDTH, SEEN_LENGTH = range(OBJECT)
TURN = 2  # of points of the route, behind their places
# rows of pieces of road, of a World and as an agent sees them behind their places
PIECE_X, PIECE_Y, PIECE_LENGTH, PIECE_WIDTH, PIECE_EAST, PIECE_NORTH, PIECE_KIND = range(PIECE)
TOLD_LENGTH, TOLD_WIDTH, TOLD_COSINE, TOLD_SINE, TOLD_KIND = range(2, PIECE)
# an agent's own numbers, and a grid of cells with lists of pieces
OWN_SPEED, OWN_YAW_RATE, OWN_ACCELERATION, OWN_OFFSET, OWN_HEADING_ERROR, OWN_LIMIT, OWN_STOP_DISTANCE = range(OWN)
GRID_X, GRID_Y, CELL_WIDTH, GRID_COLUMNS, GRID_ROWS = range(5)
BLOCK = 16  # distances that are looked at together
FAST, SHARP, QUICK, ASTRAY = 60.0, 10.0, 30.0, 10.0  # bounds of speed, acceleration, yaw rate, offset


@inlined
def within(value, bound):
    """Limit a value to ± a bound."""
    return min(max(value, -bound), bound)


@inlined
def gather_into(shapes, state, others, origin_x, origin_y, gathered):
    """Collect the objects of a World, those that are absent far away."""
    for k in range(others.shape[0]):
        body = others[k]
        fx, fy, _ = rotate(state.orientation[body], 0.0, 1.0, 0.0)
        there = state.position[body, 2] > 0.5 * PARKED_HEIGHT
        gathered[OBJECT_X, k] = state.position[body, 0] - origin_x if there else 1e9
        gathered[OBJECT_Y, k] = state.position[body, 1] - origin_y if there else 1e9
        gathered[OBJECT_EAST, k], gathered[OBJECT_NORTH, k] = fx, fy
        gathered[OBJECT_SPEED, k] = state.velocity[body, 0] * fx + state.velocity[body, 1] * fy
        gathered[OBJECT_WIDTH, k], gathered[OBJECT_LENGTH, k] = shapes.size[body, 0], shapes.size[body, 1]


@inner
def span_into(gathered, first, last, x, y, fx, fy, square, out, at):
    """Write a span of objects as an agent sees them, in the order of their rows; zeros beyond the reach."""
    for k in range(last - first):
        dx, dy = gathered[OBJECT_X, first + k] - x, gathered[OBJECT_Y, first + k] - y
        there = np.float32(1.0) if dx * dx + dy * dy <= square else np.float32(0.0)
        ux, uy = gathered[OBJECT_EAST, first + k], gathered[OBJECT_NORTH, first + k]
        near = there > np.float32(0.0)
        # to the right of the agent, and ahead
        out[RIGHT, at + k] = dx * fy - dy * fx if near else np.float32(0.0)
        out[AHEAD, at + k] = dx * fx + dy * fy if near else np.float32(0.0)
        out[COSINE, at + k], out[SINE, at + k] = (ux * fx + uy * fy) * there, (fx * uy - fy * ux) * there
        out[SEEN_SPEED, at + k] = gathered[OBJECT_SPEED, first + k] * there
        out[SEEN_WIDTH, at + k] = gathered[OBJECT_WIDTH, first + k] * there
        out[SEEN_LENGTH, at + k] = gathered[OBJECT_LENGTH, first + k] * there


@inner
def sort_nearest(distances, nearest):
    """Find the nearest objects, nearest first, ties by their rows.

    The distance of the farthest of any objects bounds that of the nearest as many: of those of the step before, which
    most often still are the nearest, nearly all others are farther away. The result does not depend on them.
    """
    most, count, found = np.float32(0.0), nearest.shape[0], 0
    for k in range(count):
        most = max(most, distances[nearest[k]])
    for begin in range(0, distances.shape[0], BLOCK):
        stop, near = min(begin + BLOCK, distances.shape[0]), 0
        for k in range(begin, stop):
            near += 1 if distances[k] <= most else 0
        # blocks in which nothing is near are skipped
        for k in range(begin, stop if near > 0 else begin):
            distance = distances[k]
            # of equal distances those with lower rows stay
            if distance > most or (found == count and distance == most):
                continue
            found = min(found + 1, count)
            at = found - 1
            while at > 0 and distances[nearest[at - 1]] > distance:
                nearest[at] = nearest[at - 1]
                at -= 1
            nearest[at] = k
            if found == count:
                most = distances[nearest[count - 1]]


@inlined
def nearest_into(gathered, own, x, y, fx, fy, square, distances, nearest, out):
    """Write the nearest objects as an agent sees them, nearest first; zeros beyond the reach."""
    for k in range(distances.shape[0]):
        dx, dy = gathered[OBJECT_X, k] - x, gathered[OBJECT_Y, k] - y
        distances[k] = dx * dx + dy * dy
    # an agent is no object of its own: it comes last
    if own >= 0:
        distances[own] = np.float32(3e38)
    sort_nearest(distances, nearest)
    for k in range(out.shape[1]):
        item = nearest[k]
        if distances[item] > square:
            for c in range(OBJECT):
                out[c, k] = 0.0
            continue
        dx, dy = gathered[OBJECT_X, item] - x, gathered[OBJECT_Y, item] - y
        ux, uy = gathered[OBJECT_EAST, item], gathered[OBJECT_NORTH, item]
        out[RIGHT, k], out[AHEAD, k] = dx * fy - dy * fx, dx * fx + dy * fy
        out[COSINE, k], out[SINE, k] = ux * fx + uy * fy, fx * uy - fy * ux
        out[SEEN_SPEED, k], out[SEEN_WIDTH, k] = gathered[OBJECT_SPEED, item], gathered[OBJECT_WIDTH, item]
        out[SEEN_LENGTH, k] = gathered[OBJECT_LENGTH, item]


@inner
def pieces_into(pieces, x, y, fx, fy, out):
    """Write pieces of road (7, k), whose places are relative to the middle of a cell, as an agent sees them."""
    for k in range(out.shape[1]):
        dx, dy, ux, uy = pieces[PIECE_X, k] - x, pieces[PIECE_Y, k] - y, pieces[PIECE_EAST, k], pieces[PIECE_NORTH, k]
        there = pieces[PIECE_WIDTH, k] > np.float32(0.0)
        out[RIGHT, k] = dx * fy - dy * fx if there else np.float32(0.0)
        out[AHEAD, k] = dx * fx + dy * fy if there else np.float32(0.0)
        out[TOLD_LENGTH, k], out[TOLD_WIDTH, k] = pieces[PIECE_LENGTH, k], pieces[PIECE_WIDTH, k]
        out[TOLD_COSINE, k], out[TOLD_SINE, k] = ux * fx + uy * fy, fx * uy - fy * ux
        out[TOLD_KIND, k] = pieces[PIECE_KIND, k]


@inner
def points_into(samples, offsets, route, place, spacing, pose, out):
    """Write points of the route ahead (3, k) at equal distances as an agent sees them: place, and heading."""
    x, y, fx, fy, heading = pose
    # the search goes on from the sample on which the agent is
    number, k = int(place[NUMBER]), int(place[SAMPLE])
    last, way = offsets[route[number] + 1] - 1, place[WAY] - place[BASE]
    for j in range(out.shape[1]):
        way += spacing
        while samples[k + 1, SAMPLE_STATION] < way:
            if k + 1 < last:
                k += 1
            elif number + 1 < route.shape[0] and route[number + 1] >= 0:
                # from here on the way along the next lanelet
                way -= samples[k + 1, SAMPLE_STATION]
                number += 1
                k, last = offsets[route[number]], offsets[route[number] + 1] - 1
            else:
                # the route ends: its last point is repeated
                way = samples[k + 1, SAMPLE_STATION]
        span = samples[k + 1, SAMPLE_STATION] - samples[k, SAMPLE_STATION]
        part = (way - samples[k, SAMPLE_STATION]) / span
        dx = samples[k, SAMPLE_X] + part * (samples[k + 1, SAMPLE_X] - samples[k, SAMPLE_X]) - x
        dy = samples[k, SAMPLE_Y] + part * (samples[k + 1, SAMPLE_Y] - samples[k, SAMPLE_Y]) - y
        turn = samples[k, SAMPLE_HEADING] + part * (samples[k + 1, SAMPLE_HEADING] - samples[k, SAMPLE_HEADING])
        turn -= heading
        out[RIGHT, j], out[AHEAD, j] = dx * fy - dy * fx, dx * fx + dy * fy
        # within ±π
        out[TURN, j] = turn - 2.0 * math.pi * math.floor(turn / (2.0 * math.pi) + 0.5)


@inlined
def objects_into(gathered, own, x, y, fx, fy, square, distances, orders, w, a, out):
    """Write the objects as an agent sees them: the nearest, or all in the order of their rows."""
    if orders.shape[0] > 0:
        nearest_into(gathered, own, x, y, fx, fy, square, distances, orders[w, a], out)
        return
    count = gathered.shape[1]
    # around the agent's own row, which is left out
    split = own if own >= 0 else count
    last = max(count, split + 1)
    span_into(gathered, 0, split, x, y, fx, fy, square, out, 0)
    span_into(gathered, split + 1, last, x, y, fx, fy, square, out, split)
    for c in range(OBJECT):
        for k in range(last - 1, out.shape[1]):
            out[c, k] = 0.0


@inlined
def road_into(grid, cells, pieces, x, y, fx, fy, out):
    """Write the pieces of road of the cell in which an agent is; zeros where there is none."""
    # which pieces are near is worked out ahead for each cell of a grid
    column, line = math.floor((x - grid[GRID_X]) / grid[CELL_WIDTH]), math.floor((y - grid[GRID_Y]) / grid[CELL_WIDTH])
    cell = -1
    if 0 <= column < grid[GRID_COLUMNS] and 0 <= line < grid[GRID_ROWS]:
        cell = cells[int(line) * int(grid[GRID_COLUMNS]) + int(column)]
    if cell < 0:
        for c in range(PIECE):
            for k in range(out.shape[1]):
                out[c, k] = 0.0
        return
    px = np.float32(x - grid[GRID_X] - (column + 0.5) * grid[CELL_WIDTH])
    py = np.float32(y - grid[GRID_Y] - (line + 0.5) * grid[CELL_WIDTH])
    pieces_into(pieces[cell], px, py, fx, fy, out)


@kernel
def observe_into(pack, sizes, blocks, worlds, rows, objects, counts, reach, roads, measures, near, out):
    """Write the observations of all agents of some Snapshots.

    Parameters
    ----------
    pack, sizes, blocks, worlds
        As `cbsim.simulation.kernels.advance_into` has them, of blocks the first two.
    rows : (agents, 3) int64
        Rows of the body, in the table of vehicles and in that of objects.
    objects : tuple of ndarray
        Rows of bodies that are told (n,) int64. For each agent different numbers of them, best of the nearest ones of
        the step before, (worlds, agents, objects) int32, written; (0, 0, 0) if there is room for all.
    counts : tuple of int
        Points of the route, objects and pieces of an observation.
    reach : tuple of float
        Greatest distance of objects, and spacing of points of the route [m].
    roads : tuple of ndarray
        Samples, offsets, routes and places, as `cbsim.gym.kernels.measures.measure_into` has them.
    measures
        As `cbsim.gym.kernels.measures.measure_into` has them.
    near : tuple of ndarray
        Grid (5,): least x and y, width of a cell [m], columns and rows; list of pieces of each cell (columns · rows,)
        int64, -1 for none; pieces of road (lists, 7, k) float32, nearest first: place relative to the middle of the
        cell, length, width, direction, kind.
    out : (worlds, agents, size) float32, out
    """
    floats, ints = blocks
    others, orders = objects
    samples, offsets, routes, places = roads
    n, m = floats.shape[0] // worlds, ints.shape[0] // worlds
    points, told, pieces = counts
    shapes, agents = shapes_of(pack), rows.shape[0]
    gathered, distances = np.empty((GATHERED, others.shape[0]), np.float32), np.empty(others.shape[0], np.float32)
    first = OWN + POINT * points
    second = first + OBJECT * told
    square = np.float32(reach[0] * reach[0])
    for w in range(worlds):
        state = state_of(floats[w * n : (w + 1) * n], ints[w * m : (w + 1) * m], sizes)
        # float32 has seven digits, and maps are kilometres wide: places are relative to the first agent
        origin_x, origin_y = state.position[rows[0, 0], 0], state.position[rows[0, 0], 1]
        if told > 0:
            gather_into(shapes, state, others, origin_x, origin_y, gathered)
        for a in range(agents):
            row, target = measures[w, a], out[w, a]
            x, y, heading = row[X], row[Y], row[HEADING]
            east, north, _ = rotate(state.orientation[rows[a, 0]], 0.0, 1.0, 0.0)
            fx, fy = np.float32(east), np.float32(north)
            target[OWN_SPEED], target[OWN_YAW_RATE] = within(row[SPEED], FAST), within(row[YAW_RATE], SHARP)
            target[OWN_ACCELERATION], target[OWN_OFFSET] = within(row[ACCELERATION], QUICK), within(row[OFFSET], ASTRAY)
            target[OWN_HEADING_ERROR], target[OWN_LIMIT] = row[HEADING_ERROR], row[LIMIT]
            target[OWN_STOP_DISTANCE] = row[STOP_DISTANCE]
            if points > 0:
                ahead, pose = target[OWN:first].reshape((POINT, points)), (x, y, east, north, heading)
                points_into(samples, offsets, routes[w, a], places[w, a], reach[1], pose, ahead)
            if told > 0:
                px, py = np.float32(x - origin_x), np.float32(y - origin_y)
                seen = target[first:second].reshape((OBJECT, told))
                objects_into(gathered, rows[a, 2], px, py, fx, fy, square, distances, orders, w, a, seen)
            if pieces > 0:
                road = target[second : second + PIECE * pieces].reshape((PIECE, pieces))
                road_into(*near, x, y, fx, fy, road)
