"""`DrivingParallelEnv`: the agents of one World as a PettingZoo parallel environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import Space
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from cbsim.errors import UsageError
from cbsim.gym.environment import facts
from cbsim.gym.making import action_space, make_agents, observation_space

__all__ = ["DrivingParallelEnv"]


class DrivingParallelEnv(ParallelEnv[str, NDArray[Any], NDArray[np.float32]]):
    """Agents of a scenario that act at the same time; who is done leaves `agents`, brakes and stands.

    Parameters
    ----------
    scenario : str, Path or World, optional
        As `cbsim.load` takes it.
    agents : sequence of str, optional
        Objects that take commands; by default all.
    **settings
        As `cbsim.gym.environment.DrivingEnv` has them.

    Attributes
    ----------
    possible_agents, agents : list of str
        All, and those whose episode has not ended.
    worlds : Agents
        What user functions get; of one World.
    """

    metadata = {"render_modes": [], "name": "cbsim_v0", "is_parallelizable": True}  # noqa: RUF012

    def __init__(self, scenario: Any = None, agents: Sequence[str] | None = None, **settings: Any) -> None:
        self.worlds = make_agents(scenario, 1, agents, **settings)
        self.worlds.reset(0)
        self.render_mode = None
        self.possible_agents = list(self.worlds.names)
        self.agents: list[str] = []
        self.action_spaces = {name: action_space(self.worlds) for name in self.possible_agents}
        self.observation_spaces = {name: observation_space(self.worlds) for name in self.possible_agents}

    def observation_space(self, agent: str) -> Space[Any]:
        """Space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Space[Any]:
        """Space of an agent's actions."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, NDArray[Any]], dict[str, dict[str, Any]]]:
        """Begin an episode, as `DrivingEnv.reset`."""
        if seed is not None:
            self.worlds.seed(seed)
        self.worlds.reset(0, options)
        self.agents = list(self.possible_agents)
        return self._observations(self.agents), self._infos(self.agents)

    def step(
        self, actions: Mapping[str, NDArray[np.float32]]
    ) -> tuple[dict[str, NDArray[Any]], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Take a step with an action of each agent in `agents`.

        Raises
        ------
        UsageError
            If an action is wrong, missing, or of nobody; nothing has changed then.
        """
        acting, table = self.agents, np.zeros((*self.worlds.shape, self.worlds.action_size), np.float32)
        unknown = [name for name in actions if name not in self.possible_agents]
        missing = [name for name in acting if name not in actions]
        if unknown or missing:
            what = f"no agent '{unknown[0]}'" if unknown else f"no action of agent '{missing[0]}'"
            raise UsageError(f"{what}; those who act are {', '.join(acting) or 'none: call reset'}")
        for name in acting:
            row = np.asarray(actions[name])
            if row.shape != table.shape[-1:]:
                raise UsageError(f"action of agent '{name}' has the shape {row.shape}, expected {table.shape[-1:]}")
            table[0, self.possible_agents.index(name)] = row
        rewards, terminated, truncated = (values[0] for values in self.worlds.step(table))
        rows = {name: self.possible_agents.index(name) for name in acting}
        self.agents = [name for name in acting if self.worlds.active[0, rows[name]]]
        return (
            self._observations(acting),
            {name: float(rewards[row]) for name, row in rows.items()},
            {name: bool(terminated[row]) for name, row in rows.items()},
            {name: bool(truncated[row]) for name, row in rows.items()},
            self._infos(acting),
        )

    def state(self) -> NDArray[Any]:
        """Observations of all agents, one after another."""
        return np.concatenate([np.ravel(one) for one in self.worlds.observations()[0]])

    def close(self) -> None:
        """End the threads."""
        self.worlds.close()

    def _observations(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        found = self.worlds.observations()[0]
        return {name: np.array(found[self.possible_agents.index(name)]) for name in names}

    def _infos(self, names: Sequence[str]) -> dict[str, dict[str, Any]]:
        return {name: facts(self.worlds, 0, self.possible_agents.index(name)) for name in names}
