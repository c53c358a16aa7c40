"""Environments of Gymnasium and PettingZoo (extra ``gym``). Importing this registers ``cbsim/FourWayStop-v0`` and more.

>>> import gymnasium
>>> import cbsim.gym
>>> env = gymnasium.make("cbsim/FourWayStop-v0")
>>> observation, info = env.reset(seed=1)
>>> observation.shape
(64,)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from cbsim.errors import UsageError

if TYPE_CHECKING:
    from cbsim.gym.agents import Agents as Agents
    from cbsim.gym.environment import DrivingEnv as DrivingEnv
    from cbsim.gym.functions import NearField as NearField
    from cbsim.gym.functions import default_done as default_done
    from cbsim.gym.functions import default_reward as default_reward
    from cbsim.gym.measures import Measures as Measures
    from cbsim.gym.parallel_environment import DrivingParallelEnv as DrivingParallelEnv
    from cbsim.gym.vector_environment import DrivingVectorEnv as DrivingVectorEnv

_FACE = {
    "Agents": "cbsim.gym.agents",
    "DrivingEnv": "cbsim.gym.environment",
    "DrivingParallelEnv": "cbsim.gym.parallel_environment",
    "DrivingVectorEnv": "cbsim.gym.vector_environment",
    "Measures": "cbsim.gym.measures",
    "NearField": "cbsim.gym.functions",
    "default_done": "cbsim.gym.functions",
    "default_reward": "cbsim.gym.functions",
}

__all__ = [*_FACE]  # noqa: PLE0604

try:
    from cbsim.gym.registration import register_environments
except ModuleNotFoundError as reason:
    if reason.name != "gymnasium":
        raise
    raise UsageError("environments need Gymnasium: pip install 'cbsim[gym]'") from None
register_environments()


def __getattr__(name: str) -> Any:
    if name not in _FACE:
        raise AttributeError(f"module 'cbsim.gym' has no attribute '{name}'")
    return getattr(importlib.import_module(_FACE[name]), name)
