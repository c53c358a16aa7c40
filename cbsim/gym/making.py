"""`make_agents`: the agents of an environment from what its maker is told, and their spaces."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import Space, spaces

from cbsim.errors import UsageError
from cbsim.gym.agents import Agents
from cbsim.gym.functions import NearField
from cbsim.loading.load import load
from cbsim.world.world import World

__all__ = ["action_space", "make_agents", "observation_space"]

LOADED = "rndf", "objects", "mdf", "settings", "step"
OWN_SCENARIOS = Path(__file__).parent / "scenarios"


def make_agents(
    scenario: Any,
    worlds: int,
    names: Sequence[str] | None = None,
    *,
    first: int | bool = False,
    observation: Any = None,
    **settings: Any,
) -> Agents:
    """Make the agents of an environment.

    Parameters
    ----------
    scenario : str, Path, World or None
        As `cbsim.load` takes it.
    worlds : int
    names : sequence of str, optional
        Objects that take commands; by default all.
    first : int
        How many of those objects, in the order of their rows, where no names are given; 0 for all.
    observation : callable, optional
        Called with the `Agents`; returns an array (worlds, agents, …). An attribute `space` of it is the space of one
        agent's; by default, a `Box` without bounds.
    **settings
        Of `Agents` and `cbsim.load`.
    """
    loaded = {name: settings.pop(name) for name in LOADED if name in settings}
    if isinstance(scenario, World):
        if loaded:
            raise UsageError(f"a World is given, so '{next(iter(loaded))}' has no meaning")
        world = scenario
    else:
        world = load(_path_of(scenario), **loaded)
    if names is None and first:
        known = [world.bodies[row].name for row in world.vehicle_rows]
        if len(known) < first:
            raise UsageError(f"'{world.name}' has {len(known)} objects that take commands, fewer than {first}")
        names = known[:first]
    try:
        return Agents(world, worlds, names, observe=observation, **settings)
    except TypeError as reason:
        raise UsageError(f"environment: {reason}") from None


def _path_of(scenario: Any) -> Any:
    """Path of a scenario of this package, by its name after ``gym:``, or what was given."""
    if isinstance(scenario, str) and scenario.startswith("gym:"):
        return OWN_SCENARIOS / f"{scenario.removeprefix('gym:')}.yaml"
    return scenario


def action_space(agents: Agents) -> Space[Any]:
    """Space of an agent's actions."""
    return spaces.Box(-1.0, 1.0, (agents.action_size,), np.float32)


def observation_space(agents: Agents) -> Space[Any]:
    """Space of an agent's observations."""
    observe = agents.observe_agents
    if isinstance(observe, NearField):
        most = observe.bounds()
        return spaces.Box(-most, most, dtype=np.float32)
    space = getattr(observe, "space", None)
    if space is not None:
        return space  # type: ignore[no-any-return]
    made = np.asarray(agents.observations())
    if made.shape[:2] != agents.shape:
        raise UsageError(
            f"observations have the shape {made.shape}, expected {agents.shape} for Worlds and agents first"
        )
    kind = made.dtype if made.dtype.kind == "f" else np.dtype(np.float64)
    return spaces.Box(-np.inf, np.inf, made.shape[2:], kind.type)
