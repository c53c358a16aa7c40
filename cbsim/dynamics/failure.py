"""What is said of a step that failed: the solver's last words, and the constraint that is violated most."""

from __future__ import annotations

import numpy as np

from cbsim.dynamics.compile import Compiled
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.model import Floats, Work
from cbsim.errors import StepError
from cbsim.spec.mechanism.description import MechanismSpec

__all__ = ["step_error", "worst_constraint"]

HOW = {
    c.NOT_FINITE: "the iteration left the numbers",
    c.LEAPT: "a body's spin is changed by too much for a step of this length",
    c.TOO_FAST: "a body turns more than half a turn in a step",
}


def step_error(
    spec: MechanismSpec, compiled: Compiled, before: Floats, work: Work, report: Floats, time: float
) -> StepError:
    """Make the error of a step that the solver could not make.

    Parameters
    ----------
    spec, compiled : MechanismSpec, Compiled
    before : ndarray, shape (bodies, 13)
        The state before it.
    work, report : Work, ndarray
        As the kernel left them.
    time : float
        Of the step [s].
    """
    stuck = f"no solution in {int(report[c.ITERATIONS])} iterations"
    how = HOW.get(int(report[c.STATUS]), stuck if report[c.STATUS] == c.STUCK else "no solution")
    worst = worst_constraint(spec, compiled, work)
    residual, products = float(report[c.RESIDUAL_LEFT]), float(report[c.BILINEAR_LEFT])
    return StepError(
        f"{how}: residual {residual:.3g}, complementarity {products:.3g}, worst at {worst}",
        time=time, snapshot=before.copy(), residual=residual, complementarity=products, worst=worst,
    )  # fmt: skip


def worst_constraint(spec: MechanismSpec, compiled: Compiled, work: Work) -> str:
    """Name the part whose equation is violated most in a work room where a step got stuck."""
    model = compiled.model
    found: list[tuple[float, str]] = []
    for row, j in enumerate(compiled.rows):
        dof = int(model.link[row, c.DOF])
        missing = work.arena[row, c.MISSING : c.MISSING + dof]
        found.append((float(np.abs(missing).max(initial=0.0)), f"joint '{spec.joints[j].name}'"))
    for i, contact in enumerate(spec.contacts):
        touch = work.touch[i]
        gap = touch[c.GAP] - touch[c.SHIFT_OF_GAP] + model.contact[i, c.CFM] * touch[c.FORCE]
        left = max(abs(gap - touch[c.SLACK]), abs(touch[c.SLACK] * touch[c.FORCE]))
        found.append((float(left) if touch[c.ACTIVE] else 0.0, f"contact '{contact.name}'"))
    for row, hold in zip(model.row_link, work.hold, strict=True):
        count = max(0, int(hold[c.ROW_PAIRS]))
        products = hold[c.ROW_SLACK : c.ROW_SLACK + count] * hold[c.ROW_ROOM : c.ROW_ROOM + count]
        left = max(abs(hold[c.ROW_MISSING]), np.abs(products).max(initial=0.0))
        what = "drive" if row[c.KIND] == c.DRIVE else "limit"
        found.append((float(left), f"{what} of joint '{spec.joints[compiled.rows[row[c.ROW_LINK]]].name}'"))
    return max(found, key=lambda entry: (not np.isfinite(entry[0]), entry[0]))[1]
