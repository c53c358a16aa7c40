"""Default observation, reward and end of episodes; users replace them by functions with the same arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats
from cbsim.errors import UsageError
from cbsim.gym.kernels.columns import ALONG, MEASURES, OBJECT, OWN, PIECE, POINT
from cbsim.gym.kernels.measures import AHEAD
from cbsim.gym.kernels.observe import ASTRAY, FAST, QUICK, SHARP
from cbsim.gym.kernels.rewards import discomfort_into, reward_into
from cbsim.gym.measures import Measures

__all__ = ["NearField", "Observe", "Reward", "WhenDone", "default_done", "default_reward"]

Observe = Callable[[Any], NDArray[Any]]
Reward = Callable[[Any], Floats]
WhenDone = Callable[[Any], NDArray[np.bool_]]
"""Functions of the user, which get the `cbsim.gym.agents.Agents`."""

COMFORT = {"along": (-4.05, 2.40), "aside": (-4.89, 4.89), "jerk": (0.0, 8.37), "jerk_along": (0.0, 4.13),
           "turning": (0.0, 0.95), "turning_rate": (0.0, 1.93)}  # fmt: skip
"""Bounds of nuPlan's comfort metric, the defaults of the rule `comfort`."""
BOUNDS = np.array([COMFORT[name] for name in Measures._fields[ALONG:]])  # those of magnitudes begin at 0


class Agents(Protocol):
    """What the functions here need of `cbsim.gym.agents.Agents`."""

    measures: Measures
    table: Floats

    def observe(self, near: NearField) -> NDArray[np.float32]:
        """Make observations of surroundings, shape (worlds, agents, size)."""


@dataclass(frozen=True)
class NearField:
    """Observation of an agent's surroundings as a row of float32, computed in a kernel.

    Seven numbers of its own: speed [m/s], yaw rate [rad/s], acceleration [m/s²], offset from the middle of the lane
    [m], heading error [rad], speed limit [m/s], distance to the next stop line [m] (`Measures`). Then, one quantity
    after another, each for all points, objects or pieces:

    - points of the route ahead: place to the right and forward [m], heading relative to one's own [rad];
    - objects: place of the centre to the right and forward [m], cosine and sine of the relative heading, speed along
      its heading [m/s], width, length [m]. The nearest come first, unless there is room for all: then each keeps its
      row. Zeros beyond the reach;
    - pieces of road of 5 m and less: place of the middle to the right and forward, length, width [m], cosine and sine
      of the relative direction, kind (0 lane, 1 connector, 2 U-turn, 3 entry or exit of a zone, 4 stop line). The
      nearest to the middle of the cell of 8 m that the agent is in come first.

    Parameters
    ----------
    points, objects, pieces : int
        How many.
    reach : float
        Greatest distance of objects [m].
    spacing : float
        Distance of points of the route [m].

    Raises
    ------
    UsageError
        If one of them is negative or not finite.
    """

    points: int = 5
    objects: int = 6
    pieces: int = 0
    reach: float = 50.0
    spacing: float = 5.0

    def __post_init__(self) -> None:
        for name in ("points", "objects", "pieces"):
            value = getattr(self, name)
            if not isinstance(value, int) or not 0 <= value <= 4096:
                raise UsageError(f"observation: {name} is {value!r}, expected a whole number from 0 to 4096")
        for name in ("reach", "spacing"):
            value = getattr(self, name)
            if not 0.0 < value <= 1000.0:
                raise UsageError(f"observation: {name} is {value!r}, expected a number of metres up to 1000")

    @property
    def size(self) -> int:
        """Numbers of an observation."""
        return OWN + POINT * self.points + OBJECT * self.objects + PIECE * self.pieces

    def bounds(self) -> NDArray[np.float32]:
        """Greatest magnitude of each number, shape (size,)."""
        near, far, turn = self.reach, self.spacing * (self.points + 1) + 2.0 * ASTRAY + 1000.0, np.pi
        own = [FAST, SHARP, QUICK, ASTRAY, turn, 1000.0, AHEAD]
        rows = [(own, 1), ([far, far, turn], self.points), ([near, near, 1.0, 1.0, 1000.0, 1e4, 1e4], self.objects),
                ([1e4, 1e4, 1e4, 1e4, 1.0, 1.0, 4.0], self.pieces)]  # fmt: skip
        return np.concatenate([np.repeat(one, count) for one, count in rows]).astype(np.float32) * np.float32(1.0001)

    def __call__(self, agents: Agents) -> NDArray[np.float32]:
        """Make the observations, shape (worlds, agents, size)."""
        return agents.observe(self)


def default_reward(agents: Agents) -> Floats:
    """Reward progress; charge collisions, leaving the lane, running stop lines, discomfort and speeding.

    Per metre of the route 0.1; a collision −10, leaving the lane −5, a stop line that is run −5; each bound of the rule
    `comfort` that is exceeded −0.01; each m/s above the limit −0.02; each metre beside the middle of the lane −0.01.
    """
    rewards = np.empty(agents.table.shape[:-1])
    reward_into(agents.table.reshape(-1, MEASURES), discomfort(agents).reshape(-1), rewards.reshape(-1))
    return rewards


def discomfort(agents: Agents) -> Floats:
    """Count the bounds of the rule `comfort` that each agent exceeds, shape (worlds, agents)."""
    found = np.empty(agents.table.shape[:-1])
    discomfort_into(agents.table.reshape(-1, MEASURES), BOUNDS, found.reshape(-1))
    return found


def default_done(agents: Agents) -> NDArray[np.bool_]:
    """End an agent's episode when it collides, leaves its lane, or arrives at the end of its route."""
    told = agents.measures
    return np.asarray(told.collided + told.off_lane + told.arrived > 0.0)
