"""Steps of one model by itself: `follow` advances a `ModelInstance`; each of its own steps starts cold."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats
from cbsim.coupling.diagnostics import Diagnostic
from cbsim.dynamics.failure import step_error
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.workspaces import SolverWorkspaces
from cbsim.errors import StepError
from cbsim.spec.mechanism.behaviour import Behaviour, Motion
from cbsim.world.model_instances import ModelInstance, SolverFallbacks

__all__ = ["clamp_spin", "follow", "take_step"]

NO_PATH = np.zeros((0, 0, 13))

ModelTrajectory = tuple[Floats, Floats]
"""States (n, bodies, 13) and controller states (n, m) after each step of the World."""


def follow(
    instance: ModelInstance,
    state: Floats,
    controller_state: Floats,
    step: int,
    steps: int,
    diagnostics: list[Diagnostic] | None = None,
) -> ModelTrajectory:
    """Advance a model by steps of the World.

    Parameters
    ----------
    instance : ModelInstance
    state, controller_state : ndarray, shape (bodies, 13), (m,)
        In the World; not written.
    step : int
        Number of the World's step at which they hold.
    steps : int
    diagnostics : list of Diagnostic, optional
        Receives one per model step that was solved with fallback settings.

    Returns
    -------
    states : ndarray, shape (n, bodies, 13)
        After each step; fewer than requested if the solver fails on the way.
    controller_states : ndarray, shape (n, m)

    Raises
    ------
    StepError
        If the first of them fails.
    """
    sink: list[Diagnostic] = [] if diagnostics is None else diagnostics
    if instance.frame.plain:
        return _follow(instance, state, controller_state, step, steps, sink)
    trajectory = np.empty((steps, *state.shape)), np.empty((steps, len(controller_state)))
    for k in range(steps):  # through the World in each, so that batches of any size have the same bits
        try:
            states, controller_states = _follow(
                instance, instance.frame.to_model(state), controller_state, step + k, 1, sink
            )
        except StepError:
            if k == 0:
                raise
            return _truncated(trajectory, k)
        trajectory[0][k], trajectory[1][k] = state, controller_state = (
            instance.frame.to_world(states[0]),
            controller_states[0],
        )
    return trajectory


def _follow(
    instance: ModelInstance, state: Floats, controller_state: Floats, step: int, steps: int, sink: list[Diagnostic]
) -> ModelTrajectory:
    """Advance a model in its own frame."""
    if instance.motion is not None:
        return _run_motion(instance, instance.motion, state.copy(), controller_state.copy(), step, steps)
    if instance.behaviour is not None:
        return _run_behaviour(instance, instance.behaviour, state.copy(), controller_state.copy(), step, steps, sink)
    return _run_core(instance, state.copy(), step, steps, sink)


def _run_core(instance: ModelInstance, state: Floats, step: int, steps: int, sink: list[Diagnostic]) -> ModelTrajectory:
    """Advance a model without a behaviour: all steps in one call of the core."""
    workspace = instance.take_workspace()
    path, report = np.empty((steps * instance.steps + 1, *state.shape)), np.zeros(c.REPORT)
    inputs, external = _zero_inputs(instance)
    done, total = 0, len(path) - 1
    while done < total:
        workspace.advance(
            state, inputs, external, *instance.solver_fallbacks[0], total - done, path[done:], report, own=False
        )
        if report[c.STATUS] == c.SOLVED:
            done = total
            break
        done += int(report[c.STEP_REACHED])
        if not _take_fallback_step(workspace, instance.solver_fallbacks, state, inputs, external, report):
            break
        sink.append(Diagnostic("relaxed", instance.time(step, done), (instance.name,), ()))
        done += 1
        path[done] = state
    if done < instance.steps:
        when = instance.time(step, done)
        raise step_error(
            instance.spec, instance.compiled, path[done], workspace.others, report, when, workspace.other_colliders
        )
    instance.return_workspace(workspace)
    states = np.asarray(path[instance.steps : done + 1 : instance.steps])
    return states, np.empty((len(states), 0))


def _run_behaviour(
    instance: ModelInstance,
    behaviour: Behaviour,
    state: Floats,
    controller_state: Floats,
    step: int,
    steps: int,
    sink: list[Diagnostic],
) -> ModelTrajectory:
    """Advance a model with a behaviour, which is queried before each step of the core."""
    workspace = instance.take_workspace()
    trajectory = _empty_trajectory(instance, steps)
    (inputs, external), report = _zero_inputs(instance), np.zeros(c.REPORT)
    for n in range(steps * instance.steps):
        inputs[:], external[:] = 0.0, 0.0
        behaviour.act(
            instance.time(step, n), state.copy(), controller_state, inputs[0, : instance.compiled.inputs], external
        )
        fallback = take_step(workspace, instance.solver_fallbacks, state, inputs, external, report)
        if fallback > 1:
            sink.append(Diagnostic("relaxed", instance.time(step, n), (instance.name,), ()))
        if not fallback:
            if n < instance.steps:
                when = instance.time(step, n)
                raise step_error(
                    instance.spec, instance.compiled, state, workspace.others, report, when, workspace.other_colliders
                )
            return _truncated(trajectory, n // instance.steps)
        if instance.most_turn < math.inf:
            clamp_spin(state, instance.most_turn / instance.spec.timestep)
        _store(instance, trajectory, n, state, controller_state)
    instance.return_workspace(workspace)
    return trajectory


def _run_motion(
    instance: ModelInstance, motion: Motion, state: Floats, controller_state: Floats, step: int, steps: int
) -> ModelTrajectory:
    """Advance a kinematic model by its motion."""
    trajectory = _empty_trajectory(instance, steps)
    for n in range(steps * instance.steps):
        before, when = state.copy(), instance.time(step, n)
        motion.move(when, instance.spec.timestep, state, controller_state)
        if not np.isfinite(state).all():
            if n < instance.steps:
                raise StepError(f"the motion of '{instance.name}' is not finite", time=when, snapshot=before)
            return _truncated(trajectory, n // instance.steps)
        _store(instance, trajectory, n, state, controller_state)
    return trajectory


def _zero_inputs(instance: ModelInstance) -> tuple[Floats, Floats]:
    """Allocate inputs and external forces, all zero."""
    return np.zeros((1, max(1, instance.compiled.inputs))), np.zeros((len(instance.rows), 6))


def _empty_trajectory(instance: ModelInstance, steps: int) -> ModelTrajectory:
    return np.empty((steps, len(instance.rows), 13)), np.empty((steps, len(instance.memory)))


def _store(
    instance: ModelInstance, trajectory: ModelTrajectory, n: int, state: Floats, controller_state: Floats
) -> None:
    """Store the state where a step of the World ends with a step of the model."""
    if (n + 1) % instance.steps == 0:
        trajectory[0][n // instance.steps], trajectory[1][n // instance.steps] = state, controller_state


def _truncated(trajectory: ModelTrajectory, count: int) -> ModelTrajectory:
    return trajectory[0][:count], trajectory[1][:count]


def take_step(
    workspace: SolverWorkspaces,
    solver_fallbacks: SolverFallbacks,
    state: Floats,
    inputs: Floats,
    external: Floats,
    report: Floats,
) -> int:
    """Take one step in place; return the number from 1 of the settings that solved it, 0 if none did."""
    workspace.advance(state, inputs, external, *solver_fallbacks[0], 1, NO_PATH, report, own=False)
    if report[c.STATUS] == c.SOLVED:
        return 1
    return _take_fallback_step(workspace, solver_fallbacks, state, inputs, external, report)


def _take_fallback_step(
    workspace: SolverWorkspaces,
    solver_fallbacks: SolverFallbacks,
    state: Floats,
    inputs: Floats,
    external: Floats,
    report: Floats,
) -> int:
    """Take one step with any settings but the first; as `take_step`."""
    if report[c.STATUS] == c.TOO_FAST:
        return 0
    for number, fallback in enumerate(solver_fallbacks[1:], 2):
        workspace.advance(state, inputs, external, *fallback, 1, NO_PATH, report, own=False)
        if report[c.STATUS] == c.SOLVED:
            return number
    return 0


def clamp_spin(state: Floats, most: float) -> None:
    """Limit the angular speed of bodies (bodies, 13) to ``most`` [rad/s]."""
    spin: NDArray[np.float64] = state[:, 10:13]
    squares = (spin * spin).sum(axis=1)
    if squares.max() > most * most:
        spin *= np.minimum(1.0, most / np.sqrt(np.maximum(squares, most * most)))[:, None]
