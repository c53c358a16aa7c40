"""`DrivingEnv`: one agent of one World as a Gymnasium environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from cbsim.errors import UsageError
from cbsim.gym.agents import Agents
from cbsim.gym.making import action_space, make_agents, observation_space

__all__ = ["DrivingEnv", "facts"]

TOLD = "collided", "off_lane", "ran_stop", "made_stop", "arrived"


class DrivingEnv(gymnasium.Env[NDArray[Any], NDArray[np.float32]]):
    """One agent of a scenario; other objects that take commands stand where they are.

    Terminated when `done` says so: by default in a collision, beyond the border of the lane, or where the route ends.
    Truncated after `max_steps`. ``reset(seed=…)`` begins with the first episode of a seed, ``reset()`` the next one;
    ``reset(options={"map": …, "traffic": …, "sensors": …})`` sets seeds of this episode. The same seeds, actions and
    files give the same bits.

    Parameters
    ----------
    scenario : str, Path or World, optional
        As `cbsim.load` takes it.
    agent : str, optional
        Object that takes commands; the first by default.
    **settings
        Of `cbsim.gym.make_agents`: `observation`, `reward`, `done`, `start`, `route_length`, `repeat`, `max_steps`,
        `seeds`; and of `cbsim.load`: `rndf`, `objects`, `mdf`, `settings`, `step`.

    Attributes
    ----------
    agents : Agents
        What user functions get.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(self, scenario: Any = None, agent: str | None = None, **settings: Any) -> None:
        render_mode = settings.pop("render_mode", None)
        if render_mode is not None:
            raise UsageError(f"render_mode is {render_mode!r}; environments have none: see docs/gym.md")
        self.agents: Agents = make_agents(scenario, 1, None if agent is None else [agent], first=True, **settings)
        self.agents.reset(0)
        self.action_space = action_space(self.agents)
        self.observation_space = observation_space(self.agents)
        self._waits = True

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Begin an episode; see the class."""
        super().reset(seed=seed)
        if seed is not None:
            self.agents.seed(seed)
        self.agents.reset(0, options)
        self._waits = False
        return self._observation(), facts(self.agents, 0, 0)

    def step(self, action: NDArray[np.float32]) -> tuple[NDArray[Any], float, bool, bool, dict[str, Any]]:
        """Take a step with an action: throttle and steering, or throttle and two levers, each from −1 to 1."""
        if self._waits:
            raise UsageError("step comes before the first reset: call reset")
        rewards, terminated, truncated = self.agents.step(action)
        told = facts(self.agents, 0, 0)
        return self._observation(), float(rewards[0, 0]), bool(terminated[0, 0]), bool(truncated[0, 0]), told

    def close(self) -> None:
        """End the threads."""
        self.agents.close()

    def _observation(self) -> NDArray[Any]:
        return np.array(self.agents.observations()[0, 0])


def facts(agents: Agents, index: int, agent: int) -> dict[str, Any]:
    """Tell the time, the seeds, and what happened to an agent in this step."""
    told: dict[str, Any] = {name: bool(getattr(agents.measures, name)[index, agent] > 0.0) for name in TOLD}
    told["time"] = float(agents.steps[index]) * agents.step_length
    told["seeds"] = agents.seeds[index]._asdict()
    return told
