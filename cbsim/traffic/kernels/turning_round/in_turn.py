"""Driving through a turn round: a car stops before people and bodies that come into its way."""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inner
from cbsim.traffic.kernels.look import SMALL
from cbsim.traffic.kernels.turning_round.turning import EASY, FASTEST, HOLDS, place_in_turn, point_of_turn
from cbsim.traffic.kernels.ways.sideways import SPARE, TIGHT, map_beside, oncoming_row, reach_of_turn, way_back
from cbsim.traffic.kernels.workspace import EXTENT, SPOT
from cbsim.world.traffic.tables import (
    BACK,
    BODY,
    CAR_LENGTH,
    DRIVING,
    HIT,
    LANELET,
    MOVED,
    OFFSET,
    PHASE,
    REAR_AXLE,
    RUN,
    SLOPE,
    SPEED,
    STATION,
    TURNING,
    WAITING,
)

__all__ = ["turn", "turning_acceleration"]

AFTER_A_HIT = 6.0  # [m/s²] of braking when it is hit
PERSON, NEARER = 0.6, 0.05  # [m] that stay free beside people, and by which a car comes nearer that drives past them
LOOKS, FAR = 3, 3.0  # poses on the next way of a car, and lengths of it, within which it looks at people


@inner
def stands_between(entries, intent, lanelet, begin, end, own):
    """Whether something stands between two stations of a lanelet that will not go on, but for people."""
    for at in range(entries.first[lanelet], entries.first[lanelet + 1]):
        e = entries.order[at]
        if e < intent.shape[0]:
            stands = e != own and intent[e, PHASE] == HIT
        else:
            stands = entries.watched[e] > -2 and entries.stands[e, EXTENT] > SMALL
        if stands and entries.stands[e, SPOT] < end and entries.stands[e, SPOT] + entries.stands[e, EXTENT] > begin:
            return True
    return False


@inner
def is_taken(road, sides, entries, travel, intent, i):
    """Whether something has come to stand on the ground on which a car turns."""
    target, length = intent[i, LANELET], road.car_sizes[i, CAR_LENGTH]
    there, reach = travel[i, STATION] + road.car_sizes[i, REAR_AXLE], reach_of_turn(length)
    if stands_between(entries, intent, target, there - reach, there + length, i):
        return True
    # the turn sweeps both lanes: that which it comes to, and that which it comes from
    row = oncoming_row(sides, target, there)
    if row < 0:
        return False
    here = map_beside(sides, row, there)
    return stands_between(entries, intent, sides.rows[row, 0], here - length, here + reach - SPARE, i)


@inner
def distance_in_turn(road, one, sizes, lanelet, moved, x, y):
    """Distance of a point from a car that has moved so far in its turn [m], less where it is off a corner."""
    # in the frame of the car there, whose half width is taken as 1 m
    cx, cy, hx, hy = place_in_turn(road, one, sizes, lanelet, moved)
    along, across = (x - cx) * hx + (y - cy) * hy, (x - cx) * hy - (y - cy) * hx
    return max(abs(along) - 0.5 * sizes[CAR_LENGTH], abs(across) - 1.0)


@inner
def meets_somebody(road, walkers, state, i, way):
    """Whether a car that turns comes nearer to somebody on foot than it should in its next way [m].

    Parameters
    ----------
    walkers : tuple
        `People.walkers`, the bodies of those who are guided, and the step of the World, in which they go straight on.
    """
    rows, bodies, step = walkers
    one, sizes, body = state.travel[i], road.car_sizes[i], road.car_rows[i, BODY]
    for n in range(rows.shape[0]):
        place, velocity = state.position[bodies[rows[n, 0]]], state.velocity[bodies[rows[n, 0]]]
        x, y = place[0] - state.position[body, 0], place[1] - state.position[body, 1]
        if x * x + y * y > FAR * FAR * sizes[CAR_LENGTH] * sizes[CAR_LENGTH] or place[2] <= 0.0:
            continue
        lanelet, moved = state.intent[i, LANELET], one[MOVED]
        now = distance_in_turn(road, one, sizes, lanelet, moved, place[0], place[1])
        if now < 0.0:  # it came to where somebody stands, who gets away from it
            continue
        # where somebody is now, too: whoever was about to step aside may stay
        for part in range(1, LOOKS + 1):
            x, y = place[0] + velocity[0] * step * part / LOOKS, place[1] + velocity[1] * step * part / LOOKS
            later = moved + way * part / LOOKS
            least = distance_in_turn(road, one, sizes, lanelet, later, place[0], place[1])
            least = min(least, distance_in_turn(road, one, sizes, lanelet, later, x, y))
            # too near, and coming nearer
            if least < min(PERSON, now - NEARER):
                return True
    return False


@inner
def turning_acceleration(road, sides, walkers, entries, state, i, dt):
    """Acceleration of a car that turns: it rests where it changes gear, and stands for good if it is hit [m/s²]."""
    travel, intent = state.travel, state.intent
    if intent[i, PHASE] == HIT:
        return -AFTER_A_HIT
    speed = travel[i, SPEED] + EASY * dt
    if meets_somebody(road, walkers, state, i, 0.5 * speed * speed / HOLDS + speed * dt + PERSON):
        return -min(travel[i, SPEED] / dt, HOLDS)
    if is_taken(road, sides, entries, travel, intent, i):
        return -min(travel[i, SPEED] / dt, HOLDS)
    one, radius = travel[i], TIGHT * road.car_sizes[i, CAR_LENGTH]
    _, _, _, left = point_of_turn(one[MOVED], way_back(one), radius, abs(one[OFFSET]))
    # to rest at the change of gear (docs/theory/car_following.md §4), and never quite at rest before it
    aim = min(FASTEST, math.sqrt(EASY * EASY * dt * dt + 2.0 * EASY * left) - EASY * dt + 0.05)
    return min((aim - one[SPEED]) / dt, EASY)


@inner
def turn(travel, intent, i, dt, acceleration):
    """Move a car along its turn."""
    one = travel[i]
    speed = max(one[SPEED] + acceleration * dt, 0.0)
    one[MOVED] += 0.5 * (one[SPEED] + speed) * dt
    one[SPEED] = speed
    one[WAITING] = 0.0
    if one[MOVED] >= one[RUN]:
        one[OFFSET], one[SLOPE], one[MOVED], one[RUN], one[BACK] = 0.0, 0.0, 0.0, 0.0, 0.0
        if intent[i, PHASE] == TURNING:
            intent[i, PHASE] = DRIVING
