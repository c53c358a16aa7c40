"""Changing a mechanism: its springs, dampers and bounds; another body as its base."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cbsim.arrays import Floats
from cbsim.errors import ModelError
from cbsim.geometry.linear import times
from cbsim.geometry.pose import conjugate
from cbsim.multibody.coordinates import set_maximal_state
from cbsim.multibody.lookup import Key, get_body, get_joint
from cbsim.multibody.mechanism import Mechanism
from cbsim.spec.mechanism.bodies import Body, Bond, Origin
from cbsim.spec.mechanism.joints import Joint, JointConstraint, Rotational, Translational
from cbsim.spec.mechanism.shapes import matrix
from cbsim.spec.mechanism.values import array

__all__ = ["add_limits", "set_dampers", "set_floating_base", "set_limits", "set_springs"]


def set_springs(mechanism: Mechanism, spring: ArrayLike, *, implicit: bool | None = None) -> None:
    """Give every joint a spring, or each its own (joints,); a base that floats in the world keeps what it has.

    ``implicit`` says of all of them whether they are taken where a step ends; None leaves it.
    """
    _spread(mechanism, "spring", spring, implicit)


def set_dampers(mechanism: Mechanism, damper: ArrayLike) -> None:
    """Give every joint a damper, or each its own (joints,); a base that floats in the world keeps what it has."""
    _spread(mechanism, "damper", damper)


def _spread(mechanism: Mechanism, what: str, values: ArrayLike, implicit: bool | None = None) -> None:
    given = array(values, (len(mechanism.joints),), "mechanism", f"{what}s")
    joints = list(mechanism.joints)
    for j, joint in enumerate(joints):
        if joint.dof and not (joint.dof == 6 and isinstance(joint.parent, Origin)):
            joints[j] = _with(joint, **{what: float(given[j])})
            if implicit is not None and j in mechanism.compiled.spanning.links:
                joints[j] = replace(joints[j], implicit_spring=implicit)
    mechanism.change(joints)


def _with(joint: JointConstraint, **changes: Any) -> JointConstraint:
    """Copy a joint with other springs or dampers in both halves."""
    return replace(
        joint, translational=replace(joint.translational, **changes), rotational=replace(joint.rotational, **changes)
    )


def add_limits(mechanism: Mechanism, joint: Key | JointConstraint, joint_limits: Any) -> None:
    """Bound the coordinates of one joint: (low, high), each a number or one per free direction, translations first."""
    set_limits(mechanism, {get_joint(mechanism, joint).name: joint_limits})  # type: ignore[arg-type]


def set_limits(mechanism: Mechanism, joint_limits: Mapping[str, Any]) -> None:
    """Bound the coordinates of joints by name; None takes the bounds away."""
    if not isinstance(joint_limits, Mapping):
        raise ModelError(f"joint_limits are {joint_limits!r}, expected a mapping from joints to (low, high)")
    joints = list(mechanism.joints)
    for name, bounds in joint_limits.items():
        joint = get_joint(mechanism, name)
        slides, dof = joint.translational.free, joint.dof
        try:
            low, high = (-np.inf, np.inf) if bounds is None else bounds
            lows, highs = (np.broadcast_to(np.asarray(b, float), (dof,)) for b in (low, high))
        except (TypeError, ValueError, OverflowError):
            text = f"joint_limits are {bounds!r}, expected (low, high), each a number or {dof} numbers"
            raise ModelError(text, subject=f"joint '{name}'") from None
        joints[mechanism.place_of[joint]] = replace(
            joint,
            translational=replace(joint.translational, joint_limits=(lows[:slides], highs[:slides])),
            rotational=replace(joint.rotational, joint_limits=(lows[slides:], highs[slides:])),
        )
    mechanism.change(joints)


def set_floating_base(mechanism: Mechanism, name: Key) -> Mechanism:
    """Make a mechanism of the same parts in which another body is the one that floats; in the same state.

    The joints on the way to it are turned round: parent and child, vertices and offset change places, the axis its
    direction, so that springs, bounds and coordinates of joints with one freedom stay what they were.

    Raises
    ------
    ModelError
        If the base does not float, or a joint on the way has a slot that turns with its parent alone.
    """
    base = get_body(mechanism, name)
    carrier: dict[Body | Origin, int] = {mechanism.joints[j].child: j for j in mechanism.compiled.spanning.links}
    way: list[int] = []
    at: Body | Origin = base
    while at in carrier:
        way.append(carrier[at])
        at = mechanism.joints[way[-1]].parent
    if not way or mechanism.joints[way[-1]].dof != 6:
        raise ModelError("hangs on the origin by no Floating joint", subject=f"'{base.name}'")
    bodies = {body: replace(body, bond=Bond()) for body in mechanism.bodies}
    ends: dict[Body | Origin, Any] = dict(bodies) | {mechanism.origin: mechanism.origin}
    joints = []
    for j, joint in enumerate(mechanism.joints):
        if j == way[-1]:
            joints.append(replace(joint, child=ends[base], bond=Bond()))
        elif j in way:
            joints.append(_reversed(joint, ends[joint.child], ends[joint.parent]))
        else:
            joints.append(replace(joint, parent=ends[joint.parent], child=ends[joint.child], bond=Bond()))
    contacts = [
        replace(k, parent=ends[k.parent], child=None if k.child is None else ends[k.child], bond=Bond())
        for k in mechanism.contacts
    ]
    colliders = [replace(k, owner=ends[k.owner], bond=Bond()) for k in mechanism.colliders]
    spec = replace(
        mechanism.spec, bodies=tuple(bodies.values()), joints=tuple(joints), contacts=tuple(contacts),
        colliders=tuple(colliders),
    )  # fmt: skip
    made = Mechanism.of(spec)
    set_maximal_state(made, mechanism.pose)
    return made


def _reversed(joint: JointConstraint, parent: Body, child: Body) -> JointConstraint:
    """Turn a joint round.

    Its rotation becomes R_off r⁻¹ R_off⁻¹, so axes turn by −R_off; its translation −(R_off r)ᵀ d, which a slot that
    r does not turn survives.
    """
    slide, turn = joint.translational, joint.rotational
    offset = matrix(turn.orientation_offset)
    if slide.free in {1, 2} and turn.free:
        along = times(offset.T, slide.masks.frame[2])
        if turn.free > 1 or abs(times(along, turn.masks.frame[2])) < 1.0 - 1e-9:
            raise ModelError(f"{joint.prototype} cannot be turned round", subject=f"joint '{joint.name}'")
    turned: dict[str, Any] = {"axis": None if turn.axis is None else times(-offset, turn.axis)}
    slid: dict[str, Any] = {"axis": None if slide.axis is None else times(-offset.T, slide.axis)}
    new_turn = Rotational(
        turn.free, **_carried(turn, -offset, turned, joint.name), spring=turn.spring, damper=turn.damper,
        orientation_offset=conjugate(turn.orientation_offset), subject=turn.subject,
    )  # fmt: skip
    new_slide = Translational(
        slide.free, **_carried(slide, -offset.T, slid, joint.name), spring=slide.spring, damper=slide.damper,
        vertices=slide.vertices[::-1], subject=slide.subject,
    )  # fmt: skip
    drives = tuple(
        replace(drive, coordinate=_moved(drive.coordinate, (slide, new_slide, -offset.T), (turn, new_turn, -offset)))
        for drive in joint.drives
    )
    return JointConstraint(
        parent, child, new_slide, new_turn, drives, joint.stop_softness, implicit_spring=joint.implicit_spring,
        name=joint.name,
    )  # fmt: skip


def _moved(coordinate: int, *halves: tuple[Joint, Joint, Floats]) -> int:
    """Return which coordinate of a joint that was turned round one is: the axis on which its own now lies."""
    first = 0
    for half, fresh, rotation in halves:
        if coordinate < first + half.free:
            along = times(times(fresh.masks.free, rotation), half.masks.free[coordinate - first])
            if abs(np.abs(along).max() - 1.0) > 1e-9:
                raise ModelError("its drives are along axes that turning it round changes", subject=half.subject)
            return first + int(np.abs(along).argmax())
        first += half.free
    raise AssertionError(coordinate)


def _carried(half: Joint, rotation: Floats, changed: dict[str, Any], name: str) -> dict[str, Any]:
    """Offset and bounds of a half in the free directions that its new axis gives it."""
    fresh = Joint(half.free, changed["axis"])
    change = times(times(fresh.masks.free, rotation), half.masks.free.T)
    out = {**changed, "spring_offset": times(change, half.spring_offset)}
    if half.joint_limits is not None:
        if np.abs(np.abs(change) - np.eye(half.free)).max() > 1e-9:
            raise ModelError("its bounds are along axes that turning it round changes", subject=f"joint '{name}'")
        pair = np.stack([np.diag(change) * bound for bound in half.joint_limits])
        out["joint_limits"] = (pair.min(axis=0), pair.max(axis=0))
    return out
