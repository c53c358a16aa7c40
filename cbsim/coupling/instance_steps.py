"""Steps of a model by itself: `follow` takes an `Island` through steps of the World; each of its own starts cold."""

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
from cbsim.world.islands import Island, Manners
from cbsim.world.tables import Floats

__all__ = ["follow", "slow_down", "take_step"]

NO_PATH = np.zeros((0, 0, 13))

Way = tuple[Floats, Floats]
"""States (n, bodies, 13) and what is kept in mind (n, m) after each step of the World."""


def follow(
    island: Island, state: Floats, mind: Floats, step: int, steps: int, remarks: list[Remark] | None = None
) -> Way:
    """Advance a model by steps of the World.

    Parameters
    ----------
    island : Island
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
    if island.frame.plain:
        return _follow(island, state, mind, step, steps, told)
    way = np.empty((steps, *state.shape)), np.empty((steps, len(mind)))
    for k in range(steps):  # through the World in each, so that batches of any size have the same bits
        try:
            states, minds = _follow(island, island.frame.inwards(state), mind, step + k, 1, told)
        except StepError:
            if k == 0:
                raise
            return _first(way, k)
        way[0][k], way[1][k] = state, mind = island.frame.outwards(states[0]), minds[0]
    return way


def _follow(island: Island, state: Floats, mind: Floats, step: int, steps: int, told: list[Remark]) -> Way:
    """Advance in its own frame."""
    if island.motion is not None:
        return _move(island, island.motion, state.copy(), mind.copy(), step, steps)
    if island.behaviour is not None:
        return _act(island, island.behaviour, state.copy(), mind.copy(), step, steps, told)
    return _go(island, state.copy(), step, steps, told)


def _go(island: Island, state: Floats, step: int, steps: int, told: list[Remark]) -> Way:
    """Let the core go through all steps in one call."""
    workspaces = island.take_workspaces()
    path, report = np.empty((steps * island.steps + 1, *state.shape)), np.zeros(c.REPORT)
    inputs, external = _nothing(island)
    done, total = 0, len(path) - 1
    while done < total:
        workspaces.advance(state, inputs, external, *island.manners[0], total - done, path[done:], report, own=False)
        if report[c.STATUS] == c.SOLVED:
            done = total
            break
        done += int(report[c.STEP_REACHED])
        if not _take_hard_step(workspaces, island.manners, state, inputs, external, report):
            break
        told.append(Remark("loose", island.time(step, done), (island.name,), ()))
        done += 1
        path[done] = state
    if done < island.steps:
        when = island.time(step, done)
        raise step_error(
            island.spec, island.compiled, path[done], workspaces.others, report, when, workspaces.other_colliders
        )
    island.give_workspaces(workspaces)
    states = np.asarray(path[island.steps : done + 1 : island.steps])
    return states, np.empty((len(states), 0))


def _act(
    island: Island, behaviour: Behaviour, state: Floats, mind: Floats, step: int, steps: int, told: list[Remark]
) -> Way:
    """Ask the behaviour before each step of the core."""
    workspaces = island.take_workspaces()
    way = _way(island, steps)
    (inputs, external), report = _nothing(island), np.zeros(c.REPORT)
    for n in range(steps * island.steps):
        inputs[:], external[:] = 0.0, 0.0
        behaviour.act(island.time(step, n), state.copy(), mind, inputs[0, : island.compiled.inputs], external)
        manner = take_step(workspaces, island.manners, state, inputs, external, report)
        if manner > 1:
            told.append(Remark("loose", island.time(step, n), (island.name,), ()))
        if not manner:
            if n < island.steps:
                when = island.time(step, n)
                raise step_error(
                    island.spec, island.compiled, state, workspaces.others, report, when, workspaces.other_colliders
                )
            return _first(way, n // island.steps)
        if island.most_turn < math.inf:
            slow_down(state, island.most_turn / island.spec.timestep)
        _note(island, way, n, state, mind)
    island.give_workspaces(workspaces)
    return way


def _move(island: Island, motion: Motion, state: Floats, mind: Floats, step: int, steps: int) -> Way:
    """Let the motion say where bodies are."""
    way = _way(island, steps)
    for n in range(steps * island.steps):
        before, when = state.copy(), island.time(step, n)
        motion.move(when, island.spec.timestep, state, mind)
        if not np.isfinite(state).all():
            if n < island.steps:
                raise StepError(f"the motion of '{island.name}' left the numbers", time=when, snapshot=before)
            return _first(way, n // island.steps)
        _note(island, way, n, state, mind)
    return way


def _nothing(island: Island) -> tuple[Floats, Floats]:
    """Make room for inputs and forces, of zeros."""
    return np.zeros((1, max(1, island.compiled.inputs))), np.zeros((len(island.rows), 6))


def _way(island: Island, steps: int) -> Way:
    return np.empty((steps, len(island.rows), 13)), np.empty((steps, len(island.memory)))


def _note(island: Island, way: Way, n: int, state: Floats, mind: Floats) -> None:
    """Keep what a step of the model came to, where one of the World ends with it."""
    if (n + 1) % island.steps == 0:
        way[0][n // island.steps], way[1][n // island.steps] = state, mind


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
