"""Substeps of all vehicles: drives, then collisions."""

from __future__ import annotations

from cbsim.collision.kernels.broad import has_left
from cbsim.collision.kernels.driven import collide, remember_places
from cbsim.collision.kernels.stage import near_pairs
from cbsim.collision.kernels.workspace import UNTIL, CandidatePairs
from cbsim.geometry.kernels import elementary as math
from cbsim.geometry.kernels.columns import ORIENTATION, VELOCITY
from cbsim.geometry.kernels.ground import gradient_of, lean_into, stand
from cbsim.geometry.kernels.rotation import heading_of, rotate, rotate_back, turn_in_place
from cbsim.jit import inner, kernel
from cbsim.traffic.kernels.driving.alone import are_free, mark_alone, may_leave
from cbsim.vehicle.kernels import hear, roll_together, sine_cosine_of, step_kinematic, step_on_ground
from cbsim.vehicle.kernels.columns import (
    ALONE,
    CENTRE_X,
    CENTRE_Y,
    DELAYED,
    FORWARD,
    HEADING,
    KINEMATIC,
    KNOWN_ANGLE,
    KNOWN_COSINE,
    KNOWN_HEADING,
    KNOWN_SINE,
    KNOWN_TANGENT,
    LEFT_SPIN,
    LEFTWARD,
    PLANAR,
    REAR_SPIN,
    RIGHT_SPIN,
    SKID_KINEMATIC,
    STEERING,
    THROTTLE,
    TRACK,
    WHEEL_RADIUS,
    WHEELBASE,
    YAW_RATE,
)
from cbsim.world.kernels import HISTORY_ROLLING, HISTORY_WAY, HISTORY_YAW_RATE

__all__ = ["drive_vehicles", "read_vehicles"]

STEP_UP = 0.5  # [m] a wheel climbs a drivable edge of that height, not a higher one


@kernel
def read_vehicles(constants, state, planar):
    """Write the motion of all vehicles in the plane, as `cbsim.vehicle.kernels.step_vehicle` has it."""
    for v in range(constants.vehicle_body.shape[0]):
        planar_into(constants, state, constants.vehicle_body[v], planar[v])


@inner
def drive_vehicles(
    constants, shapes, state, planar, rolling, stack, segments, workspace, touch_workspace, pairs, contacts, found
):
    """Carry every vehicle through one step of its drive, all together substep by substep, and let them collide.

    Parameters
    ----------
    constants, shapes, state : Constants, Shapes, State
    planar : (vehicles, 12)
        From `read_vehicles`.
    rolling : tuple of ndarray
        `arcs`, `block` and `members` of `cbsim.vehicle.kernels.many.roll_together`.
    stack : (DEPTH,) int64
        Scratch.
    segments, workspace, touch_workspace, pairs : TrajectoryTables, BroadWorkspace, TouchWorkspace, CandidatePairs
        What collisions work on, and pairs that may meet (`cbsim.collision.kernels.stage`).
    contacts : (capacity, 12), out
    found : int
        Rows of contacts in use.

    Returns
    -------
    found, pairs
        The same after the step.
    """
    dt = constants.step / constants.substeps
    start, anchors, before, vehicles = (
        state.clock[0] - 1,
        workspace.anchors,
        touch_workspace.before,
        constants.vehicle_body.shape[0],
    )
    active_contacts, is_level = state.active_contacts, constants.ground_triangles.shape[0] == 0
    for v in range(vehicles):
        record_command(constants, state, v)
    remember_places(planar, before)
    substeps = constants.substeps
    # vehicles that nothing can touch are carried through all substeps at once
    if are_free(constants, state):
        table = constants.vehicle_parameters
        if may_leave(planar, table, constants.step, anchors):
            pairs = near_pairs(constants, shapes.radius, start, segments, planar, workspace, pairs)
        alone = mark_alone(
            *(table, constants.step, shapes.size, state.position, state.orientation, planar),
            *(workspace.roles, workspace.reach, pairs.driven, pairs.driven_count),
        )
        roll_together(*(planar, state.wheel, state.actuator, state.command, table, dt, substeps), *rolling)
        substeps = 0 if alone == vehicles else substeps
    for k in range(-1 if start == 0 else 0, substeps):  # a run begins by finding what overlaps
        for v in range(vehicles if k >= 0 else 0):
            if planar[v, ALONE] > 0.0:
                continue
            drive, parameters = constants.vehicle_drive[v], constants.vehicle_parameters[v]
            if drive == KINEMATIC and is_level:
                step_kinematic(
                    *(planar[v], state.wheel[v], state.actuator[v], state.command[v], parameters, dt),
                    k == constants.substeps - 1,
                )
                continue
            if drive == DELAYED:
                ring = state.command_delay[v * constants.delay_steps : (v + 1) * constants.delay_steps]
                hear(ring, state.clock[0], k / constants.substeps, constants.step, parameters, state.actuator[v])
            p, q = (0.0, 0.0) if is_level else gradient_of(state.orientation[constants.vehicle_body[v]])
            step_on_ground(drive, planar[v], state.wheel[v], state.actuator[v], state.command[v], parameters, p, q, dt)
        # a vehicle has left its bounds: pairs are searched again
        if has_left(planar, anchors):
            until = workspace.memo[UNTIL]
            pairs = near_pairs(constants, shapes.radius, start, segments, planar, workspace, pairs)
            if state.intent.shape[0] + state.guided.shape[0] > 0:  # bounds of reactive cars, too, are as they were
                workspace.memo[UNTIL] = until
        if pairs.driven_count == 0:
            remember_places(planar, before)
            continue
        # at k = −1 no time has passed
        time, span = (start + (k + 1) / constants.substeps) * constants.step, dt if k >= 0 else 0.0
        table = constants.vehicle_parameters
        found, touches = collide(
            *(segments, table, active_contacts, shapes, planar, workspace, touch_workspace),
            *((pairs.driven, pairs.driven_count), (time, span), pairs.touches, contacts, found),
        )
        pairs = CandidatePairs(pairs.literal, pairs.literal_count, pairs.driven, pairs.driven_count, touches)
    for v in range(vehicles):
        settle(constants, state, v, planar[v], stack)
        remember(constants, state, v, constants.vehicle_body[v])
    return found, pairs


@kernel
def record_command(constants, state, v):
    """Keep the throttle and steering commanded in this step for as long as a dead time may look back."""
    if constants.delay_steps > 0:
        row = state.command_delay[v * constants.delay_steps + state.clock[0] % constants.delay_steps]
        row[THROTTLE], row[STEERING] = state.command[v, THROTTLE], state.command[v, STEERING]


@inner
def slope_of(constants, state, body):
    """Gradient of the ground that a vehicle stands on: that of its own attitude."""
    if constants.ground_triangles.shape[0] == 0:
        return 0.0, 0.0
    return gradient_of(state.orientation[body])


@inner
def planar_into(constants, state, body, planar):
    """Write the motion of a body on the ground: x, y, heading, forward and leftward velocity, yaw rate.

    On a slope place and heading are those seen from above, velocities and yaw rate those in the plane of the ground.
    """
    orientation, velocity = state.orientation[body], state.velocity[body]
    planar[CENTRE_X], planar[CENTRE_Y] = state.position[body, 0], state.position[body, 1]
    heading = heading_of(orientation)
    sine, cosine = math.sin_cos(heading)
    p, q = slope_of(constants, state, body)
    if p == 0.0 and q == 0.0:
        fx, fy = -sine, cosine
        # the left is (−f_y, f_x)
        forward, left = velocity[0] * fx + velocity[1] * fy, velocity[1] * fx - velocity[0] * fy
    else:
        right, forward, _ = rotate_back(orientation, velocity[0], velocity[1], velocity[2])
        left = -right
    planar[HEADING], planar[FORWARD] = heading, forward
    planar[LEFTWARD], planar[YAW_RATE] = left, state.angular_velocity[body, 2]
    if planar.shape[0] == PLANAR:
        planar[KNOWN_HEADING], planar[KNOWN_SINE], planar[KNOWN_COSINE] = heading, sine, cosine
        planar[KNOWN_ANGLE], planar[KNOWN_TANGENT], planar[ALONE] = math.nan, math.nan, 0.0


@inner
def settle(constants, state, v, planar, stack):
    """Write a vehicle's motion to the row of its body, whose four wheels stand on the ground that is there."""
    body = constants.vehicle_body[v]
    position, velocity, orientation = state.position[body], state.velocity[body], state.orientation[body]
    heading, turn = planar[HEADING], planar[HEADING] - heading_of(orientation)
    p, q = slope_of(constants, state, body)
    if constants.ground_triangles.shape[0] == 0:
        position[0], position[1] = planar[CENTRE_X], planar[CENTRE_Y]
        turn_in_place(turn, orientation)
    # what rests keeps every bit
    elif turn != 0.0 or planar[CENTRE_X] != position[0] or planar[CENTRE_Y] != position[1]:
        was_level = p == 0.0 and q == 0.0
        centre, secant = constants.vehicle_height[v], math.sqrt(1.0 + p * p + q * q)
        # height of the plane of before at the new place, under the middle of the wheels
        dx, dy = planar[CENTRE_X] - position[0], planar[CENTRE_Y] - position[1]
        feet = position[2] - centre / secant + p * dx + q * dy
        position[0], position[1] = planar[CENTRE_X], planar[CENTRE_Y]
        height, p, q = stand(
            constants.ground_triangles,
            constants.ground_box,
            constants.ground_link,
            # the foot of the normal through the centre
            planar[CENTRE_X] + centre * p / secant,
            planar[CENTRE_Y] + centre * q / secant,
            heading,
            0.5 * constants.vehicle_parameters[v, WHEELBASE],
            0.5 * constants.vehicle_parameters[v, TRACK],
            (feet, p, q),
            STEP_UP,
            stack,
        )
        position[2] = height + centre / math.sqrt(1.0 + p * p + q * q)
        if was_level and p == 0.0 and q == 0.0:
            turn_in_place(turn, orientation)
        else:
            lean_into(heading, p, q, orientation)
    if p == 0.0 and q == 0.0:
        sine, cosine = sine_cosine_of(heading, planar)
        fx, fy = -sine, cosine
        velocity[0] = planar[FORWARD] * fx - planar[LEFTWARD] * fy
        velocity[1] = planar[FORWARD] * fy + planar[LEFTWARD] * fx
        velocity[2] = 0.0
    else:
        velocity[0], velocity[1], velocity[2] = rotate(orientation, -planar[LEFTWARD], planar[FORWARD], 0.0)
    state.angular_velocity[body, 2] = planar[YAW_RATE]


@kernel
def remember(constants, state, v, body):
    """Keep the motion of a vehicle, and of its rear wheels or both sides, for as long as a reading may look back."""
    if constants.memory == 0:
        return
    row = state.pose_history[v * constants.memory + state.clock[0] % constants.memory]
    last = state.pose_history[v * constants.memory + (state.clock[0] - 1) % constants.memory]
    for k in range(3):
        row[k] = state.position[body, k]
        row[VELOCITY + k] = state.velocity[body, k]
    for k in range(4):
        row[ORIENTATION + k] = state.orientation[body, k]
    row[HISTORY_YAW_RATE] = state.angular_velocity[body, 2]
    turning = state.wheel[v, REAR_SPIN]
    if constants.vehicle_drive[v] >= SKID_KINEMATIC:
        turning = 0.5 * (state.wheel[v, LEFT_SPIN] + state.wheel[v, RIGHT_SPIN])
    rolling = turning * constants.vehicle_parameters[v, WHEEL_RADIUS]
    row[HISTORY_ROLLING] = rolling
    # the way that the wheels have rolled, by the trapezoidal rule
    row[HISTORY_WAY] = last[HISTORY_WAY] + 0.5 * constants.step * (last[HISTORY_ROLLING] + rolling)
