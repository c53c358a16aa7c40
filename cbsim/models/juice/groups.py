"""Groups of bodies connected by joints, each with a root that keeps chains short."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable
from typing import NamedTuple

from networkx.utils import UnionFind

from cbsim.models.juice.welds import stuck_joints
from cbsim.spec.juice import JointKind, JuiceJoint, JuiceModel

__all__ = ["Group", "groups_of", "needed_joints"]

SAME = 1e-5  # of a position [m], or of its size


class Group(NamedTuple):
    """Bodies connected by joints.

    Attributes
    ----------
    root : int
        The floating body.
    bodies : tuple of int
        All of them, the root first.
    joints : tuple of (int, JuiceJoint)
        Parent body and joint; those of the tree first, from the root outwards.
    stuck : frozenset of int
        Locked joints among them.
    """

    root: int
    bodies: tuple[int, ...]
    joints: tuple[tuple[int, JuiceJoint], ...]
    stuck: frozenset[int] = frozenset()

    @property
    def is_closed(self) -> bool:
        """Whether there is a loop among its joints."""
        return len(self.joints) >= len(self.bodies)


def groups_of(
    model: JuiceModel, first: Callable[[JuiceJoint], bool] = lambda _joint: False, convention: str = "compat"
) -> list[Group]:
    """Find the groups; of joints that could close a loop, those that ``first`` prefers carry bodies.

    Locked joints come first in the tree; where they close loops, they are redundant and left out.
    """
    needed = needed_joints(model)
    stuck = stuck_joints(needed, convention)
    joints = sorted(needed, key=lambda joint: (joint.id not in stuck, not first(joint)))
    tree, closing = _forest(joints)
    chords = [joint for joint in closing if joint.id not in stuck]
    ties: dict[int, list[JuiceJoint]] = {body.id: [] for body in model.bodies}
    for joint in tree:
        ties[joint.body1].append(joint)
        ties[joint.body2].append(joint)
    groups, seen = [], set[int]()
    for body in model.bodies:
        if body.id in seen:
            continue
        root = _middle(body.id, ties)
        order, hung = _walk(root, ties)
        seen.update(order)
        here = set(order)
        inside = [joint for joint in chords if joint.body1 in here]
        its = (*hung, *((joint.body2, joint) for joint in inside))
        groups.append(Group(root, tuple(order), its, stuck & {joint.id for _, joint in hung}))
    return groups


def needed_joints(model: JuiceModel) -> list[JuiceJoint]:
    """Return valid joints, without redundant balls whose bodies are already joined at that point.

    Points count as one where single precision may have parted them: across such a gap constraints are all but the same,
    and the little that they differ by would take any force.
    """
    pins: list[tuple[float, int, JuiceJoint, UnionFind[int]]] = []  # by x
    kept = []
    for joint in sorted(model.sound_joints(), key=lambda joint: joint.kind is JointKind.BALL):
        x, away = float(joint.position[0]), 2.0 * SAME * max(1.0, *(abs(float(a)) for a in joint.position))
        first, last = bisect_left(pins, (x - away,)), bisect_left(pins, (x + away,))
        found = min((pin[1:] for pin in pins[first:last] if _meet(pin[2], joint)), default=None, key=lambda pin: pin[0])
        pinned: UnionFind[int] = UnionFind() if found is None else found[2]
        if found is None:
            insort(pins, (x, len(pins), joint, pinned), key=lambda pin: pin[:2])
        if joint.kind is JointKind.BALL and pinned[joint.body1] == pinned[joint.body2]:
            continue
        if joint.kind is not JointKind.SLIDER:
            pinned.union(joint.body1, joint.body2)
        kept.append(joint)
    return kept


def _meet(one: JuiceJoint, other: JuiceJoint) -> bool:
    """Whether two joints are at the same point, as far as a file can tell."""
    gaps = (abs(float(a) - float(b)) for a, b in zip(one.position, other.position, strict=True))
    return max(gaps) <= SAME * max(1.0, *(abs(float(a)) for a in one.position))


def _forest(joints: list[JuiceJoint]) -> tuple[list[JuiceJoint], list[JuiceJoint]]:
    """Split joints into those of a forest, taken in their order, and those that close loops."""
    tied: UnionFind[int] = UnionFind()
    tree: list[JuiceJoint] = []
    chords: list[JuiceJoint] = []
    for joint in joints:
        (chords if tied[joint.body1] == tied[joint.body2] else tree).append(joint)
        tied.union(joint.body1, joint.body2)
    return tree, chords


def _walk(root: int, ties: dict[int, list[JuiceJoint]]) -> tuple[list[int], list[tuple[int, JuiceJoint]]]:
    """Bodies in the order of their distance from the root, and the joints that lead to them."""
    order, hung, seen = [root], [], {root}
    for body in order:  # grows on the way
        for joint in ties[body]:
            other = joint.body2 if joint.body1 == body else joint.body1
            if other not in seen:
                seen.add(other)
                order.append(other)
                hung.append((body, joint))
    return order, hung


def _middle(start: int, ties: dict[int, list[JuiceJoint]]) -> int:
    """Middle of the longest chain of a tree: between the ends that two walks find."""
    end = _walk(start, ties)[0][-1]
    order, hung = _walk(end, ties)
    above = {joint.body1 if joint.body2 == body else joint.body2: body for body, joint in hung}
    chain = [order[-1]]
    while chain[-1] in above:
        chain.append(above[chain[-1]])
    return chain[len(chain) // 2]
