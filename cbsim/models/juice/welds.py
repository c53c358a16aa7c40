"""Joints locked by other joints, such as two crossed hinges, which weld their bodies in Juice models.

The constraints of the joints of a loop determine the infinitesimal motions of its bodies (screws). Bodies without
relative motion by the joints among them alone are rigid. Where other joints can move too, the absence of such a motion
proves nothing: a wing at the dead centre of its crank cannot move at first, but flaps later.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from networkx.utils import UnionFind

from cbsim.arrays import Floats
from cbsim.geometry.linear import null_space, svd, times
from cbsim.models.juice.poses import axis_of
from cbsim.spec.juice import JointKind, JuiceJoint

__all__ = ["stuck_joints"]

NOTHING = 1e-6  # of a motion, or of a constraint's hold on motions to that of the strongest
MOST = 100  # bodies of loops that hang together: of more, motions would take seconds to find


def stuck_joints(joints: Sequence[JuiceJoint], convention: str = "compat") -> frozenset[int]:
    """Find the joints, by their IDs, that cannot move in the pose of the file.

    Parameters
    ----------
    joints : sequence of JuiceJoint
        Between two different bodies each.
    convention : str
        Signs of axes, as `cbsim.models.juice.poses.axis_of` has them.
    """
    stuck: set[int] = set()
    waiting = _loops(joints)
    for loop in waiting:  # grows on the way
        if len({end for joint in loop for end in (joint.body1, joint.body2)}) > MOST:
            continue
        still = _still(loop, convention)
        if len(still) == len(loop):
            stuck.update(joint.id for joint in loop)
        else:
            waiting += _loops(still)
    return frozenset(stuck)


def _loops(joints: Sequence[JuiceJoint]) -> list[list[JuiceJoint]]:
    """Joints of loops, those together that hang together: what is left when free ends are taken off again and again."""
    at: dict[int, set[int]] = {}
    for k, joint in enumerate(joints):
        at.setdefault(joint.body1, set()).add(k)
        at.setdefault(joint.body2, set()).add(k)
    ends = [body for body, its in at.items() if len(its) == 1]
    for body in ends:  # grows on the way
        for k in at.pop(body):
            other = joints[k].body2 if joints[k].body1 == body else joints[k].body1
            at[other].discard(k)
            if len(at[other]) == 1:
                ends.append(other)
    left = [joint for joint in joints if at.get(joint.body1) and at.get(joint.body2)]
    tied: UnionFind[int] = UnionFind()
    for joint in left:
        tied.union(joint.body1, joint.body2)
    found: dict[int, list[JuiceJoint]] = {}
    for joint in left:
        found.setdefault(tied[joint.body1], []).append(joint)
    return list(found.values())


def _still(joints: Sequence[JuiceJoint], convention: str) -> list[JuiceJoint]:
    """Joints whose bodies have no small motion against each other."""
    place: dict[int, int] = {}
    for joint in joints:
        place.setdefault(joint.body1, len(place))
        place.setdefault(joint.body2, len(place))
    points = np.array([joint.position for joint in joints], float)
    points -= points.mean(axis=0)
    points /= max(1e-9, float(np.abs(points).max()))
    apart = np.zeros((len(joints), 6, 6 * len(place)))  # velocity at the joint and turning of body 2 against body 1
    for k, (joint, point) in enumerate(zip(joints, points, strict=True)):
        motion = np.eye(6)
        motion[:3, 3:] = -np.cross(np.eye(3), point)
        for body, sign in ((joint.body1, -1.0), (joint.body2, 1.0)):
            apart[k, :, 6 * place[body] : 6 * place[body] + 6] = sign * motion
    held = [times(_held(joint, convention), apart[k]) for k, joint in enumerate(joints)]
    motions = null_space(np.concatenate(held), NOTHING)
    moves = np.abs(times(apart, motions.T)).max(axis=(1, 2))
    return [joint for joint, most in zip(joints, moves, strict=True) if most < NOTHING]


def _held(joint: JuiceJoint, convention: str) -> Floats:
    """Directions (rows, 6) of velocity and turning that a joint holds."""
    if joint.kind is JointKind.BALL:
        return np.eye(3, 6)
    axis = axis_of(joint.kind, joint.attitude, convention)
    across = svd(axis[None])[2][1:]
    slides = joint.kind is JointKind.SLIDER
    rows = np.zeros((5, 6))
    rows[:3, 3:] = np.eye(3) * slides
    rows[:3, :3] = np.eye(3) * (not slides)
    rows[3:] = np.hstack([across, 0.0 * across] if slides else [0.0 * across, across])
    return rows
