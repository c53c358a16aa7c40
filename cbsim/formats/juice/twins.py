"""Symmetric editing: whatever is done to a body or joint is done, mirrored in the plane x = 0, to its twin."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from cbsim.errors import UsageError
from cbsim.spec.juice import Attitude, JuiceBody, JuiceJoint, JuiceModel
from cbsim.spec.objects import Triple

__all__ = ["edited", "mirrored"]

SIDES = re.compile(r"(?<![A-Za-z])(?:left|right)(?![a-z])|(?:Left|Right)(?![a-z])|(?<![A-Z])(?:LEFT|RIGHT)(?![A-Z])")
OTHER = {"left": "right", "Left": "Right", "LEFT": "RIGHT", "right": "left", "Right": "Left", "RIGHT": "LEFT"}


def edited(model: JuiceModel, part: JuiceBody | JuiceJoint) -> JuiceModel:
    """Put a changed body or joint in the place of the one with its ID, and its mirror image in that of its twin.

    Parameters
    ----------
    model : JuiceModel
    part : JuiceBody or JuiceJoint
        With the ID of one that is there.

    Returns
    -------
    JuiceModel

    Raises
    ------
    UsageError
        If there is none with that ID.

    Examples
    --------
    >>> left, right = JuiceBody(1, "Left", Triple(-1, 0, 1), twin=2), JuiceBody(2, "Right", Triple(1, 0, 1), twin=1)
    >>> moved = edited(JuiceModel(bodies=(left, right)), replace(left, position=Triple(-2, 0, 1)))
    >>> moved.bodies[1].position
    Triple(x=2, y=0, z=1)
    """
    name = "bodies" if isinstance(part, JuiceBody) else "joints"
    there: tuple[Any, ...] = getattr(model, name)
    if part.id not in {one.id for one in there}:
        raise UsageError(f"none of the {name} has the ID {part.id}")
    twin = next((one for one in there if one.id == part.twin and one.id != part.id), None)
    placed = {part.id: part}
    if twin is not None:
        placed[twin.id] = mirrored(model, part, twin)
    changes: dict[str, Any] = {name: tuple(placed.get(one.id, one) for one in there)}
    return replace(model, **changes)


def mirrored(model: JuiceModel, part: JuiceBody | JuiceJoint, twin: JuiceBody | JuiceJoint) -> Any:
    """Mirror image of a part in the plane x = 0, with the ID of its twin.

    x, yaw and roll change their signs, left and right their places in names, where they are words or begin or end them
    in capitals (``LeftLeg``, ``leg_left``, not ``Bright`` or ``Leftover``); a joint ties the twins of what its
    original ties, or the same body where that has none.
    """
    x, y, z = part.position
    yaw, pitch, roll = part.attitude
    changes: dict[str, Any] = {
        "id": twin.id,
        "twin": part.id,
        "name": SIDES.sub(lambda found: OTHER[found[0]], part.name),
        "position": Triple(_negative(x), y, z),
        "attitude": Attitude(_negative(yaw), pitch, _negative(roll)),
        "location": twin.location,
    }
    if isinstance(part, JuiceJoint):
        twins = {body.id: body.twin or body.id for body in model.bodies}
        changes |= {"body1": twins.get(part.body1, part.body1), "body2": twins.get(part.body2, part.body2)}
    return replace(part, **changes)


def _negative(value: float) -> float:
    return -value if value else value
