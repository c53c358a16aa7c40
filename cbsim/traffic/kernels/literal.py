"""Literal movers on their timed legs."""

from __future__ import annotations

from cbsim.geometry.kernels.legs import leg_at, leg_position_into
from cbsim.jit import inner

__all__ = ["move_literally"]


@inner
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
