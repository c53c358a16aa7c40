"""The way of a reactive car: which lanelet comes next, and points on the centreline ahead of its rear bumper.

What comes next is a function of the car's serial and of the forks it has passed, so that any part of the way ahead can
be worked out. The next lanelets are kept in the workspace beside what they were worked out from, and are never trusted.
"""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined, inner
from cbsim.traffic.kernels.drivers import DESTINATION, ROUTES, uniform, word_of
from cbsim.traffic.kernels.ways.centreline import beside_lanelet, on_lanelet
from cbsim.traffic.kernels.ways.sideways import is_aside, offset_at
from cbsim.world.traffic.tables import (
    BODY,
    FIRST_GOAL,
    FRONT_AXLE,
    GOAL,
    HEIGHT,
    LANELET,
    LAST_GOAL,
    LENGTH,
    NEXT,
    POOL,
    REAR_AXLE,
    SERIAL,
    STATION,
    WANDER,
    WANDER_END,
)

__all__ = ["AHEAD", "destination_of", "following", "head_along", "keep_way", "next_on_way", "point_ahead", "pose_car"]

AHEAD = 8  # lanelets of the way that are kept
KEY_SERIAL, KEY_LANELET, KEY_NEXT, KEY_FORKS, KEY_SEED, KEY_VERSION = range(6)  # columns of `Ways.keys`


@inlined
def destination_of(road, intent, drawn, i):
    """Row of the destination of a car, -1 where it wanders or has none left."""
    first, last = road.car_rows[i, FIRST_GOAL], road.car_rows[i, LAST_GOAL]
    if first >= 0:
        row = first + intent[i, GOAL]
        return int(road.goals[row, 0]) if row <= last else -2
    return int(drawn[i, DESTINATION])


@inner
def following(road, seed, i, serial, destination, lanelet, forks):
    """Next lanelet behind one, -1 for none; and how many forks have been passed then."""
    if destination >= 0:
        return road.hops[destination * road.lanelets.shape[0] + lanelet], forks
    if destination == -2:
        return -1, forks
    first, last = road.links[lanelet, WANDER], road.links[lanelet, WANDER_END]
    if last == first:
        return -1, forks
    if last - first == 1:
        return road.wanders[first], forks
    pool = road.car_rows[i, POOL]
    word = word_of(road.words, pool, i)
    number = uniform(seed, ROUTES, word, serial, forks)
    # one draw at each fork that has more than one way on
    return road.wanders[first + min(int(number * (last - first)), last - first - 1)], forks + 1


@inlined
def keep_way(road, seed, intent, ways, i, destination):
    """Work out the next lanelets of car i, unless they are those kept."""
    key, one = ways.keys[i], intent[i]
    serial, lanelet, forks = one[SERIAL], one[LANELET], one[GOAL]
    version = ways.version[0]
    # everything that the way depends on is the same
    if key[KEY_SERIAL] == serial and key[KEY_LANELET] == lanelet and key[KEY_NEXT] == one[NEXT]:
        if key[KEY_FORKS] == forks and key[KEY_SEED] == seed and key[KEY_VERSION] == version:
            return
    key[KEY_SERIAL], key[KEY_LANELET], key[KEY_NEXT] = serial, lanelet, one[NEXT]
    key[KEY_FORKS], key[KEY_SEED], key[KEY_VERSION] = forks, seed, version
    row = ways.lanelets[i]
    row[0], row[1] = lanelet, one[NEXT]
    _, forks = following(road, seed, i, serial, destination, lanelet, forks)
    for k in range(1, AHEAD - 1):
        row[k + 1] = -1
        if row[k] >= 0:
            row[k + 1], forks = following(road, seed, i, serial, destination, row[k], forks)
    ways.forks[i] = forks


@inlined
def next_on_way(road, seed, intent, ways, i, destination, lanelet, k, forks):
    """Lanelet behind number k of the way of car i, -1 for none, and how many forks have been passed beyond those kept.

    `forks` is that of `ways` for the first of them.
    """
    if k + 1 < AHEAD:
        return ways.lanelets[i, k + 1], forks
    return following(road, seed, i, intent[i, SERIAL], destination, lanelet, forks)


@inlined
def point_ahead(road, seed, intent, ways, i, destination, ahead, offset):
    """Point of the way of car i so far ahead of the begin of its lanelet, and at an offset to the left [m]."""
    lanelet, where, k, forks = intent[i, LANELET], ahead, 0, ways.forks[i]
    while where > road.lanelets[lanelet, LENGTH]:
        beyond, forks = next_on_way(road, seed, intent, ways, i, destination, lanelet, k, forks)
        if beyond < 0:
            break
        where -= road.lanelets[lanelet, LENGTH]
        lanelet, k = beyond, k + 1
    return beside_lanelet(road, lanelet, where, offset) if offset != 0.0 else on_lanelet(road, lanelet, where)


@inlined
def head_along(q, x, y):
    """Write the quaternion of a body that is upright and heads along a unit vector."""
    cosine, sine = y, -x  # of the heading
    # half-angle formulas by the larger of both, without cancellation
    if cosine > -0.5:
        half = math.sqrt(0.5 * (1.0 + cosine))
        w, z = half, 0.5 * sine / half
    else:
        half = math.sqrt(0.5 * (1.0 - cosine))
        w, z = 0.5 * sine / half, half
    q[0], q[1], q[2], q[3] = w, 0.0, 0.0, z


@inlined
def pose_car(road, seed, travel, intent, ways, position, orientation, i, destination):
    """Write position and orientation of the body of car i, both of its axles on its way, or beside it."""
    body, station, rear, front = road.car_rows[i, BODY], travel[i, STATION], 0.0, 0.0
    if is_aside(travel[i]):
        base = road.car_sizes[i, FRONT_AXLE] - road.car_sizes[i, REAR_AXLE]
        rear, front = offset_at(travel[i], 0.0, base), offset_at(travel[i], base, base)
    rx, ry = point_ahead(road, seed, intent, ways, i, destination, station + road.car_sizes[i, REAR_AXLE], rear)
    fx, fy = point_ahead(road, seed, intent, ways, i, destination, station + road.car_sizes[i, FRONT_AXLE], front)
    dx, dy = fx - rx, fy - ry
    distance = math.sqrt(dx * dx + dy * dy)
    position[body, 0], position[body, 1] = 0.5 * (rx + fx), 0.5 * (ry + fy)
    if rear != 0.0 or front != 0.0:  # beside a bend, it is not as far from axle to axle as along the way
        share = 0.5 * (road.car_sizes[i, FRONT_AXLE] - road.car_sizes[i, REAR_AXLE]) / max(distance, 1e-6)
        position[body, 0], position[body, 1] = rx + share * dx, ry + share * dy
    position[body, 2] = road.car_sizes[i, HEIGHT]
    if distance < 1e-6:
        return
    head_along(orientation[body], dx / distance, dy / distance)
