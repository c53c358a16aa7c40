"""Dampers and implicit springs: impulses of a joint without bounds, in a step and after it.

A damper acts at a node, between two steps. Half of its impulse −d h v belongs to the step before, half to the step
after: −(d/2) (y₂ − y₁) − (d/2) (y₃ − y₂) with coordinates y at nodes 1 to 3, the midpoint rule, of second order. For a
strong damper the half before would reverse the motion, so its share is e = min(d/2, m/(2 h)), with m a lower bound of
the mass that the damper moves, and the step after has the rest. Then (M − h E) is at least M/2, a damper alone never
reverses a velocity, and never increases energy: ½Δ|v|²_M = −½|Δv|²_(M − hE) −
h|v⁺|²_(D − E/2) − (h/2)|v⁻|²_E. For h d > m the rule is of first order, and the more implicit the stronger the damper.

An implicit spring is evaluated at the end of a step: in addition to the impulse of a spring at node 2 over the time t
that forces act there, it adds −t k (y₃ − y₂), like a damper of t k in this step alone. It never increases energy,
whatever h² k/m, and dissipates it where that is not small: it is of first order.

About two or three free axes both act along the rotation vector of the joint's rotation in the step, in the child's
frame. Before the first part of a step, forces act longer than the part takes, and so do dampers. See
docs/theory/integrator.md §5.
"""

from __future__ import annotations

from cbsim.dynamics.kernels.algebra import product
from cbsim.dynamics.kernels.columns import (
    APPLIED,
    DAMPER,
    DAMPING,
    IMPLICIT,
    LEAST_MASS,
    LOCAL,
    N_ROT,
    N_TRANS,
    OWN,
    RELATIVE,
    RELATIVE2,
    SHIFT,
    SHIFT2,
    SLIDE_AXES,
)
from cbsim.dynamics.kernels.joints import free_turns
from cbsim.dynamics.kernels.minimal import along, joint_before
from cbsim.dynamics.kernels.vectors import rotation_vector, slope_of_vector
from cbsim.jit import inlined

__all__ = ["damp", "damp_before", "damp_slope", "share_after", "step_vector"]


@inlined
def share_after(joint, b, h):
    """Share e of a damper [N s/m and N m s/rad] that acts after a step of length h, on its velocity."""
    mass = joint[b, LEAST_MASS]
    return min(0.5 * joint[b, DAMPER], 0.5 * mass / abs(h)) if mass > 0.0 and h != 0.0 else 0.0


@inlined
def damp_before(link, joint, link_work, b, z, before, h):
    """Divide the joint's damper between two steps, and add to APPLIED the impulses of the one before.

    ``before`` [s] is the length of that step, 0 if velocities are those of node 2; it then has no impulses.
    """
    after = share_after(joint, b, before)
    # forces at node 2 act for half of either step; the step before has given its share already
    pull = 0.5 * (before + h)
    # per motion y₃ − y₂ of a coordinate: `pull` times d in all, less e over the whole step before, which is applied
    # below; an implicit spring adds its stiffness over the same time
    link_work[b, DAMPING] = (pull * joint[b, DAMPER] - before * after) / h + pull * joint[b, IMPLICIT]
    if after == 0.0:
        return
    slides, turns, o = link[b, N_TRANS], link[b, N_ROT], RELATIVE2
    # motion of the joint in the step before, from its coordinates at node 1
    dx, dy, dz, s, x, y, w = joint_before(link, joint, z, b, before)
    for i in range(slides):
        link_work[b, APPLIED + i] -= after * (link_work[b, SHIFT2 + i] - along(joint, b, SLIDE_AXES, i, dx, dy, dz))
    if turns == 0:
        return
    x, y, w = _vector_between(
        s, x, y, w, link_work[b, o], link_work[b, o + 1], link_work[b, o + 2], link_work[b, o + 3]
    )
    for i in range(turns):
        ax, ay, az = free_turns(
            joint, b, turns, i, link_work[b, o], link_work[b, o + 1], link_work[b, o + 2], link_work[b, o + 3]
        )
        link_work[b, APPLIED + slides + i] -= after * (ax * x + ay * y + az * w)


@inlined
def damp(link, joint, link_work, b):
    """Set OWN to the impulses of this step's share of the joint's damper."""
    slides, turns, d = link[b, N_TRANS], link[b, N_ROT], link_work[b, DAMPING]
    for i in range(slides):
        link_work[b, OWN + i] = -d * (link_work[b, SHIFT + i] - link_work[b, SHIFT2 + i])
    if turns == 0:
        return
    x, y, z = step_vector(link_work, b)
    o = RELATIVE2
    for i in range(turns):
        ax, ay, az = free_turns(
            joint, b, turns, i, link_work[b, o], link_work[b, o + 1], link_work[b, o + 2], link_work[b, o + 3]
        )
        link_work[b, OWN + slides + i] = -d * (ax * x + ay * y + az * z)


@inlined
def step_vector(link_work, b):
    """Rotation vector of the joint's rotation in this step, in the child's frame."""
    o, n = RELATIVE2, RELATIVE
    return _vector_between(
        link_work[b, o], link_work[b, o + 1], link_work[b, o + 2], link_work[b, o + 3],
        link_work[b, n], link_work[b, n + 1], link_work[b, n + 2], link_work[b, n + 3],
    )  # fmt: skip


@inlined
def _vector_between(p0, p1, p2, p3, q0, q1, q2, q3):
    """Rotation vector from one rotation to another, at most half a turn, in the rotated frame."""
    s, x, y, z = product(p0, -p1, -p2, -p3, q0, q1, q2, q3)
    # q and −q are the same rotation: take the one of at most half a turn
    if s < 0.0:
        s, x, y, z = -s, -x, -y, -z
    return rotation_vector(s, x, y, z)


@inlined
def damp_slope(link, joint, link_work, b):
    """Add the damper to LOCAL."""
    slides, turns, d = link[b, N_TRANS], link[b, N_ROT], link_work[b, DAMPING]
    for i in range(slides):
        link_work[b, LOCAL + 7 * i] += d  # LOCAL is 6 × 6: 7 i is on its diagonal
    # one axis: the rotation vector changes by the increment itself
    if turns == 1:
        link_work[b, LOCAL + 7 * slides] += d
        return
    x, y, z = step_vector(link_work, b)
    o, n = RELATIVE2, RELATIVE
    for j in range(turns):
        fx, fy, fz = free_turns(
            joint, b, turns, j, link_work[b, n], link_work[b, n + 1], link_work[b, n + 2], link_work[b, n + 3]
        )
        # of several axes by J times it, projected on the axes of node 2
        fx, fy, fz = slope_of_vector(x, y, z, fx, fy, fz)
        for i in range(turns):
            ax, ay, az = free_turns(
                joint, b, turns, i, link_work[b, o], link_work[b, o + 1], link_work[b, o + 2], link_work[b, o + 3]
            )
            link_work[b, LOCAL + 6 * (slides + i) + slides + j] += d * (ax * fx + ay * fy + az * fz)
