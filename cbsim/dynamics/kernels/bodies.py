"""Bodies: residual momentum of a step, and its slope.

The discrete Euler-Lagrange equation of a body between nodes 2 and 3 (docs/theory/integrator.md §3), in world
axes. With the rotation of the step (c, p) = q₃ ∘ q₂⁻¹ and the inertia J in world axes at node 2, the outgoing
angular momentum is (2/h)(c J p + p × J p); for a rotation increment φ at node 3, dp = (c φ + φ × p) / 2
and dc = −p·φ / 2.
"""

from __future__ import annotations

from cbsim.dynamics.kernels.algebra import cross, product
from cbsim.dynamics.kernels.columns import JW, MASS, PUSH, Q2, Q3, RESIDUAL, TURN, TURN_BY_TURN, X2, X3
from cbsim.jit import inlined

__all__ = ["momentum", "slope"]


@inlined
def momentum(joint, link_work, b, h):
    """Write the residual wrench of the step of body b: force, torque about the centre of mass, as impulses."""
    # linear momentum of the step minus the incoming one
    rate = joint[b, MASS] / h
    link_work[b, RESIDUAL] = rate * (link_work[b, X3] - link_work[b, X2]) - link_work[b, PUSH]
    link_work[b, RESIDUAL + 1] = rate * (link_work[b, X3 + 1] - link_work[b, X2 + 1]) - link_work[b, PUSH + 1]
    link_work[b, RESIDUAL + 2] = rate * (link_work[b, X3 + 2] - link_work[b, X2 + 2]) - link_work[b, PUSH + 2]
    # rotation of the step, q₃ ∘ q₂⁻¹, in world axes
    c, x, y, z = product(
        link_work[b, Q3], link_work[b, Q3 + 1], link_work[b, Q3 + 2], link_work[b, Q3 + 3],
        link_work[b, Q2], -link_work[b, Q2 + 1], -link_work[b, Q2 + 2], -link_work[b, Q2 + 3],
    )  # fmt: skip
    # q and −q are the same rotation: take the shorter one
    if c < 0.0:
        c, x, y, z = -c, -x, -y, -z
    link_work[b, TURN], link_work[b, TURN + 1], link_work[b, TURN + 2], link_work[b, TURN + 3] = c, x, y, z
    # outgoing angular momentum (2/h) (c J p + p × J p)
    jx = link_work[b, JW] * x + link_work[b, JW + 3] * y + link_work[b, JW + 4] * z
    jy = link_work[b, JW + 3] * x + link_work[b, JW + 1] * y + link_work[b, JW + 5] * z
    jz = link_work[b, JW + 4] * x + link_work[b, JW + 5] * y + link_work[b, JW + 2] * z
    lx, ly, lz = cross(x, y, z, jx, jy, jz)
    k = 2.0 / h
    link_work[b, RESIDUAL + 3] = k * (c * jx + lx) - link_work[b, PUSH + 3]
    link_work[b, RESIDUAL + 4] = k * (c * jy + ly) - link_work[b, PUSH + 4]
    link_work[b, RESIDUAL + 5] = k * (c * jz + lz) - link_work[b, PUSH + 5]


@inlined
def slope(joint, link_work, block, b, h):
    """Write the derivative (6, 6) of the residual wrench by the increment (translation, rotation) at node 3."""
    for i in range(36):
        block[b, i] = 0.0
    k = 1.0 / h
    rate = joint[b, MASS] * k
    # translations: m / h on the diagonal
    block[b, 0], block[b, 7], block[b, 14] = rate, rate, rate
    c, x, y, z = link_work[b, TURN], link_work[b, TURN + 1], link_work[b, TURN + 2], link_work[b, TURN + 3]
    xx, yy, zz = link_work[b, JW], link_work[b, JW + 1], link_work[b, JW + 2]
    xy, xz, yz = link_work[b, JW + 3], link_work[b, JW + 4], link_work[b, JW + 5]
    jx, jy, jz = xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z
    # B = c J − [J p]× + [p]× J
    b11, b12, b13 = c * xx - z * xy + y * xz, c * xy + jz - z * yy + y * yz, c * xz - jy - z * yz + y * zz
    b21, b22, b23 = c * xy - jz + z * xx - x * xz, c * yy + z * xy - x * yz, c * yz + jx + z * xz - x * zz
    b31, b32, b33 = c * xz + jy - y * xx + x * xy, c * yz - jx - y * xy + x * yy, c * zz - y * xz + x * yz
    # B (c 1 − [p]×) / h − J p pᵀ / h in rows and columns 3 to 5, torque by rotation, which begin at 21 of 36
    # (B (c 1 − [p]×) − J p pᵀ) / h
    block[b, TURN_BY_TURN] = k * (c * b11 - (b12 * z - b13 * y) - jx * x)
    block[b, TURN_BY_TURN + 1] = k * (c * b12 - (b13 * x - b11 * z) - jx * y)
    block[b, TURN_BY_TURN + 2] = k * (c * b13 - (b11 * y - b12 * x) - jx * z)
    block[b, TURN_BY_TURN + 6] = k * (c * b21 - (b22 * z - b23 * y) - jy * x)
    block[b, TURN_BY_TURN + 7] = k * (c * b22 - (b23 * x - b21 * z) - jy * y)
    block[b, TURN_BY_TURN + 8] = k * (c * b23 - (b21 * y - b22 * x) - jy * z)
    block[b, TURN_BY_TURN + 12] = k * (c * b31 - (b32 * z - b33 * y) - jz * x)
    block[b, TURN_BY_TURN + 13] = k * (c * b32 - (b33 * x - b31 * z) - jz * y)
    block[b, TURN_BY_TURN + 14] = k * (c * b33 - (b31 * y - b32 * x) - jz * z)
