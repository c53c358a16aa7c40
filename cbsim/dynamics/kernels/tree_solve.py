"""Solution of the factorized sparse system: increments of joints and bodies from missing wrenches."""

from __future__ import annotations

from cbsim.dynamics.kernels.algebra import cross
from cbsim.dynamics.kernels.columns import (
    ARM3,
    CARRY,
    DELTA,
    DOF,
    FIRST,
    FLAGS,
    FREE,
    LAST,
    LEFT,
    MISSING,
    NEIGHBOUR,
    NODE,
    OFFERED,
    RIGHT,
    STEP,
    UP,
    U,
    W,
)
from cbsim.dynamics.kernels.tree import hand_over, solve_pivot
from cbsim.jit import inlined, inner

__all__ = ["solve"]


@inner
def solve(link, link_work, program, fan, fanned):
    """Find the joint increments STEP and the body increments DELTA that cancel the residuals MISSING.

    On entry CARRY holds the residual wrenches of bodies beyond RESIDUAL: those that contacts offer by themselves.
    """
    for p in range(len(program)):
        b = program[p, NODE]
        dof = link[b, DOF]
        for i in range(dof):
            # residual along LEFT, with what descendants and contacts have passed on
            g = link_work[b, MISSING + i] - link_work[b, OFFERED + i]
            if link[b, FLAGS] & FREE:
                g += link_work[b, CARRY + i]
            else:
                for j in range(6):
                    g += link_work[b, LEFT + 6 * i + j] * link_work[b, CARRY + j]
            link_work[b, DELTA + i] = g
        solve_pivot(link, link_work, b, dof)
        # the first 36 columns of a fan row are U of the neighbour, the next 36 its W
        for f in range(program[p, FIRST], program[p, LAST]):
            c = fan[f, NEIGHBOUR]
            for i in range(dof):
                for j in range(6):
                    link_work[c, CARRY + j] += fanned[f, 6 * i + j] * link_work[b, STEP + i]
        a = link[b, UP]
        if a >= 0:
            for i in range(dof):
                for j in range(6):
                    # and the wrench that is passed to the parent
                    link_work[b, CARRY + j] += link_work[b, U + 6 * i + j] * link_work[b, STEP + i]
            hand_over(link_work, a, b, CARRY, CARRY)
    for p in range(len(program) - 1, -1, -1):
        # back substitution, in the opposite order
        _descend(link, link_work, program, fan, fanned, p)


@inlined
def _descend(link, link_work, program, fan, fanned, p):
    """Increment of a node from those of its parent and its neighbours, eliminated after it."""
    b = program[p, NODE]
    dof = link[b, DOF]
    a = link[b, UP]
    # without a joint RIGHT is the identity: STEP is the motion of the body
    if link[b, FLAGS] & FREE:
        for f in range(program[p, FIRST], program[p, LAST]):
            for j in range(6):
                for k in range(6):
                    link_work[b, DELTA + j] += fanned[f, 36 + 6 * j + k] * link_work[fan[f, NEIGHBOUR], DELTA + k]
        if program[p, LAST] > program[p, FIRST]:
            solve_pivot(link, link_work, b, 6)
        for k in range(6):
            link_work[b, DELTA + k] = link_work[b, STEP + k]
        return
    x, y, z, u, v, w = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    if a >= 0:
        u, v, w = link_work[a, DELTA + 3], link_work[a, DELTA + 4], link_work[a, DELTA + 5]
        # rigid motion of the child with its parent
        x, y, z = cross(u, v, w, link_work[b, ARM3], link_work[b, ARM3 + 1], link_work[b, ARM3 + 2])
        x, y, z = x + link_work[a, DELTA], y + link_work[a, DELTA + 1], z + link_work[a, DELTA + 2]
    # DELTA still holds the right-hand side; its final value is the body's increment, written last
    for j in range(dof):
        o, t = W + 6 * j, 0.0
        if a >= 0:
            t = link_work[b, o] * x + link_work[b, o + 1] * y + link_work[b, o + 2] * z
            t += link_work[b, o + 3] * u + link_work[b, o + 4] * v + link_work[b, o + 5] * w
        for f in range(program[p, FIRST], program[p, LAST]):
            c = fan[f, NEIGHBOUR]
            for k in range(6):
                t += fanned[f, 36 + 6 * j + k] * link_work[c, DELTA + k]
        link_work[b, DELTA + j] += t
    if a >= 0 or program[p, LAST] > program[p, FIRST]:
        solve_pivot(link, link_work, b, dof)
    for i in range(dof):
        s, o = link_work[b, STEP + i], RIGHT + 6 * i
        x, y, z = x + s * link_work[b, o], y + s * link_work[b, o + 1], z + s * link_work[b, o + 2]
        u, v, w = u + s * link_work[b, o + 3], v + s * link_work[b, o + 4], w + s * link_work[b, o + 5]
    link_work[b, DELTA], link_work[b, DELTA + 1], link_work[b, DELTA + 2] = x, y, z
    link_work[b, DELTA + 3], link_work[b, DELTA + 4], link_work[b, DELTA + 5] = u, v, w
