"""Spanning tree of a mechanism: the joint that carries each body, and the joints that close loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from cbsim.errors import ModelError, did_you_mean
from cbsim.spec.mechanism.bodies import Origin
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.joints import JointConstraint

__all__ = ["SpanningTree", "span"]


class SpanningTree(NamedTuple):
    """Tree of a mechanism.

    Attributes
    ----------
    links : tuple of int
        Joints that carry a body, as numbers in `MechanismSpec.joints`: parents first, depth first.
    loop_joints : tuple of int
        Joints that close a loop.
    """

    links: tuple[int, ...]
    loop_joints: tuple[int, ...]


def span(spec: MechanismSpec) -> SpanningTree:
    """Find the tree: a body is carried by a joint that cannot close a loop, else by the first that leads to it.

    Raises
    ------
    ModelError
        If a joint names a body that is not in the mechanism, or no joint leads to a body.
    """
    _check_ends(spec)
    picked = _pick(spec, range(len(spec.joints)), _keeps_tree)
    order = _order(spec, picked)
    if len(order) < len(
        spec.bodies
    ):  # the preferred joints leave bodies unreached: take the first joint that reaches each
        order = _reach(spec)
    carried = {spec.joints[j].child for j in order}
    for body in spec.bodies:
        if body not in carried:
            tied = any(body in (joint.parent, joint.child) for joint in spec.joints)
            text = "no joint leads to it from the origin: joints lead from parent to child" if tied else "has no joint"
            raise ModelError(f"{text} (a Floating joint lets it move freely)", subject=f"body '{body.name}'")
    loop_joints = tuple(j for j in range(len(spec.joints)) if j not in set(order))
    for j in loop_joints:
        _check_loop_joint(spec.joints[j])
    return SpanningTree(tuple(order), loop_joints)


def _keeps_tree(joint: JointConstraint) -> bool:
    """Whether the joint has dampers, springs, bounds or drives, which are costly or not allowed in a loop joint."""
    bounds = (joint.translational.joint_limits, joint.rotational.joint_limits)
    held = joint.damper or (joint.spring and joint.implicit_spring) or bool(joint.drives)
    return joint.dof > 0 and (held or any(b is not None for b in bounds))


def _check_loop_joint(joint: JointConstraint) -> None:
    if joint.rotational.free == 2 and joint.damper:
        raise ModelError(
            "closes a loop and cannot have a damper about two axes: use another joint of the loop",
            subject=f"joint '{joint.name}'",
        )
    if joint.spring and joint.implicit_spring:
        raise ModelError(
            "closes a loop and cannot have an implicit spring: use another joint of the loop",
            subject=f"joint '{joint.name}'",
        )
    if joint.dof == 6:
        raise ModelError("joins a body that another joint carries already, and constrains nothing",
                         subject=f"joint '{joint.name}'")  # fmt: skip


def _check_ends(spec: MechanismSpec) -> None:
    known = {spec.origin, *spec.bodies}
    for joint in spec.joints:
        for role, part in (("parent", joint.parent), ("child", joint.child)):
            if part not in known:
                hint = did_you_mean(part.name, [n.name for n in known])
                raise ModelError(
                    f"its {role} '{part.name or 'unnamed'}' is not in the mechanism {hint}".rstrip(),
                    subject=f"joint '{joint.name}'",
                )
    for collider in spec.colliders:
        if collider.owner not in known:
            hint = did_you_mean(collider.owner.name, [n.name for n in known])
            raise ModelError(
                f"its owner '{collider.owner.name or 'unnamed'}' is not in the mechanism {hint}".rstrip(),
                subject=f"collider '{collider.name}'",
            )
    for contact in spec.contacts:
        for part in (contact.parent, contact.child):
            if part is not None and part not in known:
                raise ModelError(f"its body '{part.name or 'unnamed'}' is not in the mechanism",
                                 subject=f"contact '{contact.name}'")  # fmt: skip


def _pick(spec: MechanismSpec, joints: Sequence[int], first: Callable[[JointConstraint], bool]) -> set[int]:
    """Pick one joint for each body, preferring those of ``first``; none closes a cycle."""
    up: dict[object, object] = {}
    picked = set()
    for j in sorted(joints, key=lambda j: not first(spec.joints[j])):
        joint = spec.joints[j]
        at: object = joint.parent
        while at in up and at is not joint.child:
            at = up[at]
        if joint.child not in up and at is not joint.child:
            up[joint.child] = joint.parent
            picked.add(j)
    return picked


def _order(spec: MechanismSpec, picked: set[int]) -> list[int]:
    """Depth first from the origin, siblings in the order of the joints."""
    order: list[int] = []
    stack = [j for j in sorted(picked, reverse=True) if isinstance(spec.joints[j].parent, Origin)]
    below: dict[object, list[int]] = {}
    for j in sorted(picked, reverse=True):
        below.setdefault(spec.joints[j].parent, []).append(j)
    while stack:
        j = stack.pop()
        order.append(j)
        stack += below.get(spec.joints[j].child, [])
    return order


def _reach(spec: MechanismSpec) -> list[int]:
    """Joints by which a depth-first search from the origin first reaches each body, in order."""
    reached: set[object] = {spec.origin}
    picked: set[int] = set()
    found = True
    while found:
        found = False
        for j, joint in enumerate(spec.joints):
            if joint.parent in reached and joint.child not in reached:
                reached.add(joint.child)
                picked.add(j)
                found = True
    return _order(spec, picked)
