"""Literal movers: bodies that follow timed trajectory segments exactly."""

from __future__ import annotations

from cbsim.geometry.kernels.trajectory_segments import segment_at, segment_position_into
from cbsim.jit import inner

__all__ = ["move_literally"]


@inner
def move_literally(constants, state, time):
    """Place every literal mover on its trajectory at a time [s]."""
    for m in range(constants.mover_body.shape[0]):
        body = constants.mover_body[m]
        segment = segment_at(
            constants.segment_start,
            constants.mover_first[m],
            constants.mover_last[m],
            state.trajectory_segment[m],
            time,
        )
        segment_position_into(
            constants.segment_start,
            constants.segment_origin,
            constants.segment_velocity,
            segment,
            time,
            state.position[body],
        )
        # a segment has one velocity and one orientation
        if segment != state.trajectory_segment[m]:
            state.trajectory_segment[m] = segment
            for k in range(3):
                state.velocity[body, k] = constants.segment_velocity[segment, k]
            for k in range(4):
                state.orientation[body, k] = constants.segment_orientation[segment, k]
