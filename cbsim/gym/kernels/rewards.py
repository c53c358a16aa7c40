"""Default reward of agents, and how many bounds of comfort they exceed."""

from __future__ import annotations

from cbsim.gym.kernels.columns import ALONG, COLLIDED, LIMIT, OFF_LANE, OFFSET, PROGRESS, RAN_STOP, SPEED
from cbsim.jit import kernel

__all__ = ["discomfort_into", "reward_into"]


@kernel
def discomfort_into(measures, bounds, out):
    """Count the bounds that each agent exceeds.

    Parameters
    ----------
    measures : (agents, 25)
        As `cbsim.gym.kernels.measures.measure_into` writes them.
    bounds : (k, 2)
        Least and greatest of the measures from `ALONG` on.
    out : (agents,), out
    """
    for a in range(measures.shape[0]):
        count = 0.0
        for k in range(bounds.shape[0]):
            value = measures[a, ALONG + k]
            if value < bounds[k, 0] or value > bounds[k, 1]:
                count += 1.0
        out[a] = count


@kernel
def reward_into(measures, discomfort, out):
    """Reward agents as `cbsim.gym.default_reward` documents it.

    Parameters
    ----------
    measures : (agents, 25)
    discomfort : (agents,)
        Bounds of comfort that are exceeded.
    out : (agents,), out
    """
    for a in range(measures.shape[0]):
        row = measures[a]
        reward = 0.1 * row[PROGRESS] - 10.0 * row[COLLIDED] - 5.0 * (row[OFF_LANE] + row[RAN_STOP])
        reward -= 0.01 * discomfort[a] + 0.01 * abs(row[OFFSET])
        out[a] = reward - 0.02 * max(row[SPEED] - row[LIMIT], 0.0)
