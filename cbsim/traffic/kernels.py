"""Compiled stages of a step: literal movers on their legs, vehicles through their drives."""

from __future__ import annotations

import math

from cbsim.geometry.kernels.legs import leg_at, leg_position_into
from cbsim.geometry.kernels.rotation import heading_of, rotate, turn_in_place
from cbsim.jit import kernel
from cbsim.vehicle.kernels import step_single_track, step_skid
from cbsim.world.kernels import ground_height

__all__ = ["drive_vehicles", "move_literally"]

SKID, CONVENTIONAL = 0, 1
STEP_UP = 0.5  # [m] a wheel climbs a drivable edge of that height, not a higher one


@kernel
def move_literally(constants, state, time):
    """Put every literal mover where its legs say it is at that time [s]."""
    for m in range(constants.mover_body.shape[0]):
        body = constants.mover_body[m]
        leg = leg_at(constants.leg_start, constants.mover_first[m], constants.mover_last[m], state.leg[m], time)
        leg_position_into(
            constants.leg_start, constants.leg_origin, constants.leg_velocity, leg, time, state.position[body]
        )
        if leg != state.leg[m]:
            state.leg[m] = leg
            for k in range(3):
                state.velocity[body, k] = constants.leg_velocity[leg, k]
            for k in range(4):
                state.orientation[body, k] = constants.leg_orientation[leg, k]


@kernel
def drive_vehicles(constants, state):
    """Carry every vehicle through one step of its drive, in substeps."""
    dt = constants.step / constants.substeps
    for v in range(constants.vehicle_body.shape[0]):
        body = constants.vehicle_body[v]
        position, velocity = state.position[body], state.velocity[body]
        x, y = position[0], position[1]
        start = heading_of(state.orientation[body])
        heading = start
        fx, fy, _ = rotate(state.orientation[body], 0.0, 1.0, 0.0)
        speed = velocity[0] * fx + velocity[1] * fy
        rate = 0.0
        for _ in range(constants.substeps):
            if constants.vehicle_drive[v] == SKID:
                x, y, heading, speed, rate = step_skid(
                    x, y, heading, speed, state.actuator[v], state.command[v], constants.vehicle_parameters[v], dt
                )
            else:
                x, y, heading, speed, rate = step_single_track(
                    x, y, heading, speed, state.actuator[v], state.command[v], constants.vehicle_parameters[v], dt
                )
        position[0], position[1] = x, y
        if constants.ground_triangles.shape[0] > 0:
            feet = position[2] - constants.vehicle_height[v]
            ground = ground_height(constants.ground_triangles, x, y, feet + STEP_UP)
            position[2] = ground + constants.vehicle_height[v]
        turn_in_place(heading - start, state.orientation[body])
        write_motion(constants, state, v, body, heading, speed, rate)
        remember(constants, state, v, body)


@kernel
def remember(constants, state, v, body):
    """Keep the pose and velocity of a vehicle for as long as a scan may look back."""
    if constants.memory == 0:
        return
    row = state.past[v * constants.memory + state.clock[0] % constants.memory]
    for k in range(3):
        row[k] = state.position[body, k]
        row[7 + k] = state.velocity[body, k]
    for k in range(4):
        row[3 + k] = state.orientation[body, k]


@kernel
def write_motion(constants, state, v, body, heading, speed, rate):
    """Write the velocity of the centre and the yaw rate; a single-track's centre swings about its rear axle."""
    arm = 0.5 * constants.vehicle_parameters[v, 0] if constants.vehicle_drive[v] == CONVENTIONAL else 0.0
    fx, fy = -math.sin(heading), math.cos(heading)
    state.velocity[body, 0] = speed * fx - arm * rate * fy
    state.velocity[body, 1] = speed * fy + arm * rate * fx
    state.velocity[body, 2] = 0.0
    state.angular_velocity[body, 2] = rate
