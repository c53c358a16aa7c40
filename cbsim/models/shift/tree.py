"""Spanning tree of a Shift model: tree joints and loop joints."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from cbsim.errors import Problems
from cbsim.formats.values import quote
from cbsim.models.shift.network import GROUND, HERE, Network, Tie
from cbsim.spec.shift.model import Joint, Reference

__all__ = ["Tree", "tree_of"]


class Branch(NamedTuple):
    """A joint of the tree: its number, the body it carries, and whether it is walked from child to parent."""

    tie: int
    body: int
    turned: bool


class Tree(NamedTuple):
    """Spanning tree.

    Attributes
    ----------
    ties : list of Tie
        Joints of the model, and behind them those that let groups float that nothing joins to the ground.
    branches : list of Branch
        Joints that carry a body, bodies nearer to the ground first.
    chords : list of int
        Joints that close loops.
    loose : list of int
        Bodies that no joint holds; they are left out.
    """

    ties: list[Tie]
    branches: list[Branch]
    chords: list[int]
    loose: list[int]


def tree_of(network: Network, problems: Problems) -> Tree:
    """Walk from the ground, breadth first, over joints in the order of the file; the first to reach a body carries it.

    A group of bodies that nothing joins to the ground floats, and a body without a joint is left out, both with a
    warning (W986, W987); where nothing else is there, such bodies float too.
    """
    ties = list(network.ties)
    touching: list[list[int]] = [[] for _ in range(len(network.links) + 1)]  # the last one is the ground's
    for number, tie in enumerate(ties):
        touching[tie.parent].append(number)
        touching[tie.child].append(number)
    reached = {GROUND}
    branches: list[Branch] = []
    _walk(GROUND, ties, touching, reached, branches)
    loose = [b for b in range(len(network.links)) if not touching[b]]
    if len(loose) == len(network.links):
        loose = []
    for body, link in enumerate(network.links):
        if body in reached or body in loose:
            continue
        name = quote(":".join(link.path))
        problems.warning("W986", f"nothing joins {name} to the ground; it floats", link.body.location)
        path = (*link.path[:-1], f"{link.path[-1]} floats")
        joint = Joint(path[-1], "float", Reference(("fixed",)), Reference(link.path), rates=(0.0,) * 6,
                      location=link.body.location)  # fmt: skip
        ties.append(Tie(path, joint, GROUND, body, HERE, HERE))
        branches.append(Branch(len(ties) - 1, body, False))
        reached.add(body)
        _walk(body, ties, touching, reached, branches)
    for body in loose:
        link = network.links[body]
        problems.warning("W987", f"no joint holds {quote(':'.join(link.path))}; it is left out", link.body.location)
    carrying = {branch.tie for branch in branches}
    return Tree(ties, branches, [n for n in range(len(ties)) if n not in carrying], loose)


def _walk(start: int, ties: list[Tie], touching: list[list[int]], reached: set[int], branches: list[Branch]) -> None:
    waiting = deque([start])
    while waiting:
        here = waiting.popleft()
        for number in touching[here]:
            tie = ties[number]
            there = tie.child if tie.parent == here else tie.parent
            if there not in reached:
                reached.add(there)
                branches.append(Branch(number, there, tie.child == here))
                waiting.append(there)
