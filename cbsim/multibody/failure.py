"""Errors of failed steps: the invalid part of a state, or the solver's last residuals."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cbsim.arrays import Floats
from cbsim.dynamics.failure import step_error
from cbsim.dynamics.kernels.state import first_unsound
from cbsim.dynamics.model import Work
from cbsim.errors import ModelError
from cbsim.geometry.linear import norm
from cbsim.multibody.mechanism import Mechanism
from cbsim.spec.mechanism.values import floats

__all__ = ["check_state", "explain", "input_numbers", "kernel_rows", "numbers"]

ROWS = (("position", 0, 3), ("velocity", 3, 6), ("orientation", 6, 10), ("angular velocity", 10, 13))


def numbers(value: ArrayLike, length: int, what: str) -> Floats:
    """Return a vector of a length, finite, or say what is wrong with it."""
    given = floats(value, "", what, f"{length} numbers")
    if given.shape != (length,):
        raise ModelError(f"{what} has the shape {given.shape}, expected ({length},)")
    if not np.isfinite(given).all():
        raise ModelError(f"{what} has {given[~np.isfinite(given)][0]} at {int(np.argmin(np.isfinite(given)))}")
    return given


def input_numbers(mechanism: Mechanism, u: ArrayLike, what: str = "the input") -> Floats:
    """Return an input (inputs,), NaN at most where that lets a motor go."""
    try:
        given = np.array(u, float)
    except (TypeError, ValueError, OverflowError):
        given = np.zeros(0)
    if given.shape != (mechanism.compiled.inputs,):
        return numbers(u, mechanism.compiled.inputs, what)  # which says what is wrong
    let_go = np.isnan(given) & mechanism.compiled.fed
    numbers(np.where(let_go, 0.0, given), len(given), what)
    return given


def kernel_rows(rows: Floats) -> Floats:
    """Copy rows to the one kind of array that kernels are compiled for: in the order of C, to be written to."""
    return np.array(rows, order="C")


def check_state(mechanism: Mechanism, pose: Floats) -> None:
    """Refuse a maximal state that cannot be stepped: numbers that are none, quaternions that are none."""
    found = first_unsound(pose, mechanism.timestep)
    if found < 0:
        return
    row, subject = pose[found], f"body '{mechanism.bodies[found].name}'"
    for what, first, last in ROWS:
        if not np.isfinite(row[first:last]).all():
            raise ModelError(f"its {what} is {row[first:last]}", subject=subject)
    length, speed = float(norm(row[6:10])), float(norm(row[10:13]))
    if speed * mechanism.timestep < 2.0:
        raise ModelError(f"its orientation has the length {length:.9g}, expected a unit quaternion", subject=subject)
    raise ModelError(
        f"turns at {speed:.6g} rad/s, half a turn in a step and more: the timestep has to be below {2.0 / speed:.3g} s",
        subject=subject,
    )


def explain(mechanism: Mechanism, before: Floats, work: Work, report: Floats, time: float) -> Exception:
    """Make the error of a failed step: the state's own fault, or the solver's."""
    try:
        check_state(mechanism, before)
    except ModelError as fault:
        return fault
    return step_error(
        mechanism.spec, mechanism.compiled, before, work, report, time, mechanism.workspaces.collider_tables_of(work)
    )
