"""Errors of failed steps: state of the solver, and the worst constraint."""

from __future__ import annotations

import numpy as np

from cbsim.arrays import Floats
from cbsim.dynamics.compile import Compiled
from cbsim.dynamics.detection.kernels import columns as d
from cbsim.dynamics.detection.kernels.tables import ColliderTables
from cbsim.dynamics.detection.solids import pieces_of
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.model import Work
from cbsim.errors import StepError
from cbsim.geometry.linear import norm
from cbsim.spec.mechanism.description import MechanismSpec

__all__ = ["step_error", "worst_constraint"]

QUARTER = np.sqrt(2.0)  # angular velocity times step of a quarter of a turn


def step_error(
    spec: MechanismSpec,
    compiled: Compiled,
    before: Floats,
    work: Work,
    report: Floats,
    time: float,
    colliders: ColliderTables | None = None,
) -> StepError:
    """Make the error of a step without a solution.

    Parameters
    ----------
    spec, compiled : MechanismSpec, Compiled
    before : ndarray, shape (bodies, 13)
        The state before it.
    work, report : Work, ndarray
        From the kernel.
    time : float
        Of the step [s].
    colliders : ColliderTables, optional
        With the contacts of that workspace.
    """
    how, worst = "no solution", ""
    if report[c.STATUS] == c.STUCK:
        how = f"no solution in {int(report[c.ITERATIONS])} iterations"
    elif report[c.STATUS] == c.NOT_FINITE:
        how = "the iteration diverged to non-finite values"
    elif report[c.STATUS] == c.TURNED_TOO_FAR:
        how = "a body's spin is changed by too much for a step of this length"
    elif report[c.STATUS] == c.TOO_FAST:
        how, worst = _too_fast(spec, compiled, before, work)
    worst = worst or worst_constraint(spec, compiled, work, colliders)
    residual, products = float(report[c.RESIDUAL_LEFT]), float(report[c.BILINEAR_LEFT])
    return StepError(
        f"{how}: residual {residual:.3g}, complementarity {products:.3g}, worst at {worst}",
        time=time, snapshot=before.copy(), residual=residual, complementarity=products, worst=worst,
    )  # fmt: skip


def _too_fast(spec: MechanismSpec, compiled: Compiled, before: Floats, work: Work) -> tuple[str, str]:
    """Name the body that turns too fast for any part of a step, and a sufficient step length."""
    rates = norm(before[:, 10:13], axis=1)
    i = int(rates.argmax())
    if rates[i] * spec.timestep > QUARTER:
        how = f"body '{spec.bodies[i].name}' turns too far in a step; it came at {rates[i]:.4g} rad/s, "
        return f"{how}for which steps below {QUARTER / rates[i]:.2g} s would do", f"body '{spec.bodies[i].name}'"
    turns = work.link_work[: compiled.model.links, c.TURN]
    body = spec.bodies[int(compiled.model.link[int(turns.argmin()), c.BODY])]
    how = f"body '{body.name}' is driven through a quarter of a turn and more in every part of a step"
    return f"{how}: the timestep has to be shorter", f"body '{body.name}'"


def worst_constraint(
    spec: MechanismSpec, compiled: Compiled, work: Work, colliders: ColliderTables | None = None
) -> str:
    """Name the part with the largest residual in the workspace of a failed step."""
    model = compiled.model
    found: list[tuple[float, str]] = []
    for row, j in enumerate(compiled.rows):
        dof = int(model.link[row, c.DOF])
        missing = work.link_work[row, c.MISSING : c.MISSING + dof]
        found.append((float(np.abs(missing).max(initial=0.0)), f"joint '{spec.joints[j].name}'"))
    for i, contact in enumerate(spec.contacts):
        found.append((_missed(work.contact_work[i]), f"contact '{contact.name}'"))
    if colliders is not None and colliders.found[d.CONTACTS] > len(spec.contacts):
        owners = [collider for collider in spec.colliders for _ in pieces_of(collider)]
        for i in range(len(spec.contacts), min(int(colliders.found[d.CONTACTS]), len(work.contact_work))):
            one, other = (owners[k] for k in colliders.key[i])
            what = f"contact of collider '{one.name}' ({one.owner.name}) and '{other.name}' ({other.owner.name})"
            found.append((_missed(work.contact_work[i]), what))
    for row, limit_work in zip(model.row_link, work.limit_work, strict=True):
        count = max(0, int(limit_work[c.ROW_PAIRS]))
        with np.errstate(invalid="ignore", over="ignore"):  # also reached with non-finite values
            products = limit_work[c.ROW_SLACK : c.ROW_SLACK + count] * limit_work[c.ROW_ROOM : c.ROW_ROOM + count]
        left = max(abs(limit_work[c.ROW_MISSING]), np.abs(products).max(initial=0.0))
        what = "drive" if row[c.KIND] == c.DRIVE else "limit"
        found.append((float(left), f"{what} of joint '{spec.joints[compiled.rows[row[c.ROW_LINK]]].name}'"))
    return max(found, key=lambda entry: (not np.isfinite(entry[0]), entry[0]))[1]


def _missed(contact_work: Floats) -> float:
    """Return the residual of a contact: of its gap or its complementarity."""
    if not contact_work[c.ACTIVE]:
        return 0.0
    with np.errstate(invalid="ignore", over="ignore"):  # as above
        gap = contact_work[c.GAP] - contact_work[c.SHIFT_OF_GAP] + contact_work[c.COMPLIANCE] * contact_work[c.FORCE]
        return float(max(abs(gap - contact_work[c.SLACK]), abs(contact_work[c.SLACK] * contact_work[c.FORCE])))
