"""Jacobians of the maps between maximal and minimal states.

Two nodes, each differentiated: docs/theory/gradients.md §6.

Maximal: (x, v, phi, w) of every body, phi half a rotation vector in the body's frame. Minimal: (coordinates,
velocities) of every joint of the tree, link by link.
"""

from __future__ import annotations

from cbsim.dynamics.kernels.algebra import cross, turned
from cbsim.dynamics.kernels.columns import (
    BODY,
    CHILD_VERTEX,
    DOF,
    N_ROT,
    N_TRANS,
    PARENT,
    R2,
    RELATIVE2,
    SLIDE_AXES,
    STEP_LENGTH,
    TURN_AXES,
    X2,
)
from cbsim.dynamics.kernels.gradients.bodies import last_node
from cbsim.dynamics.kernels.gradients.seeds import lay_out, maximal_seeds, minimal_seeds, step_before, turn_of_step
from cbsim.dynamics.kernels.gradients.tables import FIRST_COLUMN, LAST_COLUMN, MIX, R1, X1, add_product, clear
from cbsim.dynamics.kernels.newton import begin
from cbsim.dynamics.kernels.vectors import rotation_vector, slope_of_vector
from cbsim.jit import inlined, inner, narrow

__all__ = ["map_slopes"]


@narrow
def map_slopes(model, work, scratch, z, inputs, external, settings, minimal, out):
    """Write the Jacobian of the maximal state by the minimal one (``minimal``), or of the minimal by the maximal.

    Parameters
    ----------
    model, work, scratch : Model, Work, Slopes
    z : (bodies, 13) float64
    inputs, external : (nu,), (bodies, 6) float64
        Zeros.
    settings : (SETTINGS,) float64
    minimal : bool
        As for the allocation of ``scratch``.
    out : (12 bodies, 2 n) or (2 n, 12 bodies) float64
    """
    h = settings[STEP_LENGTH]
    links, link, joint, link_work = model.links, model.link, model.joint, work.link_work
    begin(links, link, joint, link_work, z, inputs, external, settings, h, h, 0.0)
    last_node(links, link, link_work, scratch.before, z, h)
    half = lay_out(links, link, scratch.span, scratch.where, minimal)
    clear(scratch.seed)
    if minimal:
        minimal_seeds(links, link, joint, link_work, scratch.before, scratch.patch, scratch.span, scratch.seed, h, half)
        _write_bodies(links, link, link_work, scratch, half, h, out)
    else:
        maximal_seeds(links, link_work, scratch.before, scratch.seed, h, half)
        _write_joints(links, link, joint, link_work, scratch, half, h, out)


@inner
def _write_bodies(links, link, link_work, scratch, half, h, out):
    """Positions, velocities and orientations, by motions at nodes 2 and 1."""
    patch, row, seed, k = scratch.patch, scratch.row, scratch.seed, 1.0 / h
    for b in range(links):
        s, last = 12 * b, scratch.span[b, LAST_COLUMN]
        c, x, y, z = turn_of_step(link_work, scratch.before, b)
        for i in range(3):
            ex, ey, ez = link_work[b, R2 + i], link_work[b, R2 + 3 + i], link_work[b, R2 + 6 + i]
            # δω = R₂ᵀ (c + [p]×) (φ₂ − φ₁) / h of the step from node 1 to node 2, row by row
            ux, uy, uz = cross(x, y, z, ex, ey, ez)
            slope = k * (c * ex - ux), k * (c * ey - uy), k * (c * ez - uz)
            # φ of the state is half a rotation vector: ½ R₂ᵀ φ₂
            for m in range(3):
                patch[b, MIX + 3 * i + m] = 0.5 * link_work[b, R2 + 3 * m + i]
                patch[b, MIX + 9 + 3 * i + m] = slope[m]
        # rows of the seed: x₂, φ₂, x₁, φ₁; the velocity is (x₂ − x₁) / h
        for i in range(12):
            for n in range(2 * half):
                row[i, n] = seed[s + i, n] if i < 3 else k * (seed[s + i - 3, n] - seed[s + i + 3, n]) if i < 6 else 0.0
        add_product(row, 6, 1.0, patch, b, MIX, 3, 3, 3, 1, seed, s + 3, 0, last)
        add_product(row, 9, 1.0, patch, b, MIX + 9, 3, 3, 3, 1, seed, s + 3, 0, last)
        # node 1 moves in both halves of the columns, node 2 in the first
        for start in (0, half):
            add_product(row, 9, -1.0, patch, b, MIX + 9, 3, 3, 3, 1, seed, s + 9, start, start + last)
        for i in range(12):
            for n in range(2 * half):
                out[12 * link[b, BODY] + i, scratch.where[n]] = row[i, n]


@inner
def _write_joints(links, link, joint, link_work, scratch, half, h, out):
    """Coordinates and velocities, by motions at nodes 2 and 1."""
    patch, row, k = scratch.patch, scratch.row, 1.0 / h
    first = 0
    for b in range(links):
        dof, slides, a, o = link[b, DOF], link[b, N_TRANS], link[b, PARENT], RELATIVE2
        for i in range(2 * dof):
            for n in range(2 * half):
                row[i, n] = 0.0
        x, y, z = rotation_vector(link_work[b, o], link_work[b, o + 1], link_work[b, o + 2], link_work[b, o + 3])
        dx, dy, dz = rotation_vector(*step_before(link, joint, link_work, scratch.before, b))
        _translations(link, joint, link_work, X2, R2, patch, b, a)
        # coordinates by node 2, then velocities by node 2 and by node 1
        _rotations(link, joint, link_work, R2, patch, b, a, x, y, z, 1.0)
        _add_rows(scratch, 0, b, a, dof, 0, half, 1.0)
        _rotations(link, joint, link_work, R2, patch, b, a, dx, dy, dz, 1.0)
        _add_rows(scratch, dof, b, a, dof, 0, half, k)
        _translations(link, joint, scratch.before, X1, R1, patch, b, a)
        # seen from node 2 the step is the reverse, −d; at node 1 its sign turns once more
        _rotations(link, joint, scratch.before, R1, patch, b, a, -dx, -dy, -dz, -1.0)
        # node 1 counts negatively: a velocity is (c₂ − c₁) / h
        for i in range(slides):
            for n in range(12):
                patch[b, MIX + 12 * i + n] *= -1.0
        _add_rows(scratch, dof, b, a, dof, 6, half, k)
        for i in range(2 * dof):
            for n in range(2 * half):
                out[first + i, scratch.where[n]] = row[i, n]
        first += 2 * dof


@inlined
def _add_rows(scratch, out, b, a, dof, node, half, scale):
    """Add the current matrix, times the motions of child and parent at a node, to rows of the result."""
    # node 2 moves in the first half of the columns, node 1 in both
    for which in range(1 + (node > 0)):
        start = which * half
        for side, body in ((0, b), (6, a)):
            if body >= 0:
                begin_, end = start + scratch.span[body, FIRST_COLUMN], start + scratch.span[body, LAST_COLUMN]
                add_product(
                    scratch.row, out, scale, scratch.patch, b, MIX + side, dof, 6, 12, 1,
                    scratch.seed, 12 * body + node, begin_, end,
                )  # fmt: skip


@inlined
def _translations(link, joint, table, place, matrix, patch, b, a):
    """Write the slopes of the translations of joint b at a node by motions of its child, then its parent."""
    k = CHILD_VERTEX
    px, py, pz = turned(table, b, matrix, joint[b, k], joint[b, k + 1], joint[b, k + 2])
    for i in range(link[b, N_TRANS]):
        k, e = SLIDE_AXES + 3 * i, MIX + 12 * i
        x, y, z = joint[b, k], joint[b, k + 1], joint[b, k + 2]
        gx, gy, gz = 0.0, 0.0, 0.0
        if a >= 0:
            x, y, z = turned(table, a, matrix, x, y, z)
            gx, gy, gz = cross(
                px + table[b, place] - table[a, place],
                py + table[b, place + 1] - table[a, place + 1],
                pz + table[b, place + 2] - table[a, place + 2],
                x, y, z,
            )  # fmt: skip
        # slopes by dx and φ of the child, then of the parent, with which the axis turns
        slope = x, y, z, *cross(px, py, pz, x, y, z), -x, -y, -z, -gx, -gy, -gz
        for n in range(12):
            patch[b, e + n] = slope[n]


@inlined
def _rotations(link, joint, table, matrix, patch, b, a, x, y, z, sign):
    """Write the slopes of the components of a rotation vector (x, y, z) along the axes, by rotations at a node."""
    slides = link[b, N_TRANS]
    for i in range(link[b, N_ROT]):
        k, e = TURN_AXES + 3 * i, MIX + 12 * (slides + i)
        for n in range(12):
            patch[b, e + n] = 0.0
        for m in range(3):
            ux, uy, uz = slope_of_vector(x, y, z, 1.0 * (m == 0), 1.0 * (m == 1), 1.0 * (m == 2))
            along = sign * (joint[b, k] * ux + joint[b, k + 1] * uy + joint[b, k + 2] * uz)
            for n in range(3):
                patch[b, e + 3 + n] += along * table[b, matrix + 3 * n + m]
                patch[b, e + 9 + n] -= along * table[b, matrix + 3 * n + m] if a >= 0 else 0.0
