"""Slopes of joint residuals by node 2, node 3 and all impulses held: directions, springs, dampers.

The residual along LEFT is the sum of wrenches of the joint's descendants, minus the joint's own impulses. Motions (dx,
φ) of the child and of the parent rotate the directions; the relative rotation ρ = R_bᵀ (φ_b − φ_a) and the change of
the translation change springs and dampers, and rotate torques from the joint's frame to the child's. This includes
inputs: their directions are the columns of inputs, and the rotation of these belongs to motion.
"""

from __future__ import annotations

from cbsim.dynamics.kernels.algebra import cross, turn_back, turned
from cbsim.dynamics.kernels.begin_step import begin_joint, spring_pull
from cbsim.dynamics.kernels.columns import (
    ARM2,
    CHILD_VERTEX,
    DAMPED,
    DAMPING,
    DOF,
    FLAGS,
    FREE,
    INPUT,
    LEFT,
    N_ROT,
    N_TRANS,
    PARENT,
    R2,
    RELATIVE2,
    RESIDUAL,
    SLIDE_AXES,
    SPRING,
    SPRUNG,
    TURN_AXES,
    VELOCITIES,
)
from cbsim.dynamics.kernels.dampers import share_after, step_vector
from cbsim.dynamics.kernels.gradients.seeds import step_before
from cbsim.dynamics.kernels.gradients.tables import FIRST_COLUMN, HELD, JOINT, LAST_COLUMN, MIX, R1, X1, add_product
from cbsim.dynamics.kernels.joints import free_turns
from cbsim.dynamics.kernels.vectors import held_slope, rotation_vector, slope_of_vector
from cbsim.jit import inlined, inner

__all__ = ["damp_columns", "input_columns", "joint_slopes"]


@inlined
def _add(patch, b, k, x, y, z):
    patch[b, k] += x
    patch[b, k + 1] += y
    patch[b, k + 2] += z


@inner
def joint_slopes(links, link, joint, link_work, before, patch, inputs, pull, scaling):
    """Write JOINT of every link: rows along LEFT, columns (dx, φ) of the child and (dx, φ) of the parent at node 2.

    The step and the one before it have the length ``pull`` [s].
    """
    for b in range(links):
        slides, turns, a = link[b, N_TRANS], link[b, N_ROT], link[b, PARENT]
        flags = link[b, FLAGS]
        for k in range(72):
            patch[b, JOINT + k] = 0.0
        fx, fy, fz = link_work[b, RESIDUAL], link_work[b, RESIDUAL + 1], link_work[b, RESIDUAL + 2]
        tx, ty, tz = link_work[b, RESIDUAL + 3], link_work[b, RESIDUAL + 4], link_work[b, RESIDUAL + 5]
        k = CHILD_VERTEX
        px, py, pz = turned(link_work, b, R2, joint[b, k], joint[b, k + 1], joint[b, k + 2])
        # slope of the residual by the coordinate at node 2: the spring, the share e of the damper before, which ends at
        # node 2, and minus the share of this step, which begins there
        stiff = pull * joint[b, SPRING] if flags & SPRUNG else 0.0
        stiff += share_after(joint, b, pull) - link_work[b, DAMPING] if flags & DAMPED else 0.0
        for i in range(slides):
            o, e = LEFT + 6 * i, JOINT + 12 * i
            x, y, z = link_work[b, o], link_work[b, o + 1], link_work[b, o + 2]
            _add(patch, b, e, stiff * x, stiff * y, stiff * z)
            u, v, w = cross(px, py, pz, x, y, z)
            _add(patch, b, e + 3, stiff * u, stiff * v, stiff * w)
            if a >= 0:
                _add(patch, b, e + 6, -stiff * x, -stiff * y, -stiff * z)
                # the direction stands in the parent's frame, and turns with it
                u, v, w = cross(x, y, z, fx, fy, fz)
                _add(patch, b, e + 9, u, v, w)
                u, v, w = cross(
                    px + link_work[b, ARM2], py + link_work[b, ARM2 + 1], pz + link_work[b, ARM2 + 2], x, y, z
                )
                _add(patch, b, e + 9, -stiff * u, -stiff * v, -stiff * w)
        for i in range(0 if flags & FREE else turns):  # a floating base has the directions of the world
            o, e = LEFT + 6 * (slides + i), JOINT + 12 * (slides + i)
            # axes of rotation stand in the child's frame
            u, v, w = cross(link_work[b, o], link_work[b, o + 1], link_work[b, o + 2], fx, fy, fz)
            _add(patch, b, e + 3, u, v, w)
            u, v, w = cross(link_work[b, o + 3], link_work[b, o + 4], link_work[b, o + 5], tx, ty, tz)
            _add(patch, b, e + 3, u, v, w)
        if (turns > 1 and not flags & FREE) or (turns > 0 and flags & (SPRUNG | DAMPED)):
            ux, uy, uz = cross(fx, fy, fz, px, py, pz)
            _own_turning(link, joint, link_work, before, patch, b, inputs, pull, scaling, ux + tx, uy + ty, uz + tz)


@inner
def _own_turning(link, joint, link_work, before, patch, b, inputs, pull, scaling, tx, ty, tz):
    """Add the change by a relative rotation beyond that of the directions; (t) is the transmitted torque."""
    slides, turns, a, flags = link[b, N_TRANS], link[b, N_ROT], link[b, PARENT], link[b, FLAGS]
    spring = pull * joint[b, SPRING] if flags & SPRUNG else 0.0
    damper, ending = (link_work[b, DAMPING], share_after(joint, b, pull)) if flags & DAMPED else (0.0, 0.0)
    bx, by, bz = 0.0, 0.0, 0.0
    if ending != 0.0:
        bx, by, bz = rotation_vector(*step_before(link, joint, link_work, before, b))
    gx, gy, gz = begin_joint(link, joint, link_work, b, inputs, pull, scaling)
    o, k3 = RELATIVE2, TURN_AXES + 6
    s, vx, vy, vz = link_work[b, o], link_work[b, o + 1], link_work[b, o + 2], link_work[b, o + 3]
    ax, ay, az = rotation_vector(s, vx, vy, vz)
    dx, dy, dz = step_vector(link_work, b)
    px, py, pz = patch[b, HELD], patch[b, HELD + 1], patch[b, HELD + 2]
    if turns > 1:
        ux, uy, uz = spring_pull(joint, b, turns, spring, ax, ay, az)
        px, py, pz = px + ux, py + uy, pz + uz
        ux, uy, uz = slope_of_vector(ax, ay, az, ux, uy, uz)
        gx, gy, gz = gx - ux, gy - uy, gz - uz  # of inputs alone
    # inputs push along the joint's frame: about the child's axes they turn back when it turns
    gx, gy, gz = turn_back(s, vx, vy, vz, gx, gy, gz)
    # Jᵀ p is the torque of spring and stops about the child's axes, J p about those of a floating base, the world's
    way = -1.0 if flags & FREE else 1.0
    ux, uy, uz = slope_of_vector(-ax, -ay, -az, px, py, pz)
    nx, ny, nz = joint[b, k3], joint[b, k3 + 1], joint[b, k3 + 2]
    # c, the gradient of the constraint of two free rotations (docs/theory/joints_and_loops.md §2)
    cx, cy, cz = cross(nx, ny, nz, vx, vy, vz)
    cx, cy, cz = cx + s * nx, cy + s * ny, cz + s * nz
    scale = cx * cx + cy * cy + cz * cz
    # along the constrained direction of two free rotations, (t) minus the joint's own torque need not vanish
    wx, wy, wz = turned(link_work, b, R2, cx, cy, cz)
    across = wx * tx + wy * ty + wz * tz
    across += cx * (damper * dx - gx - ux) + cy * (damper * dy - gy - uy) + cz * (damper * dz - gz - uz)
    across += ending * (cx * bx + cy * by + cz * bz)
    across = across / scale if turns == 2 else 0.0
    # each small rotation of the child against the parent, in axes of the child
    for m in range(3):
        ex, ey, ez = 1.0 * (m == 0), 1.0 * (m == 1), 1.0 * (m == 2)
        # spring: change of the rotation vector, of the pull along its coordinates, and of the map from pull to torque
        hx, hy, hz = slope_of_vector(ax, ay, az, ex, ey, ez)
        qx, qy, qz = 0.0, 0.0, 0.0
        for k in range(TURN_AXES, TURN_AXES + 3 * turns, 3):
            along = spring * (hx * joint[b, k] + hy * joint[b, k + 1] + hz * joint[b, k + 2])
            qx, qy, qz = qx + along * joint[b, k], qy + along * joint[b, k + 1], qz + along * joint[b, k + 2]
        if turns > 1:
            qx, qy, qz = slope_of_vector(-way * ax, -way * ay, -way * az, qx, qy, qz)
            ux, uy, uz = held_slope(way * ax, way * ay, way * az, px, py, pz, way * hx, way * hy, way * hz)
            qx, qy, qz = qx - ux, qy - uy, qz - uz
        if turns > 1 and not flags & FREE:
            ux, uy, uz = cross(gx, gy, gz, ex, ey, ez)
            qx, qy, qz = qx - ux, qy - uy, qz - uz
        # dampers: of the motion in this step, which begins at node 2, and of that of the step before, which ends there
        ux, uy, uz = slope_of_vector(-dx, -dy, -dz, ex, ey, ez)
        qx, qy, qz = qx - damper * ux, qy - damper * uy, qz - damper * uz
        if ending != 0.0:
            ux, uy, uz = slope_of_vector(bx, by, bz, ex, ey, ez)
            qx, qy, qz = qx + ending * ux, qy + ending * uy, qz + ending * uz
        # free axes turn so that they stay normal to c
        if turns == 2:
            ux, uy, uz = cross(vx, vy, vz, ex, ey, ez)
            ux, uy, uz = cross(nx, ny, nz, 0.5 * (s * ex + ux), 0.5 * (s * ey + uy), 0.5 * (s * ez + uz))
            ds = -0.5 * (vx * ex + vy * ey + vz * ez)
            qx, qy, qz = qx - across * (ux + ds * nx), qy - across * (uy + ds * ny), qz - across * (uz + ds * nz)
        for i in range(turns):
            if flags & FREE:
                ux, uy, uz = 1.0 * (i == 0), 1.0 * (i == 1), 1.0 * (i == 2)
            else:
                ux, uy, uz = free_turns(joint, b, turns, i, s, vx, vy, vz)
            along, e = qx * ux + qy * uy + qz * uz, JOINT + 12 * (slides + i)
            for n in range(3):
                patch[b, e + 3 + n] += along * link_work[b, R2 + 3 * n + m]
                if a >= 0:
                    patch[b, e + 9 + n] -= along * link_work[b, R2 + 3 * n + m]


@inner
def damp_columns(links, link, joint, link_work, before, patch, span, seed, missing, half, length):
    """Add to columns of the state the damper impulses of the step before, of ``length`` [s], by node 1."""
    for b in range(links):
        d = share_after(joint, b, length)
        if not link[b, FLAGS] & DAMPED or d == 0.0:
            continue
        a = link[b, PARENT]
        _damp_slopes(link, joint, link_work, before, patch, b, a, d)
        for start in (0, half):
            first, last = start + span[b, FIRST_COLUMN], start + span[b, LAST_COLUMN]
            add_product(missing, 6 * b, 1.0, patch, b, MIX, link[b, DOF], 6, 12, 1, seed, 12 * b + 6, first, last)
            if a >= 0:
                first, last = start + span[a, FIRST_COLUMN], start + span[a, LAST_COLUMN]
                add_product(
                    missing, 6 * b, 1.0, patch, b, MIX + 6, link[b, DOF], 6, 12, 1, seed, 12 * a + 6, first, last
                )


@inlined
def _damp_slopes(link, joint, link_work, before, patch, b, a, d):
    """Write to MIX the residual along LEFT by motions (dx, φ) of the child and of the parent at node 1."""
    slides, turns, o = link[b, N_TRANS], link[b, N_ROT], RELATIVE2
    for k in range(72):
        patch[b, MIX + k] = 0.0
    k = CHILD_VERTEX
    px, py, pz = turned(before, b, R1, joint[b, k], joint[b, k + 1], joint[b, k + 2])
    for i in range(slides):
        e, k = MIX + 12 * i, SLIDE_AXES + 3 * i
        x, y, z = -d * joint[b, k], -d * joint[b, k + 1], -d * joint[b, k + 2]
        if a >= 0:
            x, y, z = turned(before, a, R1, x, y, z)
            ax, ay, az = (
                before[b, X1] - before[a, X1],
                before[b, X1 + 1] - before[a, X1 + 1],
                before[b, X1 + 2] - before[a, X1 + 2],
            )
            # the axis turns with the parent: (φ × a) · r = φ · (a × r), r from the parent's centre to the child's
            # vertex
            u, v, w = cross(px + ax, py + ay, pz + az, x, y, z)
            _add(patch, b, e + 6, -x, -y, -z)
            _add(patch, b, e + 9, -u, -v, -w)
        u, v, w = cross(px, py, pz, x, y, z)
        _add(patch, b, e, x, y, z)
        _add(patch, b, e + 3, u, v, w)
    if turns == 0:
        return
    # a small rotation of node 1 changes −b as one of node 2 changes b
    bx, by, bz = rotation_vector(*step_before(link, joint, link_work, before, b))
    for m in range(3):
        ux, uy, uz = slope_of_vector(-bx, -by, -bz, 1.0 * (m == 0), 1.0 * (m == 1), 1.0 * (m == 2))
        for i in range(turns):
            e = MIX + 12 * (slides + i)
            x, y, z = free_turns(
                joint, b, turns, i, link_work[b, o], link_work[b, o + 1], link_work[b, o + 2], link_work[b, o + 3]
            )
            along = -d * (x * ux + y * uy + z * uz)
            for n in range(3):
                patch[b, e + 3 + n] += along * before[b, R1 + 3 * n + m]
                if a >= 0:
                    patch[b, e + 9 + n] -= along * before[b, R1 + 3 * n + m]


@inner
def input_columns(links, link, joint, link_work, missing, load, first):
    """Write the columns of inputs, from column ``first`` on: the change of residuals by a unit input."""
    for j in range(links):
        slides, turns, o = link[j, N_TRANS], link[j, N_ROT], RELATIVE2
        s, x, y, z = link_work[j, o], link_work[j, o + 1], link_work[j, o + 2], link_work[j, o + 3]
        for i in range(slides):
            # inputs of motors are target velocities, in `target_columns`
            if not link[j, VELOCITIES] >> i & 1:
                missing[6 * j + i, first + link[j, INPUT] + i] = -load
        for i in range(turns):
            if link[j, VELOCITIES] >> (slides + i) & 1:
                continue
            k, column = TURN_AXES + 3 * i, first + link[j, INPUT] + slides + i
            tx, ty, tz = load * joint[j, k], load * joint[j, k + 1], load * joint[j, k + 2]
            if link[j, FLAGS] & FREE:
                missing[6 * j + 3, column], missing[6 * j + 4, column], missing[6 * j + 5, column] = -tx, -ty, -tz
                continue
            # one axis is the same in both bodies; others are those of the parent
            if turns > 1:
                tx, ty, tz = turn_back(s, x, y, z, tx, ty, tz)
            for m in range(turns):
                ax, ay, az = free_turns(joint, j, turns, m, s, x, y, z)
                missing[6 * j + slides + m, column] = -(ax * tx + ay * ty + az * tz)
