"""Sparse factorization of the bodies' system: residual wrenches gathered towards the root, nodes eliminated.

Newton's equations of a mechanism are those of its bodies, connected by joints. A joint lets its child move along RIGHT
at node 3, and its constraint impulse does no work along LEFT at node 2, so body by body, leaves first, the child's six
unknowns are eliminated, with a (degrees of freedom)² pivot per joint. This is block elimination of the
sparse matrix of the graph with the tree's constraints eliminated beforehand (docs/theory/joints_and_loops.md §4; on a
tree the recursion is Featherstone's, made unsymmetric). Loop joints and contacts between bodies couple nodes that the
tree does not; their blocks are kept in ``block`` beside those of the nodes, and the fan of a node is the set of nodes
to which it is coupled when it is eliminated.
"""

from __future__ import annotations

import math

from cbsim.dynamics.kernels.algebra import cross, multiply_blocks
from cbsim.dynamics.kernels.columns import (
    APPLIED,
    ARM2,
    ARM3,
    COLUMN_FAN,
    DAMPED,
    DELTA,
    DOF,
    FINENESS,
    FIRST,
    FIRST_PAIR,
    FLAGS,
    FREE,
    FROM,
    LAST,
    LAST_PAIR,
    LEFT,
    LEFT_OPEN,
    LOCAL,
    LOOP_JOINT,
    MISSING,
    NODE,
    OWN,
    PARENT_FROM,
    PARENT_TO,
    PIVOT,
    RESIDUAL,
    RIGHT,
    ROW_FAN,
    ROWED,
    STEP,
    TARGET,
    TO,
    UP,
    U,
    W,
)
from cbsim.jit import inlined, inner

__all__ = ["eliminate", "gather", "hand_over", "solve_pivot"]

SOFTENED = 1e-11  # share of the largest pivot of a loop joint that is added to each of its pivots
IMPLIED = 2.0 * SOFTENED  # pivot below which a row is implied by others: at least half of it is the added share


@inlined
def gather(links, link, joint, link_work):
    """Sum the residual wrenches of each joint's descendants, and write the residual along each free motion.

    Return the largest residual, scaled by `FINENESS` for bodies lighter than a kilogram; infinite if any is NaN, since
    the maximum of a number and NaN may be the number.
    """
    worst, total = 0.0, 0.0
    for b in range(links - 1, -1, -1):
        for i in range(link[b, DOF]):
            # LEFTᵀ times the summed wrench, minus what the joint itself applies along its free motions
            o = LEFT + 6 * i
            e = -link_work[b, APPLIED + i] - link_work[b, OWN + i]
            if link[b, FLAGS] & FREE:
                e += link_work[b, RESIDUAL + i]
            else:
                for j in range(6):
                    e += link_work[b, o + j] * link_work[b, RESIDUAL + j]
            link_work[b, MISSING + i] = e
            worst = max(worst, joint[b, FINENESS] * abs(e))
            total += e
        a = link[b, UP]
        if a >= 0:
            hand_over(link_work, a, b, RESIDUAL, RESIDUAL)
    # a sum is NaN as soon as one of its terms is, unlike a maximum
    return math.inf if math.isnan(total) else worst


@inlined
def hand_over(link_work, a, b, source, target):
    """Add a wrench of body b to that of its parent a, about the parent's centre of mass at node 2."""
    fx, fy, fz = link_work[b, source], link_work[b, source + 1], link_work[b, source + 2]
    tx, ty, tz = cross(link_work[b, ARM2], link_work[b, ARM2 + 1], link_work[b, ARM2 + 2], fx, fy, fz)
    link_work[a, target] += fx
    link_work[a, target + 1] += fy
    link_work[a, target + 2] += fz
    link_work[a, target + 3] += link_work[b, source + 3] + tx
    link_work[a, target + 4] += link_work[b, source + 4] + ty
    link_work[a, target + 5] += link_work[b, source + 5] + tz


@inner
def eliminate(link, link_work, block, program, fan, pair, fanned):
    """Eliminate all nodes: the block of a parent receives the Schur complements of its children."""
    for p in range(len(program)):
        b = program[p, NODE]
        dof = link[b, DOF]
        if link[b, FLAGS] & FREE:
            # the block itself is kept in LOCAL for refinement
            for k in range(36):
                link_work[b, LOCAL + k] = link_work[b, PIVOT + k] = block[b, k]
            _invert(link_work, b, 6, -1.0)
            if program[p, LAST] > program[p, FIRST]:
                _spread_free(link_work, block, program, fan, pair, fanned, p, b)
            continue
        for i in range(dof):
            for j in range(6):
                u, w = 0.0, 0.0
                for k in range(6):
                    u += block[b, 6 * j + k] * link_work[b, RIGHT + 6 * i + k]
                    w += block[b, 6 * k + j] * link_work[b, LEFT + 6 * i + k]
                link_work[b, U + 6 * i + j] = u
                link_work[b, W + 6 * i + j] = w
        # U = block RIGHT and W = blockᵀ LEFT are what the parent couples to the joint by
        _pivot(link, link_work, b, dof)
        a = link[b, UP]
        if program[p, LAST] > program[p, FIRST]:
            _spread(link, link_work, block, program, fan, pair, fanned, p, a, b, dof)
        if a < 0:
            continue
        if dof == 1:
            for k in range(6):
                # one free motion: a rank-one update by the scalar inverse
                w = link_work[b, PIVOT] * link_work[b, W + k]
                for j in range(6):
                    block[b, 6 * j + k] -= link_work[b, U + j] * w
        else:
            _take(link, block, b, link_work, b, U, link_work, b, W, link_work, b, dof)
        # the block of the child, seen from the parent: motions of the parent, wrenches about its centre of mass
        _lift_motion(block, link_work, b, b)
        _lift_wrench(block, link_work, b, b, a)


@inlined
def _pivot(link, link_work, b, dof):
    """Write the inverse of LEFTᵀ block RIGHT + LOCAL; with several free motions, the matrix itself to LOCAL."""
    for i in range(dof):
        for j in range(dof):
            s = 0.0
            for k in range(6):
                s += link_work[b, LEFT + 6 * i + k] * link_work[b, U + 6 * j + k]
            link_work[b, PIVOT + 6 * i + j] = s
    # impulses of dampers and rows act on the joint alone
    if link[b, FLAGS] & (DAMPED | ROWED):
        for i in range(dof):
            for j in range(dof):
                link_work[b, PIVOT + 6 * i + j] += link_work[b, LOCAL + 6 * i + j]
    least = -1.0
    if link[b, FLAGS] & LOOP_JOINT:
        # implied rows of a loop have pivots of rounding size
        least = _soften(link_work, b, dof)
    elif dof == 1:
        link_work[b, PIVOT] = 1.0 / link_work[b, PIVOT]
        return
    else:
        for k in range(36):
            link_work[b, LOCAL + k] = link_work[b, PIVOT + k]
    _invert(link_work, b, dof, least)


@inlined
def _invert(link_work, b, dof, least):
    """Invert PIVOT in place by Gauss–Jordan elimination with diagonal pivoting.

    Rows and columns whose pivot is ``least`` or smaller are zero in the inverse: other rows imply them.
    """
    # bits of the rows that have been eliminated
    done = 0
    for _ in range(dof):
        # largest diagonal element among the rows that are left
        p, largest = 0, -1.0
        for i in range(dof):
            if not done >> i & 1 and abs(link_work[b, PIVOT + 7 * i]) > largest:
                p, largest = i, abs(link_work[b, PIVOT + 7 * i])
        if 0.0 <= largest <= least:
            _leave_out(link_work, b, dof, done)
            return
        done |= 1 << p
        # the identity column takes the place of the eliminated one
        inverse = 1.0 / link_work[b, PIVOT + 7 * p]
        link_work[b, PIVOT + 7 * p] = 1.0
        for j in range(dof):
            link_work[b, PIVOT + 6 * p + j] *= inverse
        for i in range(dof):
            if i == p:
                continue
            factor = link_work[b, PIVOT + 6 * i + p]
            link_work[b, PIVOT + 6 * i + p] = 0.0
            for j in range(dof):
                link_work[b, PIVOT + 6 * i + j] -= factor * link_work[b, PIVOT + 6 * p + j]


@inlined
def _leave_out(link_work, b, dof, done):
    """Zero the rows and columns of PIVOT that were not eliminated."""
    for i in range(dof):
        for j in range(dof):
            if not done >> i & 1 or not done >> j & 1:
                link_work[b, PIVOT + 6 * i + j] = 0.0


@inlined
def _soften(link_work, b, dof):
    """Add a little compliance to a loop joint's rows; return the largest pivot of a row that others imply.

    Source: docs/theory/joints_and_loops.md §5. The multipliers of implied rows keep their values: their
    solution would be a rounding error divided by a pivot of 1e-13. The rows that hold a plane loop in its plane would
    then act at random, and along the plane as soon as a body rotates out of it.
    """
    largest = (
        0.01  # [1/kg h] if no row constrains anything: a pivot of 1e-13, against 1e-2 and less of constraining rows
    )
    for i in range(dof):
        largest = max(largest, link_work[b, PIVOT + 7 * i])
    for i in range(dof):
        link_work[b, PIVOT + 7 * i] += SOFTENED * largest
    return IMPLIED * largest


@inlined
def _lift_motion(block, link_work, b, source):
    """Transform a block's columns from motions of body b to motions of its parent at node 3, in place."""
    rx, ry, rz = link_work[b, ARM3], link_work[b, ARM3 + 1], link_work[b, ARM3 + 2]
    for i in range(6):
        o = 6 * i
        # a rotation φ of the parent moves the child by φ × arm: column of φ = arm × column of translation
        x, y, z = cross(rx, ry, rz, block[source, o], block[source, o + 1], block[source, o + 2])
        block[source, o + 3] += x
        block[source, o + 4] += y
        block[source, o + 5] += z


@inlined
def _lift_wrench(block, link_work, b, source, target):
    """Add a block to another, its rows transformed from wrenches on body b to wrenches on its parent at node 2."""
    rx, ry, rz = link_work[b, ARM2], link_work[b, ARM2 + 1], link_work[b, ARM2 + 2]
    for o in range(6):
        # a force on the child has the moment arm × force about the parent
        x, y, z = cross(rx, ry, rz, block[source, o], block[source, o + 6], block[source, o + 12])
        block[target, o] += block[source, o]
        block[target, o + 6] += block[source, o + 6]
        block[target, o + 12] += block[source, o + 12]
        block[target, o + 18] += block[source, o + 18] + x
        block[target, o + 24] += block[source, o + 24] + y
        block[target, o + 30] += block[source, o + 30] + z


@inner
def _spread(link, link_work, block, program, fan, pair, fanned, p, a, b, dof):
    """Couple the neighbours of an eliminated node to one another and to its parent."""
    for f in range(program[p, FIRST], program[p, LAST]):
        to, back = fan[f, TO], fan[f, FROM]
        for i in range(dof):
            for j in range(6):
                u, w = 0.0, 0.0
                for k in range(6):
                    u += block[to, 6 * j + k] * link_work[b, RIGHT + 6 * i + k]
                    w += block[back, 6 * k + j] * link_work[b, LEFT + 6 * i + k]
                fanned[f, 6 * i + j] = u
                fanned[f, 36 + 6 * i + j] = w
    for f in range(program[p, FIRST], program[p, LAST]):
        if a < 0:
            break
        to, back = fan[f, TO], fan[f, FROM]
        # Schur complement between the neighbour and the parent, both ways
        _take(link, block, to, fanned, f, 0, link_work, b, W, link_work, b, dof)
        _take(link, block, back, link_work, b, U, fanned, f, 36, link_work, b, dof)
        _lift_motion(block, link_work, b, to)
        # blocks (c, b) and (b, c) now couple the neighbour to the parent
        target = fan[f, PARENT_TO]
        for k in range(36):
            block[target, k] += block[to, k]
        _lift_wrench(block, link_work, b, back, fan[f, PARENT_FROM])
    # neighbours of the node become neighbours of each other: fill-in
    for k in range(program[p, FIRST_PAIR], program[p, LAST_PAIR]):
        _take(
            link,
            block,
            pair[k, TARGET],
            fanned,
            pair[k, ROW_FAN],
            0,
            fanned,
            pair[k, COLUMN_FAN],
            36,
            link_work,
            b,
            dof,
        )


@inner
def _spread_free(link_work, block, program, fan, pair, fanned, p, b):
    """Couple the neighbours of a floating base, whose free motions are the world's axes, to one another."""
    for f in range(program[p, FIRST], program[p, LAST]):
        to, back = fan[f, TO], fan[f, FROM]
        for i in range(36):
            # right-hand side block (b, c), and the answer pivot⁻¹ (b, c) in columns 72 and on
            fanned[f, i] = fanned[f, 36 + i] = block[back, i]
            fanned[f, 72 + i] = 0.0
        for again in range(2):  # refined once, as in `solve_pivot`
            multiply_blocks(link_work, b, PIVOT, fanned, f, 0, fanned, f, 72, 1.0)
            if again == 0:
                multiply_blocks(block, b, 0, fanned, f, 72, fanned, f, 0, -1.0)
        for i in range(6):
            for j in range(6):
                # U of this neighbour, by rows of the free motions
                fanned[f, 6 * i + j] = block[to, 6 * j + i]
    for m in range(program[p, FIRST_PAIR], program[p, LAST_PAIR]):
        target, row, column = pair[m, TARGET], pair[m, ROW_FAN], pair[m, COLUMN_FAN]
        for n in range(6):
            s, t, v, x, y, w = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0  # six independent sums, which vectorize
            for i in range(6):
                u, o = fanned[row, 6 * i + n], 72 + 6 * i
                s, t, v = s + u * fanned[column, o], t + u * fanned[column, o + 1], v + u * fanned[column, o + 2]
                x, y, w = x + u * fanned[column, o + 3], y + u * fanned[column, o + 4], w + u * fanned[column, o + 5]
            o = 6 * n
            block[target, o] -= s
            block[target, o + 1] -= t
            block[target, o + 2] -= v
            block[target, o + 3] -= x
            block[target, o + 4] -= y
            block[target, o + 5] -= w


@inner
def _take(link, block, target, left, i, u, right, j, w, link_work, b, dof):
    """Subtract U pivot⁻¹ W from a block, column by column, with the inverted pivot of node b.

    Overwrites STEP and DELTA of the node.
    """
    for k in range(6):
        for m in range(dof):
            # column k of W as a right-hand side; STEP is −pivot⁻¹ of it
            link_work[b, DELTA + m] = right[j, w + 6 * m + k]
        solve_pivot(link, link_work, b, dof)
        for m in range(dof):
            s = link_work[b, STEP + m]
            for n in range(6):
                block[target, 6 * n + k] += left[i, u + 6 * m + n] * s


@inlined
def solve_pivot(link, link_work, b, dof):
    """Find the increment STEP of a node that cancels DELTA; with several free motions, refined once.

    A contact that is about to close is stiffer than a mass by ten orders of magnitude or more. The product with an
    inverse has rounding errors along the stiff direction as large as the force that is sought, and along the soft one
    if two bodies move as one and the forces between them cancel.
    """
    for i in range(dof):
        s = 0.0
        for j in range(dof):
            s -= link_work[b, PIVOT + 6 * i + j] * link_work[b, DELTA + j]
        link_work[b, STEP + i] = s
    if dof == 1 or link[b, FLAGS] & LOOP_JOINT:
        return
    for i in range(dof):
        # residual of the first answer, in the pivot before inversion
        s = link_work[b, DELTA + i]
        for j in range(dof):
            s += link_work[b, LOCAL + 6 * i + j] * link_work[b, STEP + j]
        link_work[b, LEFT_OPEN + i] = s
    for i in range(dof):
        for j in range(dof):
            link_work[b, STEP + i] -= link_work[b, PIVOT + 6 * i + j] * link_work[b, LEFT_OPEN + j]
