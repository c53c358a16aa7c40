"""Elimination plan of a step, recomputed when the touching pairs change.

The algorithm of `cbsim.dynamics.graph.eliminate` on tables: links are eliminated after their descendants, a loop joint
once its loop is eliminated; among the candidates the one with the fewest neighbours (minimum degree), the last of
equals.
"""

from __future__ import annotations

from cbsim.dynamics.detection.kernels.columns import (
    BLOCK_BACK,
    BLOCK_TO,
    BLOCKS,
    FANS,
    FULL,
    PAIRS,
    TIE_BACK,
    TIE_ONE,
    TIE_OTHER,
    TIE_TO,
    TIES,
    WHO,
)
from cbsim.dynamics.kernels.columns import (
    COLUMN_FAN,
    FIRST,
    FIRST_PAIR,
    FROM,
    LAST,
    LAST_PAIR,
    NEIGHBOUR,
    NODE,
    PARENT_FROM,
    PARENT_TO,
    ROW_FAN,
    TARGET,
    TO,
)
from cbsim.jit import inlined, inner

__all__ = ["plan"]


@inlined
def _find(near, count, i, j):
    """Index of j among the neighbours of i, or −1."""
    for k in range(count[i]):
        if near[i, k, WHO] == j:
            return k
    return -1


@inner
def _tie(colliders, i, j):
    """Make i and j neighbours, with blocks (i, j) and (j, i), unless they are."""
    near, count, found = colliders.near, colliders.near_count, colliders.found
    if _find(near, count, i, j) >= 0:
        return
    # out of room: the caller enlarges the tables and plans again
    if count[i] >= near.shape[1] or count[j] >= near.shape[1] or found[BLOCKS] + 2 > colliders.block_room:
        found[FULL] = 1
        return
    k = found[BLOCKS]
    m, n = count[i], count[j]
    near[i, m, WHO], near[i, m, BLOCK_TO], near[i, m, BLOCK_BACK] = j, k, k + 1
    near[j, n, WHO], near[j, n, BLOCK_TO], near[j, n, BLOCK_BACK] = i, k + 1, k
    count[i] += 1
    count[j] += 1
    found[BLOCKS] = k + 2


@inlined
def _forget(near, count, i, j):
    """Remove j from the neighbours of i, keeping the order of the others."""
    at = _find(near, count, i, j)
    count[i] -= 1
    for k in range(at, count[i]):
        for m in range(3):
            near[i, k, m] = near[i, k + 1, m]


@inlined
def _block(near, count, i, j):
    """Return the number of block (i, j)."""
    if i == j:
        return i
    return near[i, _find(near, count, i, j), BLOCK_TO]


@inner
def plan(colliders, nodes):
    """Plan the elimination for the current couplings: program, fan, pair, and two blocks for each coupling."""
    near, count, found = colliders.near, colliders.near_count, colliders.found
    parent, carried, left = colliders.parent, colliders.carried, colliders.mark
    # the first blocks are those of the nodes themselves; couplings and fill-in get theirs as they come
    found[BLOCKS], found[FANS], found[PAIRS] = nodes, 0, 0
    for i in range(nodes):
        count[i], left[i], carried[i] = 0, 1, 0
    for i in range(nodes):
        if parent[i] >= 0:
            carried[parent[i]] += 1
    for k in range(found[TIES]):
        # two bodies may be tied more than once, and by a joint too: all write to the same blocks
        _tie(colliders, colliders.tie[k, TIE_ONE], colliders.tie[k, TIE_OTHER])
        if found[FULL] != 0:
            return
        at = _find(near, count, colliders.tie[k, TIE_ONE], colliders.tie[k, TIE_OTHER])
        colliders.tie[k, TIE_TO] = near[colliders.tie[k, TIE_ONE], at, BLOCK_TO]
        colliders.tie[k, TIE_BACK] = near[colliders.tie[k, TIE_ONE], at, BLOCK_BACK]
    # a link may be eliminated once its children are: `carried` counts those that are left
    ready, waiting = colliders.ready, 0
    # loop joints are the nodes behind the links, and ready by a rule of their own
    for i in range(nodes - len(colliders.chord_loop)):
        if carried[i] == 0:
            ready[waiting] = i
            waiting += 1
    links = nodes - len(colliders.chord_loop)
    for p in range(nodes):
        # as soon as it may be: a constraint that waits couples ever more of its neighbours
        loop_joint = _free_loop_joint(colliders, links, nodes)
        if loop_joint >= 0:
            node = loop_joint
        else:
            node, waiting = _pick(colliders, waiting)
        left[node] = 0
        _leave(colliders, p, node, parent[node])
        if found[FULL] != 0:
            return
        if parent[node] >= 0:
            carried[parent[node]] -= 1
            if carried[parent[node]] == 0:
                ready[waiting] = parent[node]
                waiting += 1


@inlined
def _free_loop_joint(colliders, links, nodes):
    """Return a loop joint whose loop is eliminated, except its common ancestor and other loop joints; or −1."""
    for k in range(links, nodes):
        if colliders.mark[k] != 0:
            there = 0
            for m in range(colliders.near_count[k]):
                other = colliders.near[k, m, WHO]
                there += other < links and other != colliders.chord_loop[k - links]
            if there == 0:
                return k
    return -1


@inlined
def _pick(colliders, waiting):
    """Remove the candidate with the fewest neighbours, the highest number of equals."""
    ready, count = colliders.ready, colliders.near_count
    # the rule for equals makes the order, and with it the bits, one of the couplings alone
    best = 0
    for k in range(waiting):
        fewer = count[ready[k]] - count[ready[best]]
        if fewer < 0 or (fewer == 0 and ready[k] > ready[best]):
            best = k
    node = ready[best]
    ready[best] = ready[waiting - 1]
    return node, waiting - 1


@inner
def _leave(colliders, p, node, parent):
    """Write the elimination of a node, and couple its neighbours to one another and to its parent."""
    near, count, found = colliders.near, colliders.near_count, colliders.found
    program, fan, pair = colliders.program, colliders.fan, colliders.pair
    first, first_pair, degree = found[FANS], found[PAIRS], count[node]
    if first + degree > len(fan) or first_pair + degree * degree > len(pair):
        found[FULL] = 1
        return
    # neighbours forget the node; its own list, with the blocks, stays for the rows of the fan
    for k in range(degree):
        c = near[node, k, WHO]
        _forget(near, count, c, node)
    for k in range(degree):
        c = near[node, k, WHO]
        # fill-in: what is coupled to an eliminated node gets coupled to all its other neighbours
        if parent >= 0 and c != parent:
            _tie(colliders, c, parent)
        if found[FULL] != 0:
            return
        row = first + k
        fan[row, NEIGHBOUR], fan[row, TO], fan[row, FROM] = c, near[node, k, BLOCK_BACK], near[node, k, BLOCK_TO]
        fan[row, PARENT_TO] = -1 if parent < 0 else _block(near, count, c, parent)
        fan[row, PARENT_FROM] = -1 if parent < 0 else _block(near, count, parent, c)
    # all pairs of neighbours, each with itself too: the blocks that its elimination changes
    for k in range(degree):
        for m in range(degree):
            c, e = near[node, k, WHO], near[node, m, WHO]
            if c != e:
                _tie(colliders, c, e)
                if found[FULL] != 0:
                    return
            row = first_pair + k * degree + m
            pair[row, ROW_FAN], pair[row, COLUMN_FAN] = first + k, first + m
            pair[row, TARGET] = _block(near, count, c, e)
    found[FANS], found[PAIRS] = first + degree, first_pair + degree * degree
    program[p, NODE], program[p, FIRST], program[p, LAST] = node, first, first + degree
    program[p, FIRST_PAIR], program[p, LAST_PAIR] = first_pair, first_pair + degree * degree
