"""Joints of a Shift model's mechanism: chains through massless bodies become one joint where possible.

Files build ball joints and floating bodies from chains of revolute and sliding joints with massless bodies in between.
Three revolute joints with intersecting axes are a ball joint, three sliding ones a free translation, and both a
floating joint, which the core has. Remaining massless bodies must not be leaves of the tree, where their motion would
be undetermined; so loops are cut between bodies with mass.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry.linear import lstsq, norm, svdvals, times
from cbsim.models.shift.assembly import Assembled
from cbsim.models.shift.laws import Laws
from cbsim.models.shift.network import GROUND, Place, Tie

__all__ = ["Edge", "arranged", "edges_of"]

FREE = {"revolute": (0, 1), "prismatic": (1, 0), "spherical": (0, 3), "rigid": (0, 0), "float": (3, 3)}
APART = 1e-9  # tolerance of intersecting axes, relative to the model's size
LEAN = 1e-2  # least of the singular values of directions that are independent


class Edge(NamedTuple):
    """A joint of the core.

    Attributes
    ----------
    ties : tuple of int
        Joints of the model that it replaces.
    one, other : int
        The bodies that it connects.
    free : (int, int)
        Free translations and rotations.
    point : ndarray or None
        Its position at the start in the file's axes, if it replaces several.
    """

    ties: tuple[int, ...]
    one: int
    other: int
    free: tuple[int, int]
    point: Floats | None = None

    @property
    def is_chain(self) -> bool:
        """Whether it replaces several joints of the model."""
        return self.point is not None


def edges_of(
    assembled: Assembled, laws: Mapping[int, Laws], bodies: Collection[int], joints: Collection[int]
) -> tuple[list[Edge], set[int]]:
    """Find the joints of the core, and the bodies that are merged into them.

    Parameters
    ----------
    laws : mapping
        Forces along joints of the model, which are kept.
    bodies, joints : collection of int
        Bodies and joints that are kept because they are needed elsewhere.
    """
    network, ties = assembled.network, assembled.tree.ties
    touching: dict[int, list[int]] = {}
    for number, tie in enumerate(ties):
        for end in (tie.parent, tie.child):
            touching.setdefault(end, []).append(number)
    one_body = _one_body(assembled)
    stays = {
        n for n, tie in enumerate(ties)
        if n in laws or n in joints or n in one_body or tie.joint.kind not in ("revolute", "prismatic")
    }  # fmt: skip
    between = {
        body for body, numbers in touching.items()
        if body != GROUND and body not in bodies and network.links[body].body.is_massless and len(numbers) == 2
    }  # fmt: skip
    found: list[Edge] = []
    gone: set[int] = set()
    done: set[int] = set()
    for number in range(len(ties)):
        if number in done or one_body.get(number) is False:
            continue
        if number in assembled.stiff:
            tie = ties[number]
            found.append(Edge((number,), tie.parent, tie.child, (0, 0), _base(assembled, number).origin))
            continue
        chain, ends = _chain(number, ties, touching, between - gone, stays)
        edge = _joined(assembled, chain, ends) if len(chain) > 1 else None
        if edge is not None:
            done |= set(chain)
            gone |= {b for t in chain for b in (ties[t].parent, ties[t].child)} - set(ends)
            found.append(edge)
        else:
            tie = ties[number]
            done.add(number)
            found.append(Edge((number,), tie.parent, tie.child, FREE[tie.joint.kind]))
    return found, gone


def _one_body(assembled: Assembled) -> dict[int, bool]:
    """Find joints that let nothing move: number → whether it is needed, or others tie its bodies already."""
    group: dict[int, int] = {}
    found = {}
    for number, tie in enumerate(assembled.tree.ties):
        if number in assembled.stiff or tie.joint.kind == "rigid":
            one, other = root_of(group, tie.parent), root_of(group, tie.child)
            found[number] = one != other
            group[one] = other
    return found


def root_of(group: dict[int, int], body: int) -> int:
    """Find the representative of all bodies welded to one, and shorten the way to it."""
    root = body
    while group.get(root, root) != root:
        root = group[root]
    while body != root:
        group[body], body = root, group[body]
    return root


def _chain(
    number: int, ties: list[Tie], touching: dict[int, list[int]], between: set[int], stays: set[int]
) -> tuple[list[int], tuple[int, int]]:
    """Follow joints from one through bodies that only hold joints together, both ways; also the bodies at the ends."""
    chain, ends = [number], []
    if number in stays:
        return chain, (ties[number].parent, ties[number].child)
    for at_front, end in ((True, ties[number].parent), (False, ties[number].child)):
        here, last = end, number
        while here in between:
            following = next(t for t in touching[here] if t != last)
            if following in stays or following in chain:
                break
            chain.insert(0, following) if at_front else chain.append(following)
            tie = ties[following]
            here, last = tie.child if tie.parent == here else tie.parent, following
        ends.append(here)
    return chain, (ends[0], ends[1])


def _joined(assembled: Assembled, chain: list[int], ends: tuple[int, int]) -> Edge | None:
    """Build one joint for a chain, if the core has such a joint."""
    if ends[0] == ends[1]:
        return None
    kinds = [assembled.tree.ties[t].joint.kind for t in chain]
    turning = [t for t, kind in zip(chain, kinds, strict=True) if kind == "revolute"]
    sliding = [t for t, kind in zip(chain, kinds, strict=True) if kind == "prismatic"]
    if (len(sliding), len(turning)) not in ((0, 3), (3, 0), (3, 3)):
        return None
    bases = {t: _base(assembled, t) for t in chain}
    for group in (turning, sliding):
        ways = np.array([times(bases[t].rotation, assembled.chain.axes[t]) for t in group])
        if group and svdvals(ways)[-1] < LEAN:
            return None
    point = bases[chain[0]].origin
    if turning:
        rows = [(times(bases[t].rotation, assembled.chain.axes[t]), bases[t].origin) for t in turning]
        across = [np.eye(3) - np.outer(way, way) for way, _ in rows]
        sides = [times(side, origin) for side, (_, origin) in zip(across, rows, strict=True)]
        point = lstsq(np.concatenate(across), np.concatenate(sides))
        missed = max(float(norm(times(s, point) - p)) for s, p in zip(across, sides, strict=True))
        size = max(float(np.abs(pose.origin).max()) for pose in assembled.poses)
        if missed > APART * max(size, 1e-3):
            return None
    return Edge(tuple(chain), *ends, (len(sliding), len(turning)), point)


def _base(assembled: Assembled, tie: int) -> Place:
    """Frame of a joint on its parent at the start."""
    here = assembled.tree.ties[tie]
    return assembled.poses[here.parent] @ here.at_parent


def arranged(edges: list[Edge], light: Collection[int], damped: Collection[int]) -> list[tuple[Edge, bool]]:
    """Order joints for the core: those of the tree first, from the ground outwards.

    Joints with dampers are preferred in the tree, since the core then treats them implicitly; then those of massless
    bodies; loops are cut at the joint with the most freedoms among the rest.

    Returns
    -------
    list of (Edge, bool)
        Joints, and whether their ends are exchanged.
    """

    def rank(place: int) -> tuple[int, int, int]:
        edge = edges[place]
        if damped and set(edge.ties) & set(damped):
            return 0, 0, place
        if edge.one in light or edge.other in light:
            return 1, 0, place
        return 2, sum(edge.free), place

    group: dict[int, int] = {}
    carrying = []
    for place in sorted(range(len(edges)), key=rank):
        one, other = root_of(group, edges[place].one), root_of(group, edges[place].other)
        if one != other:
            group[one] = other
            carrying.append(place)
    return _outwards(edges, sorted(carrying))


def _outwards(edges: list[Edge], carrying: list[int]) -> list[tuple[Edge, bool]]:
    """Traverse a tree from the ground, breadth first; other joints follow, if they constrain anything."""
    touching: dict[int, list[int]] = {}
    for place in carrying:
        for end in (edges[place].one, edges[place].other):
            touching.setdefault(end, []).append(place)
    found: list[tuple[Edge, bool]] = []
    reached, waiting = {GROUND}, deque([GROUND])
    while waiting:
        here = waiting.popleft()
        for place in touching.get(here, []):
            edge = edges[place]
            there = edge.other if edge.one == here else edge.one
            if there not in reached:
                reached.add(there)
                waiting.append(there)
                found.append((edge, edge.one != here))
    in_tree = set(carrying)
    rest = [edge for place, edge in enumerate(edges) if place not in in_tree and edge.free != (3, 3)]
    return found + [(edge, edge.other == GROUND) for edge in rest]
