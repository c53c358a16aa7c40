"""Seeds of gradients: variations of the data of a step, as motions of every body at nodes 2 and 1.

Rows of a link in ``seed``: dx and φ at node 2, dx and φ at node 1, in the world. Columns: first those that move node
2 (and node 1 with it), as many that move node 1 alone, then inputs, which move nothing. In minimal coordinates they
are the coordinates and velocities of the joints, link by link: a joint moves all its descendants like one body, about
its pose at node 2 and at node 1. In maximal coordinates they are those of the bodies.
"""

from __future__ import annotations

from cbsim.dynamics.kernels.algebra import cross, dot, product, turn, turned
from cbsim.dynamics.kernels.begin_step import turn_between
from cbsim.dynamics.kernels.columns import (
    ARM2,
    BODY,
    CHILD_VERTEX,
    DOF,
    N_ROT,
    N_TRANS,
    PARENT,
    R2,
    RELATIVE2,
    SLIDE_AXES,
    TURN_AXES,
)
from cbsim.dynamics.kernels.gradients.tables import (
    FIRST_COLUMN,
    LAST_COLUMN,
    MIX,
    OWN_COLUMN,
    Q1,
    R1,
    X1,
    add_product,
    set_cross,
    turning,
)
from cbsim.dynamics.kernels.vectors import rotation_vector
from cbsim.jit import inlined, inner

__all__ = ["lay_out", "maximal_seeds", "minimal_seeds", "step_before", "turn_of_step"]


@inner
def lay_out(links, link, span, where, minimal):
    """Write the range of columns in which each link moves, its own first column, and the state index of each column.

    Return the number of columns that move node 2.
    """
    half = 0
    for b in range(links):
        own = link[b, DOF] if minimal else 6
        span[b, FIRST_COLUMN], span[b, LAST_COLUMN], span[b, OWN_COLUMN] = 0 if minimal else half, half + own, half
        half += own
    for b in range(links):
        n, o = span[b, OWN_COLUMN], 12 * link[b, BODY]
        for i in range(span[b, LAST_COLUMN] - n):
            if minimal:
                # order of a minimal state: coordinates, then velocities, joint by joint
                where[n + i], where[half + n + i] = 2 * n + i, n + span[b, LAST_COLUMN] + i
            else:
                # order of the tangent of a maximal state: x, v, phi, w of every body
                where[n + i] = o + (i if i < 3 else 3 + i)
                where[half + n + i] = o + (3 + i if i < 3 else 6 + i)
    return half


@inner
def maximal_seeds(links, link_work, before, seed, h, half):
    """Write the seeds of the bodies: (x, phi) moved with both nodes, then (v, w); phi is half a rotation vector."""
    for b in range(links):
        r, n = 12 * b, 6 * b
        for i in range(3):
            # x₁ = x₂ − h v: node 1 moves with x, and against v
            seed[r + i, n + i], seed[r + 6 + i, n + i], seed[r + 6 + i, half + n + i] = 1.0, 1.0, -h
        s, x, y, z = turn_of_step(link_work, before, b)
        for i in range(3):
            ex, ey, ez = link_work[b, R2 + i], link_work[b, R2 + 3 + i], link_work[b, R2 + 6 + i]
            # q₁ follows from w through √(1 − p²): slope of the rotation vector of q₁ by w
            along = (x * ex + y * ey + z * ez) / s
            ux, uy, uz = cross(x, y, z, ex, ey, ez)
            turned_by = -h * (s * ex - ux + along * x), -h * (s * ey - uy + along * y), -h * (s * ez - uz + along * z)
            direction = 2.0 * ex, 2.0 * ey, 2.0 * ez
            for m in range(3):
                seed[r + 3 + m, n + 3 + i], seed[r + 9 + m, n + 3 + i] = direction[m], direction[m]
                seed[r + 9 + m, half + n + 3 + i] = turned_by[m]


@inlined
def turn_of_step(link_work, before, b):
    """Rotation q₂ ∘ q₁⁻¹ of the last step, its axis in the world."""
    o, n = Q1, 3
    s, x, y, z = product(
        link_work[b, n], link_work[b, n + 1], link_work[b, n + 2], link_work[b, n + 3],
        before[b, o], -before[b, o + 1], -before[b, o + 2], -before[b, o + 3],
    )  # fmt: skip
    if s < 0.0:
        s, x, y, z = -s, -x, -y, -z
    return s, x, y, z


@inlined
def step_before(link, joint, link_work, before, b):
    """Rotation r₁⁻¹ ∘ r₂ of the joint of link b in the last step, in the child's frame."""
    a, o = link[b, PARENT], RELATIVE2
    s, x, y, z = turn_between(link, joint, before, b, a, b, Q1)
    s, x, y, z = product(s, -x, -y, -z, link_work[b, o], link_work[b, o + 1], link_work[b, o + 2], link_work[b, o + 3])
    if s < 0.0:
        s, x, y, z = -s, -x, -y, -z
    return s, x, y, z


@inner
def minimal_seeds(links, link, joint, link_work, before, patch, span, seed, h, half):
    """Write the seeds of the joints: coordinates with velocities held, then velocities."""
    for b in range(links):
        a, n, r = link[b, PARENT], span[b, OWN_COLUMN], 12 * b
        if a >= 0:
            for node in range(2):
                out, parent = r + 6 * node, 12 * a + 6 * node
                if node == 0:
                    x, y, z = link_work[b, ARM2], link_work[b, ARM2 + 1], link_work[b, ARM2 + 2]
                else:
                    x, y, z = (
                        before[b, X1] - before[a, X1],
                        before[b, X1 + 1] - before[a, X1 + 1],
                        before[b, X1 + 2] - before[a, X1 + 2],
                    )
                # a joint moves with its parent like one body: φ × arm is added to the translation
                set_cross(patch, b, MIX, -x, -y, -z)
                # node 2 moves in the first half of the columns, node 1 in both
                for which in range(1 + node):
                    start = which * half
                    for m in range(6):
                        for k in range(start, start + n):
                            seed[out + m, k] = seed[parent + m, k]
                    add_product(seed, out, 1.0, patch, b, MIX, 3, 3, 3, 1, seed, parent + 3, start, start + n)
        _own_seeds(link, joint, link_work, before, seed, b, a, r, n, half + n, h)


@inlined
def _own_seeds(link, joint, link_work, before, seed, b, a, r, n, v, h):
    """Write the columns of the joint's own coordinates, from n on, and velocities, from v on."""
    slides, turns = link[b, N_TRANS], link[b, N_ROT]
    for i in range(slides):
        k = SLIDE_AXES + 3 * i
        x, y, z = joint[b, k], joint[b, k + 1], joint[b, k + 2]
        u, e, w = x, y, z
        if a >= 0:
            u, e, w = turned(before, a, R1, x, y, z)
            x, y, z = turned(link_work, a, R2, x, y, z)
        # velocity held: node 1 moves with node 2; by the velocity alone, node 1 moves by −h
        seed[r, n + i], seed[r + 1, n + i], seed[r + 2, n + i] = x, y, z
        seed[r + 6, n + i], seed[r + 7, n + i], seed[r + 8, n + i] = u, e, w
        seed[r + 6, v + i], seed[r + 7, v + i], seed[r + 8, v + i] = -h * u, -h * e, -h * w
    k, o = CHILD_VERTEX, RELATIVE2
    px, py, pz = turned(link_work, b, R2, joint[b, k], joint[b, k + 1], joint[b, k + 2])
    ux, uy, uz = turned(before, b, R1, joint[b, k], joint[b, k + 1], joint[b, k + 2])
    ax, ay, az, bx, by, bz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    s, x, y, z = 1.0, 0.0, 0.0, 0.0
    if turns > 1:
        s, x, y, z = step_before(link, joint, link_work, before, b)
        ax, ay, az = rotation_vector(link_work[b, o], link_work[b, o + 1], link_work[b, o + 2], link_work[b, o + 3])
        bx, by, bz = rotation_vector(s, x, y, z)
    for i in range(turns):
        k = TURN_AXES + 3 * i
        ex, ey, ez = joint[b, k], joint[b, k + 1], joint[b, k + 2]
        fx, fy, fz, gx, gy, gz = ex, ey, ez, ex, ey, ez
        if turns > 1:
            # coordinates are components of a rotation vector: the rotation that changes one of them
            ex, ey, ez = turning(ax, ay, az, ex, ey, ez)
            # the same change seen at node 1, where the step's rotation is held
            gx, gy, gz = turn(s, x, y, z, ex, ey, ez)
        if turns == 2:
            # and keeps the constraint of two free rotations at node 1
            of_turn, of_rate = _stay(joint, link_work, b, i, bx, by, bz, ex, ey, ez)
            k = TURN_AXES + 6
            nx, ny, nz = joint[b, k], joint[b, k + 1], joint[b, k + 2]
            qx, qy, qz = turning(-bx, -by, -bz, of_turn * nx, of_turn * ny, of_turn * nz)
            gx, gy, gz = gx - qx, gy - qy, gz - qz
            fx, fy, fz = fx + of_rate * nx, fy + of_rate * ny, fz + of_rate * nz
        if turns > 1:
            fx, fy, fz = turning(-bx, -by, -bz, fx, fy, fz)
        ex, ey, ez = turned(link_work, b, R2, ex, ey, ez)
        _turn_seed(seed, r, n + slides + i, px, py, pz, ex, ey, ez)
        gx, gy, gz = turned(before, b, R1, gx, gy, gz)
        _turn_seed(seed, r + 6, n + slides + i, ux, uy, uz, gx, gy, gz)
        fx, fy, fz = turned(before, b, R1, -h * fx, -h * fy, -h * fz)
        _turn_seed(seed, r + 6, v + slides + i, ux, uy, uz, fx, fy, fz)


@inlined
def _stay(joint, link_work, b, i, bx, by, bz, ex, ey, ez):
    """Slopes of the last step's rotation (b) along the constrained axis of two free rotations.

    By a rotation (e) at node 2 with the other components held, and by their component i: at node 1 the joint
    satisfies its constraint too, s b₃ + r₁ b₂ − r₂ b₁ = 0 (`cbsim.dynamics.kernels.minimal`).
    """
    o, k = RELATIVE2, TURN_AXES
    s, x, y, z = link_work[b, o], link_work[b, o + 1], link_work[b, o + 2], link_work[b, o + 3]
    if abs(s) < 1e-9:
        return 0.0, 0.0
    r1, r2 = dot(joint, b, k, x, y, z), dot(joint, b, k + 3, x, y, z)
    b1, b2, b3 = dot(joint, b, k, bx, by, bz), dot(joint, b, k + 3, bx, by, bz), dot(joint, b, k + 6, bx, by, bz)
    # derivatives of s, r₁ and r₂ by a rotation of the child
    ds = -0.5 * (x * ex + y * ey + z * ez)
    ux, uy, uz = cross(x, y, z, ex, ey, ez)
    ux, uy, uz = 0.5 * (s * ex + ux), 0.5 * (s * ey + uy), 0.5 * (s * ez + uz)
    of_turn = (dot(joint, b, k + 3, ux, uy, uz) * b1 - dot(joint, b, k, ux, uy, uz) * b2 - b3 * ds) / s
    return of_turn, (r2 if i == 0 else -r1) / s


@inlined
def _turn_seed(seed, r, column, px, py, pz, x, y, z):
    """Write a rotation (x, y, z) about the joint's point of the child, p from its centre of mass."""
    seed[r, column], seed[r + 1, column], seed[r + 2, column] = cross(px, py, pz, x, y, z)
    seed[r + 3, column], seed[r + 4, column], seed[r + 5, column] = x, y, z
