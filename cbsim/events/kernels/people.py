"""People who come to a crosswalk: they wait at the kerb for a gap of 3 s, unless they are bold."""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inner
from cbsim.world.events.tables import DELAY, IS_ON_ITS_WAY, LINK, ORDER, ORDER_RATE, PACE, PRESENCE, SEGMENT
from cbsim.world.packed.kernels import constants_of, people_of, shapes_of

__all__ = ["walk"]

AT_KERB = -2.0  # value of `LINK` of somebody who waits
KERB = 0.3  # [m] before the crosswalk
GAP = 3.0  # [s]
MOVES = 0.5  # [m/s]
BESIDE = 1.0  # [m] beyond both ends of the way across in which something that comes is waited for
SMALL = 1.0  # [m] people, who are not waited for


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
    ax, ay, dx, dy = place[2], place[3], place[4] - place[2], place[5] - place[3]
    length = math.sqrt(dx * dx + dy * dy)
    margin = BESIDE / max(length, 0.1)
    for k in range(constants.moving.shape[0]):
        body = constants.moving[k]
        if shapes.solid[body] == 0 or max(shapes.size[body, 0], shapes.size[body, 1]) < SMALL:
            continue
        x, y, radius = ax - state.position[body, 0], ay - state.position[body, 1], shapes.radius[body]
        u, w = state.velocity[body, 0], state.velocity[body, 1]
        speed = math.sqrt(u * u + w * w)
        part = min(max(-(x * dx + y * dy) / max(length * length, 1e-9), 0.0), 1.0)
        nx, ny = x + part * dx, y + part * dy
        if nx * nx + ny * ny < radius * radius and state.position[body, 2] > 0.0:
            return False
        cross = u * dy - w * dx
        if speed < MOVES or abs(cross) < 1e-9:
            continue
        time, where = (x * dy - y * dx) / cross, (x * w - y * u) / cross
        if -margin <= where <= 1.0 + margin and time - radius / speed < GAP and time + radius / speed > 0.0:
            return False
    return True


@inner
def walk(pack, state, time):
    """Let people wait at the kerb, or go on, in the step that begins at a time [s]."""
    constants, shapes, people = constants_of(pack), shapes_of(pack), people_of(pack)
    for c in range(people.crossings.shape[0]):
        walker = people.crossings[c]
        row, place = state.guided[people.walkers[walker, 0]], people.places[c]
        waits = row[LINK] == AT_KERB
        if people.walkers[walker, 1] != 0 or row[PRESENCE] != IS_ON_ITS_WAY or (row[ORDER] >= 0.0 and not waits):
            continue
        station, pace = station_of(constants, row, time)
        if station >= place[0] or station + max(pace, row[PACE]) * constants.step < place[0] - KERB:
            continue
        if is_free(constants, shapes, state, place):
            if waits:
                row[ORDER], row[LINK] = -1.0, -1.0
        else:
            row[ORDER], row[ORDER_RATE], row[LINK] = 0.0, math.inf, AT_KERB
