"""The sparse system: missing wrenches gathered towards the root, nodes eliminated, increments handed back.

Newton's equations of a mechanism are those of its bodies, tied by joints. A joint lets its child move along RIGHT at
node 3 and its constraint impulse does no work along LEFT at node 2, so body by body, leaves first, the child's six
unknowns leave the system: what stays is a (degrees of freedom)² pivot per joint. It is block elimination of the sparse
matrix of the graph with the tree's constraints taken out beforehand (docs/theory/joints_and_loops.md §4; on a tree the
recursion is Featherstone's, made unsymmetric). Chords and contacts between bodies tie nodes that the tree does not;
their blocks are kept in ``block`` beside those of the nodes themselves, and the fan of a node is what it is tied to
when it leaves.
"""

from __future__ import annotations

import math

from cbsim.dynamics.kernels.algebra import cross, multiply_blocks
from cbsim.dynamics.kernels.columns import (
    APPLIED,
    ARM2,
    ARM3,
    CARRY,
    CHORD,
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
    MISSING,
    NEIGHBOUR,
    NODE,
    OFFERED,
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

__all__ = ["eliminate", "gather", "solve"]


@inlined
def gather(links, link, joint, arena):
    """Sum the wrenches of all that a joint carries, and write what is missing along each free motion; its largest.

    The wrench of what is lighter than a kilogram counts by `FINENESS`. The largest is infinite where a number is none:
    the larger of two numbers of which one is none may be the other.
    """
    worst, total = 0.0, 0.0
    for b in range(links - 1, -1, -1):
        for i in range(link[b, DOF]):
            o = LEFT + 6 * i
            e = -arena[b, APPLIED + i] - arena[b, OWN + i]
            if link[b, FLAGS] & FREE:
                e += arena[b, RESIDUAL + i]
            else:
                for j in range(6):
                    e += arena[b, o + j] * arena[b, RESIDUAL + j]
            arena[b, MISSING + i] = e
            worst = max(worst, joint[b, FINENESS] * abs(e))
            total += e
        a = link[b, UP]
        if a >= 0:
            hand_over(arena, a, b, RESIDUAL, RESIDUAL)
    return math.inf if math.isnan(total) else worst


@inlined
def hand_over(arena, a, b, source, target):
    """Add a wrench of body b to that of its parent a, about the parent's centre of mass at node 2."""
    fx, fy, fz = arena[b, source], arena[b, source + 1], arena[b, source + 2]
    tx, ty, tz = cross(arena[b, ARM2], arena[b, ARM2 + 1], arena[b, ARM2 + 2], fx, fy, fz)
    arena[a, target] += fx
    arena[a, target + 1] += fy
    arena[a, target + 2] += fz
    arena[a, target + 3] += arena[b, source + 3] + tx
    arena[a, target + 4] += arena[b, source + 4] + ty
    arena[a, target + 5] += arena[b, source + 5] + tz


@inner
def eliminate(link, arena, block, program, fan, pair, fanned):
    """Take every node out of the system: the block of a parent receives what its children leave over."""
    for p in range(len(program)):
        b = program[p, NODE]
        dof = link[b, DOF]
        if link[b, FLAGS] & FREE:
            for k in range(36):
                arena[b, LOCAL + k] = arena[b, PIVOT + k] = block[b, k]
            _invert(arena, b, 6)
            if program[p, LAST] > program[p, FIRST]:
                _spread_free(arena, block, program, fan, pair, fanned, p, b)
            continue
        for i in range(dof):
            for j in range(6):
                u, w = 0.0, 0.0
                for k in range(6):
                    u += block[b, 6 * j + k] * arena[b, RIGHT + 6 * i + k]
                    w += block[b, 6 * k + j] * arena[b, LEFT + 6 * i + k]
                arena[b, U + 6 * i + j] = u
                arena[b, W + 6 * i + j] = w
        _pivot(link, arena, b, dof)
        a = link[b, UP]
        if program[p, LAST] > program[p, FIRST]:
            _spread(link, arena, block, program, fan, pair, fanned, p, a, b, dof)
        if a < 0:
            continue
        if dof == 1:
            for k in range(6):
                w = arena[b, PIVOT] * arena[b, W + k]
                for j in range(6):
                    block[b, 6 * j + k] -= arena[b, U + j] * w
        else:
            _take(link, block, b, arena, b, U, arena, b, W, arena, b, dof)
        _lift_motion(block, arena, b, b)
        _lift_wrench(block, arena, b, b, a)


@inlined
def _pivot(link, arena, b, dof):
    """Write the inverse of LEFTᵀ block RIGHT + LOCAL; of a joint with several free motions, what it is of to LOCAL."""
    for i in range(dof):
        for j in range(dof):
            s = 0.0
            for k in range(6):
                s += arena[b, LEFT + 6 * i + k] * arena[b, U + 6 * j + k]
            arena[b, PIVOT + 6 * i + j] = s
    if link[b, FLAGS] & (DAMPED | ROWED):
        for i in range(dof):
            for j in range(dof):
                arena[b, PIVOT + 6 * i + j] += arena[b, LOCAL + 6 * i + j]
    if link[b, FLAGS] & CHORD:
        _soften(arena, b, dof)
    if dof == 1:
        arena[b, PIVOT] = 1.0 / arena[b, PIVOT]
        return
    if not link[b, FLAGS] & CHORD:
        for k in range(36):
            arena[b, LOCAL + k] = arena[b, PIVOT + k]
    _invert(arena, b, dof)


@inlined
def _invert(arena, b, dof):
    """Invert PIVOT in place by Gauss and Jordan, the largest on the diagonal first."""
    done = 0
    for _ in range(dof):
        p, largest = 0, -1.0
        for i in range(dof):
            if not done >> i & 1 and abs(arena[b, PIVOT + 7 * i]) > largest:
                p, largest = i, abs(arena[b, PIVOT + 7 * i])
        done |= 1 << p
        inverse = 1.0 / arena[b, PIVOT + 7 * p]
        arena[b, PIVOT + 7 * p] = 1.0
        for j in range(dof):
            arena[b, PIVOT + 6 * p + j] *= inverse
        for i in range(dof):
            if i == p:
                continue
            factor = arena[b, PIVOT + 6 * i + p]
            arena[b, PIVOT + 6 * i + p] = 0.0
            for j in range(dof):
                arena[b, PIVOT + 6 * i + j] -= factor * arena[b, PIVOT + 6 * p + j]


@inlined
def _soften(arena, b, dof):
    """Let a chord's rows give a little, so that one which another implies has a pivot.

    Source: docs/theory/joints_and_loops.md §5.
    """
    largest = 0.01  # [1/kg h] where no row constrains anything: a pivot of 1e-13 against 1e-2 and less of those that do
    for i in range(dof):
        largest = max(largest, arena[b, PIVOT + 7 * i])
    for i in range(dof):
        arena[b, PIVOT + 7 * i] += 1e-11 * largest


@inlined
def _lift_motion(block, arena, b, source):
    """Turn a block's columns from motions of body b into motions of its parent at node 3, in place."""
    rx, ry, rz = arena[b, ARM3], arena[b, ARM3 + 1], arena[b, ARM3 + 2]
    for i in range(6):
        o = 6 * i
        x, y, z = cross(rx, ry, rz, block[source, o], block[source, o + 1], block[source, o + 2])
        block[source, o + 3] += x
        block[source, o + 4] += y
        block[source, o + 5] += z


@inlined
def _lift_wrench(block, arena, b, source, target):
    """Add a block to another, its rows turned from wrenches on body b into wrenches on its parent at node 2."""
    rx, ry, rz = arena[b, ARM2], arena[b, ARM2 + 1], arena[b, ARM2 + 2]
    for o in range(6):
        x, y, z = cross(rx, ry, rz, block[source, o], block[source, o + 6], block[source, o + 12])
        block[target, o] += block[source, o]
        block[target, o + 6] += block[source, o + 6]
        block[target, o + 12] += block[source, o + 12]
        block[target, o + 18] += block[source, o + 18] + x
        block[target, o + 24] += block[source, o + 24] + y
        block[target, o + 30] += block[source, o + 30] + z


@inner
def _spread(link, arena, block, program, fan, pair, fanned, p, a, b, dof):
    """Tie the neighbours of a node that leaves to one another and to its parent."""
    for f in range(program[p, FIRST], program[p, LAST]):
        to, back = fan[f, TO], fan[f, FROM]
        for i in range(dof):
            for j in range(6):
                u, w = 0.0, 0.0
                for k in range(6):
                    u += block[to, 6 * j + k] * arena[b, RIGHT + 6 * i + k]
                    w += block[back, 6 * k + j] * arena[b, LEFT + 6 * i + k]
                fanned[f, 6 * i + j] = u
                fanned[f, 36 + 6 * i + j] = w
    for f in range(program[p, FIRST], program[p, LAST]):
        if a < 0:
            break
        to, back = fan[f, TO], fan[f, FROM]
        _take(link, block, to, fanned, f, 0, arena, b, W, arena, b, dof)
        _take(link, block, back, arena, b, U, fanned, f, 36, arena, b, dof)
        _lift_motion(block, arena, b, to)
        target = fan[f, PARENT_TO]
        for k in range(36):
            block[target, k] += block[to, k]
        _lift_wrench(block, arena, b, back, fan[f, PARENT_FROM])
    for k in range(program[p, FIRST_PAIR], program[p, LAST_PAIR]):
        _take(link, block, pair[k, TARGET], fanned, pair[k, ROW_FAN], 0, fanned, pair[k, COLUMN_FAN], 36, arena, b, dof)


@inner
def _spread_free(arena, block, program, fan, pair, fanned, p, b):
    """Tie the neighbours of a floating base, whose free motions are the world's axes, to one another."""
    for f in range(program[p, FIRST], program[p, LAST]):
        to, back = fan[f, TO], fan[f, FROM]
        for i in range(36):
            fanned[f, i] = fanned[f, 36 + i] = block[back, i]
            fanned[f, 72 + i] = 0.0
        for again in range(2):  # the second time for what the first has left: `_mend` says why
            multiply_blocks(arena, b, PIVOT, fanned, f, 0, fanned, f, 72, 1.0)
            if again == 0:
                multiply_blocks(block, b, 0, fanned, f, 72, fanned, f, 0, -1.0)
        for i in range(6):
            for j in range(6):
                fanned[f, 6 * i + j] = block[to, 6 * j + i]
    for m in range(program[p, FIRST_PAIR], program[p, LAST_PAIR]):
        target, row, column = pair[m, TARGET], pair[m, ROW_FAN], pair[m, COLUMN_FAN]
        for n in range(6):
            s, t, v, x, y, w = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0  # six sums side by side, which machine code does in two
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
def _take(link, block, target, left, i, u, right, j, w, arena, b, dof):
    """Subtract U pivot⁻¹ W from a block, column by column; the pivot of node b is inverted already.

    Uses STEP and DELTA of the node.
    """
    for k in range(6):
        for m in range(dof):
            arena[b, DELTA + m] = right[j, w + 6 * m + k]
        _mend(link, arena, b, dof)
        for m in range(dof):
            s = arena[b, STEP + m]
            for n in range(6):
                block[target, 6 * n + k] += left[i, u + 6 * m + n] * s


@inlined
def _mend(link, arena, b, dof):
    """Find the increment STEP of a node that makes up for DELTA; of several free motions, that for what is then left.

    A contact that is about to close is stiffer than a mass by ten orders of magnitude and more. The product with an
    inverse is off by its share of rounding along the stiff direction as well, where it is all of the force that is
    sought, and along the soft one, if two bodies move as one and the forces between them cancel.
    """
    for i in range(dof):
        s = 0.0
        for j in range(dof):
            s -= arena[b, PIVOT + 6 * i + j] * arena[b, DELTA + j]
        arena[b, STEP + i] = s
    if dof == 1 or link[b, FLAGS] & CHORD:
        return
    for i in range(dof):
        s = arena[b, DELTA + i]
        for j in range(dof):
            s += arena[b, LOCAL + 6 * i + j] * arena[b, STEP + j]
        arena[b, LEFT_OPEN + i] = s
    for i in range(dof):
        for j in range(dof):
            arena[b, STEP + i] -= arena[b, PIVOT + 6 * i + j] * arena[b, LEFT_OPEN + j]


@inner
def solve(link, arena, program, fan, fanned):
    """Find the joint increments STEP, and the body increments DELTA, that make up for what is MISSING.

    CARRY holds on entry the wrenches missing at bodies beyond RESIDUAL: what contacts offer by themselves.
    """
    for p in range(len(program)):
        b = program[p, NODE]
        dof = link[b, DOF]
        for i in range(dof):
            g = arena[b, MISSING + i] - arena[b, OFFERED + i]
            if link[b, FLAGS] & FREE:
                g += arena[b, CARRY + i]
            else:
                for j in range(6):
                    g += arena[b, LEFT + 6 * i + j] * arena[b, CARRY + j]
            arena[b, DELTA + i] = g
        _mend(link, arena, b, dof)
        for f in range(program[p, FIRST], program[p, LAST]):
            c = fan[f, NEIGHBOUR]
            for i in range(dof):
                for j in range(6):
                    arena[c, CARRY + j] += fanned[f, 6 * i + j] * arena[b, STEP + i]
        a = link[b, UP]
        if a >= 0:
            for i in range(dof):
                for j in range(6):
                    arena[b, CARRY + j] += arena[b, U + 6 * i + j] * arena[b, STEP + i]
            hand_over(arena, a, b, CARRY, CARRY)
    for p in range(len(program) - 1, -1, -1):
        _descend(link, arena, program, fan, fanned, p)


@inlined
def _descend(link, arena, program, fan, fanned, p):
    """Increment of a node from those of its parent and its neighbours, which left after it."""
    b = program[p, NODE]
    dof = link[b, DOF]
    a = link[b, UP]
    if link[b, FLAGS] & FREE:
        for f in range(program[p, FIRST], program[p, LAST]):
            for j in range(6):
                for k in range(6):
                    arena[b, DELTA + j] += fanned[f, 36 + 6 * j + k] * arena[fan[f, NEIGHBOUR], DELTA + k]
        if program[p, LAST] > program[p, FIRST]:
            _mend(link, arena, b, 6)
        for k in range(6):
            arena[b, DELTA + k] = arena[b, STEP + k]
        return
    x, y, z, u, v, w = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    if a >= 0:
        u, v, w = arena[a, DELTA + 3], arena[a, DELTA + 4], arena[a, DELTA + 5]
        x, y, z = cross(u, v, w, arena[b, ARM3], arena[b, ARM3 + 1], arena[b, ARM3 + 2])
        x, y, z = x + arena[a, DELTA], y + arena[a, DELTA + 1], z + arena[a, DELTA + 2]
    for j in range(dof):
        o, t = W + 6 * j, 0.0
        if a >= 0:
            t = arena[b, o] * x + arena[b, o + 1] * y + arena[b, o + 2] * z
            t += arena[b, o + 3] * u + arena[b, o + 4] * v + arena[b, o + 5] * w
        for f in range(program[p, FIRST], program[p, LAST]):
            c = fan[f, NEIGHBOUR]
            for k in range(6):
                t += fanned[f, 36 + 6 * j + k] * arena[c, DELTA + k]
        arena[b, DELTA + j] += t
    if a >= 0 or program[p, LAST] > program[p, FIRST]:
        _mend(link, arena, b, dof)
    for i in range(dof):
        s, o = arena[b, STEP + i], RIGHT + 6 * i
        x, y, z = x + s * arena[b, o], y + s * arena[b, o + 1], z + s * arena[b, o + 2]
        u, v, w = u + s * arena[b, o + 3], v + s * arena[b, o + 4], w + s * arena[b, o + 5]
    arena[b, DELTA], arena[b, DELTA + 1], arena[b, DELTA + 2] = x, y, z
    arena[b, DELTA + 3], arena[b, DELTA + 4], arena[b, DELTA + 5] = u, v, w
