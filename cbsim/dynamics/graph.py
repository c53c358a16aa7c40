"""Elimination order of the linear system of a step, computed once per mechanism.

Nodes are links and loop joints. A link is eliminated after all links that it carries, so that a tree needs only the
blocks of parents. A loop joint (a joint that closes a loop) is eliminated once every link of its loop below their
common ancestor is gone: until then its own block, which starts as zero, may be rank-deficient. Any other coupling of
two nodes, by a loop joint or a contact, makes them neighbours; eliminating a node couples its neighbours to one another
and to its parent (fill-in). Among the candidates, the node with the fewest neighbours is next (minimum degree).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Elimination", "eliminate", "labels_of"]


class Elimination(NamedTuple):
    """Tables of the elimination (columns in `cbsim.dynamics.kernels.columns`)."""

    program: NDArray[np.int64]  # (nodes, 5) node and its ranges of fan and pair
    fan: NDArray[np.int64]  # (neighbours, 5)
    pair: NDArray[np.int64]  # (pairs of neighbours, 3)
    blocks: dict[tuple[int, int], int]  # number of every structurally nonzero block; (i, i) is i


def labels_of(links: int, ties: Sequence[tuple[int, int]]) -> NDArray[np.int64]:
    """Label each link with its connected part: the number of its lowest link.

    Parameters
    ----------
    links : int
    ties : sequence of (parent link or -1, child link)
        Of all joints, loop joints too; the world connects nothing.
    """
    label = np.arange(links, dtype=np.int64)
    for one, other in ties:
        if one >= 0 and label[one] != label[other]:
            low, high = sorted((int(label[one]), int(label[other])))
            label[label == high] = low
    return label


def eliminate(
    parents: Sequence[int], loop_joints: Sequence[tuple[int, int]], ties: Sequence[tuple[int, int]]
) -> Elimination:
    """Plan the elimination.

    Parameters
    ----------
    parents : sequence of int
        Parent of each link, or -1; parents come before their children.
    loop_joints : sequence of (parent link or -1, child link)
        They become the nodes after the links.
    ties : sequence of (link, link)
        Pairs that a contact couples.
    """
    links, nodes = len(parents), len(parents) + len(loop_joints)
    neighbours: list[set[int]] = [set() for _ in range(nodes)]
    blocks = {(i, i): i for i in range(nodes)}

    def tie(i: int, j: int) -> None:
        for key in ((i, j), (j, i)):
            blocks.setdefault(key, len(blocks))
        neighbours[i].add(j)
        neighbours[j].add(i)

    for number, ends in enumerate(loop_joints):
        for end in ends:
            if end >= 0:
                tie(links + number, end)
    for one, other in ties:
        tie(one, other)
    loops = [_common(parents, *ends) for ends in loop_joints]
    carried = [sum(p == b for p in parents) for b in range(links)]
    left = set(range(nodes))
    program: list[list[int]] = []
    fan: list[list[int]] = []
    pair: list[list[int]] = []
    while left:
        node = _next(left, links, neighbours, loops, carried)
        left.remove(node)
        parent = parents[node] if node < links else -1
        near = sorted(neighbours[node])
        row = [node, len(fan), 0, len(pair), 0]
        for c in near:
            neighbours[c].discard(node)
            if parent >= 0 and c != parent:
                tie(c, parent)
            fan.append([c, blocks[c, node], blocks[node, c], *_between(blocks, c, parent)])
        for k, c in enumerate(near):
            for m, e in enumerate(near):
                if c != e:
                    tie(c, e)
                pair.append([row[1] + k, row[1] + m, blocks[c, e]])
        row[2], row[4] = len(fan), len(pair)
        program.append(row)
        if parent >= 0:
            carried[parent] -= 1
    return Elimination(_table(program, 5), _table(fan, 5), _table(pair, 3), blocks)


def _next(left: set[int], links: int, neighbours: list[set[int]], loops: list[int], carried: list[int]) -> int:
    """Choose the next node: a loop joint with an eliminated loop, else a leaf link with the fewest neighbours."""
    for node in sorted(left):  # other loop joints may remain, coupled by loops with a common link
        if node >= links and {other for other in neighbours[node] if other < links} <= {loops[node - links]}:
            return node
    return min((b for b in left if b < links and not carried[b]), key=lambda b: (len(neighbours[b]), -b))


def _common(parents: Sequence[int], one: int, other: int) -> int:
    """Nearest link that carries both, or -1."""
    path = set()
    while one >= 0:
        path.add(one)
        one = parents[one]
    while other >= 0 and other not in path:
        other = parents[other]
    return other


def _between(blocks: dict[tuple[int, int], int], one: int, parent: int) -> tuple[int, int]:
    return (-1, -1) if parent < 0 else (blocks[one, parent], blocks[parent, one])


def _table(rows: list[list[int]], columns: int) -> NDArray[np.int64]:
    return np.array(rows, np.int64).reshape(-1, columns)
