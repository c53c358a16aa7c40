"""Compilation of the kernels of environments, by a step of a small one."""

from __future__ import annotations

import numpy as np

from cbsim.gym.environment import DrivingEnv
from cbsim.gym.functions import NearField

__all__ = ["every_environment"]


def every_environment() -> None:
    """Take a step of an environment whose observations have all parts."""
    env = DrivingEnv("gym:loop", observation=NearField(points=1, objects=1, pieces=1))
    env.reset(seed=1)
    env.step(np.zeros(2, np.float32))
    env.close()
