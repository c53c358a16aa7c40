"""Solution of the sparse system for many right-hand sides: `tree_solve.solve` for many columns at once."""

from __future__ import annotations

from cbsim.dynamics.kernels.columns import (
    ARM2,
    ARM3,
    DOF,
    FIRST,
    FLAGS,
    LAST,
    LEFT,
    LOCAL,
    LOOP_JOINT,
    NEIGHBOUR,
    NODE,
    PIVOT,
    RIGHT,
    UP,
    U,
    W,
)
from cbsim.dynamics.kernels.gradients.tables import MIX, add_product, set_cross
from cbsim.jit import inner

__all__ = ["solve_columns"]


@inner
def solve_columns(link, link_work, program, fan, fanned, patch, carry, missing, answer, left, columns):
    """Find the response at node 3: ``answer`` (joint increments), ``carry`` (body increments).

    On entry ``missing`` holds residuals along LEFT, ``carry`` residual wrenches of bodies; both are overwritten, and so
    are the first six rows of ``left``.
    """
    for p in range(len(program)):
        b = program[p, NODE]
        dof, r = link[b, DOF], 6 * b
        # residuals along the free motions, with the wrenches that descendants and neighbours have passed on
        add_product(missing, r, 1.0, link_work, b, LEFT, dof, 6, 6, 1, carry, r, 0, columns)
        _answer(link, link_work, b, missing, answer, left, columns)
        # neighbours are eliminated later: they receive wrenches as the parent does
        for f in range(program[p, FIRST], program[p, LAST]):
            add_product(carry, 6 * fan[f, NEIGHBOUR], 1.0, fanned, f, 0, 6, dof, 1, 6, answer, r, 0, columns)
        a = link[b, UP]
        if a >= 0:
            add_product(carry, r, 1.0, link_work, b, U, 6, dof, 1, 6, answer, r, 0, columns)
            # a wrench on the child as one on the parent: the same force, and the moment of the arm at node 2
            for i in range(6):
                for k in range(columns):
                    carry[6 * a + i, k] += carry[r + i, k]
            set_cross(patch, b, MIX, link_work[b, ARM2], link_work[b, ARM2 + 1], link_work[b, ARM2 + 2])
            add_product(carry, 6 * a + 3, 1.0, patch, b, MIX, 3, 3, 3, 1, carry, r, 0, columns)
    # back substitution, in the opposite order
    for p in range(len(program) - 1, -1, -1):
        _descend(link, link_work, program, fan, fanned, patch, carry, missing, answer, left, columns, p)


@inner
def _answer(link, link_work, b, missing, answer, left, columns):
    """Find the response of a node to its residual; with several free motions, refined once (`tree.solve_pivot`)."""
    dof, r = link[b, DOF], 6 * b
    for i in range(dof):
        for k in range(columns):
            answer[r + i, k], left[i, k] = 0.0, missing[r + i, k]
    add_product(answer, r, -1.0, link_work, b, PIVOT, dof, dof, 6, 1, missing, r, 0, columns)
    # PIVOT is the inverse, LOCAL the matrix itself
    if dof > 1 and not link[b, FLAGS] & LOOP_JOINT:
        add_product(left, 0, 1.0, link_work, b, LOCAL, dof, dof, 6, 1, answer, r, 0, columns)
        add_product(answer, r, -1.0, link_work, b, PIVOT, dof, dof, 6, 1, left, 0, 0, columns)


@inner
def _descend(link, link_work, program, fan, fanned, patch, carry, missing, answer, left, columns, p):
    """Response of a node from those of its parent and its neighbours, eliminated after it."""
    b = program[p, NODE]
    dof, a, r = link[b, DOF], link[b, UP], 6 * b
    for i in range(6):
        for k in range(columns):
            carry[r + i, k] = carry[6 * a + i, k] if a >= 0 else 0.0
    if a >= 0:
        # rigid motion of the child with its parent: φ × arm at node 3
        set_cross(patch, b, MIX, -link_work[b, ARM3], -link_work[b, ARM3 + 1], -link_work[b, ARM3 + 2])
        add_product(carry, r, 1.0, patch, b, MIX, 3, 3, 3, 1, carry, 6 * a + 3, 0, columns)
        add_product(missing, r, 1.0, link_work, b, W, dof, 6, 6, 1, carry, r, 0, columns)
    for f in range(program[p, FIRST], program[p, LAST]):
        add_product(missing, r, 1.0, fanned, f, 36, dof, 6, 6, 1, carry, 6 * fan[f, NEIGHBOUR], 0, columns)
    # the motion of parent and neighbours has changed the residual
    if a >= 0 or program[p, LAST] > program[p, FIRST]:
        _answer(link, link_work, b, missing, answer, left, columns)
    add_product(carry, r, 1.0, link_work, b, RIGHT, 6, dof, 1, 6, answer, r, 0, columns)
