"""Many trajectories of one mechanism at once, each with its own sequence of inputs, on threads."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cbsim.arrays import Floats, Ints
from cbsim.dynamics.failure import step_error
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.loop_closure import check_start
from cbsim.dynamics.options import SolverOptions
from cbsim.dynamics.workspaces import SolverWorkspaces
from cbsim.errors import ModelError, StepError
from cbsim.multibody.batch import share, table, take
from cbsim.multibody.failure import check_state, kernel_rows
from cbsim.spec.mechanism.values import floats, whole

if TYPE_CHECKING:
    from cbsim.multibody.mechanism import Mechanism

__all__ = ["RolloutBatch", "rollout_batch"]


@dataclass(frozen=True, eq=False)
class RolloutBatch:
    """Trajectories of `rollout_batch`.

    Attributes
    ----------
    states : ndarray, shape (rows, n + 1, 13 · bodies)
        All states of every row, the first one included; after a step that failed the last state is repeated.
    steps : ndarray of int, shape (rows,)
        How many steps of each row were solved: n, unless one failed.
    errors : tuple of (StepError or None)
        Why the step after those failed.
    """

    states: Floats
    steps: Ints
    errors: tuple[StepError | None, ...]

    @property
    def is_solved(self) -> NDArray[np.bool_]:
        """Whether all steps of each row (rows,) were solved."""
        return np.array([error is None for error in self.errors], bool)


def rollout_batch(
    mechanism: Mechanism,
    z: ArrayLike,
    n: int,
    inputs: ArrayLike | None = None,
    *,
    workers: int | None = None,
    options: SolverOptions | None = None,
) -> RolloutBatch:
    """Advance many maximal states by n steps, each with inputs of its own, and return their trajectories.

    Every trajectory has the bits that `rollout` gives for it, on any number of threads.

    Parameters
    ----------
    z : array_like, shape (rows, 13 · bodies) or (rows, bodies, 13)
        First states.
    n : int
        How many steps.
    inputs : array_like, shape (inputs,), (1, steps, inputs) or (rows, steps, inputs), optional
        One vector for all rows and steps, a sequence for all rows, or one for each; the last vector of a sequence holds
        to the end.
    workers : int, optional
        Threads; all cores without.

    Returns
    -------
    RolloutBatch
        A row whose step fails ends there and says why; the others continue.

    Raises
    ------
    ModelError
        If a state or an input is none; with the number of the row.

    Examples
    --------
    >>> import numpy as np
    >>> from cbsim.multibody import gallery, get_maximal_state, rollout_batch
    >>> pendulum = gallery.pendulum()
    >>> starts = np.tile(get_maximal_state(pendulum), (3, 1))
    >>> torques = np.random.default_rng(0).normal(size=(3, 100, 1))
    >>> rollout_batch(pendulum, starts, 100, torques).states.shape
    (3, 101, 13)
    """
    bodies, count = len(mechanism.bodies), whole(n, "rollout_batch", "n", least=0)
    first = table(z, 13 * bodies, "states").reshape(-1, bodies, 13)
    rows = _sequences(mechanism, inputs, len(first))
    for i, state in enumerate(first):
        _check(mechanism, state, i)
    paths = np.empty((len(first), count + 1, bodies, 13))
    paths[:, 0] = first
    settings, counts = mechanism.settings(options)
    steps = np.full(len(first), count)
    errors: list[StepError | None] = [None] * len(first)
    workspaces: deque[SolverWorkspaces] = deque()

    def work(part: slice) -> None:
        own, report = take(workspaces, lambda: SolverWorkspaces(mechanism.compiled)), np.zeros(c.REPORT)
        for i in range(*part.indices(len(first))):
            path, now = paths[i], first[i].copy()
            own.advance(now, rows[i], mechanism.none, settings, counts, count, path, report, own=False)
            if count and report[c.STATUS] != c.SOLVED:
                done = steps[i] = int(report[c.STEP_REACHED])
                path[done + 1 :] = path[done]
                errors[i] = step_error(
                    mechanism.spec, mechanism.compiled, path[done], own.others, report, done * mechanism.timestep,
                    own.other_colliders,
                )  # fmt: skip
        workspaces.append(own)

    share(len(first), workers, work)
    return RolloutBatch(paths.reshape(len(first), count + 1, -1), steps, tuple(errors))


def _check(mechanism: Mechanism, state: Floats, row: int) -> None:
    """Refuse a first state as `rollout` does, saying which it is."""
    try:
        check_state(mechanism, state)
        check_start(mechanism.spec, mechanism.compiled, state)
    except ModelError as problem:
        problem.add_note(f"state {row} of those given")
        raise


def _sequences(mechanism: Mechanism, inputs: ArrayLike | None, rows: int) -> Floats:
    """Return inputs (rows, steps, inputs), NaN at most where that lets a motor go."""
    width = mechanism.compiled.inputs
    if inputs is None or not width:
        return np.zeros((rows, 1, max(1, width)))
    given = floats(inputs, "", "inputs")
    expected = f"({width},), (1, steps, {width}) or ({rows}, steps, {width})"
    sequences = given[None, None] if given.ndim == 1 else given
    fits = sequences.ndim == 3 and sequences.shape[2] == width and sequences.shape[1] > 0
    if not fits or len(sequences) not in {1, rows}:
        raise ModelError(f"inputs have the shape {given.shape}, expected {expected}")
    wrong = ~(np.isfinite(sequences) | (np.isnan(sequences) & mechanism.compiled.fed))
    if wrong.any():
        row, step, place = (int(k) for k in np.argwhere(wrong)[0])
        raise ModelError(f"inputs hold {sequences[row, step, place]} in row {row}, step {step}, place {place}")
    return kernel_rows(np.broadcast_to(sequences, (rows, *sequences.shape[1:])))
