"""People who make room: they keep off the ground on which a car turns round, and go back from it where the car waits.

The ground is what the car sweeps in the rest of its turn. Before a car that has stood for long, and so may want to turn
round or to back out, people go back as well, and come again when it is gone.
"""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.geometry.kernels.rotation import heading_of
from cbsim.jit import inlined, inner
from cbsim.traffic.kernels.turning_round.in_turn import PERSON, distance_in_turn
from cbsim.world.events.tables import SEGMENT
from cbsim.world.people.tables import BEGIN_X, BEGIN_Y, END_X, END_Y
from cbsim.world.traffic.tables import (
    BODY,
    CAR_LENGTH,
    CROSSING,
    DRIVING,
    LANELET,
    MOVED,
    PHASE,
    RUN,
    SPEED,
    STOPPED,
    TURNING,
    WAITING,
)

__all__ = [
    "GOES_ON",
    "KEEPS_OFF",
    "MAKES_ROOM",
    "is_any_turning",
    "part_inside",
    "room_for_standing",
    "room_for_turns",
    "turns_across",
]

GOES_ON, KEEPS_OFF, MAKES_ROOM = range(3)
POSES = 16  # of the rest of a turn, at most a metre apart
CLEAR = PERSON + 0.2  # [m] beside the ground: the car stops for who is nearer than `PERSON`
FAR = 5.0  # lengths of a car from it within which its ground is looked at
RESTS = 0.2  # [m/s] of a car that waits
FURTHEST = 12.0  # [m] back, where somebody looks for a place off the ground
APART = 1.0  # [m] between places on a way that are looked at
STOOD = 10.0  # [s] for which a car has stood that people go back from
OFF, BEYOND = 8.0, 1.0  # [m] that they go away from it, and farther away from which they come again


@inlined
def part_inside(begin, way, half, first, last):
    """Part of a way on which a coordinate is less than half a width from 0, within a part."""
    if abs(way) < 1e-12:
        return (first, last) if abs(begin) < half else (1.0, 0.0)
    one, two = (-half - begin) / way, (half - begin) / way
    return max(first, min(one, two)), min(last, max(one, two))


@inner
def is_any_turning(intent):
    """Whether some car turns round."""
    for i in range(intent.shape[0]):
        if intent[i, PHASE] == TURNING:
            return True
    return False


@inner
def distance_from_ground(road, state, i, x, y):
    """Distance of a point from what a car sweeps in the rest of its turn [m]."""
    one, sizes, lanelet, least = state.travel[i], road.car_sizes[i], state.intent[i, LANELET], math.inf
    for pose in range(POSES + 1):
        moved = one[MOVED] + (one[RUN] - one[MOVED]) * pose / POSES
        least = min(least, distance_in_turn(road, one, sizes, lanelet, moved, x, y))
    return least


@inlined
def is_turn_near(road, state, i, x, y, more):
    """Whether a car turns round so near that a point may be on its ground, or so much farther away [m]."""
    if state.intent[i, PHASE] != TURNING:
        return False
    place, far = state.position[road.car_rows[i, BODY]], FAR * road.car_sizes[i, CAR_LENGTH] + more
    x, y = x - place[0], y - place[1]
    return x * x + y * y < far * far


@inner
def is_way_out(road, state, i, x, y, u, w):
    """Whether who goes back, against a direction (u, w), comes off the ground that a car still needs to turn round."""
    for n in range(1, int(FURTHEST / APART) + 1):
        if distance_from_ground(road, state, i, x - n * APART * u, y - n * APART * w) >= CLEAR:
            return True
    return False


@inner
def room_for_turns(road, constants, state, row, body, reach, is_held):
    """Decide what somebody does about cars that turn: goes on, keeps off their ground, or goes back from it.

    Parameters
    ----------
    row : (columns,)
        Of `State.guided`.
    reach : float
        Way ahead that is looked at [m].
    is_held : bool
        Whether a vehicle stands in the way ahead, or somebody goes back already.
    """
    segment = int(row[SEGMENT])
    u, w = constants.segment_velocity[segment, 0], constants.segment_velocity[segment, 1]
    size, does = math.sqrt(u * u + w * w), GOES_ON
    if size == 0.0:
        return GOES_ON
    x, y, u, w = state.position[body, 0], state.position[body, 1], u * reach / size, w * reach / size
    for i in range(state.intent.shape[0]):
        if not is_turn_near(road, state, i, x, y, reach):
            continue
        here, ahead = distance_from_ground(road, state, i, x, y), distance_from_ground(road, state, i, x + u, y + w)
        if here >= CLEAR:
            does = max(does, KEEPS_OFF if ahead < CLEAR else GOES_ON)
        elif is_held and state.travel[i, SPEED] < RESTS:
            does = max(does, MAKES_ROOM if is_way_out(road, state, i, x, y, u / reach, w / reach) else GOES_ON)
    return does


@inner
def room_for_standing(road, constants, shapes, state, row, body):
    """Decide what somebody does about cars that have stood for long on the way ahead, as `room_for_turns` has it."""
    segment = int(row[SEGMENT])
    u, w = constants.segment_velocity[segment, 0], constants.segment_velocity[segment, 1]
    size, does, far = math.sqrt(u * u + w * w), GOES_ON, OFF + BEYOND
    if size == 0.0:
        return GOES_ON
    for i in range(state.intent.shape[0]):
        if state.intent[i, PHASE] not in (DRIVING, STOPPED, CROSSING) or state.travel[i, WAITING] < STOOD:
            continue
        other = road.car_rows[i, BODY]
        x, y = state.position[body, 0] - state.position[other, 0], state.position[body, 1] - state.position[other, 1]
        if x * x + y * y > (far + shapes.radius[other]) * (far + shapes.radius[other]):
            continue
        # the way ahead, in the frame of the car, which is grown by half of the walker's width
        heading = heading_of(state.orientation[other])
        c, s, a, b = math.cos(heading), math.sin(heading), far * u / size, far * w / size
        wide = 0.5 * shapes.size[other, 0] + 0.5 * shapes.size[body, 0]
        long = 0.5 * shapes.size[other, 1] + 0.5 * shapes.size[body, 0]
        first, last = part_inside(c * x + s * y, c * a + s * b, wide, 0.0, 1.0)
        first, last = part_inside(c * y - s * x, c * b - s * a, long, first, last)
        if first < last:
            does = max(does, MAKES_ROOM if first * far < OFF else KEEPS_OFF)
    return does


@inner
def turns_across(road, state, place):
    """Whether a car that turns round sweeps over a way across, a row of `People.places`."""
    dx, dy = place[END_X] - place[BEGIN_X], place[END_Y] - place[BEGIN_Y]
    length = math.sqrt(dx * dx + dy * dy)
    parts = max(int(length / APART), 1)
    for i in range(state.intent.shape[0]):
        if not is_turn_near(road, state, i, place[BEGIN_X], place[BEGIN_Y], length):
            continue
        for part in range(parts + 1):
            x, y = place[BEGIN_X] + dx * part / parts, place[BEGIN_Y] + dy * part / parts
            if distance_from_ground(road, state, i, x, y) < CLEAR:
                return True
    return False
