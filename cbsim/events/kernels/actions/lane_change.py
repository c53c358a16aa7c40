"""Action `lane_change`: an ordered change of lanes of a reactive car.

`cbsim.traffic.kernels.turning_round.leaving` begins it.
"""

from __future__ import annotations

from cbsim.jit import inlined
from cbsim.world.events.tables import CAR_LANE, STATE, TARGET

__all__ = ["order_lane"]


@inlined
def order_lane(actions, state, a):
    """Order the change of lanes of action a."""
    state.order[actions[a, TARGET], CAR_LANE] = actions[a, STATE]
