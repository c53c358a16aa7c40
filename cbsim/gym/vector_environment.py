"""`DrivingVectorEnv`: many Worlds with one or more agents each, stepped in one kernel call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from cbsim.errors import UsageError
from cbsim.gym.agents import Agents
from cbsim.gym.environment import TOLD
from cbsim.gym.making import action_space, make_agents, observation_space

__all__ = ["DrivingVectorEnv"]


class DrivingVectorEnv(gymnasium.vector.VectorEnv[NDArray[Any], NDArray[np.float32], NDArray[Any]]):
    """Environments that are agents of Worlds: environment k is agent k mod n of World k div n, with n agents each.

    A World begins anew in the step in which the last of its agents is done (`AutoresetMode.SAME_STEP`): that step
    returns the first observations of the next episode, and ``info["final_obs"]`` the last ones of this. Agents that
    are done before brake and stand; they are ``False`` in ``info["active"]``, get no reward, and stay terminated or
    truncated, so that learners leave them out. Each World gets the bits of a single environment, in any number of
    threads.

    Parameters
    ----------
    num_envs : int
        Worlds times agents.
    scenario : str, Path or World, optional
        As `cbsim.load` takes it.
    agents : sequence of str or int, optional
        Objects that take commands, or how many of them, in the order of their rows; the first by default.
    max_episode_steps : int, optional
        As `max_steps`.
    threads : int, optional
        By default as many as there are CPUs.
    copy : bool
        False returns observations in the same array in every step, written anew: what is kept has to be copied.
    **settings
        As `DrivingEnv` has them.

    Attributes
    ----------
    agents : Agents
        What user functions get.
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012 - as Gymnasium has it

    def __init__(
        self,
        num_envs: int = 1,
        scenario: Any = None,
        agents: Sequence[str] | int | None = None,
        *,
        max_episode_steps: int | None = None,
        threads: int | None = None,
        copy: bool = True,
        **settings: Any,
    ) -> None:
        if settings.pop("render_mode", None) is not None:
            raise UsageError("environments have no render_mode: see docs/gym.md")
        count = 1 if agents is None else agents if isinstance(agents, int) else len(agents)
        if count < 1 or num_envs < 1 or num_envs % count:
            raise UsageError(f"num_envs is {num_envs}, expected a multiple of the {count} agents of each World")
        names = None if agents is None or isinstance(agents, int) else list(agents)
        first = count if names is None else False
        settings.setdefault("max_steps", max_episode_steps)
        self.agents: Agents = make_agents(scenario, num_envs // count, names, first=first, threads=threads, **settings)
        self.num_envs, self._copy = num_envs, copy
        self.agents.reset(range(num_envs // count))
        self.single_action_space = action_space(self.agents)
        self.single_observation_space = observation_space(self.agents)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._ended = np.zeros(self.agents.shape, bool), np.zeros(self.agents.shape, bool)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Begin an episode of every World.

        Parameters
        ----------
        seed : int, optional
            World k gets the seeds that it has in whatever number of Worlds.
        options : mapping, optional
            ``map``, ``traffic`` and ``sensors``: seeds of these episodes.
        """
        if isinstance(seed, list):
            raise UsageError("Worlds are seeded together: give one seed, from which each gets its own")
        super().reset(seed=seed)
        if seed is not None:
            self.agents.seed(seed)
        self.agents.reset(range(self.agents.shape[0]), options)
        for ended in self._ended:
            ended[:] = False
        return self._flat(self.agents.observations()), {"active": np.ones(self.num_envs, bool)}

    def step(
        self, actions: NDArray[np.float32]
    ) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Take a step of every World; see the class.

        Returns
        -------
        observations, rewards, terminated, truncated, info
            `info` has ``active`` (who acted in this step), ``collided``, ``off_lane``, ``ran_stop``, ``made_stop``
            and ``arrived``, and where a World begins anew ``final_obs`` and ``_final_obs``, which tells whose it is.
        """
        agents = self.agents
        acted = agents.active.copy()
        rewards, terminated, truncated = agents.step(actions)
        was_terminated, was_truncated = self._ended
        was_terminated |= terminated & acted
        was_truncated |= truncated
        terminated, truncated = was_terminated.copy(), was_truncated.copy()
        info: dict[str, Any] = {"active": acted.reshape(-1)}
        for name in TOLD:
            info[name] = (getattr(agents.measures, name) > 0.0).reshape(-1)
        observations = agents.observations()
        over = np.flatnonzero(~agents.active.any(axis=1))
        if len(over):
            info["final_obs"] = np.array(self._rows(observations))
            info["_final_obs"] = np.repeat(~agents.active.any(axis=1), agents.shape[1])
            agents.reset(over.tolist())
            was_terminated[over], was_truncated[over] = False, False
            observations = agents.observations()
        return self._flat(observations), rewards.reshape(-1), terminated.reshape(-1), truncated.reshape(-1), info

    def close_extras(self, **_: Any) -> None:
        """End the threads."""
        self.agents.close()

    def _flat(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Turn observations of Worlds and agents into those of environments."""
        rows = self._rows(observations)
        return np.array(rows) if self._copy else rows

    def _rows(self, observations: NDArray[Any]) -> NDArray[Any]:
        return observations.reshape(self.num_envs, *observations.shape[2:])
