"""People who come to a crosswalk: they wait at the kerb for a gap of 3 s, unless they are bold.

Nobody walks into a vehicle that stands in the way, or is slow, or onto the ground of one that turns round.
"""

from __future__ import annotations

from cbsim.events.kernels.making_room import (
    GOES_ON,
    MAKES_ROOM,
    is_any_turning,
    part_inside,
    room_for_standing,
    room_for_turns,
    turns_across,
)
from cbsim.geometry.kernels import elementary as math
from cbsim.geometry.kernels.rotation import heading_of
from cbsim.jit import deferred, inlined, inner
from cbsim.world.events.tables import (
    DELAY,
    IS_ON_ITS_WAY,
    LINK,
    ORDER,
    ORDER_RATE,
    PACE,
    PRESENCE,
    SEGMENT,
    STEPS_BACK,
    WAITS,
)
from cbsim.world.packed.kernels import constants_of, people_of, road_of, shapes_of, state_of
from cbsim.world.people.tables import BEGIN_STATION, BEGIN_X, BEGIN_Y, END_X, END_Y

__all__ = ["walk"]

KERB = 0.3  # [m] before the crosswalk
GAP = 3.0  # [s]
MOVES = 0.5  # [m/s]
BESIDE = 1.0  # [m] beyond both ends of the way across in which something that comes is waited for
SMALL = 1.0  # [m] people, who are not waited for
SLOW = 6.0  # [m/s] of a vehicle into whose way nobody walks, not even who is bold
LOOKS = 0.5  # [s] beyond a step
SPEEDS_UP = 1.5  # [m/s²] of a vehicle that moves
IN_FRONT = 0.7  # [m] before a vehicle: beside it, nobody is in its way


@inner
def station_of(constants, row, time):
    """Station of a guided body on its way [m], and the speed of its segment [m/s]."""
    segment = int(row[SEGMENT])
    u, w = constants.segment_velocity[segment, 0], constants.segment_velocity[segment, 1]
    pace = math.sqrt(u * u + w * w)
    into = max(time - row[DELAY] - constants.segment_start[segment], 0.0)
    return constants.segment_station[segment] + pace * into, pace


@inner
def is_free(constants, shapes, state, place):
    """Whether nothing is on a way across, nor comes to it within 3 s, straight on at its speed."""
    ax, ay, dx, dy = place[BEGIN_X], place[BEGIN_Y], place[END_X] - place[BEGIN_X], place[END_Y] - place[BEGIN_Y]
    length = math.sqrt(dx * dx + dy * dy)
    margin = BESIDE / max(length, 0.1)
    for k in range(constants.moving.shape[0]):
        body = constants.moving[k]
        if shapes.solid[body] == 0 or max(shapes.size[body, 0], shapes.size[body, 1]) < SMALL:
            continue
        x, y, radius = ax - state.position[body, 0], ay - state.position[body, 1], shapes.radius[body]
        u, w = state.velocity[body, 0], state.velocity[body, 1]
        speed = math.sqrt(u * u + w * w)
        # the point of the way across that is nearest to the body: is it there now?
        part = min(max(-(x * dx + y * dy) / max(length * length, 1e-9), 0.0), 1.0)
        nx, ny = x + part * dx, y + part * dy
        if nx * nx + ny * ny < radius * radius and state.position[body, 2] > 0.0:
            # what stands is where its sides are: a barrier across a road reaches beside a crosswalk, not over it
            if speed >= MOVES or is_over(shapes, state, body, x, y, dx, dy):
                return False
        # its straight course meets the way across after `time`, at a share `where` of it
        cross = u * dy - w * dx
        if speed < MOVES or abs(cross) < 1e-9:
            continue
        time, where = (x * dy - y * dx) / cross, (x * w - y * u) / cross
        if -margin <= where <= 1.0 + margin and time - radius / speed < GAP and time + radius / speed > 0.0:
            return False
    return True


@inlined
def is_over(shapes, state, body, x, y, dx, dy):
    """Whether a way (dx, dy) that begins at (x, y) from a body's centre comes within `BESIDE` of its sides [m]."""
    heading = heading_of(state.orientation[body])
    c, s = math.cos(heading), math.sin(heading)
    wide, long = 0.5 * shapes.size[body, 0] + BESIDE, 0.5 * shapes.size[body, 1] + BESIDE
    first, last = part_inside(c * x + s * y, c * dx + s * dy, wide, 0.0, 1.0)
    first, last = part_inside(c * y - s * x, c * dy - s * dx, long, first, last)
    return first < last


@inner
def stands_ahead(constants, shapes, state, row, body, pace, sign):
    """Whether a vehicle that is slow is, or comes, where somebody would walk in this step, or a little further on.

    `sign` is -1 for who would go back.
    """
    segment = int(row[SEGMENT])
    u, w = sign * constants.segment_velocity[segment, 0], sign * constants.segment_velocity[segment, 1]
    size, ahead_of = math.sqrt(u * u + w * w), constants.step + LOOKS
    reach = pace * ahead_of + IN_FRONT
    if size == 0.0:
        return False
    for k in range(constants.moving.shape[0]):
        other = constants.moving[k]
        width, length = shapes.size[other, 0], shapes.size[other, 1]
        if shapes.solid[other] == 0 or max(width, length) < SMALL:
            continue
        x, y = state.position[body, 0] - state.position[other, 0], state.position[body, 1] - state.position[other, 1]
        far = shapes.radius[other] + reach + SLOW * ahead_of + shapes.radius[body]
        if x * x + y * y > far * far or state.position[other, 2] < 0.0:
            continue
        a, b = state.velocity[other, 0], state.velocity[other, 1]
        if a * a + b * b > SLOW * SLOW:
            continue
        # what a vehicle that moves may gain by speeding up
        more = 0.5 * SPEEDS_UP * ahead_of * ahead_of if a * a + b * b > 0.01 else 0.0
        heading = heading_of(state.orientation[other])
        c, s = math.cos(heading), math.sin(heading)
        across, along = c * x + s * y, c * y - s * x
        # the walker's motion less the vehicle's, in the vehicle's frame: the vehicle stands, and a point moves
        a, b = reach * u / size - a * ahead_of, reach * w / size - b * ahead_of  # seen from the vehicle
        sideways, ahead = c * a + s * b, c * b - s * a
        # the vehicle grown by half of the walker's width
        wide, long = 0.5 * width + 0.5 * shapes.size[body, 0], 0.5 * length + 0.5 * shapes.size[body, 0]
        if abs(across) < wide and abs(along) < long:
            continue  # it came to where somebody stands, who gets away from it
        first, last = part_inside(across, sideways, wide, 0.0, 1.0)
        first, last = part_inside(along, ahead, long + more, first, last)
        if first < last:
            return True
    return False


@inlined
def comes_to(constants, row, place, time):
    """Whether somebody comes to the kerb before a crosswalk in the step that begins at a time [s]."""
    station, pace = station_of(constants, row, time)
    kerb = place[BEGIN_STATION]
    return station < kerb and station + max(pace, row[PACE]) * constants.step >= kerb - KERB


@deferred("none")
def walk(pack, sizes, floats, ints, time):
    """Let people wait at the kerb and before slow vehicles, or go on, in the step that begins at a time [s]."""
    constants, shapes, people = constants_of(pack), shapes_of(pack), people_of(pack)
    state = state_of(floats, ints, sizes)
    if people.walkers.shape[0] == 0:
        return
    road, c, turns = road_of(pack), 0, is_any_turning(state.intent)
    for walker in range(people.walkers.shape[0]):
        guided = people.walkers[walker, 0]
        row, body = state.guided[guided], constants.guided_body[guided]
        waits, is_bold = row[LINK] in (WAITS, STEPS_BACK), people.walkers[walker, 1] != 0
        # orders of events go before: who has one neither waits nor goes on by itself
        may_walk = row[PRESENCE] == IS_ON_ITS_WAY and (row[ORDER] < 0.0 or waits)
        _, pace = station_of(constants, row, time)
        free, does = not may_walk or not stands_ahead(constants, shapes, state, row, body, pace, 1.0), GOES_ON
        is_held = not free or row[LINK] == STEPS_BACK
        if may_walk and turns:
            does = room_for_turns(road, constants, state, row, body, pace * (constants.step + LOOKS), is_held)
        if may_walk and is_held:
            does = max(does, room_for_standing(road, constants, shapes, state, row, body))
        goes_back = does == MAKES_ROOM and not stands_ahead(constants, shapes, state, row, body, pace, -1.0)
        free = free and (does == GOES_ON or (does == MAKES_ROOM and not goes_back))
        # crossings of a walker are adjacent, in the order of walkers
        while c < people.crossings.shape[0] and people.crossings[c] == walker:
            place = people.places[c]
            if free and may_walk and not is_bold and comes_to(constants, row, place, time):
                free = is_free(constants, shapes, state, place) and not (turns and turns_across(road, state, place))
            c += 1
        if not may_walk:
            continue
        if not free:
            row[ORDER], row[ORDER_RATE], row[LINK] = 0.0, math.inf, STEPS_BACK if goes_back else WAITS
        elif waits:
            row[ORDER], row[LINK] = -1.0, -1.0
