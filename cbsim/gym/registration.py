"""Names of environments for `gymnasium.make` and `gymnasium.make_vec`."""

from __future__ import annotations

from typing import Any

from gymnasium.envs.registration import register, registry

__all__ = ["ENVIRONMENTS", "register_environments"]

EPISODE = 1200  # steps: 60 s
ENVIRONMENTS: dict[str, dict[str, Any]] = {
    "cbsim/StopSign-v0": {"scenario": "gym:stop_sign", "start": "random"},
    "cbsim/FourWayStop-v0": {"scenario": "gym:four_way_stop", "start": "random"},
    "cbsim/Roundabout-v0": {"scenario": "gym:roundabout", "start": "random"},
    "cbsim/Loop-v0": {"scenario": "gym:loop", "start": "random"},
    "cbsim/Scenario-v0": {},
}
"""Name → arguments; the last takes any `scenario`."""


def register_environments() -> None:
    """Register those that are not yet."""
    for name, arguments in ENVIRONMENTS.items():
        if name not in registry:
            register(
                name,
                "cbsim.gym.environment:DrivingEnv",
                vector_entry_point="cbsim.gym.vector_environment:DrivingVectorEnv",
                max_episode_steps=EPISODE,
                kwargs=arguments,
            )
