"""Ground for turning round: free of bodies, on the road and beside it, after reversing if need be.

Meshes that stand upright are not looked at: their boxes say little of where they are.
"""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.geometry.kernels.rotation import rotate
from cbsim.jit import inlined, inner
from cbsim.traffic.kernels.bodies.entries import OVERHEAD
from cbsim.traffic.kernels.look import STANDS
from cbsim.traffic.kernels.turning_round.turning import BEHIND, HOLDS, MOST_BACK, begin_turn, is_free, place_in_turn
from cbsim.traffic.kernels.ways.sideways import map_beside
from cbsim.traffic.kernels.workspace import PACE
from cbsim.world.traffic.tables import (
    BACK,
    BODY,
    CAR_LENGTH,
    LANELET,
    MOVED,
    NEXT,
    OFFSET,
    PARKED_HEIGHT,
    PHASE,
    REAR_AXLE,
    RUN,
    SLOPE,
    SPEED,
    STATION,
)

__all__ = ["brake_in_turn", "reach_along", "turn_where_free"]

FURTHER = 1.0  # [m] that one reverses more where the ground is not free

POSES, LOOKS = 24, 4  # that are looked at before a turn, about 0.6 m of way apart, and within one
NEAR = 0.1  # [m] around a car that turns, less than `MARGIN`, so that what it has found to be free stays free
MARGIN, HALF_WIDTH = 0.3, 1.0  # [m] beside a car, and half of its width, as in `reach_of_turn`


@inlined
def reach_along(x, y, ax, ay, half_width, bx, by, half_length):
    """Half of the extent of a rectangle along a direction [m]."""
    return abs(x * ax + y * ay) * half_width + abs(x * bx + y * by) * half_length


@inner
def is_car(road, body):
    """Whether a body is a reactive car, which stands where the file has it."""
    for i in range(road.car_rows.shape[0]):
        if road.car_rows[i, BODY] == body:
            return True
    return False


@inner
def is_ground_free(road, shapes, state, i, begin, end, poses, margin):
    """Whether no body but reactive cars is in the way of a car that turns.

    Parameters
    ----------
    begin, end : float
        Part of its way to look at, as column `MOVED` counts it [m].
    poses : int
        That are looked at, besides the one at `begin`.
    margin : float
        Around the car [m]; of what it stands nearer to where it begins, it has to get away without coming into it.
    """
    one, sizes, lanelet = state.travel[i], road.car_sizes[i], state.intent[i, LANELET]
    cx, cy, _, _ = place_in_turn(road, one, sizes, lanelet, 0.5 * (begin + end))
    long, wide = 0.5 * sizes[CAR_LENGTH] + margin, HALF_WIDTH + margin
    for body in range(shapes.kind.shape[0]):
        size, place, q = shapes.size[body], state.position[body], state.orientation[body]
        x, y, far = place[0] - cx, place[1] - cy, shapes.radius[body] + end - begin + sizes[CAR_LENGTH]
        if x * x + y * y > far * far or place[2] < 0.5 * PARKED_HEIGHT or place[2] - 0.5 * size[2] > OVERHEAD:
            continue
        if shapes.solid[body] == 0 or shapes.root[body] >= 0 or is_car(road, body):
            continue
        ax, ay, _ = rotate(q, 1.0, 0.0, 0.0)
        bx, by, _ = rotate(q, 0.0, 1.0, 0.0)
        is_near = True
        for pose in range(poses + 1):
            px, py, hx, hy = place_in_turn(road, one, sizes, lanelet, begin + (end - begin) * pose / poses)
            x, y, apart, free = place[0] - px, place[1] - py, False, False
            for axis in range(4):  # two rectangles are apart along a side of one of them
                u, w = (hx, hy) if axis == 0 else (-hy, hx) if axis == 1 else (ax, ay) if axis == 2 else (bx, by)
                reach = reach_along(u, w, ax, ay, 0.5 * size[0], bx, by, 0.5 * size[1])
                reach += reach_along(u, w, -hy, hx, wide, hx, hy, long)
                left = abs(x * u + y * w) - reach * math.sqrt(u * u + w * w)
                apart, free = apart or left > 0.0, free or left + margin * (u * u + w * w) > 0.0
            is_near = is_near and not apart
            if not apart and not (is_near and free):
                return False
    return True


@inner
def brake_in_turn(road, shapes, state, i, acceleration, dt):
    """Acceleration of a car that turns: it stops before what has come into its way since it began [m/s²].

    What it would touch where it is has come to it, and does not hold it.
    """
    one = state.travel[i]
    moved, speed = one[MOVED], one[SPEED] + max(acceleration, 0.0) * dt
    way = 0.5 * speed * speed / HOLDS + speed * dt + NEAR
    if is_ground_free(road, shapes, state, i, moved, min(moved + way, one[RUN]), LOOKS, NEAR):
        return acceleration
    if not is_ground_free(road, shapes, state, i, moved, moved, 1, 0.0):
        return acceleration
    return min(acceleration, -min(one[SPEED] / dt, HOLDS))


@inner
def turn_where_free(road, shapes, crossings, sides, seed, state, work, i, row):
    """Let a car begin to turn to the lanelet of a row of `Sides`, if the ground is free, in reverse first if need be.

    It has looked at both lanelets, for the way in column `MOVED` that it reverses first.
    """
    travel, intent, length = state.travel[i], state.intent[i], road.car_sizes[i, CAR_LENGTH]
    lanelet, onward, phase, station, back = intent[LANELET], intent[NEXT], intent[PHASE], travel[STATION], travel[MOVED]
    target, entries = sides.rows[row, 0], work.entries
    there = map_beside(sides, row, station + road.car_sizes[i, REAR_AXLE])
    while True:
        begin_turn(road, sides, seed, state, work, i, row)
        if is_ground_free(road, shapes, state, i, 0.0, travel[RUN], POSES, MARGIN):
            return
        # back to what it was before `begin_turn`, to look once more from farther back
        travel[OFFSET], travel[SLOPE], travel[MOVED], travel[RUN], travel[BACK] = 0.0, 0.0, 0.0, 0.0, 0.0
        travel[STATION], intent[LANELET], intent[NEXT], intent[PHASE] = station, lanelet, onward, phase
        back += FURTHER
        behind = entries.ranks[i] - 1
        if behind >= entries.first[lanelet] and entries.sorted_stands[behind, PACE] > STANDS:
            return
        if back > MOST_BACK or not is_free(road, crossings, entries, lanelet, station - back - BEHIND, station, i):
            return
        if not is_free(road, crossings, entries, target, there, there + back + length, -1):
            return
        travel[MOVED] = back
