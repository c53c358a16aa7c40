"""Steps of one model by itself: `follow` advances a `ModelInstance`; each of its own steps starts cold."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cbsim.coupling.diagnostics import Remark
from cbsim.dynamics.failure import step_error
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.workspaces import SolverWorkspaces
from cbsim.errors import StepError
from cbsim.spec.mechanism.behaviour import Behaviour, Motion
from cbsim.world.model_instances import Manners, ModelInstance
from cbsim.world.tables import Floats

__all__ = ["follow", "slow_down", "take_step"]

NO_PATH = np.zeros((0, 0, 13))

Way = tuple[Floats, Floats]
"""States (n, bodies, 13) and what is kept in mind (n, m) after each step of the World."""


def follow(
    instance: ModelInstance, state: Floats, mind: Floats, step: int, steps: int, remarks: list[Remark] | None = None
) -> Way:
    """Advance a model by steps of the World.

    Parameters
    ----------
    instance : ModelInstance
    state, mind : ndarray, shape (bodies, 13), (m,)
        In the World; left as they are.
    step : int
        Number of the World's step that they are of.
    steps : int
    remarks : list of Remark, optional
        Takes one for each step of the model that the solver could not make to its usual tolerances.

    Returns
    -------
    states : ndarray, shape (n, bodies, 13)
        After each step; fewer than asked for if the solver fails on the way.
    minds : ndarray, shape (n, m)

    Raises
    ------
    StepError
        If it fails in the first of them.
    """
    told: list[Remark] = [] if remarks is None else remarks
    if instance.frame.plain:
        return _follow(instance, state, mind, step, steps, told)
    way = np.empty((steps, *state.shape)), np.empty((steps, len(mind)))
    for k in range(steps):  # through the World in each, so that batches of any size have the same bits
        try:
            states, minds = _follow(instance, instance.frame.inwards(state), mind, step + k, 1, told)
        except StepError:
            if k == 0:
                raise
            return _first(way, k)
        way[0][k], way[1][k] = state, mind = instance.frame.outwards(states[0]), minds[0]
    return way


def _follow(instance: ModelInstance, state: Floats, mind: Floats, step: int, steps: int, told: list[Remark]) -> Way:
    """Advance in its own frame."""
    if instance.motion is not None:
        return _move(instance, instance.motion, state.copy(), mind.copy(), step, steps)
    if instance.behaviour is not None:
        return _act(instance, instance.behaviour, state.copy(), mind.copy(), step, steps, told)
    return _go(instance, state.copy(), step, steps, told)


def _go(instance: ModelInstance, state: Floats, step: int, steps: int, told: list[Remark]) -> Way:
    """Let the core go through all steps in one call."""
    workspaces = instance.take_workspaces()
    path, report = np.empty((steps * instance.steps + 1, *state.shape)), np.zeros(c.REPORT)
    inputs, external = _nothing(instance)
    done, total = 0, len(path) - 1
    while done < total:
        workspaces.advance(state, inputs, external, *instance.manners[0], total - done, path[done:], report, own=False)
        if report[c.STATUS] == c.SOLVED:
            done = total
            break
        done += int(report[c.STEP_REACHED])
        if not _take_hard_step(workspaces, instance.manners, state, inputs, external, report):
            break
        told.append(Remark("loose", instance.time(step, done), (instance.name,), ()))
        done += 1
        path[done] = state
    if done < instance.steps:
        when = instance.time(step, done)
        raise step_error(
            instance.spec, instance.compiled, path[done], workspaces.others, report, when, workspaces.other_colliders
        )
    instance.give_workspaces(workspaces)
    states = np.asarray(path[instance.steps : done + 1 : instance.steps])
    return states, np.empty((len(states), 0))


def _act(
    instance: ModelInstance,
    behaviour: Behaviour,
    state: Floats,
    mind: Floats,
    step: int,
    steps: int,
    told: list[Remark],
) -> Way:
    """Ask the behaviour before each step of the core."""
    workspaces = instance.take_workspaces()
    way = _way(instance, steps)
    (inputs, external), report = _nothing(instance), np.zeros(c.REPORT)
    for n in range(steps * instance.steps):
        inputs[:], external[:] = 0.0, 0.0
        behaviour.act(instance.time(step, n), state.copy(), mind, inputs[0, : instance.compiled.inputs], external)
        manner = take_step(workspaces, instance.manners, state, inputs, external, report)
        if manner > 1:
            told.append(Remark("loose", instance.time(step, n), (instance.name,), ()))
        if not manner:
            if n < instance.steps:
                when = instance.time(step, n)
                raise step_error(
                    instance.spec, instance.compiled, state, workspaces.others, report, when, workspaces.other_colliders
                )
            return _first(way, n // instance.steps)
        if instance.most_turn < math.inf:
            slow_down(state, instance.most_turn / instance.spec.timestep)
        _note(instance, way, n, state, mind)
    instance.give_workspaces(workspaces)
    return way


def _move(instance: ModelInstance, motion: Motion, state: Floats, mind: Floats, step: int, steps: int) -> Way:
    """Let the motion say where bodies are."""
    way = _way(instance, steps)
    for n in range(steps * instance.steps):
        before, when = state.copy(), instance.time(step, n)
        motion.move(when, instance.spec.timestep, state, mind)
        if not np.isfinite(state).all():
            if n < instance.steps:
                raise StepError(f"the motion of '{instance.name}' left the numbers", time=when, snapshot=before)
            return _first(way, n // instance.steps)
        _note(instance, way, n, state, mind)
    return way


def _nothing(instance: ModelInstance) -> tuple[Floats, Floats]:
    """Make room for inputs and forces, of zeros."""
    return np.zeros((1, max(1, instance.compiled.inputs))), np.zeros((len(instance.rows), 6))


def _way(instance: ModelInstance, steps: int) -> Way:
    return np.empty((steps, len(instance.rows), 13)), np.empty((steps, len(instance.memory)))


def _note(instance: ModelInstance, way: Way, n: int, state: Floats, mind: Floats) -> None:
    """Keep what a step of the model came to, where one of the World ends with it."""
    if (n + 1) % instance.steps == 0:
        way[0][n // instance.steps], way[1][n // instance.steps] = state, mind


def _first(way: Way, count: int) -> Way:
    return way[0][:count], way[1][:count]


def take_step(
    workspaces: SolverWorkspaces, manners: Manners, state: Floats, inputs: Floats, external: Floats, report: Floats
) -> int:
    """Take one step in place, in the first manner in which it can be made: its number from 1 on, 0 if there is none."""
    workspaces.advance(state, inputs, external, *manners[0], 1, NO_PATH, report, own=False)
    if report[c.STATUS] == c.SOLVED:
        return 1
    return _take_hard_step(workspaces, manners, state, inputs, external, report)


def _take_hard_step(
    workspaces: SolverWorkspaces, manners: Manners, state: Floats, inputs: Floats, external: Floats, report: Floats
) -> int:
    """Take one step in any manner but the first; as `take_step`."""
    if report[c.STATUS] == c.TOO_FAST:
        return 0
    for number, manner in enumerate(manners[1:], 2):
        workspaces.advance(state, inputs, external, *manner, 1, NO_PATH, report, own=False)
        if report[c.STATUS] == c.SOLVED:
            return number
    return 0


def slow_down(state: Floats, most: float) -> None:
    """Let no body (bodies, 13) spin faster than ``most`` [rad/s]."""
    spin: NDArray[np.float64] = state[:, 10:13]
    squares = (spin * spin).sum(axis=1)
    if squares.max() > most * most:
        spin *= np.minimum(1.0, most / np.sqrt(np.maximum(squares, most * most)))[:, None]
