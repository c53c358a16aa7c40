"""Poses of all bodies at an instant within the pose history of a Snapshot.

Literal movers are known in closed form. Vehicles and bodies of models are interpolated between the two recorded steps
around that time. Before t = 0 all bodies are as placed.
"""

from __future__ import annotations

import math

from cbsim.geometry.kernels.columns import ORIENTATION, POSITION, VELOCITY
from cbsim.geometry.kernels.trajectory_segments import segment_at
from cbsim.jit import inlined, inner, kernel

__all__ = [
    "bodies_at_into",
    "copy_into",
    "leave_out_far",
    "loose_at_into",
    "mount_in_place",
    "mover_at_into",
    "segment_pose_into",
    "track_pose_into",
    "tracked_at_into",
]

AFAR = 1e30  # [m] where bodies are put that no beam can reach
ROUNDING = 1e-3  # [m] by which the reach of scans is widened


@inlined
def segment_pose_into(starts, origins, velocities, turnings, first, last, guess, time, places, turns, row):
    """Write the pose on the leg that holds at a time [s] to rows of (n, 3) [m] and (n, 4).

    Tables are separate arguments, here and below, so that loops over bodies look them up once.
    """
    leg = segment_at(starts, first, last, guess, time)
    elapsed = time - starts[leg]
    for k in range(3):
        places[row, k] = origins[leg, k] + velocities[leg, k] * elapsed
    for k in range(4):
        turns[row, k] = turnings[leg, k]


@inlined
def copy_into(positions, orientations, body, places, turns, row):
    """Copy a pose from row to row."""
    for k in range(3):
        places[row, k] = positions[body, k]
    for k in range(4):
        turns[row, k] = orientations[body, k]


@inlined
def track_pose_into(past, first, memory, clock, step, time, positions, orientations, body, places, turns, row):
    """Write the pose of a tracked body at a time [s], from its rows `first` … of the pose history.

    Positions follow the cubic Hermite spline of both steps' positions and velocities, orientations the shorter arc.
    """
    # a time that is a step but for rounding counts as that step
    before = math.floor(time / step + 1e-9)
    if before >= clock or memory == 0:
        copy_into(positions, orientations, body, places, turns, row)
        return
    # of a time before the history the oldest step is taken
    before = max(before, clock - memory + 1, 0)
    part = max(time / step - before, 0.0)
    part = 0.0 if part < 1e-9 else part  # at a step, its bits are kept
    # the pose history is a ring: step k is in row k mod memory
    one, two = first + before % memory, first + (before + 1) % memory
    p2, p3 = part * part, part * part * part
    # Hermite's basis for position and velocities; `rise` is 0 and 1 at the ends
    rise, leave, arrive = 3.0 * p2 - 2.0 * p3, p3 - 2.0 * p2 + part, p3 - p2
    for k in range(3):
        bend = leave * past[one, VELOCITY + k] + arrive * past[two, VELOCITY + k]
        places[row, k] = past[one, k] + rise * (past[two, k] - past[one, k]) + step * bend  # bits are kept at rest
    # normalised linear interpolation of quaternions, of the nearer of q and −q; equal ones keep their bits
    same = 0.0
    for k in range(3, 7):
        same += past[one, k] * past[two, k]
    sign = 1.0 if same >= 0.0 else -1.0
    square, turned = 0.0, False
    for k in range(3, 7):
        gap = sign * past[two, k] - past[one, k]
        turned = turned or gap != 0.0
        turn = past[one, k] + part * gap
        turns[row, k - 3] = turn
        square += turn * turn
    if turned and part > 0.0:
        scale = 1.0 / math.sqrt(square)
        for k in range(4):
            turns[row, k] *= scale


@inlined
def mover_at_into(constants, placed, state, m, time, places, turns, row):
    """Write the pose of literal mover m at a time [s] to rows of (n, 3) [m] and (n, 4)."""
    body = constants.mover_body[m]
    if time <= 0.0 and state.clock[0] == 0:
        copy_into(state.position, state.orientation, body, places, turns, row)
    elif time <= 0.0:
        copy_into(placed.position, placed.orientation, body, places, turns, row)
    else:
        starts, origins, velocities = constants.segment_start, constants.segment_origin, constants.segment_velocity
        turnings, first, last = constants.segment_orientation, constants.mover_first[m], constants.mover_last[m]
        segment_pose_into(
            starts, origins, velocities, turnings, first, last, state.trajectory_segment[m], time, places, turns, row
        )


@inlined
def tracked_at_into(constants, state, v, time, places, turns, row):
    """Write the pose of tracked body v at a time [s] to rows of (n, 3) [m] and (n, 4)."""
    past, memory, clock, step = state.pose_history, constants.memory, state.clock[0], constants.step
    here, attitude, body, first = state.position, state.orientation, constants.tracked_body[v], v * memory
    track_pose_into(past, first, memory, clock, step, time, here, attitude, body, places, turns, row)


@kernel
def bodies_at_into(constants, placed, state, time, positions, orientations):
    """Write the pose of every body at a time [s].

    Parameters
    ----------
    constants : Constants
    placed, state : State
        Of the World's first Snapshot, and of this one.
    time : float
        [s]
    positions, orientations : (bodies, 3) [m], (bodies, 4), out
    """
    places, turns = state.position, state.orientation
    for body in range(positions.shape[0]):
        copy_into(places, turns, body, positions, orientations, body)
    for m in range(constants.mover_body.shape[0]):
        mover_at_into(constants, placed, state, m, time, positions, orientations, constants.mover_body[m])
    for v in range(constants.tracked_body.shape[0]):
        tracked_at_into(constants, state, v, time, positions, orientations, constants.tracked_body[v])


@inlined
def moved_since(constants, state, v, since):
    """Largest distance [m] between the present place of tracked body v and its places since a time [s], at most.

    The spline between two steps leaves their chord by no more than 4/27 of a step times each velocity.
    """
    past, memory, clock, step = state.pose_history, constants.memory, state.clock[0], constants.step
    before = math.floor(since / step + 1e-9)
    if before >= clock or memory == 0:
        return 0.0
    far, body, newest = 0.0, constants.tracked_body[v], v * memory + clock % memory
    for c in range(2):  # nothing, unless somebody has set it elsewhere
        far += abs(state.position[body, c] - past[newest, c])
    for k in range(max(before, clock - memory + 1, 0), clock):
        one, two = v * memory + k % memory, v * memory + (k + 1) % memory
        for c in range(2):
            far += abs(past[two, c] - past[one, c])
            far += step * 4.0 / 27.0 * (abs(past[one, 7 + c]) + abs(past[two, 7 + c]))
    return far


@inner
def leave_out_far(constants, state, lasers, scenery, jobs, since, positions, orientations):
    """Put tracked bodies so far away that no scan since a time [s] can hit them to `AFAR`, so that they are left out.

    `jobs`, as `cbsim.sensing.kernels.scans.scans_into` has them, name the lasers. Poses, as `loose_at_into` has them,
    of others are marked as unknown.
    """
    movers, tracked = constants.mover_body.shape[0], constants.tracked_body.shape[0]
    places = state.position
    # a circle about the carrier of the first laser, which holds all that any of the scans can hit
    here = scenery.loose[scenery.own[jobs[0, 0]]]
    x, y, reach = places[here, 0], places[here, 1], 0.0
    for job in range(jobs.shape[0]):
        s = jobs[job, 0]
        own, mount = scenery.own[s], lasers.mount[s]
        body, far = scenery.loose[own], lasers.reach[s] + ROUNDING
        for k in range(3):
            far += abs(mount[k])
        far += abs(places[body, 0] - x) + abs(places[body, 1] - y)
        if movers <= own < movers + tracked:
            far += moved_since(constants, state, own - movers, since)
        elif own < movers:
            far = math.inf  # a literal mover may have come from anywhere
        reach = max(reach, far)
    for v in range(tracked):
        row, body = movers + v, constants.tracked_body[v]
        dx, dy = places[body, 0] - x, places[body, 1] - y
        limit = reach + scenery.radius[row]
        positions[row, 0] = 0.0
        if dx * dx + dy * dy > limit * limit:
            limit += moved_since(constants, state, v, since)
            if dx * dx + dy * dy > limit * limit:
                positions[row, 0], positions[row, 1], positions[row, 2] = AFAR, AFAR, AFAR
                orientations[row, 0], orientations[row, 1], orientations[row, 2], orientations[row, 3] = (
                    1.0,
                    0.0,
                    0.0,
                    0.0,
                )


@inner
def loose_at_into(constants, placed, state, loose, time, positions, orientations):
    """Write the poses of some bodies (loose, 3) [m] and (loose, 4) at a time [s], as `bodies_at_into` those of all.

    `loose` are rows of bodies: literal movers, tracked bodies, each in the order of their table, then others. Tracked
    bodies that `leave_out_far` has put away stay there.
    """
    movers, tracked = constants.mover_body.shape[0], constants.tracked_body.shape[0]
    places, turns = state.position, state.orientation
    for m in range(movers):
        mover_at_into(constants, placed, state, m, time, positions, orientations, m)
    for v in range(tracked):
        if positions[movers + v, 0] != AFAR:
            tracked_at_into(constants, state, v, time, positions, orientations, movers + v)
    for k in range(movers + tracked, loose.shape[0]):
        copy_into(places, turns, loose[k], positions, orientations, k)


@inlined
def mount_in_place(mount, poses, row):
    """Turn the pose of a bot, a row of (n, 7), into that of the sensor that stands at `mount` (7,) in its frame."""
    # x + a t + v × t with the vector part v of the bot's quaternion and t = 2 v × x; then the product of both
    # quaternions
    a, b = poses[row, ORIENTATION], poses[row, ORIENTATION + 1]
    c, d = poses[row, ORIENTATION + 2], poses[row, ORIENTATION + 3]
    x, y, z, e = mount[POSITION], mount[POSITION + 1], mount[POSITION + 2], mount[ORIENTATION]
    f, g, h = mount[ORIENTATION + 1], mount[ORIENTATION + 2], mount[ORIENTATION + 3]
    tx, ty, tz = 2.0 * (c * z - d * y), 2.0 * (d * x - b * z), 2.0 * (b * y - c * x)
    poses[row, POSITION] = x + a * tx + c * tz - d * ty + poses[row, POSITION]
    poses[row, POSITION + 1] = y + a * ty + d * tx - b * tz + poses[row, POSITION + 1]
    poses[row, POSITION + 2] = z + a * tz + b * ty - c * tx + poses[row, POSITION + 2]
    poses[row, ORIENTATION] = a * e - b * f - c * g - d * h
    poses[row, ORIENTATION + 1] = a * f + b * e + c * h - d * g
    poses[row, ORIENTATION + 2] = a * g - b * h + c * e + d * f
    poses[row, ORIENTATION + 3] = a * h + b * g - c * f + d * e
