"""Batches of states of one mechanism on all cores: threads over kernels that release the GIL, each with a workspace.

Results have the same bits as those of single states, whatever the threads and their order.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from cbsim.arrays import Floats
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.kernels.gradients.steps import linearize
from cbsim.dynamics.kernels.minimal import minimal_to_maximal_each
from cbsim.dynamics.kernels.step import advance
from cbsim.dynamics.model import Slopes, Work, slopes
from cbsim.dynamics.options import SolverOptions
from cbsim.dynamics.workspaces import SolverWorkspaces
from cbsim.errors import ModelError
from cbsim.multibody.failure import explain, kernel_rows
from cbsim.multibody.gradients import dimension, linearize_step, tight_settings
from cbsim.multibody.mechanism import Mechanism
from cbsim.spec.mechanism.values import floats, whole

__all__ = ["maximal_gradients_batch", "minimal_gradients_batch", "share", "step_batch", "table", "take"]

SHARES = 8  # parts per thread, to balance states of different difficulty


@cache
def _pool(workers: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(workers, thread_name_prefix="cbsim-batch")


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def share(count: int, workers: int | None, work: Callable[[slice], None]) -> None:
    """Have parts of that many states worked on."""
    threads = _cores() if workers is None else whole(workers, "a batch", "workers", least=1)
    if threads == 1:
        work(slice(0, count))
        return
    size = max(1, -(-count // (SHARES * threads)))
    for done in [_pool(threads).submit(work, slice(k, k + size)) for k in range(0, count, size)]:
        done.result()


def table(values: ArrayLike, width: int, what: str) -> Floats:
    """Return many vectors (states, width), finite, or say what is wrong with them."""
    given = floats(values, "", what, f"(states, {width}) numbers")
    rows = given.reshape(len(given), -1) if given.ndim > 1 and len(given) else given
    if rows.ndim != 2 or rows.shape[1] != width:
        raise ModelError(f"{what} have the shape {given.shape}, expected (states, {width})")
    if not np.isfinite(rows).all():
        raise ModelError(f"{what} hold a number that is none, in row {int(np.argmin(np.isfinite(rows).all(axis=1)))}")
    return rows


def _inputs(mechanism: Mechanism, u: ArrayLike | None, count: int) -> Floats:
    width = mechanism.compiled.inputs
    if u is None or not width:
        return np.zeros((count, max(1, width)))
    given = floats(u, "", "inputs")
    rows = table(np.broadcast_to(given, (count, width)) if given.shape == (width,) else given, width, "inputs")
    if len(rows) != count:
        raise ModelError(f"there are {len(rows)} inputs for {count} states")
    return kernel_rows(rows)


T = TypeVar("T")


def take(free: deque[T], make: Callable[[], T]) -> T:
    """Take what lies free, or make one."""
    try:
        return free.pop()
    except IndexError:
        return make()


def _failed(reports: Floats) -> int:
    """Return the number of the first state whose step failed, or -1."""
    wrong = reports[:, c.STATUS] != c.SOLVED
    return int(np.argmax(wrong)) if wrong.any() else -1


def _error(mechanism: Mechanism, number: int, before: Floats, report: Floats, work: Work) -> Exception:
    """Make the error of a state; the room is one that saw nothing but its failure."""
    error = explain(mechanism, before, work, report, 0.0)
    error.add_note(f"state {number} of those given")
    return error


def step_batch(
    mechanism: Mechanism,
    z: ArrayLike,
    u: ArrayLike | None = None,
    *,
    steps: int = 1,
    workers: int | None = None,
    options: SolverOptions | None = None,
) -> Floats:
    """Advance many maximal states, each with its own input held.

    Parameters
    ----------
    z : array_like, shape (states, 13 · bodies) or (states, bodies, 13)
    u : array_like, shape (states, inputs) or (inputs,), optional
        One input per state, or one for all.
    steps : int
        How many steps.
    workers : int, optional
        Threads; all cores without.

    Returns
    -------
    ndarray
        The states after, shaped as `z`; each has the bits that `rollout` gives.

    Raises
    ------
    StepError
        For the first state that fails; a note says which it is.
    """
    length, count = whole(steps, "step_batch", "steps", least=0), len(mechanism.bodies)
    before = table(z, 13 * count, "states").reshape(-1, count, 13)
    inputs, after = _inputs(mechanism, u, len(before)), before.copy()
    settings, counts = mechanism.settings(options)
    reports = np.zeros((len(before), c.REPORT))
    workspaces: deque[SolverWorkspaces] = deque()

    def work(part: slice) -> None:
        own = take(workspaces, lambda: SolverWorkspaces(mechanism.compiled))
        if own.other_colliders is None:
            states = after[part].reshape(-1, c.STATE_COLUMNS)
            advance(
                mechanism.compiled.model, own.others, mechanism.touching, None, states, inputs[part], mechanism.none,
                settings, counts, length, mechanism.untold, reports[part].reshape(-1),
            )  # fmt: skip
        else:  # every state by itself: the room may have to grow
            for state, row, report in zip(after[part], inputs[part], reports[part], strict=True):
                own.advance(
                    state, row[None], mechanism.none, settings, counts, length, mechanism.untold, report, own=False
                )  # fmt: skip
        workspaces.append(own)

    share(len(before), workers, work)
    wrong = _failed(reports)
    if wrong >= 0:
        after[wrong] = before[wrong]
        work(slice(wrong, wrong + 1))
        raise _error(mechanism, wrong, before[wrong], reports[wrong], workspaces[-1].others)
    return after.reshape(np.shape(z))


def _gradients(
    mechanism: Mechanism, states: Floats, u: ArrayLike | None, workers: int | None, options: SolverOptions | None,
    *, minimal: bool,
) -> tuple[Floats, Floats]:  # fmt: skip
    count, n = len(states), dimension(mechanism, minimal)
    inputs, after = _inputs(mechanism, u, count), states.copy()
    by_state, by_input = np.empty((count, n, n)), np.empty((count, n, mechanism.compiled.inputs))
    settings, counts = tight_settings(mechanism, options)
    model, reports = mechanism.compiled.model, np.zeros((count, c.REPORT))
    workspaces: deque[SolverWorkspaces] = deque()
    tables: deque[Slopes] = deque()

    def work(part: slice) -> None:
        own = take(workspaces, lambda: SolverWorkspaces(mechanism.compiled))
        table = take(tables, lambda: slopes(model, mechanism.compiled.inputs, minimal=minimal))
        if own.other_colliders is None:
            linearize(
                model, own.others, mechanism.touching, table, after[part], inputs[part], mechanism.none, settings,
                counts, minimal, True, (mechanism.untold, by_state[part], by_input[part], reports[part]),
            )  # fmt: skip
        else:
            for k in range(*part.indices(count)):
                linearize_step(
                    mechanism, own, table, after[k], inputs[k], (settings, counts), minimal, by_state[k], by_input[k],
                    reports[k],
                )  # fmt: skip
        workspaces.append(own)
        tables.append(table)

    share(count, workers, work)
    wrong = _failed(reports)
    if wrong >= 0:
        after[wrong] = states[wrong]
        work(slice(wrong, wrong + 1))
        raise _error(mechanism, wrong, states[wrong], reports[wrong], workspaces[-1].others)
    return by_state, by_input


def maximal_gradients_batch(
    mechanism: Mechanism,
    z: ArrayLike,
    u: ArrayLike | None = None,
    *,
    workers: int | None = None,
    options: SolverOptions | None = None,
) -> tuple[Floats, Floats]:
    """Differentiate one step from each of many maximal states.

    Returns
    -------
    A : ndarray, shape (states, 12 · bodies, 12 · bodies)
    B : ndarray, shape (states, 12 · bodies, inputs)
        Each with the bits of `get_maximal_gradients`.
    """
    count = len(mechanism.bodies)
    states = table(z, 13 * count, "states").reshape(-1, count, 13)
    return _gradients(mechanism, states, u, workers, options, minimal=False)


def minimal_gradients_batch(
    mechanism: Mechanism,
    x: ArrayLike,
    u: ArrayLike | None = None,
    *,
    workers: int | None = None,
    options: SolverOptions | None = None,
) -> tuple[Floats, Floats]:
    """Differentiate one step from each of many minimal states (states, minimal_dimension).

    Returns
    -------
    A : ndarray, shape (states, minimal_dimension, minimal_dimension)
    B : ndarray, shape (states, minimal_dimension, inputs)
        Each with the bits of `get_minimal_gradients`.
    """
    given = table(x, dimension(mechanism, minimal=True), "minimal states")
    model = mechanism.compiled.model
    states = np.empty((len(given), len(mechanism.bodies), 13))
    minimal_to_maximal_each(model.links, model.link, model.joint, given, mechanism.timestep, states)
    return _gradients(mechanism, states, u, workers, options, minimal=True)
