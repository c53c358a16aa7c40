"""Joint offsets that make a start pose the zero of all coordinates, as robot files start from zero."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cbsim.geometry.pose import multiply
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.joints import Joint, JointConstraint

__all__ = ["posed"]


def posed(spec: MechanismSpec, start: Mapping[str, Sequence[float]]) -> MechanismSpec:
    """Make the coordinates at which a mechanism starts the zeros of its joints, loops too.

    Parameters
    ----------
    spec : MechanismSpec
    start : mapping
        Name of a joint → coordinates [m or rad], translations first. Joints that turn freely about two axes have none
        that can be made zero, and stay as they are.

    Notes
    -----
    With an offset o, a child is turned by o r against its parent, r the coordinate's rotation; of one that starts at
    r₀, o r₀ is the new offset: rotations about one axis, and all rotations, still are what they were. A coordinate of
    translation moves the parent's point along its axis, which is in the parent.
    """
    return replace(spec, joints=[_posed(joint, tuple(start.get(joint.name, ()))) for joint in spec.joints])


def _posed(joint: JointConstraint, coordinates: tuple[float, ...]) -> JointConstraint:
    slide, turn = joint.translational, joint.rotational
    if len(coordinates) < joint.dof:
        return joint
    along, about = np.array(coordinates[: slide.free]), np.array(coordinates[slide.free : joint.dof])
    if along.any():
        above, below = slide.vertices
        moved = np.asarray(above) + along @ slide.masks.free
        slide = replace(slide, vertices=(moved, below), **_shifted(slide, along))
    if about.any() and turn.free != 2:
        offset = multiply(turn.orientation_offset, _rotation(about @ turn.masks.free))
        turn = replace(turn, orientation_offset=offset, **_shifted(turn, about))
    return replace(joint, translational=slide, rotational=turn)


def _shifted(half: Joint, by: Any) -> dict[str, Any]:
    """Bounds and slack coordinates of half a joint, from its new zero."""
    limits = half.joint_limits
    bounds = None if limits is None else tuple(np.asarray(bound) - by for bound in limits)
    return {"joint_limits": bounds, "spring_offset": np.asarray(half.spring_offset) - by}


def _rotation(vector: Any) -> Any:
    """Return the unit quaternion of a rotation vector [rad]."""
    angle = float(np.linalg.norm(vector))
    half = 0.5 * angle
    factor = math.sin(half) / angle if angle > 1e-9 else 0.5
    return np.array([math.cos(half), *(factor * vector)])
