"""Dampers: what a joint does by itself at node 3, without bounds.

A damper's impulse is −d (y₃ − y₂), implicit: h d times the velocity of the step (dojo.md §2.4). About two or three
free axes it acts along the rotation vector of the step's joint rotation, in the child's frame. In the first of the
parts of a step it acts for as long as other forces do there, which is more than that part.
"""

from __future__ import annotations

from cbsim.dynamics.kernels.algebra import product
from cbsim.dynamics.kernels.columns import DAMPING, LOCAL, OWN, RELATIVE, RELATIVE2, SHIFT, SHIFT2, SLIDES, TURNS
from cbsim.dynamics.kernels.joints import free_turns
from cbsim.dynamics.kernels.vectors import rotation_vector, slope_of_vector
from cbsim.jit import inlined

__all__ = ["damp", "damp_slope", "step_vector"]


@inlined
def damp(link, joint, arena, b):
    """Set OWN to the impulses of the joint's damper."""
    slides, turns, d = link[b, SLIDES], link[b, TURNS], arena[b, DAMPING]
    for i in range(slides):
        arena[b, OWN + i] = -d * (arena[b, SHIFT + i] - arena[b, SHIFT2 + i])
    if turns == 0:
        return
    x, y, z = step_vector(arena, b)
    o = RELATIVE2
    for i in range(turns):
        ax, ay, az = free_turns(joint, b, turns, i, arena[b, o], arena[b, o + 1], arena[b, o + 2], arena[b, o + 3])
        arena[b, OWN + slides + i] = -d * (ax * x + ay * y + az * z)


@inlined
def step_vector(arena, b):
    """Rotation vector of the joint's rotation in this step, in the child's frame."""
    o, n = RELATIVE2, RELATIVE
    s, x, y, z = product(
        arena[b, o], -arena[b, o + 1], -arena[b, o + 2], -arena[b, o + 3],
        arena[b, n], arena[b, n + 1], arena[b, n + 2], arena[b, n + 3],
    )  # fmt: skip
    if s < 0.0:
        s, x, y, z = -s, -x, -y, -z
    return rotation_vector(s, x, y, z)


@inlined
def damp_slope(link, joint, arena, b):
    """Add the damper to LOCAL."""
    slides, turns, d = link[b, SLIDES], link[b, TURNS], arena[b, DAMPING]
    for i in range(slides):
        arena[b, LOCAL + 7 * i] += d
    if turns == 1:
        arena[b, LOCAL + 7 * slides] += d
        return
    x, y, z = step_vector(arena, b)
    o, n = RELATIVE2, RELATIVE
    for j in range(turns):
        fx, fy, fz = free_turns(joint, b, turns, j, arena[b, n], arena[b, n + 1], arena[b, n + 2], arena[b, n + 3])
        fx, fy, fz = slope_of_vector(x, y, z, fx, fy, fz)
        for i in range(turns):
            ax, ay, az = free_turns(joint, b, turns, i, arena[b, o], arena[b, o + 1], arena[b, o + 2], arena[b, o + 3])
            arena[b, LOCAL + 6 * (slides + i) + slides + j] += d * (ax * fx + ay * fy + az * fz)
