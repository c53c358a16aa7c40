"""Where every body was at an instant not later than the Snapshot's, nor older than its memory.

Literal movers are known in closed form. Vehicles are interpolated between the remembered steps about that time. Before
t = 0 everything stands as placed.
"""

from __future__ import annotations

import math

from cbsim.geometry.kernels.legs import leg_at, leg_position_into
from cbsim.geometry.kernels.rotation import rotate
from cbsim.jit import kernel

__all__ = ["bodies_at_into", "mount_in_place", "mover_at_into", "vehicle_at_into"]


@kernel
def mover_at_into(constants, placed, state, m, time, position, orientation):
    """Write the pose (3,) [m], (4,) of literal mover m at a time [s]."""
    body = constants.mover_body[m]
    if time <= 0.0:
        source = state if state.clock[0] == 0 else placed
        for k in range(3):
            position[k] = source.position[body, k]
        for k in range(4):
            orientation[k] = source.orientation[body, k]
        return
    leg = leg_at(constants.leg_start, constants.mover_first[m], constants.mover_last[m], state.leg[m], time)
    leg_position_into(constants.leg_start, constants.leg_origin, constants.leg_velocity, leg, time, position)
    for k in range(4):
        orientation[k] = constants.leg_orientation[leg, k]


@kernel
def vehicle_at_into(constants, state, v, time, position, orientation):
    """Write the pose (3,) [m], (4,) of vehicle v at a time [s].

    Positions follow the cubic that has the velocities of both remembered steps too, orientations the shorter arc.
    """
    body = constants.vehicle_body[v]
    before = math.floor(time / constants.step + 1e-9)
    if before >= state.clock[0] or constants.memory == 0:
        for k in range(3):
            position[k] = state.position[body, k]
        for k in range(4):
            orientation[k] = state.orientation[body, k]
        return
    before = max(before, state.clock[0] - constants.memory + 1, 0)
    part = max(time / constants.step - before, 0.0)
    part = 0.0 if part < 1e-9 else part  # at a step, every bit is that of the step
    one = v * constants.memory + before % constants.memory
    two = v * constants.memory + (before + 1) % constants.memory
    between_into(state.past, one, two, part, constants.step, position, orientation)


@kernel
def between_into(past, one, two, part, step, position, orientation):
    """Interpolate between two remembered rows, `part` of a step after the first."""
    p2, p3 = part * part, part * part * part
    rise, leave, arrive = 3.0 * p2 - 2.0 * p3, p3 - 2.0 * p2 + part, p3 - p2
    for k in range(3):
        bend = leave * past[one, 7 + k] + arrive * past[two, 7 + k]
        position[k] = past[one, k] + rise * (past[two, k] - past[one, k]) + step * bend  # at rest, every bit stays
    same = 0.0
    for k in range(3, 7):
        same += past[one, k] * past[two, k]
    sign = 1.0 if same >= 0.0 else -1.0
    square, turned = 0.0, False
    for k in range(3, 7):
        gap = sign * past[two, k] - past[one, k]
        turned = turned or gap != 0.0
        orientation[k - 3] = past[one, k] + part * gap
        square += orientation[k - 3] * orientation[k - 3]
    if turned and part > 0.0:
        scale = 1.0 / math.sqrt(square)
        for k in range(4):
            orientation[k] *= scale


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
    for body in range(positions.shape[0]):
        for k in range(3):
            positions[body, k] = state.position[body, k]
        for k in range(4):
            orientations[body, k] = state.orientation[body, k]
    for m in range(constants.mover_body.shape[0]):
        body = constants.mover_body[m]
        mover_at_into(constants, placed, state, m, time, positions[body], orientations[body])
    for v in range(constants.vehicle_body.shape[0]):
        body = constants.vehicle_body[v]
        vehicle_at_into(constants, state, v, time, positions[body], orientations[body])


@kernel
def mount_in_place(mount, pose):
    """Turn the pose (7,) of a bot into that of the sensor that stands at `mount` (7,) in its frame."""
    x, y, z = rotate(pose[3:], mount[0], mount[1], mount[2])
    pose[0], pose[1], pose[2] = x + pose[0], y + pose[1], z + pose[2]
    a, b, c, d = pose[3], pose[4], pose[5], pose[6]
    e, f, g, h = mount[3], mount[4], mount[5], mount[6]
    pose[3] = a * e - b * f - c * g - d * h
    pose[4] = a * f + b * e + c * h - d * g
    pose[5] = a * g - b * h + c * e + d * f
    pose[6] = a * h + b * g - c * f + d * e
