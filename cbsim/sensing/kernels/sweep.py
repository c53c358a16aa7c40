"""A scan that takes its time: every beam is fired at its own instant, while the sensor and the bodies move.

The sweep is cut into runs of beams in which the sensor hardly moves. In each, a body grown by all that either can
have moved has a window as for a scan at one instant; the exact test has the poses of the beam's own instant.
"""

from __future__ import annotations

import math

from cbsim.geometry.kernels.bvh import DEPTH, ray_tree
from cbsim.geometry.kernels.rays import ray_ground
from cbsim.jit import kernel
from cbsim.sensing.kernels.poses import mount_in_place, mover_at_into, vehicle_at_into
from cbsim.sensing.kernels.shapes import MESH, hit, matrix_of, place_in, turn_between, turned
from cbsim.sensing.kernels.still import ENTRIES
from cbsim.sensing.kernels.windows import around_into, window_of

__all__ = ["beam_time", "cast_swept_into", "poses_into"]

STANDS, MOVER, VEHICLE = range(3)
SHIFT = 0.3  # [m] that a sensor may move in a run of beams
TURN = 0.01  # [rad] that it may turn
RUN = 8  # beams at least
WORDS = 7  # integers of an entry of the list
ROUND = 1e-9  # share by which bounds are enlarged for rounding


@kernel
def beam_time(time, scan_time, beams, j):
    """When beam j is fired [s], if the last is at `time`."""
    return time - scan_time * ((beams - 1 - j) / max(beams - 1, 1))


@kernel
def way_of(constants, body):
    """How a body moves, and its row among those that do."""
    for m in range(constants.mover_body.shape[0]):
        if constants.mover_body[m] == body:
            return MOVER, m
    for v in range(constants.vehicle_body.shape[0]):
        if constants.vehicle_body[v] == body:
            return VEHICLE, v
    return STANDS, -1


@kernel
def body_at_into(motion, way, row, time, place, turn):
    """Write the pose (3,) [m], (4,) of a body that moves at a time [s]."""
    constants, placed, state = motion
    if way == MOVER:
        mover_at_into(constants, placed, state, row, time, place, turn)
    else:
        vehicle_at_into(constants, state, row, time, place, turn)


@kernel
def poses_into(motion, own, mount, time, scan_time, positions, orientations, poses):
    """Write the pose (beams, 7) of a sensor at the instant of each beam; `positions` … are those at `time`."""
    beams = poses.shape[0]
    way, row = way_of(motion[0], own)
    for j in range(beams - 1, -1, -1):
        pose = poses[j]
        if way == STANDS and j < beams - 1:
            pose[:] = poses[beams - 1]
            continue
        if j == beams - 1:
            pose[:3], pose[3:] = positions[own], orientations[own]
        else:
            body_at_into(motion, way, row, beam_time(time, scan_time, beams, j), pose[:3], pose[3:])
        mount_in_place(mount, pose)


@kernel
def strayed(poses, start, stop, middle):
    """How far a sensor gets from its pose at beam `middle` in beams start … stop: [m], [rad]."""
    far, wide = 0.0, 0.0
    for j in range(start, stop):
        square, same, gap = 0.0, 0.0, 0.0
        for k in range(3):
            square += (poses[j, k] - poses[middle, k]) ** 2
        for k in range(3, 7):
            same += poses[j, k] * poses[middle, k]
        sign = 1.0 if same >= 0.0 else -1.0
        for k in range(3, 7):
            gap += (poses[j, k] - sign * poses[middle, k]) ** 2
        far, wide = max(far, square), max(wide, gap)
    return math.sqrt(far), 4.0 * math.asin(min(0.5 * math.sqrt(wide), 1.0))


@kernel
def wandered(motion, way, row, begin, end, place, turn):
    """How far a body gets from its place at the end of the span of time begin … end [s]: [m].

    A mover's way is straight between the starts of its legs. A cubic stays in the hull of its Bézier points: the
    remembered places, and those a third of a step on and back along the remembered velocities.
    """
    constants, _, state = motion
    body_at_into(motion, way, row, end, place, turn)
    x, y, z = place[0], place[1], place[2]
    body_at_into(motion, way, row, begin, place, turn)
    far = (place[0] - x) ** 2 + (place[1] - y) ** 2 + (place[2] - z) ** 2
    if way == MOVER:
        for leg in range(constants.mover_first[row], constants.mover_last[row] + 1):
            start = constants.leg_start[leg]
            if begin < start < end:
                body_at_into(motion, way, row, start, place, turn)
                far = max(far, (place[0] - x) ** 2 + (place[1] - y) ** 2 + (place[2] - z) ** 2)
        return math.sqrt(far)
    memory = constants.memory
    first = max(math.floor(begin / constants.step) - 1, state.clock[0] - memory + 1, 0)
    last = min(math.floor(end / constants.step) + 2, state.clock[0])
    for step in range(first, last + 1):
        past = row * memory + step % memory
        for third in (-constants.step / 3.0, 0.0, constants.step / 3.0):
            square = (state.past[past, 0] + third * state.past[past, 7] - x) ** 2
            square += (state.past[past, 1] + third * state.past[past, 8] - y) ** 2
            square += (state.past[past, 2] + third * state.past[past, 9] - z) ** 2
            far = max(far, square)
    return math.sqrt(far)


@kernel
def ground_into(fan, poses, ranges):
    """Write the distance to the plane z = 0 for every beam from where it starts."""
    for j in range(fan.width):
        pose = poses[min(j, fan.beams - 1)]
        m = matrix_of(pose[3], pose[4], pose[5], pose[6])
        for layer in range(fan.layers):
            i = layer * fan.width + j
            ranges[i] = ray_ground(pose[2], turned(m, fan.east[i], fan.north[i], fan.up[i])[2])


@kernel
def list_into(motion, fan, own, reach, span, run, bodies, poses, places, turns, ints):
    """List what may be met in a run of beams: (body, first beam, beam after the last, first layer, last, way, row)."""
    positions, orientations, shapes = bodies
    begin, end = span
    start, stop = run
    middle = (start + stop) // 2
    pose, turn = poses[middle], poses[middle, 3:]
    far, wide = strayed(poses, start, stop, middle)
    list_at, count = ENTRIES + DEPTH, 0
    for body in range(positions.shape[0]):
        if body == own or (shapes.kind[body] == MESH and shapes.root[body] < 0):
            continue
        way, row = way_of(motion[0], body)
        radius, roam = shapes.radius[body], far
        if way == STANDS:
            px, py, pz = place_in(positions, orientations, body, pose[0], pose[1], pose[2])
            m = turn_between(orientations, body, turn)
            hx, hy, hz = 0.5 * shapes.size[body, 0], 0.5 * shapes.size[body, 1], 0.5 * shapes.size[body, 2]
        else:
            roam += wandered(motion, way, row, begin, end, places[0], turns[0])
            body_at_into(motion, way, row, end, places[0], turns[0])
            px, py, pz = place_in(places, turns, 0, pose[0], pose[1], pose[2])
            m = turn_between(turns, 0, turn)
            hx, hy, hz = radius, radius, radius
        distance = math.sqrt(px * px + py * py + pz * pz)
        if distance - radius - roam > reach:
            continue
        grow = ROUND + (roam + wide * (distance + radius)) * (1.0 + ROUND)
        low, high, first, last = window_of(
            fan.first, fan.step, fan.slack, fan.slopes, m, px, py, pz, hx + grow, hy + grow, hz + grow
        )
        if first >= last:
            continue
        for k in range(around_into(fan.beams, fan.step, low, high, body, ints, 0)):
            a, b = max(ints[3 * k + 1], start), min(ints[3 * k + 2], stop)
            if a < b:
                at = list_at + WORDS * count
                ints[at], ints[at + 1], ints[at + 2] = body, a, b
                ints[at + 3], ints[at + 4], ints[at + 5], ints[at + 6] = first, last, way, row
                count += 1
    return count


@kernel
def cast_listed_into(motion, fan, count, time, scan_time, bodies, poses, places, turns, ints, ranges):
    """Cast the beams of each entry against its body, both where they are at the instant of the beam."""
    positions, orientations, shapes = bodies
    stack = ints[ENTRIES : ENTRIES + DEPTH]
    for entry in range(count):
        at = ENTRIES + DEPTH + WORDS * entry
        body, first, last, way, row = ints[at], ints[at + 3], ints[at + 4], ints[at + 5], ints[at + 6]
        kind, root = shapes.kind[body], shapes.root[body]
        sx, sy, sz = shapes.size[body, 0], shapes.size[body, 1], shapes.size[body, 2]
        for j in range(ints[at + 1], ints[at + 2]):
            x, y, z, turn = poses[j, 0], poses[j, 1], poses[j, 2], poses[j, 3:]
            if way == STANDS:
                px, py, pz = place_in(positions, orientations, body, x, y, z)
                m = turn_between(orientations, body, turn)
            else:
                instant = beam_time(time, scan_time, fan.beams, j)
                body_at_into(motion, way, row, instant, places[0], turns[0])
                px, py, pz = place_in(places, turns, 0, x, y, z)
                m = turn_between(turns, 0, turn)
            for k in range(first, last):
                i = fan.order[k] * fan.width + j
                dx, dy, dz = turned(m, fan.east[i], fan.north[i], fan.up[i])
                if kind == MESH:
                    triangles, boxes, links = shapes.triangles, shapes.node_box, shapes.node_link
                    distance = ray_tree(px, py, pz, dx, dy, dz, ranges[i], triangles, boxes, links, root, stack)
                else:
                    distance = hit(kind, sx, sy, sz, px, py, pz, dx, dy, dz)
                ranges[i] = min(ranges[i], distance)


@kernel
def cast_swept_into(motion, fan, own, reach, time, scan_time, bodies, poses, floats, ints, ranges):
    """Write the distance to the first surface of every beam, infinity where there is none.

    Parameters
    ----------
    motion : (Constants, State, State)
        Of the World, of its first Snapshot, and of a Snapshot not earlier than `time`.
    fan, own, reach, floats, ints, ranges : as `cbsim.sensing.kernels.still.cast_still_into`
    time, scan_time : float
        When the last beam is fired, and how long after the first [s].
    bodies : (positions, orientations, shapes)
        Poses of all bodies at `time`, and `Shapes`.
    poses : (beams, 7) [m], 1
        Of the sensor at the instant of each beam.
    """
    ground_into(fan, poses, ranges)
    beams = fan.beams
    places, turns = floats[:3].reshape(1, 3), floats[3:7].reshape(1, 4)
    far, wide = strayed(poses, 0, beams, beams // 2)
    runs = math.ceil(max(far / SHIFT, wide / TURN, 1.0))
    length = max(RUN, math.ceil(beams / runs))
    for start in range(0, beams, length):
        stop = min(start + length, beams)
        span = beam_time(time, scan_time, beams, start), beam_time(time, scan_time, beams, stop - 1)
        count = list_into(motion, fan, own, reach, span, (start, stop), bodies, poses, places, turns, ints)
        cast_listed_into(motion, fan, count, time, scan_time, bodies, poses, places, turns, ints, ranges)
