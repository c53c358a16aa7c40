"""Slopes of the residual wrench of a body by its motion at nodes 1 and 2, node 3 held.

The angular momentum that leaves node 2 rotates with both of its nodes, L(g q₂, g q₃) = g L(q₂, q₃), so its slope by
q₂ is −[L]× less the one by q₃, which `bodies.slope` writes. The arriving one is the same function reversed in time:
its slope by q₁ is minus that slope with the rotation of the step reversed.
"""

from __future__ import annotations

import math

from cbsim.dynamics.kernels.algebra import cross, product, rotation, turned
from cbsim.dynamics.kernels.bodies import slope
from cbsim.dynamics.kernels.columns import BODY, JW, PUSHED, Q2, R2, SPIN, TURN, TWISTED, VELOCITY, X2
from cbsim.dynamics.kernels.gradients.tables import BODY1, BODY2, Q1, R1, X1
from cbsim.jit import inlined, inner

__all__ = ["body_slopes", "last_node"]


@inner
def last_node(links, link, link_work, before, z, h):
    """Write the pose of each body at node 1, from its velocities."""
    for b in range(links):
        n, k = link[b, BODY], -0.5 * h
        for i in range(3):
            before[b, X1 + i] = link_work[b, X2 + i] - h * z[n, VELOCITY + i]
        x, y, w = k * z[n, SPIN], k * z[n, SPIN + 1], k * z[n, SPIN + 2]
        c = math.sqrt(max(0.0, 1.0 - x * x - y * y - w * w))
        c, x, y, w = product(
            link_work[b, Q2], link_work[b, Q2 + 1], link_work[b, Q2 + 2], link_work[b, Q2 + 3], c, x, y, w
        )
        before[b, Q1], before[b, Q1 + 1], before[b, Q1 + 2], before[b, Q1 + 3] = c, x, y, w
        rotation(before, b, R1, c, x, y, w)


@inlined
def _spin(link_work, b, c, x, y, z, k, sign):
    """Angular momentum k (c J p + sign p × J p)."""
    jx = link_work[b, JW] * x + link_work[b, JW + 3] * y + link_work[b, JW + 4] * z
    jy = link_work[b, JW + 3] * x + link_work[b, JW + 1] * y + link_work[b, JW + 5] * z
    jz = link_work[b, JW + 4] * x + link_work[b, JW + 5] * y + link_work[b, JW + 2] * z
    lx, ly, lz = cross(x, y, z, jx, jy, jz)
    return k * (c * jx + sign * lx), k * (c * jy + sign * ly), k * (c * jz + sign * lz)


@inner
def body_slopes(links, link, joint, link_work, patch, z, external, before, h):
    """Write BODY2 and BODY1 of every link; ``before`` [s] is the length of the last step, ``h`` of this one."""
    pull = 0.5 * (before + h)
    for b in range(links):
        n, k = link[b, BODY], 0.5 * before
        c, x, y, w = link_work[b, TURN], link_work[b, TURN + 1], link_work[b, TURN + 2], link_work[b, TURN + 3]
        lx, ly, lz = _spin(link_work, b, c, x, y, w, 2.0 / h, 1.0)
        # slope by q₃, of which the one by q₂ is the negative, less the rotation of both
        slope(joint, link_work, patch[:, BODY2 : BODY2 + 36], b, h)
        px, py, pz = turned(link_work, b, R2, k * z[n, SPIN], k * z[n, SPIN + 1], k * z[n, SPIN + 2])
        pc = math.sqrt(max(0.0, 1.0 - px * px - py * py - pz * pz))
        # the incoming momentum is the outgoing one with the rotation reversed
        link_work[b, TURN], link_work[b, TURN + 1], link_work[b, TURN + 2], link_work[b, TURN + 3] = pc, -px, -py, -pz
        slope(joint, link_work, patch[:, BODY1 : BODY1 + 36], b, before)
        link_work[b, TURN], link_work[b, TURN + 1], link_work[b, TURN + 2], link_work[b, TURN + 3] = c, x, y, w
        # by q₂: minus the slope by the other node of either momentum, and below the rotation of both
        for m in range(36):
            patch[b, BODY2 + m] = -patch[b, BODY2 + m] - patch[b, BODY1 + m]
        mx, my, mz = _spin(link_work, b, pc, px, py, pz, 2.0 / before, -1.0)
        fx, fy, fz = turned(link_work, b, R2, external[n, PUSHED], external[n, PUSHED + 1], external[n, PUSHED + 2])
        tx, ty, tz = turned(link_work, b, R2, external[n, TWISTED], external[n, TWISTED + 1], external[n, TWISTED + 2])
        # external wrenches are given in the body's frame, and rotate with node 2
        # rotating a vector L by φ adds −[L]× φ: outgoing minus, incoming and external torques plus
        _add_cross(patch, b, BODY2 + 3, pull * fx, pull * fy, pull * fz)
        _add_cross(patch, b, BODY2 + 21, mx - lx + pull * tx, my - ly + pull * ty, mz - lz + pull * tz)


@inlined
def _add_cross(patch, b, k, x, y, z):
    """Add the matrix of v × · to a quarter of a 6 x 6 block."""
    patch[b, k + 1] -= z
    patch[b, k + 2] += y
    patch[b, k + 6] += z
    patch[b, k + 8] -= x
    patch[b, k + 12] -= y
    patch[b, k + 13] += x
