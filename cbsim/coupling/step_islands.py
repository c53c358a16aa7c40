"""Coupled step of a World: advances all contact islands, each by the first fallback that has a solution.

`cbsim.coupling.fallbacks` is the table of what is tried. The Snapshot is written once, when all groups have a result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats, Ints
from cbsim.coupling.candidates import Group, candidates_of
from cbsim.coupling.contact_recorder import ContactEvent
from cbsim.coupling.coupled_step import CoupledStep
from cbsim.coupling.diagnostics import Diagnostic
from cbsim.coupling.fallbacks import FALLBACKS
from cbsim.coupling.finite import require_finite
from cbsim.errors import StepError
from cbsim.world.snapshot import Snapshot
from cbsim.world.world import World

__all__ = ["IslandResult", "step_islands"]

Traffic = Callable[[World, Snapshot, int, Ints], tuple[NDArray[np.uint64], Floats, Floats]]
ModelTrajectories = tuple[Floats, Floats]
"""States (n, bodies of models, 13) and controller states (n, m) after each step."""


class IslandResult(NamedTuple):
    """Result of a step of a group.

    Attributes
    ----------
    group : Group
    events : list of ContactEvent
    interpenetrations : list of (int, int)
        Row of a body without contact to a model that it may penetrate, and the number of the model.
    """

    group: Group
    events: list[ContactEvent]
    interpenetrations: list[tuple[int, int]]


def step_islands(
    world: World, snapshot: Snapshot, rows: Ints, traffic: Traffic, diagnostics: list[Diagnostic] | None = None
) -> tuple[Floats, ModelTrajectories, list[IslandResult]] | None:
    """Take one step of a World in which something is near a model; return None, without effect, if nothing is.

    Parameters
    ----------
    world, snapshot, rows, traffic
        As `cbsim.simulation.model_steps.advance_models`. Rows of models are not written.
    diagnostics : list of Diagnostic, optional
        Receives those of the step.

    Returns
    -------
    contacts : ndarray, shape (n, 12)
        Of everything but models.
    trajectories : (ndarray, ndarray)
        Of all models, one step.
    results : list of IslandResult

    Raises
    ------
    StepError
        If a model fails even by itself; the Snapshot is then unchanged.
    """
    candidates = candidates_of(world, snapshot)
    groups = candidates.groups(world, snapshot)
    if not groups:
        return None
    kept = [block.copy() for block in snapshot.blocks]
    coupled = CoupledStep(world, snapshot, candidates)
    contacts = traffic(world, snapshot, 1, rows)[2]
    coupled.end_at(snapshot)
    try:
        results = [_advance(coupled, group) for group in groups]
        for k in range(len(world.instances)):
            coupled.advance_alone(k)  # those in no group
        _write_vehicles(world, snapshot, coupled.vehicles)
        require_finite(world, snapshot, coupled.states, coupled.time)
    except StepError:
        for block, old in zip(snapshot.blocks, kept, strict=True):
            block[:] = old
        raise
    if diagnostics is not None:
        diagnostics += coupled.diagnostics
    states, controller_states = (
        [table[k] for k in range(len(world.instances))] for table in (coupled.states, coupled.controller_states)
    )
    return contacts, (np.concatenate(states)[None], np.concatenate(controller_states)[None]), results


def _advance(step: CoupledStep, group: Group) -> IslandResult:
    """Advance a group by the first fallback that has a solution; the last one always has."""
    for k in group.kinematic_models:
        step.advance_alone(k)
    attempts = ((what, attempt(step, group)) for what, attempt in FALLBACKS)
    what, reached = next((what, reached) for what, reached in attempts if reached is not None)
    step.take(reached)
    if what is not None:
        step.report(what, group)
    passes = what in {"interpenetrating", "frozen"}
    return IslandResult(group, reached.events, step.interpenetrations(group, all_kinematic=passes))


def _write_vehicles(world: World, snapshot: Snapshot, states: Mapping[int, Floats]) -> None:
    """Write the states (13,) of vehicles by their rows, and their poses to the history that sensors use."""
    columns, memory = snapshot.columns, world.constants.memory
    for row, state in states.items():
        columns.position[row], columns.velocity[row] = state[:3], state[3:6]
        columns.orientation[row], columns.angular_velocity[row] = state[6:10], state[10:]
        if memory:
            v = int(np.flatnonzero(world.constants.vehicle_body == row)[0])
            past = columns.pose_history[v * memory + snapshot.step % memory]
            past[:3], past[3:7], past[7:10], past[10] = state[:3], state[6:10], state[3:6], state[12]
