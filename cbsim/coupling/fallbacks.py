"""Fallbacks of a contact island's step, in the order in which they are tried.

The first row of `FALLBACKS` is the usual step. Each row is tried for the whole step of the World, and only if no row
before it has a solution; what it does is counted in the diagnostics of the run (docs/theory/coupling.md §7).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats
from cbsim.coupling.candidates import Group
from cbsim.coupling.coupled_step import CoupledStep, GroupStates
from cbsim.coupling.solve_island import solve_island
from cbsim.errors import StepError
from cbsim.geometry.linear import times

__all__ = ["FALLBACKS", "Fallback"]


class Fallback(NamedTuple):
    """One row of the table.

    Attributes
    ----------
    what : str or None
        Kind of the `Diagnostic` that counts it; None for the usual step.
    attempt : callable
        Advances a group by a step of the World; None if there is no solution.
    """

    what: str | None
    attempt: Callable[[CoupledStep, Group], GroupStates | None]


def _solve(
    step: CoupledStep, group: Group, *, substeps: int = 1, settings: int = 0, without_kinematic: bool = False
) -> GroupStates | None:
    """Solve an island, in finer steps or to the looser tolerances of `ContactIsland.solver_fallbacks`.

    Kinematic actors that a model penetrates too deeply have no contact with it; static obstacles always have.
    """
    plan = step.plan(group)
    found = step.overlaps(plan)
    plan = plan._replace(excluded=step.deep_pairs(group))
    if without_kinematic:
        if not step.has_kinematic(group):
            return None
        plan = step.without_kinematic(plan)
        found = step.overlaps(plan)
    island, boundary = step.island(plan._replace(substeps=substeps)), step.boundary(plan)
    try:
        solution = solve_island(island, boundary, step.number, step.time, found, settings)
    except StepError:
        return None
    return step.states_after(island, solution)


def _lock_together(step: CoupledStep, group: Group) -> GroupStates | None:
    """Move a group as one rigid body with its momentum, if nothing is near that it might run into.

    Raises
    ------
    StepError
        That of a single model which fails with nothing moving near it.
    """
    driven = step.driven_actors(group)
    actors = step.before[driven]
    if len(group.instances) < 2 and not step.has_kinematic(group) and not actors[:, 3:6].any():
        for k in group.instances:
            step.advance_alone(k)
    walls = any(not step.candidates.obstacles[t].is_ground for t in group.obstacles)
    if walls or step.has_kinematic(group) or actors[:, 7:9].any():
        return None
    models = {k: step.old[k][0] for k in group.instances}
    masses = {k: step.world.instances[k].masses for k in group.instances}
    weights = np.array([step.candidates.actors[g].mass for g in driven])
    velocity = _common_velocity(models, masses, actors, weights)
    return step.states_drifted(group, velocity) if velocity.any() else None


def _freeze(step: CoupledStep, group: Group) -> GroupStates:
    """Leave a group where it is, at rest."""
    return step.states_drifted(group, np.zeros(3))


def _common_velocity(
    models: dict[int, Floats], masses: dict[int, Floats], actor_rows: Floats, weights: Floats
) -> Floats:
    """Horizontal velocity (3,) [m/s] at which models and vehicles have their total momentum."""
    parts = [times(masses[k], state[:, 3:5]) for k, state in models.items()]
    total = math.fsum(float(mass.sum()) for mass in masses.values()) + float(weights.sum())
    x, y = (np.sum(parts, axis=0) + times(weights, actor_rows[:, 3:5])) / total
    return np.array([x, y, 0.0])


FALLBACKS = (
    Fallback(None, _solve),
    Fallback("refined", partial(_solve, substeps=4)),
    Fallback("refined", partial(_solve, substeps=16)),
    Fallback("relaxed", partial(_solve, substeps=4, settings=1)),
    Fallback("relaxed", partial(_solve, substeps=16, settings=2)),
    Fallback("relaxed", partial(_solve, substeps=16, settings=3)),
    Fallback("interpenetrating", partial(_solve, without_kinematic=True)),
    Fallback("interpenetrating", partial(_solve, without_kinematic=True, substeps=4)),
    Fallback("interpenetrating", partial(_solve, without_kinematic=True, substeps=16)),
    Fallback("interpenetrating", partial(_solve, without_kinematic=True, substeps=4, settings=1)),
    Fallback("interpenetrating", partial(_solve, without_kinematic=True, substeps=16, settings=3)),
    Fallback("locked_together", _lock_together),
    Fallback("frozen", _freeze),
)
