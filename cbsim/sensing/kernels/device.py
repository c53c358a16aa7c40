"""Pose and motion of a device on a body, without asking about any other body."""

from __future__ import annotations

from cbsim.geometry.kernels.rotation import heading_of, rotate
from cbsim.geometry.kernels.trajectory_segments import segment_at
from cbsim.jit import kernel
from cbsim.sensing.kernels.poses import mover_at_into, tracked_at_into
from cbsim.world.kernels import vehicle_motion_into

__all__ = ["device_at_into"]


@kernel
def device_at_into(constants, placed, state, body, mount, time, orientation, out):
    """Write position (3) [m] and velocity (3) [m/s] of a device, heading [rad] and yaw rate [rad/s] of its body.

    Parameters
    ----------
    constants : Constants
    placed, state : State
        Of the World's first Snapshot, and of this one.
    body : int
        Row of the body that carries the device.
    mount : (3,) [m]
        Where it stands in the frame of the body.
    time : float
        [s]
    orientation : (4,), out
        Of the body.
    out : (8,), out
    """
    position, velocity, rate = out[0:3], out[3:6], 0.0
    for k in range(3):
        position[k], velocity[k] = state.position[body, k], 0.0
    for k in range(4):
        orientation[k] = state.orientation[body, k]
    # views of one row, in which the pose at that time takes the place of the present one
    place, turn = position.reshape(1, 3), orientation.reshape(1, 4)
    for m in range(constants.mover_body.shape[0]):
        if constants.mover_body[m] == body:
            mover_at_into(constants, placed, state, m, time, place, turn, 0)
            leg = segment_at(
                constants.segment_start,
                constants.mover_first[m],
                constants.mover_last[m],
                state.trajectory_segment[m],
                time,
            )
            for k in range(3):
                velocity[k] = constants.segment_velocity[leg, k]
    for v in range(constants.vehicle_body.shape[0]):
        if constants.vehicle_body[v] == body:
            tracked_at_into(constants, state, v, time, place, turn, 0)
            rate = vehicle_motion_into(constants, state, v, time, velocity)
    x, y, z = rotate(orientation, mount[0], mount[1], mount[2])
    position[0], position[1], position[2] = position[0] + x, position[1] + y, position[2] + z
    # v + ω × arm of a device that turns about the vertical
    velocity[0], velocity[1] = velocity[0] - rate * y, velocity[1] + rate * x
    out[6], out[7] = heading_of(orientation), rate
