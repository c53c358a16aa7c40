"""Objects that a planner is told of: all, those in the line of sight of a sensor, or those with errors.

Outlines are the boxes about bodies. An object is seen from a sensor if a point of its outline lies within the sensor's
range and field of view, and no box, its own included, is between. Sixteen points are tried: corners and middles of the
sides, above and below the middle of its height.
"""

from __future__ import annotations

import numpy as np

from cbsim.geometry.kernels import elementary as math
from cbsim.geometry.kernels.rotation import rotate, rotate_back
from cbsim.jit import inner, kernel
from cbsim.world.kernels import branch_at, normal_pair, philox_block
from cbsim.world.packed.kernels import road_of, shapes_of, state_of
from cbsim.world.traffic.tables import BODY, PARKED_HEIGHT, SERIAL

__all__ = ["COLUMNS", "MISS", "NOISY", "SENSORS", "VISIBLE", "observed_into"]

EVERY, VISIBLE, NOISY = range(3)
OUTSIDE, PARTLY, INSIDE = range(3)  # of the view of a sensor
SEEN_X, SEEN_Y, SEEN_HEADING, SEEN_VELOCITY, SEEN_SIZE, COLUMNS = 0, 1, 3, 4, 7, 10  # of a row of `out`
MOUNT_TURN, FIELD_FROM, FIELD_TO, NEAREST, FARTHEST, SENSORS = 3, 7, 8, 9, 10, 11  # of a sensor, behind its place
SLACK = 1e-6  # [m] of bounds, so that rounding does not matter
SHORT = 0.999  # of a line of sight, which ends at the surface that is seen
PLACE, PER_METRE, TURN, SPEED = 0.1, 0.01, 0.035, 0.3  # [m], 1, [rad], [m/s]: deviations of NOISY
MISS = 0.05  # probability of NOISY


@inner
def blocks(eye, dx, dy, dz, body, state, shapes):
    """Whether the box of a body is on the line from an eye along (dx, dy, dz) [m], up to `SHORT` of it."""
    x = state.position[body, 0] - eye[0]
    y = state.position[body, 1] - eye[1]
    z = state.position[body, 2] - eye[2]
    square, radius = dx * dx + dy * dy + dz * dz, shapes.radius[body]
    # its sphere first: the point of the line that is nearest to its centre
    part = min(max((x * dx + y * dy + z * dz) / max(square, 1e-12), 0.0), 1.0)
    ax, ay, az = x - part * dx, y - part * dy, z - part * dz
    if ax * ax + ay * ay + az * az > radius * radius:
        return False
    ox, oy, oz = rotate_back(state.orientation[body], -x, -y, -z)
    lx, ly, lz = rotate_back(state.orientation[body], dx, dy, dz)
    # slabs of its box, in the body's frame (Kay and Kajiya 1986)
    enter, leave = 0.0, SHORT
    for axis in range(3):
        origin = ox if axis == 0 else (oy if axis == 1 else oz)
        along = lx if axis == 0 else (ly if axis == 1 else lz)
        half = 0.5 * shapes.size[body, axis]
        if abs(along) < 1e-12:
            if abs(origin) > half:
                return False
            continue
        first, second = (-half - origin) / along, (half - origin) / along
        enter, leave = max(enter, min(first, second)), min(leave, max(first, second))
        if enter > leave:
            return False
    return True


@inner
def view_of(turn, sensor, dx, dy, dz, radius):
    """How a sphere about (dx, dy, dz) [m] from a sensor lies in its range and field of view.

    Returns
    -------
    view : int
        `OUTSIDE`, `INSIDE`, or `PARTLY` where it may be either.
    """
    away = math.sqrt(dx * dx + dy * dy + dz * dz)
    if away - radius > sensor[FARTHEST] or away + radius < sensor[NEAREST]:
        return OUTSIDE
    in_range = away + radius <= sensor[FARTHEST] and away - radius >= sensor[NEAREST]
    width = sensor[FIELD_TO] - sensor[FIELD_FROM]
    if width >= 2.0 * math.pi:
        return INSIDE if in_range else PARTLY
    x, y, z = rotate_back(turn, dx, dy, dz)
    x, y, z = rotate_back(sensor[MOUNT_TURN:FIELD_FROM], x, y, z)
    flat = math.sqrt(x * x + y * y)
    if flat <= radius:
        return PARTLY
    half, bearing = math.asin(radius / flat), (math.atan2(-x, y) - sensor[FIELD_FROM]) % (2.0 * math.pi)
    if width + half < bearing < 2.0 * math.pi - half:
        return OUTSIDE
    return INSIDE if in_range and half <= bearing <= width - half else PARTLY


@inner
def hiders_into(eye, sphere, body, near, count, state, shapes, hiders):
    """List the bodies that may hide parts of a body within a sphere (dx, dy, dz, radius) [m], itself first; count them.

    A line of sight to a place in the sphere is nowhere farther from that to its centre than its radius.
    """
    hiders[0], found = body, 1
    dx, dy, dz, radius = sphere
    square = max(dx * dx + dy * dy + dz * dz, 1e-12)
    for k in range(count):
        other = near[k]
        x = state.position[other, 0] - eye[0]
        y = state.position[other, 1] - eye[1]
        z = state.position[other, 2] - eye[2]
        part = min(max((x * dx + y * dy + z * dz) / square, 0.0), 1.0)
        x, y, z = x - part * dx, y - part * dy, z - part * dz
        room = shapes.radius[other] + radius
        if x * x + y * y + z * z <= room * room and other != body:
            hiders[found] = other
            found += 1
    return found


@inner
def is_seen(eye, own_turn, sensor, body, near, count, state, shapes, hiders):
    """Whether a point of a body's outline is in a sensor's range and field, and in its line of sight."""
    cx, cy, cz = state.position[body, 0] - eye[0], state.position[body, 1] - eye[1], state.position[body, 2] - eye[2]
    width, length, height = shapes.size[body, 0], shapes.size[body, 1], shapes.size[body, 2]
    radius = 0.5 * math.sqrt(width * width + length * length + height * height) + SLACK
    view = view_of(own_turn, sensor, cx, cy, cz, radius)
    if view == OUTSIDE:
        return False
    hiding, newest = hiders_into(eye, (cx, cy, cz, radius), body, near, count, state, shapes, hiders), 0
    ox, oy, _ = rotate_back(state.orientation[body], -cx, -cy, -cz)
    nearest = (1 if oy > 0.0 else 7) if ox > 0.0 else (3 if oy > 0.0 else 5)
    for point in range(16):
        # eight points about the outline, counter-clockwise, above the middle and below it; from the nearest corner on,
        # to both sides: most often the first point is seen
        turn = point % 8
        side = (nearest + ((turn + 1) // 2 if turn % 2 == 1 else 8 - turn // 2)) % 8
        sx = 0.5 if side in (0, 1, 7) else (-0.5 if side in (3, 4, 5) else 0.0)
        sy = 0.5 if side in (1, 2, 3) else (-0.5 if side in (5, 6, 7) else 0.0)
        x, y, z = rotate(
            state.orientation[body],
            sx * width,
            sy * length,
            (0.25 if point < 8 else -0.25) * height,
        )
        dx = x + state.position[body, 0] - eye[0]
        dy = y + state.position[body, 1] - eye[1]
        dz = z + state.position[body, 2] - eye[2]
        if view == PARTLY:
            away = math.sqrt(dx * dx + dy * dy + dz * dz)
            if not sensor[NEAREST] <= away <= sensor[FARTHEST]:
                continue
            bx, by, bz = rotate_back(own_turn, dx, dy, dz)
            bx, by, bz = rotate_back(sensor[MOUNT_TURN:FIELD_FROM], bx, by, bz)
            # angle from the first bound of the field, counter-clockwise
            if (math.atan2(-bx, by) - sensor[FIELD_FROM]) % (2.0 * math.pi) > sensor[FIELD_TO] - sensor[FIELD_FROM]:
                continue
        # what hid the point before is likely to hide this one, too
        free = not blocks(eye, dx, dy, dz, hiders[newest], state, shapes)
        for k in range(hiding if free else 0):
            if k != newest and blocks(eye, dx, dy, dz, hiders[k], state, shapes):
                free, newest = False, k
                break
        if free:
            return True
    return False


@kernel
def observed_into(pack, sizes, floats, ints, own, sensors, reach, mode, key_0, key_1, ids, out):
    """Write the objects about a bot, in the order of their rows.

    Parameters
    ----------
    pack, sizes, floats, ints
        World and Snapshot, as `cbsim.simulation.kernels.advance_into` has them.
    own : int
        Row of the bot.
    sensors : (k, 11)
        Its sensors: mount in its body frame, field of view [rad], ranges [m].
    reach : float
        Farthest distance of the centres on the ground [m].
    mode : int
        `EVERY`, `VISIBLE` or `NOISY`.
    key_0, key_1 : uint64
        Random stream of `NOISY`.
    ids : (bodies,) int64, out
        Who it is: a number that stays, also where one car of a flow follows another in its row.
    out : (bodies, 10) float64, out
        Centre [m], heading [rad], velocity [m/s], size [m].

    Returns
    -------
    count : int
    """
    shapes, state = shapes_of(pack), state_of(floats, ints, sizes)
    bodies, cars = state.position.shape[0], state.intent.shape[0]
    car_rows = road_of(pack).car_rows
    last_car = car_rows[cars - 1, BODY] if cars > 0 else 0  # those of flows come last, one row after another
    near, hiders, eyes, count = (
        np.empty(bodies, np.int64),
        np.empty(bodies, np.int64),
        np.empty((sensors.shape[0], 3)),
        0,
    )
    for s in range(sensors.shape[0]):
        x, y, z = rotate(state.orientation[own], sensors[s, 0], sensors[s, 1], sensors[s, 2])
        eyes[s, 0], eyes[s, 1] = state.position[own, 0] + x, state.position[own, 1] + y
        eyes[s, 2] = state.position[own, 2] + z
    for body in range(bodies):
        dx, dy = state.position[body, 0] - state.position[own, 0], state.position[body, 1] - state.position[own, 1]
        there = body != own and shapes.solid[body] != 0 and state.position[body, 2] > 0.5 * PARKED_HEIGHT
        if there and dx * dx + dy * dy <= reach * reach:
            near[count] = body
            count += 1
    found, step = 0, state.clock[0]
    occasion = step + (branch_at(state.fork, step) << 40)  # as `cbsim.world.forks` numbers them
    for k in range(count):
        body = near[k]
        seen = mode == EVERY
        for s in range(sensors.shape[0]):
            if seen:
                break
            seen = is_seen(eyes[s], state.orientation[own], sensors[s], body, near, count, state, shapes, hiders)
        if not seen:
            continue
        serial = 0
        # the row of a car follows from that of its body, since cars of flows come last in both
        car = cars - 1 - (last_car - body)
        if 0 <= car < cars and car_rows[car, BODY] == body:
            serial = state.intent[car, SERIAL]
        row = out[found]
        for c in range(3):
            row[c], row[SEEN_VELOCITY + c] = state.position[body, c], state.velocity[body, c]
            row[SEEN_SIZE + c] = shapes.size[body, c]
        fx, fy, _ = rotate(state.orientation[body], 0.0, 1.0, 0.0)
        row[SEEN_HEADING] = math.atan2(-fx, fy)
        ids[found] = serial * bodies + body
        if mode == NOISY:
            # counters from 2⁴⁰ on are for names, those below for errors
            name, _, _, _ = philox_block(key_0, key_1, np.uint64(serial), np.uint64(1 << 40) + np.uint64(body))
            ids[found] = np.int64(name >> np.uint64(11))
            w0, w1, w2, w3 = philox_block(key_0, key_1, np.uint64(occasion), np.uint64(body))
            # a uniform number of 53 bits
            if float(w3 >> np.uint64(11)) * (1.0 / 9007199254740992.0) < MISS:
                continue
            dx, dy = row[SEEN_X] - state.position[own, 0], row[SEEN_Y] - state.position[own, 1]
            spread = PLACE + PER_METRE * math.sqrt(dx * dx + dy * dy)
            n0, n1 = normal_pair(w0)
            n2, _ = normal_pair(w1)
            n3, n4 = normal_pair(w2)
            row[SEEN_X], row[SEEN_Y] = row[SEEN_X] + spread * n0, row[SEEN_Y] + spread * n1
            row[SEEN_HEADING] = row[SEEN_HEADING] + TURN * n2
            row[SEEN_VELOCITY] = row[SEEN_VELOCITY] + SPEED * n3
            row[SEEN_VELOCITY + 1] = row[SEEN_VELOCITY + 1] + SPEED * n4
        found += 1
    return found
