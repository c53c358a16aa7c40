"""Path follower that drives a vehicle along the timed trajectory of its goals or script.

Its segments are those of a literal mover: straight pieces, each with the time at which it is due to begin. The follower
aims at a point ahead on them (pure pursuit: Coulter, "Implementation of the pure pursuit path tracking algorithm",
CMU-RI-TR-92-01) and keeps to their schedule: it goes up to a quarter faster than written to make good what starting,
stopping and corners cost, waits where it is early, and slows for corners to what its tyres and its steering can follow.
On skid wheels it stops at sharp corners and turns on the spot, after a wait before that is over.
"""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.geometry.kernels.rotation import heading_of
from cbsim.geometry.kernels.trajectory_segments import segment_at
from cbsim.jit import inner
from cbsim.traffic.kernels.driving.levers import scrub_of, steer_levers, turning_time
from cbsim.vehicle.kernels.columns import (
    HANDBRAKE,
    LEVER_RATE,
    MAX_ACCELERATION,
    MAX_DECELERATION,
    MAX_SPEED,
    MAX_STEER,
    STEERING,
    THROTTLE,
    WHEELBASE,
)

__all__ = ["follow_trajectories", "look_ahead", "steer_wheels"]

HURRY = 1.25  # of the written speed, to make good a delay
CATCH_UP = 0.5  # [1/s] of the way behind the schedule
SPEED_GAIN = 3.0  # [1/s] acceleration asked for a wrong speed
BRAKE = 3.0  # [m/s²] on the way to a stop or a corner
RUN_UP = 60.0  # [m] in which it gets ahead by what braking for a stop will cost
SIDEWAYS = 3.0  # [m/s²] in a corner
LOOK_TIME, LOOK_LEAST, LOOK_MOST = 0.5, 3.0, 20.0  # [s], [m], [m] how far ahead it aims
WIND = 0.5  # of full steering that it must be able to wind on while it covers that way
CORNER = 4.0  # [m] before and after a corner, in which it is cut
AHEAD = 10.0  # [m] beyond its braking distance it looks for corners
ARRIVED = 0.05  # [m] before a stop
STANDING = 0.1  # [m/s]
WINDING = 0.2  # of full steering that may be missing without slowing down
SLOWEST = 0.7  # [m/s] for the tightest corner
SHARP = 0.64  # cosine of 50°: tighter corners are turned on the spot where wheels can do that
CREEP = 0.5  # [m/s] into such a corner
READY = 0.3  # [s] before its wait is over


@inner
def follow_trajectories(constants, state, time):
    """Write the command of every follower for the step that begins at a time [s]."""
    for f in range(constants.follower_vehicle.shape[0]):
        v, last = constants.follower_vehicle[f], constants.follower_last[f]
        body, command, parameters = constants.vehicle_body[v], state.command[v], constants.vehicle_parameters[v]
        command[HANDBRAKE] = 0.0
        x, y = state.position[body, 0], state.position[body, 1]
        heading = heading_of(state.orientation[body])
        fx, fy = -math.sin(heading), math.cos(heading)
        speed = state.velocity[body, 0] * fx + state.velocity[body, 1] * fy
        levers = constants.follower_levers[f] == 1
        segment = next_segment(constants, state.goal[f], last, x, y, speed, time, levers)
        state.goal[f] = segment
        rate, scrub = state.angular_velocity[body, 2], scrub_of(constants.vehicle_drive[v], parameters)
        if is_pause(constants, segment):
            # at rest on skid wheels it turns to the next direction just in time
            command[THROTTLE] = -1.0
            if levers and segment < last and abs(speed) < STANDING:
                ahead, left = way_on(constants, segment + 1, fx, fy)
                turning = turning_time(math.atan2(left, ahead), scrub, parameters) + READY
                if time > constants.segment_start[segment + 1] - turning:
                    steer_levers(0.0, ahead, left, speed, rate, scrub, state.actuator[v], parameters, command)
            continue
        first = constants.follower_first[f]
        wanted, slowing = wanted_speed(constants, first, segment, last, x, y, speed, time, levers, parameters)
        look = look_ahead(speed, parameters)
        ahead, left = point_ahead(constants, segment, last, x, y, fx, fy, look, levers)
        if levers:
            steer_levers(wanted, ahead, left, speed, rate, scrub, state.actuator[v], parameters, command)
        else:
            ahead += 0.5 * parameters[WHEELBASE]  # as seen from the rear axle
            steer_wheels(wanted, slowing, ahead, left, speed, state.actuator[v, STEERING], parameters, command)


@inner
def look_ahead(speed, parameters):
    """How far ahead a path follower aims at a speed [m]."""
    return min(max((LOOK_TIME + WIND / parameters[LEVER_RATE]) * speed, LOOK_LEAST), LOOK_MOST)


@inner
def is_pause(constants, segment):
    """Tell whether a segment is a wait, or the rest at the end."""
    return constants.segment_velocity[segment, 0] == 0.0 and constants.segment_velocity[segment, 1] == 0.0


@inner
def segment_frame(constants, segment, x, y):
    """Return the unit direction of a moving segment, its length [m], and the way along it [m] to abeam of a point."""
    vx, vy = constants.segment_velocity[segment, 0], constants.segment_velocity[segment, 1]
    speed = math.hypot(vx, vy)
    dx, dy = vx / speed, vy / speed
    along = (x - constants.segment_origin[segment, 0]) * dx + (y - constants.segment_origin[segment, 1]) * dy
    return dx, dy, constants.segment_station[segment + 1] - constants.segment_station[segment], along


@inner
def way_on(constants, segment, fx, fy):
    """Direction of a moving segment, as parts ahead and to the left of one's own."""
    dx, dy, _, _ = segment_frame(constants, segment, 0.0, 0.0)
    return dx * fx + dy * fy, dy * fx - dx * fy


@inner
def turns_on_the_spot(constants, segment, levers):
    """Tell whether the corner between a moving segment and the moving one after it is turned on the spot."""
    if not levers:
        return False
    dx, dy, _, _ = segment_frame(constants, segment, 0.0, 0.0)
    cosine, _ = way_on(constants, segment + 1, dx, dy)
    return cosine < SHARP


@inner
def next_segment(constants, segment, last, x, y, speed, time, levers):
    """Row of the segment to follow: the first that is not finished.

    A wait ends at its time, once the vehicle is at rest. A segment before a wait, or before a corner turned on the
    spot, ends at its end; one before another corner ends where the bisector of the corner is crossed.
    """
    while segment < last:
        if is_pause(constants, segment):
            if time < constants.segment_start[segment + 1] - 1e-9 or abs(speed) > STANDING:
                break
            segment += 1
            continue
        dx, dy, length, along = segment_frame(constants, segment, x, y)
        if is_pause(constants, segment + 1):
            if along < length - ARRIVED:
                break
        elif turns_on_the_spot(constants, segment, levers):
            if along < length - 2.0 * ARRIVED:
                break
        else:
            ex, ey, _, beyond = segment_frame(constants, segment + 1, x, y)
            # coordinates from the corner along both segments have the sum 0 on the line across its bisector
            # unless the way nearly turns back there
            cut = dx * ex + dy * ey > -0.9 and length - along < 2.0 * CORNER and along - length + beyond >= 0.0
            if along < length and not cut:
                break
        segment += 1
    return segment


@inner
def corner_speed(constants, segment, parameters):
    """Return the speed [m/s] at which the corner between a segment and the next can be cut."""
    dx, dy, _, _ = segment_frame(constants, segment, 0.0, 0.0)
    ex, ey, _, _ = segment_frame(constants, segment + 1, 0.0, 0.0)
    cosine = min(max(dx * ex + dy * ey, -1.0), 1.0)
    tangent = math.sqrt((1.0 - cosine) / max(1.0 + cosine, 1e-6))  # of half the angle
    if tangent < 1e-3:
        return math.inf
    # of the circle that touches both segments `CORNER` before and after the corner
    radius = CORNER / tangent
    share = min(math.atan(parameters[WHEELBASE] / radius) / parameters[MAX_STEER], 1.0)
    winding = CORNER * parameters[LEVER_RATE] / share
    return max(min(math.sqrt(SIDEWAYS * radius), winding), SLOWEST)


@inner
def way_to_stop(constants, segment, way, levers):
    """Return the way [m] to the next stop, given that to the end of this segment; no further than matters."""
    while way < RUN_UP and not is_pause(constants, segment + 1) and not turns_on_the_spot(constants, segment, levers):
        segment += 1
        way += constants.segment_station[segment + 1] - constants.segment_station[segment]
    return way


@inner
def wanted_speed(constants, first, segment, last, x, y, speed, time, levers, parameters):
    """Find the speed [m/s] that keeps to the schedule and can stop and turn where it must; tell whether it falls."""
    vx, vy = constants.segment_velocity[segment, 0], constants.segment_velocity[segment, 1]
    written = math.hypot(vx, vy)
    _, _, length, along = segment_frame(constants, segment, x, y)
    along = min(max(along, 0.0), length)
    due = segment_at(constants.segment_start, first, last, segment, time)
    pace = math.hypot(constants.segment_velocity[due, 0], constants.segment_velocity[due, 1])
    # way behind the schedule
    behind = (
        constants.segment_station[due]
        + pace * (time - constants.segment_start[due])
        - constants.segment_station[segment]
        - along
    )
    stop = way_to_stop(constants, segment, length - along, levers)
    # braking from a speed v takes v / b and covers half of what the schedule does: it falls v² / (2 b) behind
    lead = written * written / (2.0 * BRAKE) * max(1.0 - stop / RUN_UP, 0.0)
    wanted = min(max(written + CATCH_UP * (behind + lead), 0.0), HURRY * written, parameters[MAX_SPEED])
    corner = segment > first and along < CORNER and not is_pause(constants, segment - 1)
    if corner and not turns_on_the_spot(constants, segment - 1, levers):
        wanted = min(wanted, corner_speed(constants, segment - 1, parameters))
    slowing = False
    way, reach = length - along, speed * speed / (2.0 * BRAKE) + AHEAD
    while way < reach and segment < last:
        if is_pause(constants, segment + 1):
            limit, room = 0.0, way
        elif turns_on_the_spot(constants, segment, levers):
            limit, room = CREEP, way
        else:
            limit, room = corner_speed(constants, segment, parameters), max(way - CORNER, 0.0)
        # v² = v₀² + 2 b s
        allowed = math.sqrt(limit * limit + 2.0 * BRAKE * room)
        if allowed < wanted:
            wanted, slowing = allowed, room > 0.0
        if limit <= CREEP:
            break
        segment += 1
        way += constants.segment_station[segment + 1] - constants.segment_station[segment]
    return wanted, slowing


@inner
def point_ahead(constants, segment, last, x, y, fx, fy, look, levers):
    """Find the point on the segments `look` [m] further than abeam of (x, y): how far ahead of it and to its left [m].

    A vehicle that will stop or turn on the spot at the end of a segment looks straight on beyond it.
    """
    dx, dy, length, along = segment_frame(constants, segment, x, y)
    along = max(along, 0.0) + look
    while along > length and segment + 1 < last and not is_pause(constants, segment + 1):
        if turns_on_the_spot(constants, segment, levers):
            break
        along -= length
        segment += 1
        dx, dy, length, _ = segment_frame(constants, segment, x, y)
    px = constants.segment_origin[segment, 0] + along * dx - x
    py = constants.segment_origin[segment, 1] + along * dy - y
    return px * fx + py * fy, py * fx - px * fy


@inner
def steer_wheels(wanted, slowing, ahead, left, speed, steering, parameters, command):
    """Command a steering wheel and a throttle; slow down while the wheel is still to be turned far."""
    # curvature of the circle through the rear axle, tangent to the heading, and the point (Coulter)
    bend = 2.0 * left / max(ahead * ahead + left * left, 1e-6)
    angle = math.atan(parameters[WHEELBASE] * bend) / parameters[MAX_STEER]
    if ahead < 0.0:
        angle = 1.0 if left >= 0.0 else -1.0
    command[STEERING] = min(max(angle, -1.0), 1.0)
    missing = abs(command[STEERING] - steering)
    if missing > WINDING:
        wanted = min(wanted, max(CORNER * parameters[LEVER_RATE] / missing, SLOWEST))
    # v² · bend is the lateral acceleration
    if abs(bend) > 0.0:
        wanted = min(wanted, max(math.sqrt(SIDEWAYS / abs(bend)), SLOWEST))
    push = SPEED_GAIN * (wanted - speed)
    if slowing and speed > 0.8 * wanted:
        push -= BRAKE
    if push >= 0.0:
        # near the top speed a throttle accelerates less: see `actuators.next_speed`
        left_over = max(1.0 - speed / parameters[MAX_SPEED], 0.1)
        command[THROTTLE] = min(push / (parameters[MAX_ACCELERATION] * left_over), 1.0)
    else:
        command[THROTTLE] = max(push / parameters[MAX_DECELERATION], -1.0)
