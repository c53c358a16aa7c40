"""Scans of finite duration: every beam is fired at its own instant, while the sensor and the bodies move.

The sweep is divided into runs of beams in which the sensor hardly moves. In each run, a body enlarged by the motion of
both has a window as in a scan at one instant; the exact test uses the poses at the beam's own instant.
See docs/theory/lasers_and_noise.md §6.
"""

from __future__ import annotations

import numpy as np

from cbsim.geometry.kernels import elementary as math
from cbsim.geometry.kernels.bvh import DEPTH, ray_tree
from cbsim.geometry.kernels.columns import ORIENTATION, POSITION, VELOCITY
from cbsim.geometry.kernels.rays import ray_box, ray_ground
from cbsim.jit import inlined, inner, kernel
from cbsim.sensing.kernels.poses import copy_into, mount_in_place, segment_pose_into, track_pose_into
from cbsim.sensing.kernels.shapes import BOX, MESH, hit, matrix_of, nearer, place_in, turn_between, turned
from cbsim.sensing.kernels.still import ENTRIES
from cbsim.sensing.kernels.windows import around_into, window_of

__all__ = ["beam_time", "cast_swept_into", "poses_into"]

STANDS, MOVER, TRACKED = range(3)
WORLD = (1.0, 0.0, 0.0, 0.0)  # attitude of the world's axes
SHIFT = 0.3  # [m] that a sensor may move in a run of beams
TURN = 0.01  # [rad] that it may rotate
RUN = 8  # beams at least
# integers of an entry of the list: body; beams and layers from … to; how it moves, and its row in the table of that
IN_BODY, IN_BEGIN, IN_END, IN_FIRST, IN_LAST, IN_WAY, IN_ROW, WORDS = range(8)
ROUND = 1e-9  # relative enlargement of bounds, for rounding


@inlined
def beam_time(time, scan_time, beams, j):
    """When beam j is fired [s], if the last is at `time`."""
    return time - scan_time * ((beams - 1 - j) / max(beams - 1, 1))


@inlined
def way_of(constants, body):
    """How a body moves, and its row among those that do."""
    for m in range(constants.mover_body.shape[0]):
        if constants.mover_body[m] == body:
            return MOVER, m
    for v in range(constants.tracked_body.shape[0]):
        if constants.tracked_body[v] == body:
            return TRACKED, v
    return STANDS, -1


@inner
def path_into(constants, placed, state, way, row, time, scan_time, beams, begin, end, places, turns):
    """Write the pose of a body that moves at the instants of beams begin … end to these rows (beams, 3), (beams, 4)."""
    positions, orientations, clock = state.position, state.orientation, state.clock[0]
    if way == TRACKED:
        past, memory, step, body = state.pose_history, constants.memory, constants.step, constants.tracked_body[row]
        for j in range(begin, end):
            t = beam_time(time, scan_time, beams, j)
            first = row * memory
            track_pose_into(past, first, memory, clock, step, t, positions, orientations, body, places, turns, j)
        return
    starts, origins, velocities = constants.segment_start, constants.segment_origin, constants.segment_velocity
    turnings, first, last = constants.segment_orientation, constants.mover_first[row], constants.mover_last[row]
    spots, attitudes, body, guess = (
        placed.position,
        placed.orientation,
        constants.mover_body[row],
        state.trajectory_segment[row],
    )
    for j in range(begin, end):
        t = beam_time(time, scan_time, beams, j)
        # before the start of the run a mover stands where it was placed
        if t > 0.0:
            segment_pose_into(starts, origins, velocities, turnings, first, last, guess, t, places, turns, j)
        elif clock == 0:
            copy_into(positions, orientations, body, places, turns, j)
        else:
            copy_into(spots, attitudes, body, places, turns, j)


@inner
def poses_into(constants, placed, state, own, mount, time, scan_time, bodies, places, turns, poses):
    """Write the pose (beams, 7) of a sensor at the instant of each beam; `bodies` are as they are at `time`."""
    beams = poses.shape[0]
    positions, orientations = bodies
    # the last beam is fired at `time`, for which poses are known
    way, row = way_of(constants, own)
    last = beams - 1
    if way != STANDS:
        path_into(constants, placed, state, way, row, time, scan_time, beams, 0, last, places, turns)
    for j in range(last, -1, -1):
        # beams from the last back: the sensor of a body that stands has one pose
        if way == STANDS and j < last:
            for k in range(7):
                poses[j, k] = poses[last, k]
            continue
        for k in range(3):
            poses[j, k] = positions[own, k] if j == last else places[j, k]
        for k in range(4):
            poses[j, ORIENTATION + k] = orientations[own, k] if j == last else turns[j, k]
        mount_in_place(mount, poses, j)


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
        # q and −q are the same rotation; a difference of unit quaternions of length d is a rotation by 4 asin(d / 2)
        sign = 1.0 if same >= 0.0 else -1.0
        for k in range(3, 7):
            gap += (poses[j, k] - sign * poses[middle, k]) ** 2
        far, wide = max(far, square), max(wide, gap)
    return math.sqrt(far), 4.0 * math.asin(min(0.5 * math.sqrt(wide), 1.0))


@inlined
def gap_squared(x, y, z, places, row):
    """Squared distance of a point from a row of places (n, ≥ 3) [m²]."""
    return (places[row, 0] - x) ** 2 + (places[row, 1] - y) ** 2 + (places[row, 2] - z) ** 2


@inner
def wandered(constants, state, way, row, begin, end, positions):
    """Bound of a body's distance [m] from its place in `positions` in the span of time begin … end [s].

    A mover's path is straight between the starts of its segments. A cubic Hermite segment lies in the convex hull of
    its Bézier points: recorded positions, and those a third of a step ahead and back along the recorded velocities.
    """
    far = 0.0
    if way == MOVER:
        body, final = constants.mover_body[row], constants.mover_last[row]
        origins, velocities = constants.segment_origin, constants.segment_velocity
        for leg in range(constants.mover_first[row], final + 1):
            start = constants.segment_start[leg]
            stop = constants.segment_start[leg + 1] if leg < final else math.inf
            if start > end or stop < begin:
                continue
            for time in (max(start, begin), min(stop, end)):
                e = time - start
                x, y = origins[leg, 0] + velocities[leg, 0] * e, origins[leg, 1] + velocities[leg, 1] * e
                far = max(far, gap_squared(x, y, origins[leg, 2] + velocities[leg, 2] * e, positions, body))
        return math.sqrt(far)
    body, memory, past = constants.tracked_body[row], constants.memory, state.pose_history
    # recorded steps about the span, with one more on either side for the Bézier points
    first = max(math.floor(begin / constants.step) - 1, state.clock[0] - memory + 1, 0)
    for step in range(first, min(math.floor(end / constants.step) + 2, state.clock[0]) + 1):
        i = row * memory + step % memory
        for third in (-constants.step / 3.0, 0.0, constants.step / 3.0):
            x, y = past[i, POSITION] + third * past[i, VELOCITY], past[i, POSITION + 1] + third * past[i, VELOCITY + 1]
            far = max(far, gap_squared(x, y, past[i, POSITION + 2] + third * past[i, VELOCITY + 2], positions, body))
    return math.sqrt(far)


@inner
def aim_into(fan, poses, aims, ranges):
    """Turn every beam into the world, and write its distance to the plane z = 0 from where it starts.

    `aims` (3 · layers · width + 3 · width,) takes directions, component by component, and then origins.
    """
    width, size = fan.width, fan.layers * fan.width
    for j in range(width):
        b = min(j, fan.beams - 1)  # beams that fill a row up are aimed like the last
        q = ORIENTATION
        m = matrix_of(poses[b, q], poses[b, q + 1], poses[b, q + 2], poses[b, q + 3])
        z = poses[b, POSITION + 2]
        for k in range(3):
            aims[3 * size + k * width + j] = poses[b, k]
        for layer in range(fan.layers):
            i = layer * width + j
            dx, dy, dz = turned(m, fan.east[i], fan.north[i], fan.up[i])
            aims[i], aims[size + i], aims[2 * size + i] = dx, dy, dz
            ranges[i] = ray_ground(z, dz)


@inner
def list_into(constants, state, fan, own, reach, span, run, bodies, poses, ints):
    """List what may be met in a run of beams: (body, first beam, beam after the last, first layer, last, way, row)."""
    positions, orientations, shapes = bodies
    begin, end = span
    start, stop = run
    middle = (start + stop) // 2
    pose = poses[middle]
    turn = pose[ORIENTATION], pose[ORIENTATION + 1], pose[ORIENTATION + 2], pose[ORIENTATION + 3]
    far, wide = strayed(poses, start, stop, middle)
    list_at, count = ENTRIES + DEPTH, 0
    for body in range(positions.shape[0]):
        if body == own or (shapes.kind[body] == MESH and shapes.root[body] < 0):
            continue
        way, row = way_of(constants, body)
        radius, roam = shapes.radius[body], far
        px, py, pz = place_in(positions, orientations, body, pose[POSITION], pose[POSITION + 1], pose[POSITION + 2])
        m = turn_between(orientations, body, turn)
        hx, hy, hz = 0.5 * shapes.size[body, 0], 0.5 * shapes.size[body, 1], 0.5 * shapes.size[body, 2]
        if way != STANDS:  # it may turn as well: its sphere is as good at any attitude
            roam += wandered(constants, state, way, row, begin, end, positions)
            hx, hy, hz = radius, radius, radius
        distance = math.sqrt(px * px + py * py + pz * pz)
        if distance - radius - roam > reach:
            continue
        # translation of both, and the arc that the sensor's rotation moves the body's far side by
        grow = ROUND + (roam + wide * (distance + radius)) * (1.0 + ROUND)
        low, high, first, last = window_of(
            fan.first, fan.step, fan.slack, fan.slopes, m, px, py, pz, hx + grow, hy + grow, hz + grow
        )
        if first >= last:
            continue
        for k in range(around_into(fan.beams, fan.step, low, high, body, ints, 0)):
            a, b = max(ints[3 * k + 1], start), min(ints[3 * k + 2], stop)
            # only beams of this run; static boxes are cast in whole blocks, since their pose is the same in all runs
            if a < b:
                if way == STANDS and shapes.kind[body] == BOX:  # whole blocks, for vector code
                    a, b = ints[3 * k + 1], ints[3 * k + 2]
                at = list_at + WORDS * count
                ints[at + IN_BODY], ints[at + IN_BEGIN], ints[at + IN_END] = body, a, b
                ints[at + IN_FIRST], ints[at + IN_LAST], ints[at + IN_WAY], ints[at + IN_ROW] = first, last, way, row
                count += 1
    return count


@inlined
def cast_box_into(positions, orientations, body, hx, hy, hz, aims, size, width, offset, begin, end, ranges):
    """Cast a run of beams of one layer against a box that stands; vector code over beams, as long as all is hoisted."""
    cx, cy, cz = positions[body, 0], positions[body, 1], positions[body, 2]
    a, b, c, d = orientations[body, 0], -orientations[body, 1], -orientations[body, 2], -orientations[body, 3]
    m = matrix_of(a, b, c, d)
    ex, ey, ez, origins = aims[:size], aims[size : 2 * size], aims[2 * size : 3 * size], aims[3 * size :]
    ox, oy, oz = origins[:width], origins[width : 2 * width], origins[2 * width :]
    for j in range(np.uint64(begin), np.uint64(end)):
        i = j + np.uint64(offset)
        x, y, z = ox[j] - cx, oy[j] - cy, oz[j] - cz
        tx, ty, tz = 2.0 * (c * z - d * y), 2.0 * (d * x - b * z), 2.0 * (b * y - c * x)
        px, py, pz = x + a * tx + c * tz - d * ty, y + a * ty + d * tx - b * tz, z + a * tz + b * ty - c * tx
        dx, dy, dz = turned(m, ex[i], ey[i], ez[i])
        ranges[i] = nearer(ranges[i], ray_box(px, py, pz, dx, dy, dz, hx, hy, hz))


@inner
def cast_listed_into(constants, placed, state, fan, count, time, scan_time, bodies, scratch, ranges):
    """Cast the beams of each entry against its body, both where they are at the instant of the beam."""
    aims, places, turns, ints = scratch.aims, scratch.swept, scratch.turned, scratch.ints
    positions, orientations, shapes = bodies
    stack, order = ints[ENTRIES : ENTRIES + DEPTH], fan.order
    triangles, boxes, links = shapes.triangles, shapes.node_box, shapes.node_link
    width, size = fan.width, fan.layers * fan.width
    for entry in range(count):
        at = ENTRIES + DEPTH + WORDS * entry
        body, begin, end = ints[at + IN_BODY], ints[at + IN_BEGIN], ints[at + IN_END]
        way, row = ints[at + IN_WAY], ints[at + IN_ROW]
        first, last = ints[at + IN_FIRST], ints[at + IN_LAST]
        kind, root = shapes.kind[body], shapes.root[body]
        sx, sy, sz = shapes.size[body, 0], shapes.size[body, 1], shapes.size[body, 2]
        # boxes that stand have a loop of their own, which is vector code
        if way == STANDS and kind == BOX:
            hx, hy, hz = 0.5 * sx, 0.5 * sy, 0.5 * sz
            for k in range(first, last):
                offset = order[k] * width
                cast_box_into(positions, orientations, body, hx, hy, hz, aims, size, width, offset, begin, end, ranges)
            continue
        if way != STANDS:
            path_into(constants, placed, state, way, row, time, scan_time, fan.beams, begin, end, places, turns)
        for j in range(begin, end):
            # origins stand behind directions, the same for all layers
            x, y, z = aims[3 * size + j], aims[3 * size + width + j], aims[3 * size + 2 * width + j]
            if way == STANDS:
                px, py, pz = place_in(positions, orientations, body, x, y, z)
                m = turn_between(orientations, body, WORLD)
            else:
                px, py, pz = place_in(places, turns, j, x, y, z)
                m = turn_between(turns, j, WORLD)
            for k in range(first, last):
                i = order[k] * width + j
                dx, dy, dz = turned(m, aims[i], aims[size + i], aims[2 * size + i])
                if kind == MESH:
                    distance = ray_tree(px, py, pz, dx, dy, dz, ranges[i], triangles, boxes, links, root, stack)
                else:
                    distance = hit(kind, sx, sy, sz, px, py, pz, dx, dy, dz)
                ranges[i] = min(ranges[i], distance)


@inner
def cast_swept_into(constants, placed, state, fan, own, reach, time, scan_time, bodies, poses, scratch, ranges):
    """Write the distance to the first surface of every beam, infinity where there is none.

    Parameters
    ----------
    constants, placed, state : Constants, State, State
        Of the World, of its first Snapshot, and of a Snapshot not earlier than `time`.
    fan, own, reach, ranges : as `cbsim.sensing.kernels.still.cast_still_into`
    time, scan_time : float
        When the last beam is fired, and how long after the first [s].
    bodies : (positions, orientations, shapes)
        Poses of all bodies at `time`, and `Shapes`.
    poses : (beams, 7) [m], 1
        Of the sensor at the instant of each beam.
    scratch : ScanScratch
    """
    aim_into(fan, poses, scratch.aims, ranges)
    beams = fan.beams
    far, wide = strayed(poses, 0, 1, beams - 1)  # how many runs is but a matter of speed
    runs = math.ceil(max(far / SHIFT, wide / TURN, 1.0))
    length = max(RUN, math.ceil(beams / runs))
    for start in range(0, beams, length):
        stop = min(start + length, beams)
        span = beam_time(time, scan_time, beams, start), beam_time(time, scan_time, beams, stop - 1)
        count = list_into(constants, state, fan, own, reach, span, (start, stop), bodies, poses, scratch.ints)
        cast_listed_into(constants, placed, state, fan, count, time, scan_time, bodies, scratch, ranges)
