"""Gradients of one step, by the implicit function theorem on its equations at the solution (docs/theory/gradients.md).

The unknowns are the joints at node 3. The residuals by motion of the data with node 3 held, column by column, are
solved with the factorization of the last iteration. This gives node 3 as a function of the data, and with it
coordinates and velocities.
"""

from __future__ import annotations

from cbsim.dynamics.kernels.algebra import cross
from cbsim.dynamics.kernels.columns import (
    BODY,
    DOF,
    FLAGS,
    FREE,
    N_ROT,
    N_TRANS,
    PARENT,
    R2,
    R3,
    RELATIVE,
    RELATIVE2,
    RESIDUAL,
    SCALING,
    TURN,
    TURN_AXES,
)
from cbsim.dynamics.kernels.dampers import step_vector
from cbsim.dynamics.kernels.gradients.bodies import body_slopes, last_node
from cbsim.dynamics.kernels.gradients.drift import add_drifts
from cbsim.dynamics.kernels.gradients.drives import held_by_rows, row_slopes, target_columns
from cbsim.dynamics.kernels.gradients.joints import damp_columns, input_columns, joint_slopes
from cbsim.dynamics.kernels.gradients.seeds import lay_out, maximal_seeds, minimal_seeds
from cbsim.dynamics.kernels.gradients.solution import solve_columns
from cbsim.dynamics.kernels.gradients.tables import (
    BODY1,
    BODY2,
    FIRST_COLUMN,
    JOINT,
    LAST_COLUMN,
    MIX,
    OWN_COLUMN,
    add_product,
    clear,
    set_cross,
    turning,
)
from cbsim.dynamics.kernels.gradients.ties import add_contacts, add_loop_joints, loop_joint_inputs
from cbsim.dynamics.kernels.joints import free_turns
from cbsim.dynamics.kernels.vectors import rotation_vector, slope_of_vector
from cbsim.jit import inlined, inner

__all__ = ["differentiate", "joint_rates", "write_bodies"]


@inner
def differentiate(model, work, scratch, z, inputs, external, settings, before, h, minimal, by_state, by_input):
    """Write the gradients of a solved and factorized step; z is still the state of node 2."""
    links, link, joint, link_work = model.links, model.link, model.joint, work.link_work
    pull = 0.5 * (before + h)
    half = lay_out(links, link, scratch.span, scratch.where, minimal)
    # motions of nodes 1 and 2 in every column
    clear(scratch.seed)
    clear(scratch.carry)
    clear(scratch.missing)
    last_node(links, link, link_work, scratch.before, z, before)
    if minimal:
        minimal_seeds(
            links, link, joint, link_work, scratch.before, scratch.patch, scratch.span, scratch.seed, before, half
        )
    else:
        maximal_seeds(links, link_work, scratch.before, scratch.seed, before, half)
    # residuals by those motions: bodies, joints, rows, contacts, loop joints
    body_slopes(links, link, joint, link_work, scratch.patch, z, external, before, h)
    held_by_rows(links, link, joint, scratch.patch, model.row_link, model.row, work.limit_work)
    joint_slopes(links, link, joint, link_work, scratch.before, scratch.patch, inputs, pull, settings[SCALING])
    row_slopes(
        link,
        joint,
        link_work,
        scratch.patch,
        scratch.span,
        scratch.seed,
        scratch.carry,
        model.row_link,
        model.row,
        work.limit_work,
    )
    add_contacts(
        model.contact_link,
        model.contact,
        work.contact_work,
        link_work,
        scratch.patch,
        scratch.span,
        scratch.seed,
        scratch.carry,
        h,
    )
    add_drifts(model.contact_link, model.contact, work.contact_work, link_work, scratch, half, h, before)
    add_loop_joints(model, work, scratch, inputs, pull, settings[SCALING])
    _disturb(links, link, link_work, scratch.patch, scratch.span, scratch.seed, scratch.carry, scratch.missing, half)
    damp_columns(
        links,
        link,
        joint,
        link_work,
        scratch.before,
        scratch.patch,
        scratch.span,
        scratch.seed,
        scratch.missing,
        half,
        h,
    )
    # residuals by inputs
    load = settings[SCALING] if settings[SCALING] != 0.0 else pull
    input_columns(links, link, joint, link_work, scratch.missing, load, 2 * half)
    target_columns(link, scratch.carry, scratch.missing, model.row_link, work.limit_work, h, 2 * half)
    loop_joint_inputs(links, link, joint, link_work, scratch.carry, load, 2 * half)
    # response of node 3 through the factorization
    columns = 2 * half + by_input.shape[1]
    solve_columns(
        link, link_work, model.program, model.fan, work.fanned, scratch.patch, scratch.carry, scratch.missing,
        scratch.answer, scratch.row, columns,
    )  # fmt: skip
    if minimal:
        _write_joints(links, link, joint, link_work, scratch, half, columns, h, by_state, by_input)
    else:
        write_bodies(links, link, link_work, scratch, half, columns, h, by_state, by_input)


@inner
def _disturb(links, link, link_work, patch, span, seed, carry, missing, half):
    """Add the residuals of bodies and joints in every column of the state."""
    for b in range(links):
        first, last, r, s, a = span[b, FIRST_COLUMN], span[b, LAST_COLUMN], 6 * b, 12 * b, link[b, PARENT]
        # columns from 0 on move node 2, and node 1 with it; those from `half` on move node 1 alone
        add_product(carry, r, 1.0, patch, b, BODY2, 6, 6, 6, 1, seed, s, first, last)
        for start in (0, half):
            add_product(carry, r, 1.0, patch, b, BODY1, 6, 6, 6, 1, seed, s + 6, start + first, start + last)
        add_product(missing, r, 1.0, patch, b, JOINT, link[b, DOF], 6, 12, 1, seed, s, first, last)
        if a < 0:
            continue
        from_, to = span[a, FIRST_COLUMN], span[a, LAST_COLUMN]
        add_product(missing, r, 1.0, patch, b, JOINT + 6, link[b, DOF], 6, 12, 1, seed, 12 * a, from_, to)
        # the wrench passed to the parent acts at another arm
        # a motion of either end changes the arm: −F × (δx_b − δx_a) about the parent's centre of mass
        set_cross(patch, b, MIX, -link_work[b, RESIDUAL], -link_work[b, RESIDUAL + 1], -link_work[b, RESIDUAL + 2])
        add_product(carry, 6 * a + 3, 1.0, patch, b, MIX, 3, 3, 3, 1, seed, s, first, last)
        add_product(carry, 6 * a + 3, -1.0, patch, b, MIX, 3, 3, 3, 1, seed, 12 * a, from_, to)


@inlined
def _scatter(scratch, source, row, half, columns, by_state, by_input):
    """Write a row of the result to the matrices, columns in the order of states and inputs."""
    for k in range(2 * half):
        by_state[row, scratch.where[k]] = scratch.row[source, k]
    for k in range(2 * half, columns):
        by_input[row, k - 2 * half] = scratch.row[source, k]


@inner
def _write_joints(links, link, joint, link_work, scratch, half, columns, h, by_state, by_input):
    """Write the gradients of coordinates and velocities at node 3, joint by joint."""
    patch, row = scratch.patch, scratch.row
    for b in range(links):
        dof, n = link[b, DOF], scratch.span[b, OWN_COLUMN]
        for k in range(72):
            patch[b, MIX + k] = 0.0
        for i in range(2 * dof):
            for k in range(columns):
                row[i, k] = 0.0
        joint_rates(link, joint, link_work, patch, row, b, n, h)
        add_product(row, 0, 1.0, patch, b, MIX, 2 * dof, dof, 6, 1, scratch.answer, 6 * b, 0, columns)
        for i in range(2 * dof):
            _scatter(scratch, i, 2 * n + i, half, columns, by_state, by_input)


@inlined
def joint_rates(link, joint, link_work, patch, row, b, n, h):
    """Write the matrix from joint increments to coordinates and velocities; their change by node 2 to ``row``."""
    slides, turns, dof, o = link[b, N_TRANS], link[b, N_ROT], link[b, DOF], RELATIVE
    k = 1.0 / h
    single = slides + (turns if turns == 1 else 0)
    # without several rotations coordinates change by the increments themselves, velocities are (y₃ − y₂) / h
    for i in range(single):
        patch[b, MIX + 7 * i], patch[b, MIX + 6 * dof + 7 * i] = 1.0, k
        row[dof + i, n + i] = -k
    if turns < 2:
        return
    s, vx, vy, vz = link_work[b, o], link_work[b, o + 1], link_work[b, o + 2], link_work[b, o + 3]
    x, y, z = rotation_vector(s, vx, vy, vz)
    dx, dy, dz = step_vector(link_work, b)
    o = RELATIVE2
    ax, ay, az = rotation_vector(link_work[b, o], link_work[b, o + 1], link_work[b, o + 2], link_work[b, o + 3])
    # MIX maps increments of the joint to coordinates (first rows) and to velocities (from row `dof` on)
    for j in range(turns):
        if link[b, FLAGS] & FREE:
            ex, ey, ez = link_work[b, R3 + 3 * j], link_work[b, R3 + 3 * j + 1], link_work[b, R3 + 3 * j + 2]
        else:
            ex, ey, ez = free_turns(joint, b, turns, j, s, vx, vy, vz)
        px, py, pz = slope_of_vector(x, y, z, ex, ey, ez)
        qx, qy, qz = slope_of_vector(dx, dy, dz, ex, ey, ez)
        # a coordinate of node 2 turns the joint where the step begins, which takes the opposite off the step's rotation
        m = TURN_AXES + 3 * j
        ex, ey, ez = turning(ax, ay, az, joint[b, m], joint[b, m + 1], joint[b, m + 2])
        ex, ey, ez = slope_of_vector(-dx, -dy, -dz, ex, ey, ez)
        for i in range(turns):
            m, e = TURN_AXES + 3 * i, MIX + 6 * (slides + i) + slides + j
            patch[b, e] = joint[b, m] * px + joint[b, m + 1] * py + joint[b, m + 2] * pz
            patch[b, e + 6 * dof] = k * (joint[b, m] * qx + joint[b, m + 1] * qy + joint[b, m + 2] * qz)
            row[dof + slides + i, n + slides + j] = -k * (
                joint[b, m] * ex + joint[b, m + 1] * ey + joint[b, m + 2] * ez
            )


@inner
def write_bodies(links, link, link_work, scratch, half, columns, h, by_state, by_input):
    """Write the gradients of positions, velocities and orientations at node 3, body by body."""
    patch, row, k = scratch.patch, scratch.row, 1.0 / h
    for b in range(links):
        first, last, r, s = scratch.span[b, FIRST_COLUMN], scratch.span[b, LAST_COLUMN], 6 * b, 12 * b
        c, x, y, z = link_work[b, TURN], link_work[b, TURN + 1], link_work[b, TURN + 2], link_work[b, TURN + 3]
        # the three matrices of docs/theory/gradients.md §3: of v, phi and w by increments
        for i in range(3):
            for m in range(3):
                patch[b, MIX + 3 * i + m] = k if i == m else 0.0
                patch[b, MIX + 9 + 3 * i + m] = 0.5 * link_work[b, R3 + 3 * m + i]
            # row i of R₂ᵀ (c − [p]×) / h
            ex, ey, ez = k * link_work[b, R2 + i], k * link_work[b, R2 + 3 + i], k * link_work[b, R2 + 6 + i]
            ux, uy, uz = cross(x, y, z, ex, ey, ez)
            patch[b, MIX + 18 + 3 * i] = c * ex + ux
            patch[b, MIX + 19 + 3 * i] = c * ey + uy
            patch[b, MIX + 20 + 3 * i] = c * ez + uz
        for i in range(12):
            for m in range(columns):
                row[i, m] = scratch.carry[r + i, m] if i < 3 else 0.0
        # rows v, phi and w: increment of node 3, less that of node 2, except for phi, which is of node 3 alone
        for base, out, source in ((MIX, 3, 0), (MIX + 9, 6, 3), (MIX + 18, 9, 3)):
            add_product(row, out, 1.0, patch, b, base, 3, 3, 3, 1, scratch.carry, r + source, 0, columns)
            if out != 6:
                add_product(row, out, -1.0, patch, b, base, 3, 3, 3, 1, scratch.seed, s + source, first, last)
        for i in range(12):
            _scatter(scratch, i, 12 * link[b, BODY] + i, half, columns, by_state, by_input)
