"""Poses of the bodies of reactive cars, and their velocities, from where the cars are on their ways.

Most cars follow the centreline. Their poses are worked out in blocks, in loops without branches that a processor can
run for several cars at once: the square roots and quotients of a pose wait for each other.
"""

from __future__ import annotations

import numpy as np

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined, inner
from cbsim.traffic.kernels.turning_round.turning import pose_turn
from cbsim.traffic.kernels.ways.sideways import is_aside, is_turning
from cbsim.traffic.kernels.ways.way import destination_of, keep_way, point_ahead, pose_car
from cbsim.traffic.kernels.zones.zone_ways import is_in_zone, pose_in_zone
from cbsim.world.traffic.tables import (
    ABSENT,
    BODY,
    FRONT_AXLE,
    HEIGHT,
    PHASE,
    REAR_AXLE,
    STATION,
    VEHICLE,
)

__all__ = ["BLOCK", "pose_cars", "posing_scratch", "trace_cars"]

BLOCK = 64  # cars that move, and get their poses while their rows are in the cache
SMALLEST = 1e-6  # [m] from axle to axle, below which a heading is kept

# rows of `posing_scratch`: pose before, centre and vector from axle to axle, orientation, velocities
X, Y, W, Z, CENTRE_X, CENTRE_Y, AXLES_X, AXLES_Y, NEW_W, NEW_Z, SPEED_X, SPEED_Y, TURN = (
    np.uint64(row * BLOCK) for row in range(13)
)


@inner
def posing_scratch():
    """Make scratch for `pose_cars`: rows of `BLOCK` numbers, one after another, and bodies."""
    return np.empty(13 * BLOCK), np.empty(BLOCK, np.int64)


@inner
def put_car(road, zones, seed, state, work, i):
    """Write the pose of car i."""
    travel, intent, position, orientation = state.travel, state.intent, state.position, state.orientation
    if is_in_zone(intent, i):
        pose_in_zone(road, zones, travel, state.parking, position, orientation, i)
        return
    destination = destination_of(road, intent, work.drawn, i)
    keep_way(road, seed, intent, work.ways, i, destination)
    if is_turning(travel[i]):
        pose_turn(road, travel, intent, position, orientation, i)
    else:
        pose_car(road, seed, travel, intent, work.ways, position, orientation, i, destination)


@inner
def trace_cars(road, zones, seed, state, work, part, path):
    """Write the poses of all cars after a part of a step to a path (cars, parts + 1, 4), and before the first one."""
    position, orientation = state.position, state.orientation
    for i in range(state.intent.shape[0]):
        body, row = road.car_rows[i, BODY], path[i]
        if state.intent[i, PHASE] == ABSENT or road.car_rows[i, VEHICLE] >= 0:
            continue
        # absent bodies are at another height
        was_absent = position[body, 2] != road.car_sizes[i, HEIGHT]
        x, y, w, z = position[body, 0], position[body, 1], orientation[body, 0], orientation[body, 3]
        put_car(road, zones, seed, state, work, i)
        now = row[part + 1]
        now[0], now[1], now[2], now[3] = (
            position[body, 0],
            position[body, 1],
            orientation[body, 0],
            orientation[body, 3],
        )
        # who has just appeared counts as having stood there before
        if was_absent:
            for k in range(part + 1):
                row[k, 0], row[k, 1], row[k, 2], row[k, 3] = now[0], now[1], now[2], now[3]
        elif part == 0:
            row[0, 0], row[0, 1], row[0, 2], row[0, 3] = x, y, w, z


@inlined
def pose_alone(road, zones, seed, state, work, step, path, i):
    """Write the pose and the velocities of the body of car i, wherever it is."""
    position, body = state.position, road.car_rows[i, BODY]
    q = state.orientation[body]
    x, y, w, z = position[body, 0], position[body, 1], q[0], q[3]
    was_absent = position[body, 2] != road.car_sizes[i, HEIGHT]
    put_car(road, zones, seed, state, work, i)
    if path.shape[0] > 0:
        x, y, w, z = path[i, 0, 0], path[i, 0, 1], path[i, 0, 2], path[i, 0, 3]
    elif was_absent:
        x, y, w, z = position[body, 0], position[body, 1], q[0], q[3]
    state.velocity[body, 0], state.velocity[body, 1] = (
        (position[body, 0] - x) / step,
        (position[body, 1] - y) / step,
    )
    # z of the quaternion product of both orientations, that is the sine of half the angle between them
    sine = w * q[3] - z * q[0]  # of half the turn, which is small in a step
    sine = sine if w * q[0] + z * q[3] >= 0.0 else -sine
    state.angular_velocity[body, 2] = 2.0 * sine / step


@inlined
def head_and_move(rows, count, step):
    """Work out orientations and velocities of a number of cars, as `head_along` and `pose_alone` do."""
    for k in range(np.uint64(0), np.uint64(count)):
        dx, dy, w, z = rows[k + AXLES_X], rows[k + AXLES_Y], rows[k + W], rows[k + Z]
        distance = math.sqrt(dx * dx + dy * dy)
        # the heading is 0 towards y, counter-clockwise
        cosine, sine = dy / distance, -(dx / distance)
        # half-angle formulas by the larger of cosine and sine, as in `head_along`
        ahead = cosine > -0.5
        half = math.sqrt(0.5 * (1.0 + cosine if ahead else 1.0 - cosine))
        other = 0.5 * sine / half
        new_w, new_z = half if ahead else other, other if ahead else half
        keeps = distance < SMALLEST
        new_w, new_z = w if keeps else new_w, z if keeps else new_z
        turn = w * new_z - z * new_w
        turn = turn if w * new_w + z * new_z >= 0.0 else -turn
        rows[k + NEW_W], rows[k + NEW_Z] = new_w, new_z
        rows[k + SPEED_X], rows[k + SPEED_Y] = (
            (rows[k + CENTRE_X] - rows[k + X]) / step,
            (rows[k + CENTRE_Y] - rows[k + Y]) / step,
        )
        rows[k + TURN] = 2.0 * turn / step


@inner
def pose_cars(road, zones, seed, state, work, step, path, begin, end, scratch):
    """Write the poses and the velocities of the bodies of the cars of a range of rows, at most `BLOCK`.

    `path` is that of `trace_cars`, or has no rows; `scratch` is that of `posing_scratch`.
    """
    intent, travel, position, orientation = state.intent, state.travel, state.position, state.orientation
    rows, bodies = scratch
    count = np.uint64(0)
    for i in range(begin, end):
        if intent[i, PHASE] == ABSENT or road.car_rows[i, VEHICLE] >= 0:
            continue
        body = road.car_rows[i, BODY]
        was_absent = position[body, 2] != road.car_sizes[i, HEIGHT]
        # whose pose needs more than two points of its way
        if was_absent or path.shape[0] > 0 or is_in_zone(intent, i) or is_aside(travel[i]):
            pose_alone(road, zones, seed, state, work, step, path, i)
            continue
        destination, station = destination_of(road, intent, work.drawn, i), travel[i, STATION]
        keep_way(road, seed, intent, work.ways, i, destination)
        rear, front = station + road.car_sizes[i, REAR_AXLE], station + road.car_sizes[i, FRONT_AXLE]
        # both axles are on the centreline of its way, and the body's centre is between them
        rx, ry = point_ahead(road, seed, intent, work.ways, i, destination, rear, 0.0)
        fx, fy = point_ahead(road, seed, intent, work.ways, i, destination, front, 0.0)
        rows[count + X], rows[count + Y] = position[body, 0], position[body, 1]
        rows[count + W], rows[count + Z] = orientation[body, 0], orientation[body, 3]
        rows[count + CENTRE_X], rows[count + CENTRE_Y] = 0.5 * (rx + fx), 0.5 * (ry + fy)
        rows[count + AXLES_X], rows[count + AXLES_Y] = fx - rx, fy - ry
        bodies[count] = body
        count += np.uint64(1)
    # headings and velocities of all in a loop of vector code
    head_and_move(rows, count, step)
    for k in range(np.uint64(0), count):
        body = bodies[k]
        position[body, 0], position[body, 1] = rows[k + CENTRE_X], rows[k + CENTRE_Y]
        q = orientation[body]
        q[0], q[1], q[2], q[3] = rows[k + NEW_W], 0.0, 0.0, rows[k + NEW_Z]
        state.velocity[body, 0], state.velocity[body, 1] = rows[k + SPEED_X], rows[k + SPEED_Y]
        state.angular_velocity[body, 2] = rows[k + TURN]
