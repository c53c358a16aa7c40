"""Gradients of one step by parameters of a mechanism: masses, inertias, springs, friction, geometry.

The implicit function theorem as in `cbsim.dynamics.kernels.gradients.gradient`, with other right-hand sides: residuals
of the equations when a number of the tables changes, with the joints at node 3 and all impulses held. They are
differences of the equations, never of the solver. The equations are of first or second degree in every parameter
(masses, inertias, stiffnesses and friction enter once; a lever arm multiplies a force that depends on it), so that
central differences of any size are exact up to rounding. Only contacts between two bodies, whose normal rotates, are
nonlinear; differences of two sizes then leave an error of fourth order. Contacts and rows respond to their own
residuals with the slopes of the factorization, on the branch of the solution.
"""

from __future__ import annotations

import math

from cbsim.dynamics.detection.kernels.columns import DIRECTIONS, TOLD
from cbsim.dynamics.kernels.algebra import cross, product, turned
from cbsim.dynamics.kernels.begin_step import guess_turn
from cbsim.dynamics.kernels.columns import (
    BODY,
    BOXED,
    CFM,
    COMPLIANCE,
    COORDINATE,
    DFORCE,
    DOF,
    DRIVE,
    FORCE,
    KIND,
    LAW,
    MISSING,
    MOST,
    MU,
    MULTIPLIER,
    ONE,
    ORIGIN,
    OTHER,
    OWN,
    Q2,
    R2,
    REFERENCE,
    RELATIVE,
    RELATIVE2,
    RESIDUAL,
    ROW_ERP,
    ROW_FORCE,
    ROW_LINK,
    ROW_MISSING,
    ROW_MOST,
    ROW_PAIRS,
    ROW_ROOM,
    ROW_SHIFT,
    ROW_SLACK,
    ROW_STIFF,
    SHIFT2,
    SHIFT_OF_GAP,
    SIGN,
    SLACK,
    SPIN,
    STEP,
    STEP_LENGTH,
    WANT,
    X2,
    X3,
)
from cbsim.dynamics.kernels.cones import answer
from cbsim.dynamics.kernels.contacts import evaluate_contact, push
from cbsim.dynamics.kernels.gradients.bodies import last_node
from cbsim.dynamics.kernels.gradients.drift import ask_gap
from cbsim.dynamics.kernels.gradients.gradient import joint_rates, write_bodies
from cbsim.dynamics.kernels.gradients.solution import solve_columns
from cbsim.dynamics.kernels.gradients.tables import MIX, MOVER, add_product, clear
from cbsim.dynamics.kernels.joints import increment
from cbsim.dynamics.kernels.minimal import maximal_to_minimal, minimal_to_maximal
from cbsim.dynamics.kernels.newton import begin, evaluate_bodies
from cbsim.dynamics.kernels.rows import begin_row, coordinate, evaluate_row, give
from cbsim.dynamics.kernels.tree import gather
from cbsim.jit import inlined, inner, narrow

__all__ = ["IN_CONTACT", "IN_JOINT", "IN_ROW", "parameter_columns"]

IN_JOINT, IN_CONTACT, IN_ROW = range(3)  # tables with parameters
SMALL = 1e-3  # share of the size of differences by which loops are opened to test whether they close
LEAST = 1e-3  # share of the opening that counts as not closed


@inner
def _change(model, varied, place, weight, first, last, amount):
    """Write the numbers of a parameter, changed by an amount."""
    for e in range(first, last):
        i, k, by = place[e, 1], place[e, 2], amount * weight[e]
        if place[e, 0] == IN_JOINT:
            varied.joint[i, k] = model.joint[i, k] + by
        elif place[e, 0] == IN_CONTACT:
            varied.contact[i, k] = model.contact[i, k] + by
        else:
            varied.row[i, k] = model.row[i, k] + by


@inner
def _forget(model, varied, scratch):
    """Restore the geometry of detected contacts to that of the model."""
    for i in range(len(scratch.drift)):
        for t in range(TOLD):
            varied.contact[i, ORIGIN + t] = model.contact[i, ORIGIN + t]


@inner
def _rows(varied, work, probe):
    """Add the responses of rows to their residuals, on the branches of the solution."""
    link, joint, link_work, row_link, row, limit_work = (
        varied.link, varied.joint, probe.link_work, varied.row_link, varied.row, probe.limit_work
    )  # fmt: skip
    for i in range(len(row_link)):
        b = row_link[i, ROW_LINK]
        if limit_work[i, ROW_PAIRS] < 0.0:
            continue
        if row_link[i, KIND] != DRIVE:
            beyond = row[i, SIGN] * (
                coordinate(link, joint, link_work, b, row_link[i, COORDINATE], SHIFT2, RELATIVE2) - row[i, REFERENCE]
            )
            # whether a bound was exceeded is taken from the solution: a difference must not cross the kink there
            limit_work[i, ROW_SHIFT] = (1.0 - row[i, ROW_ERP]) * beyond if work.limit_work[i, ROW_SHIFT] < 0.0 else 0.0
        evaluate_row(link, joint, link_work, row_link, row, limit_work, i)
        push_, sign = limit_work[i, ROW_MISSING], 1.0
        # a bound that moves widens the distances of both pairs
        wider = limit_work[i, ROW_MOST] - work.limit_work[i, ROW_MOST] if limit_work[i, ROW_PAIRS] > 0.0 else 0.0
        for k in range(int(limit_work[i, ROW_PAIRS])):
            push_ += sign * limit_work[i, ROW_SLACK + k] * wider / limit_work[i, ROW_ROOM + k]
            sign = -1.0
        # the pairs of a row are condensed as in the solver: its force follows from its residual by one stiffness
        force = work.limit_work[i, ROW_FORCE] - work.limit_work[i, ROW_STIFF] * push_
        give(link, link_work, limit_work, i, b, force, OWN, RESIDUAL)


@inner
def _contacts(varied, probe, h):
    """Add the responses of contacts to their residuals."""
    contact_link, contact, contact_work, link_work = (
        varied.contact_link,
        varied.contact,
        probe.contact_work,
        probe.link_work,
    )
    for i in range(len(contact_link)):
        evaluate_contact(contact_link, contact, contact_work, link_work, i, h)
        # complementarity holds at the solution, whatever the parameter: only geometry and bounds leave a residual
        for k in range(6):
            contact_work[i, WANT + k], contact_work[i, DFORCE + k] = 0.0, 0.0
        if contact_link[i, LAW] == BOXED and contact_work[i, MOST] > 0.0:
            wider = contact[i, MU] * abs(h) - contact_work[i, MOST]
            for k in range(1, 5):  # distances change by `wider`, slack · distance with them
                contact_work[i, WANT + k] = contact_work[i, SLACK + k] * wider
        # what the impulses would be, with bodies held: the elimination of the solver, by the same factors
        answer(contact_link, contact, contact_work, i, 0.0, 0.0, 0.0, 1.0)
        for k in range(6):
            contact_work[i, FORCE + k] += contact_work[i, DFORCE + k]
        push(contact_link, contact, contact_work, link_work, i, FORCE, -1.0, RESIDUAL)


@inner
def _yield(varied, work, probe, scratch, z, h):
    """Copy the pairs of the solution, and recompute the target gaps of soft and bouncing contacts."""
    contact_link, contact, contact_work, link_work = (
        varied.contact_link,
        varied.contact,
        probe.contact_work,
        probe.link_work,
    )
    last_node(varied.links, varied.link, link_work, scratch.before, z, h)
    for b in range(varied.links):
        for k in range(16):  # at node 2, where gaps are soft
            link_work[b, X3 + k] = link_work[b, X2 + k]
        guess_turn(link_work, b)
    for i in range(len(contact_link)):
        # impulses, slacks and branches are those of the solution, of which this is the slope
        for k in range(contact_work.shape[1]):
            contact_work[i, k] = work.contact_work[i, k]
        contact_work[i, COMPLIANCE] = contact[i, CFM]
        is_soft = work.contact_work[i, SHIFT_OF_GAP] < 0.0
        ask_gap(contact_link, contact, contact_work, link_work, scratch.kept, scratch.before, i, h, h, is_soft)


@inlined
def _turned_by(work, probe, b):
    """Small rotation in the world of body b at node 2 relative to the solution."""
    o = Q2
    _, x, y, w = product(
        probe.link_work[b, o], probe.link_work[b, o + 1], probe.link_work[b, o + 2], probe.link_work[b, o + 3],
        work.link_work[b, o], -work.link_work[b, o + 1], -work.link_work[b, o + 2], -work.link_work[b, o + 3],
    )  # fmt: skip
    return 2.0 * x, 2.0 * y, 2.0 * w


@inlined
def _spun_by(link, work, z, base, b):
    """Change of a body's spin, in the world."""
    n = link[b, BODY]
    x, y, w = z[n, SPIN] - base[n, SPIN], z[n, SPIN + 1] - base[n, SPIN + 1], z[n, SPIN + 2] - base[n, SPIN + 2]
    return turned(work.link_work, b, R2, x, y, w)


@inner
def _tell(varied, work, probe, scratch, z, base):
    """Update the geometry of detected contacts for changed poses at node 2 relative to state ``base``."""
    for i in range(len(scratch.drift)):
        # drift is known by motion of one of both bodies in the frame of the other
        m = scratch.mover[i, MOVER]
        if m < 0:
            continue
        other = varied.contact_link[i, OTHER] if m == varied.contact_link[i, ONE] else varied.contact_link[i, ONE]
        dx, dy, dz = 0.0, 0.0, 0.0
        fx, fy, fz = _turned_by(work, probe, m)
        sx, sy, sz = _spun_by(varied.link, work, z, base, m)
        k = X2
        dx, dy, dz = (
            probe.link_work[m, k] - work.link_work[m, k],
            probe.link_work[m, k + 1] - work.link_work[m, k + 1],
            probe.link_work[m, k + 2] - work.link_work[m, k + 2],
        )
        if other >= 0:
            gx, gy, gz = _turned_by(work, probe, other)
            ux, uy, uz = _spun_by(varied.link, work, z, base, other)
            sx, sy, sz = sx - ux, sy - uy, sz - uz
            # a rotation of the other one carries the first about it: that is no relative motion
            ux, uy, uz = cross(
                gx, gy, gz, work.link_work[m, k] - work.link_work[other, k],
                work.link_work[m, k + 1] - work.link_work[other, k + 1],
                work.link_work[m, k + 2] - work.link_work[other, k + 2],
            )  # fmt: skip
            dx -= probe.link_work[other, k] - work.link_work[other, k] + ux
            dy -= probe.link_work[other, k + 1] - work.link_work[other, k + 1] + uy
            dz -= probe.link_work[other, k + 2] - work.link_work[other, k + 2] + uz
            fx, fy, fz = fx - gx, fy - gy, fz - gz
        motion = dx, dy, dz, fx, fy, fz, sx, sy, sz
        for n in range(DIRECTIONS):
            for t in range(TOLD if motion[n] != 0.0 else 0):
                varied.contact[i, ORIGIN + t] += motion[n] * scratch.drift[i, n * TOLD + t]


@inner
def _miss(varied, work, probe, scratch, z, base, inputs, external, settings, h):
    """Write to MISSING of ``probe`` the residuals with changed tables, at the joints' node 3 of ``work``."""
    links, link, joint, link_work = varied.links, varied.link, varied.joint, probe.link_work
    # node 2 anew, from the changed tables; node 3 is put where the joints of the solution are
    begin(links, link, joint, link_work, z, inputs, external, settings, h, h, 0.0)
    for i in range(len(varied.row_link)):
        for k in range(probe.limit_work.shape[1]):
            probe.limit_work[i, k] = work.limit_work[i, k]
        begin_row(link, joint, link_work, varied.row_link, varied.row, probe.limit_work, i, inputs, h, h, h)
    _tell(varied, work, probe, scratch, z, base)
    _yield(varied, work, probe, scratch, z, h)
    for b in range(links):
        for k in range(7):
            link_work[b, RELATIVE + k] = work.link_work[b, RELATIVE + k]
    for j in range(links, len(link)):
        for k in range(6):
            link_work[j, MULTIPLIER + k] = work.link_work[j, MULTIPLIER + k]
    # what is left of the equations there: joints do not move, so this is the slope by the parameter alone
    evaluate_bodies(links, link, joint, link_work, h)
    _rows(varied, work, probe)
    _contacts(varied, probe, h)
    gather(links, link, joint, link_work)


@inlined
def _collect(varied, probe, scratch, column, share):
    """Add a share of the residuals, and of the poses at node 3, to a column."""
    for b in range(len(varied.link)):
        for m in range(varied.link[b, DOF]):
            scratch.missing[6 * b + m, column] += share * probe.link_work[b, MISSING + m]
    for b in range(varied.links):
        for m in range(3):
            scratch.moved[3 * b + m, column] += share * probe.link_work[b, X3 + m]


@inner
def _write_joints(model, work, scratch, h, out):
    """Write the gradients of coordinates and velocities at node 3, joint by joint, those of node 2 held."""
    link, patch, row, n = model.link, scratch.patch, scratch.row, 0
    columns = out.shape[1]
    for b in range(model.links):
        dof = link[b, DOF]
        for k in range(72):
            patch[b, MIX + k] = 0.0
        joint_rates(link, model.joint, work.link_work, patch, scratch.seed, b, 0, h)
        for i in range(2 * dof):
            for k in range(columns):
                row[i, k] = 0.0
        add_product(row, 0, 1.0, patch, b, MIX, 2 * dof, dof, 6, 1, scratch.answer, 6 * b, 0, columns)
        for i in range(2 * dof):
            for k in range(columns):
                out[2 * n + i, k] = row[i, k]
        n += dof


@inner
def _largest_gap(varied, probe, h):
    """Compute poses at node 3 and return the largest gap of a loop."""
    return evaluate_bodies(varied.links, varied.link, varied.joint, probe.link_work, h)


@inner
def _leaves_open(varied, work, probe, scratch, column, h, amount):
    """Whether loops opened by a change, already made, stay open when joints follow by their gradients."""
    links, link, joint, link_work = varied.links, varied.link, varied.joint, probe.link_work
    # at first joints stay, then they follow
    for attempt in range(2):
        for b in range(links):
            for k in range(7):
                link_work[b, RELATIVE + k] = work.link_work[b, RELATIVE + k]
            if attempt > 0:
                for m in range(link[b, DOF]):
                    link_work[b, STEP + m] = scratch.answer[6 * b + m, column]
                increment(link, joint, link_work, b, amount)
        gap = _largest_gap(varied, probe, h)
        if attempt == 0:
            opened = gap
    return opened > LEAST * amount and gap > LEAST * opened


@narrow
def parameter_columns(model, work, varied, probe, scratch, z, loads, settings, parameters, points, minimal, out):
    """Write the gradients of a step, solved and factorized in ``work``, by numbers of its tables.

    Parameters
    ----------
    model, work, settings
        As `cbsim.dynamics.kernels.step.advance` has them.
    varied, probe : Model, Work
        Writable tables and workspace of the same mechanism.
    scratch : Varying
    z : (bodies, 13) float64
        The state before the step; minimal coordinates are held if ``minimal``, else the state itself.
    loads : tuple of ndarray
        Inputs (nu,); external wrenches, as `cbsim.dynamics.kernels.step.advance` has them.
    parameters : tuple of ndarray
        Table, row and column of the numbers of parameters (e, 3) int64, and the rate of each (e,); first number of each
        parameter (columns + 1,) int64, and the size of its differences (columns,).
    points : int
        1 for central differences, 2 for Richardson extrapolation of two sizes.
    out : (n, columns) float64
        A column is NaN if its parameter makes a loop impossible to close.
    """
    h, links, columns = settings[STEP_LENGTH], model.links, out.shape[1]
    inputs, external = loads
    place, weight, first, size = parameters
    clear(scratch.seed)
    clear(scratch.carry)
    clear(scratch.missing)
    clear(scratch.moved)
    maximal_to_minimal(links, model.link, model.joint, z, h, scratch.x)
    # residuals by the numbers of each parameter, by differences
    for column in range(columns):
        for n in range(2 * points):
            far, sign = 1.0 if n < 2 else 2.0, 1.0 - 2.0 * (n % 2)
            _forget(model, varied, scratch)
            _change(model, varied, place, weight, first[column], first[column + 1], sign * far * size[column])
            for i in range(links):
                for k in range(13):
                    probe.spare[i, k] = z[i, k]
            if minimal:
                minimal_to_maximal(links, varied.link, varied.joint, scratch.x, h, probe.spare)
            _miss(varied, work, probe, scratch, probe.spare, z, inputs, external, settings, h)
            share = sign / (2.0 * size[column])
            if points == 2:  # Richardson: 4/3 of the small differences, −1/3 of the large ones, which are twice as wide
                share *= 4.0 / 3.0 if far == 1.0 else -1.0 / 6.0
            _collect(varied, probe, scratch, column, share)
        _change(model, varied, place, weight, first[column], first[column + 1], 0.0)
    solve_columns(
        model.link, work.link_work, model.program, model.fan, work.fanned, scratch.patch, scratch.carry,
        scratch.missing, scratch.answer, scratch.row, columns,
    )  # fmt: skip
    if minimal:
        _write_joints(model, work, scratch, h, out)
    else:
        for b in range(links):
            for m in range(3):
                for k in range(columns):
                    scratch.carry[6 * b + m, k] += scratch.moved[3 * b + m, k]
        write_bodies(links, model.link, work.link_work, scratch, 0, columns, h, out, out)
    for column in range(columns if len(model.link) > links else 0):
        amount = SMALL * size[column]
        _change(model, varied, place, weight, first[column], first[column + 1], amount)
        is_open = _leaves_open(varied, work, probe, scratch, column, h, amount)
        _change(model, varied, place, weight, first[column], first[column + 1], 0.0)
        for i in range(len(out) if is_open else 0):
            out[i, column] = math.nan
