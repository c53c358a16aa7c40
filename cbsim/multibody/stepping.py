"""Steps: one, many, with a controller, in minimal coordinates, or the solver alone on the mechanism's own state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cbsim.arrays import Floats
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.loop_closure import check_start
from cbsim.dynamics.options import SolverOptions, chosen_options
from cbsim.errors import ModelError
from cbsim.multibody.contact_report import ContactPoint, points_in
from cbsim.multibody.coordinates import maximal_to_minimal, minimal_to_maximal, rows_of, set_maximal_state
from cbsim.multibody.failure import check_state, explain, input_numbers, kernel_rows
from cbsim.multibody.mechanism import Mechanism
from cbsim.multibody.storage import Storage, storage_of
from cbsim.spec.mechanism.values import floats, whole

__all__ = [
    "Control",
    "contact_points",
    "get_next_state",
    "input_rows",
    "mehrotra",
    "one_input",
    "rollout",
    "simulate",
    "step",
    "step_minimal_coordinates",
]

Control = Callable[[Mechanism, int], ArrayLike | None]


def step(
    mechanism: Mechanism, z: ArrayLike, u: ArrayLike | None = None, *, options: SolverOptions | None = None
) -> Floats:
    """Advance a maximal state by exactly one step.

    Pure: the mechanism's own state, input and outside wrenches neither count nor change.

    Parameters
    ----------
    z : array_like, shape (13 · bodies,) or (bodies, 13)
        Per body x(3), v(3), q(4), w(3).
    u : array_like, shape (inputs,), optional
        Inputs; none are zeros.
    options : SolverOptions, optional
        How exactly.

    Returns
    -------
    ndarray
        The next state, shaped as `z`.

    Raises
    ------
    ModelError
        If the state or the input is none.
    StepError
        If the solver fails.
    """
    settings, counts = mechanism.settings(options)
    count = len(mechanism.pose)
    try:
        out = np.array(z, float)
    except (TypeError, ValueError, OverflowError):
        out = rows_of(mechanism, z)  # which says what is wrong
    if out.shape not in ((13 * count,), (count, 13)):
        rows_of(mechanism, z)
    rows = out.reshape(count, 13)
    check_state(mechanism, rows)
    inputs = mechanism.idle if u is None else _row_of(mechanism, u)
    report = mechanism.last
    mechanism.workspaces.advance(rows, inputs, mechanism.none, settings, counts, 1, mechanism.untold, report, own=False)
    if options is not None and options.verbose:
        _tell(report, 0)
    if report[c.STATUS] != c.SOLVED:
        one_input(mechanism, inputs[0])
        raise explain(mechanism, rows_of(mechanism, z), mechanism.work, report, 0.0)
    return out


def contact_points(
    mechanism: Mechanism, z: ArrayLike, u: ArrayLike | None = None, *, options: SolverOptions | None = None
) -> tuple[ContactPoint, ...]:
    """List the contact points of the step from a maximal state. Pure, as `step`, whose arguments it takes.

    Returns
    -------
    tuple of ContactPoint
        Contacts that could close in the step, those without an impulse included: stated ones in the order of the
        mechanism, then those between colliders.

    Raises
    ------
    ModelError, StepError
        As `step`.

    Notes
    -----
    The change of a body's momentum in the step is the sum of these impulses, of gravity, joints, inputs and outside
    forces; in a step that is made in parts (`docs/multibody.md`), the impulses of all parts are summed.

    Examples
    --------
    >>> from cbsim.multibody import contact_points, gallery, get_maximal_state
    >>> ball = gallery.sphere()
    >>> [point] = contact_points(ball, get_maximal_state(ball))
    >>> point.body, point.other, round(point.normal_force, 2)
    ('ball', 'origin', 9.81)
    """
    step(mechanism, z, u, options=options)
    return points_in(
        mechanism.spec, mechanism.compiled, mechanism.workspaces.others, mechanism.workspaces.other_colliders
    )


def one_input(mechanism: Mechanism, u: ArrayLike) -> Floats:
    """Return inputs of one step as a row."""
    given = input_numbers(mechanism, u)
    return given[None] if len(given) else mechanism.idle


def _row_of(mechanism: Mechanism, u: ArrayLike) -> Floats:
    """Return inputs of one step as a row; whether they are finite a step that fails asks."""
    try:
        given = np.array(u, float)
    except (TypeError, ValueError, OverflowError):
        return one_input(mechanism, u)  # which says what is wrong
    return given[None] if given.shape == mechanism.inputs.shape and len(given) else one_input(mechanism, u)


def step_minimal_coordinates(
    mechanism: Mechanism, x: ArrayLike, u: ArrayLike | None = None, *, options: SolverOptions | None = None
) -> Floats:
    """Advance a minimal state by exactly one step; otherwise as `step`.

    Velocities that are returned are those of the step just made, with ``nodal_start`` too.
    """
    z = step(mechanism, minimal_to_maximal(mechanism, x, options=options), u, options=options)
    return maximal_to_minimal(mechanism, z, options=replace(chosen_options(options), nodal_start=False))


def input_rows(mechanism: Mechanism, inputs: ArrayLike | None) -> Floats:
    """Return inputs of every step (steps or 1, inputs); one vector holds for all steps."""
    count = mechanism.compiled.inputs
    if inputs is None:
        return np.zeros((1, max(1, count)))
    given = floats(inputs, "", "the input")
    if given.ndim not in {1, 2} or given.shape[-1] != count or (count and not len(given)):
        raise ModelError(f"the inputs have the shape {given.shape}, expected ({count},) or (steps, {count})")
    rows = given.reshape(-1, count) if count else np.zeros((1, 1))
    if not np.isfinite(rows).all():
        for k, row in enumerate(rows):
            input_numbers(mechanism, row, f"row {k} of the inputs")
    return kernel_rows(rows)


def rollout(
    mechanism: Mechanism, z: ArrayLike, n: int, inputs: ArrayLike | None = None, *, options: SolverOptions | None = None
) -> Floats:
    """Advance a maximal state by n steps, in one kernel, with no Python per step. Pure, as `step`.

    Parameters
    ----------
    z : array_like, shape (13 · bodies,) or (bodies, 13)
        The first state.
    n : int
        How many steps.
    inputs : array_like, shape (inputs,) or (steps, inputs), optional
        One vector for all steps, or one per step; the last one holds to the end.

    Returns
    -------
    ndarray, shape (n + 1, 13 · bodies)
        All states, the first one included.
    """
    count = whole(n, "rollout", "n", least=0)
    path = np.empty((count + 1, *mechanism.pose.shape))
    path[0] = now = rows_of(mechanism, z)
    check_state(mechanism, now)
    check_start(mechanism.spec, mechanism.compiled, now)
    settings, counts = mechanism.settings(options)
    rows = input_rows(mechanism, inputs)
    mechanism.workspaces.advance(now, rows, mechanism.none, settings, counts, count, path, mechanism.last, own=False)
    if count and mechanism.last[c.STATUS] != c.SOLVED:
        done = int(mechanism.last[c.STEP_REACHED])
        raise explain(mechanism, path[done], mechanism.work, mechanism.last, done * mechanism.timestep)
    return path.reshape(count + 1, -1)


def mehrotra(mechanism: Mechanism, *, options: SolverOptions | None = None) -> str:
    """Solve the step from the mechanism's own state, input and outside wrenches, without taking it.

    The velocities found are `State.vsol[1]` and `State.wsol[1]`; `get_next_state` is where they lead.

    Returns
    -------
    str
        ``"success"`` or ``"failed"``.
    """
    solved = _solve(mechanism, options, goes_on=False)
    if chosen_options(options).verbose:
        _tell(mechanism.report, 0)
    return "success" if solved else "failed"


def _solve(mechanism: Mechanism, options: SolverOptions | None, *, goes_on: bool) -> bool:
    """Solve the step from the own state; where it leads is `Mechanism.after`."""
    settings, counts = mechanism.settings(options, goes_on=goes_on)
    now = mechanism.pose.copy()
    inputs = mechanism.inputs[None] if len(mechanism.inputs) else mechanism.idle
    mechanism.workspaces.advance(
        now, inputs, mechanism.external, settings, counts, 1, mechanism.untold, mechanism.report,
        own=True,
    )  # fmt: skip
    solved = bool(mechanism.report[c.STATUS] == c.SOLVED)
    if solved:
        mechanism.after[:] = now
    return solved


def _tell(report: Floats, k: int) -> None:
    how = "success" if report[c.STATUS] == c.SOLVED else "failed"
    print(  # noqa: T201 (asked for by `verbose`)
        f"step {k}: {how}, {int(report[c.ITERATIONS])} iterations, residual {report[c.RESIDUAL_LEFT]:.2e}, "
        f"complementarity {report[c.BILINEAR_LEFT]:.2e}"
    )


def get_next_state(mechanism: Mechanism) -> Floats:
    """Return the maximal state (13 · bodies,) to which the candidate velocities of the own state lead."""
    return mechanism.after.reshape(-1).copy()


def simulate(
    mechanism: Mechanism,
    steps: int | range,
    z: ArrayLike | None = None,
    control: Control | ArrayLike | None = None,
    *,
    record: bool = True,
    verbose: bool = False,
    abort_upon_failure: bool = True,
    options: SolverOptions | None = None,
) -> Storage:
    """Simulate from a state, on the mechanism's own state, and keep the trajectory.

    Parameters
    ----------
    steps : int or range
        How many steps, or their numbers as the controller sees them.
    z : array_like, optional
        First state; without, the mechanism's own.
    control : callable or array_like, optional
        ``control(mechanism, k)`` is called before every step, with the mechanism at node k; it returns inputs, or None
        after `set_input` (inputs hold until they are set again). Or an array of inputs, one row per step. Without
        either, the input that the mechanism holds.
    record : bool
        Keep all nodes; else only the last.
    verbose : bool
        Print how every step went.
    abort_upon_failure : bool
        Raise `StepError` at the first step that fails; otherwise end there, with what was simulated.

    Returns
    -------
    Storage
        Row k is node k, before step k. The mechanism holds the last of them and the velocities found there, so that
        `get_next_state` gives the node after.

    Raises
    ------
    StepError
        With time, residuals and the worst constraint.

    Notes
    -----
    Forces from outside are cleared after every step.
    """
    numbers_of = range(steps) if isinstance(steps, (int, np.integer)) else steps
    if not isinstance(numbers_of, range):
        raise ModelError(f"steps is {steps!r}, expected a whole number or a range")
    if z is not None:
        set_maximal_state(mechanism, z)
    check_state(mechanism, mechanism.pose)
    check_start(mechanism.spec, mechanism.compiled, mechanism.pose)
    count, verbose = len(numbers_of), verbose or chosen_options(options).verbose
    if count < 1:
        raise ModelError(f"steps is {steps!r}, expected at least one")
    path = np.empty((count + 1, *mechanism.pose.shape))
    path[0] = mechanism.pose
    if callable(control) or verbose or mechanism.external.any():
        done = _controlled(mechanism, numbers_of, path, control, options, verbose)
    else:
        done = _free(mechanism, path, control, options)
    mechanism.pose[:] = path[min(done, count - 1)]
    if done < count:
        if abort_upon_failure:
            time = numbers_of[done] * mechanism.timestep
            raise explain(mechanism, mechanism.pose, mechanism.own, mechanism.report, time)
        mechanism.coast()
        path[done + 1] = mechanism.after
        path = path[: done + 2]
    else:
        mechanism.after[:] = path[-1]
    nodal = chosen_options(options).nodal_start and (record or len(path) == 2)
    if not record:
        path, done = path[-2:], int(done == count)
    return storage_of(mechanism, path, done, nodal=nodal)


def _free(mechanism: Mechanism, path: Floats, control: Any, options: SolverOptions | None) -> int:
    """Fill the path in one kernel; the number of steps that were solved."""
    rows = input_rows(mechanism, mechanism.inputs if control is None else control)
    settings, counts = mechanism.settings(options)
    report, count = mechanism.report, len(path) - 1
    mechanism.workspaces.advance(path[0].copy(), rows, mechanism.none, settings, counts, count, path, report, own=True)
    done = count if report[c.STATUS] == c.SOLVED else int(report[c.STEP_REACHED])
    if mechanism.compiled.inputs:
        mechanism.inputs[:] = rows[min(done, count - 1, len(rows) - 1)]
    return done


def _controlled(
    mechanism: Mechanism, numbers_of: range, path: Floats, control: Any, options: SolverOptions | None, verbose: bool
) -> int:
    """Step by step, the controller before each; the number of steps that were solved."""
    rows = None if callable(control) or control is None else input_rows(mechanism, control)
    for k, number in enumerate(numbers_of):
        mechanism.pose[:] = path[k]
        given = control(mechanism, number) if callable(control) else None
        if rows is not None and len(mechanism.inputs):
            given = rows[min(k, len(rows) - 1)]
        if given is not None:
            mechanism.inputs[:] = input_numbers(mechanism, given)
        solved = _solve(mechanism, options, goes_on=k > 0)
        mechanism.external[:] = 0.0
        if verbose:
            _tell(mechanism.report, number)
        if not solved:
            return k
        path[k + 1] = mechanism.after
    return len(numbers_of)
