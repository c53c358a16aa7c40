"""Ways through zones in the step of reactive cars: poses on them, and the cells that cars cover."""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.geometry.kernels.rotation import rotate
from cbsim.jit import inlined, inner
from cbsim.traffic.kernels.ways.way import head_along
from cbsim.world.traffic.tables import (
    BODY,
    CAR_LENGTH,
    FRONT_AXLE,
    HEIGHT,
    LANELET,
    PARKED_HEIGHT,
    REAR_AXLE,
    STATION,
)
from cbsim.world.traffic.zones.tables import (
    AHEAD,
    APRON,
    CELL_SIZE,
    COLUMNS,
    FIRST_CELL,
    FIRST_GRID,
    FIRST_SAMPLE,
    HEADING,
    IN_ZONE,
    LAST_CELL,
    LAST_SAMPLE,
    LEAST_NOSE,
    ROWS,
    SOUTH,
    SPOT,
    TICKET,
    WAY,
    WAY_LENGTH,
    WEST,
    ZONE,
)

__all__ = [
    "ENTERING", "EVERY", "FIXED", "TAKEN", "begin_of", "end_of", "first_taken", "is_in_zone", "mark", "mark_body",
    "nose_of", "pose_in_zone", "sample_before", "sort_cars", "stand_on_way", "take_way", "zone_of",
]  # fmt: skip

# bits of a cell: somebody stands there; somebody with a ticket has still to cover it; one that has come in has
FIXED, TAKEN, ENTERING = 1, 2, 4
EVERY = FIXED | TAKEN | ENTERING
OVERHEAD = 3.5  # [m] what begins higher is no obstacle
AROUND = 0.1  # [m] kept around other bodies


@inlined
def is_in_zone(intent, i):
    """Whether a car drives or stands in a zone."""
    return intent[i, LANELET] == IN_ZONE


@inlined
def nose_of(road, i):
    """Distance of the front bumper ahead of the rear axle [m]."""
    return road.car_sizes[i, CAR_LENGTH] - road.car_sizes[i, REAR_AXLE]


@inlined
def zone_of(zones, way):
    """Row of the zone of a way."""
    return zones.spots[zones.ways[way, SPOT], ZONE]


@inner
def sample_before(zones, way, station):
    """Row of the last sample of a way at or before a station, but one that has another behind it."""
    # the last sample has none behind it
    low, high = zones.ways[way, FIRST_SAMPLE], zones.ways[way, LAST_SAMPLE] - 2
    while low < high:
        middle = (low + high + 1) // 2
        if zones.samples[middle, AHEAD] <= station:
            low = middle
        else:
            high = middle - 1
    return low


@inner
def pose_in_zone(road, zones, travel, parking, position, orientation, i):
    """Write position and orientation of the body of a car in a zone; the rear axle is on its way."""
    body, way, station = road.car_rows[i, BODY], parking[i, WAY], travel[i, STATION]
    k = sample_before(zones, way, station)
    here, there = zones.samples[k], zones.samples[k + 1]
    u = (station - here[AHEAD]) / max(there[AHEAD] - here[AHEAD], 1e-9)
    # the heading is 0 towards y and counter-clockwise; the body's place is halfway between the axles
    x, y = here[0] + u * (there[0] - here[0]), here[1] + u * (there[1] - here[1])
    heading = here[HEADING] + min(max(u, 0.0), 1.0) * (there[HEADING] - here[HEADING])
    ahead, aside = math.cos(heading), -math.sin(heading)
    half = 0.5 * (road.car_sizes[i, FRONT_AXLE] - road.car_sizes[i, REAR_AXLE])
    position[body, 0], position[body, 1] = x + half * aside, y + half * ahead
    position[body, 2] = road.car_sizes[i, HEIGHT]
    head_along(orientation[body], aside, ahead)


@inner
def mark(marks, cells, first, last, bit):
    """Set a bit of cells."""
    for k in range(first, last):
        marks[cells[k]] |= bit


@inner
def take_way(zones, marks, way, station, bit):
    """Set a bit of the cells that a car has still to cover on its way, from a station on."""
    for k in range(zones.ways[way, FIRST_CELL], zones.ways[way, LAST_CELL]):
        if zones.spans[k, 1] >= station:
            marks[zones.cells[k]] |= bit


@inner
def stand_on_way(zones, marks, way, station):
    """Mark the cells that a car covers that has been hit, and stands at a station of its way for good."""
    for k in range(zones.ways[way, FIRST_CELL], zones.ways[way, LAST_CELL]):
        if zones.spans[k, 0] <= station <= zones.spans[k, 1]:
            marks[zones.cells[k]] |= FIXED


@inner
def first_taken(zones, marks, way, station, until, bits):
    """Station at which a car first comes to a cell with one of some bits that it does not cover yet, up to another.

    Returns
    -------
    float
        Infinite for none [m].
    """
    for k in range(zones.ways[way, FIRST_CELL], zones.ways[way, LAST_CELL]):
        if zones.spans[k, 0] > until:
            break
        # what begins before the station is covered already
        if zones.spans[k, 0] > station and (marks[zones.cells[k]] & bits) != 0:
            return zones.spans[k, 0]
    return math.inf


@inner
def mark_body(zones, shapes, state, body, marks):
    """Mark the cells that another body stands on."""
    size, x, y, q = shapes.size[body], state.position[body, 0], state.position[body, 1], state.orientation[body]
    z = state.position[body, 2]
    # it is not there (absent cars are far below), or bodies pass below it
    if shapes.solid[body] == 0 or z < 0.5 * PARKED_HEIGHT or z - 0.5 * size[2] > OVERHEAD:
        return
    reach = math.hypot(0.5 * size[0], 0.5 * size[1]) + AROUND
    ax, ay, _ = rotate(q, 1.0, 0.0, 0.0)
    bx, by, _ = rotate(q, 0.0, 1.0, 0.0)
    for zone in range(zones.areas.shape[0]):
        west, south, cell = zones.frames[zone, WEST], zones.frames[zone, SOUTH], zones.frames[zone, CELL_SIZE]
        columns, rows = zones.areas[zone, COLUMNS], zones.areas[zone, ROWS]
        left, right = int(math.floor((x - reach - west) / cell)), int(math.floor((x + reach - west) / cell)) + 1
        low, high = int(math.floor((y - reach - south) / cell)), int(math.floor((y + reach - south) / cell)) + 1
        for row in range(max(low, 0), min(high + 1, rows)):
            for column in range(max(left, 0), min(right + 1, columns)):
                # the centre of the cell in the frame of the body
                u, w = west + cell * column - x, south + cell * row - y
                if abs(u * ax + w * ay) > 0.5 * size[0] + AROUND or abs(u * bx + w * by) > 0.5 * size[1] + AROUND:
                    continue
                marks[zones.areas[zone, FIRST_GRID] + row * columns + column] |= FIXED


@inner
def end_of(road, zones, way, i):
    """Station at which a car ends its way: with the front bumper at the end of the spot, or on the apron [m]."""
    if zones.ways[way, APRON] >= 0:
        return zones.lengths[way, WAY_LENGTH]
    return zones.lengths[way, WAY_LENGTH] - (nose_of(road, i) - zones.frames[zone_of(zones, way), LEAST_NOSE])


@inner
def sort_cars(parking, column, order):
    """List the cars with a positive value of a column of `State.parking`, by it, then by row; return how many."""
    # tickets count from 1, 0 is none; of SINCE, in ms, −1 is none
    size, least = 0, 1 if column == TICKET else 0
    for i in range(parking.shape[0]):
        if parking[i, column] < least:
            continue
        k = size
        while k > 0 and parking[order[k - 1], column] > parking[i, column]:
            order[k] = order[k - 1]
            k -= 1
        order[k] = i
        size += 1
    return size


@inlined
def begin_of(road, zones, spot, i):
    """Station of a parked car on the ways out of its spot [m]."""
    return nose_of(road, i) - zones.frames[zones.spots[spot, ZONE], LEAST_NOSE]
