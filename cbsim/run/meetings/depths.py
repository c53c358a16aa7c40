"""Who is in whom when a step begins, and how they come out of one another: slowly, and never deeper in.

Bodies come to be in one another where they were put so, or where a step had no solution. A rigid contact would part
them within one step, which takes a blow; so those contacts are soft for the step: what they take away of the depth is
what a body slowly comes out by, and they press no harder than a few times its weight to do so. What does as it is told
cannot give way: what is too deep in that passes through it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from cbsim.dynamics.detection.kernels import columns as d
from cbsim.dynamics.rooms import Rooms
from cbsim.dynamics.touches import gaps_at
from cbsim.run.meetings.gathering import Gathering
from cbsim.world.tables import Floats

__all__ = ["DEEP", "Overlap", "eased", "overlaps"]

DEEP = 0.1  # [m] what is in what does as it is told by more passes through it
SLACK = 2e-3  # [m] by which bodies may be in one another without being eased out
PUSH = 0.2  # [m/s] at which they come out
PULL = 100.0  # [m/s²] that the push alone may give the lighter of two

Who = tuple[str, int]
"""Kind and number in the plan of a gathering."""


class Overlap(NamedTuple):
    """Two colliders that are in one another by more than `SLACK`.

    Attributes
    ----------
    one, other : (str, int)
        Kinds and numbers in the plan, a model first.
    depth : float
        Along the way that is the shortest out [m].
    solids : (int, int)
        Their rows in the gathering's table of colliders.
    """

    one: Who
    other: Who
    depth: float
    solids: tuple[int, int]


def overlaps(gathering: Gathering, rooms: Rooms, start: Floats) -> list[Overlap]:
    """Find who is in whom at a state (bodies, 13) of a gathering."""
    found, scale = [], gathering.frame.scale
    for gap in gaps_at(rooms, start):
        if gap.gap >= -SLACK / scale:
            continue
        places = [
            int(gathering.things[solid]) if body < 0 else int(gathering.owner[body])
            for body, solid in ((gap.one, gap.solids[0]), (gap.other, gap.solids[1]))
        ]
        if min(places) >= 0 and places[0] != places[1]:
            names = (gathering.names[k] for k in places)
            pair = sorted(zip(names, gap.solids, strict=True), key=lambda each: (each[0][0] != "model", each))
            (one, solid), (other, another) = pair
            found.append(Overlap(one, other, -scale * gap.gap, (solid, another)))
    return found


def eased(gathering: Gathering, found: Iterable[Overlap]) -> Floats | None:
    """Make a table of colliders (colliders, `COLLIDER_COLUMNS`) with soft ones of who overlaps; None where nobody does.

    A soft contact leaves (1 − ERP) of a depth in a step, and more by CFM times its impulse. Of two colliders the softer
    one counts: that of the lighter body is made so, and the other is as hard as ever for all else.
    """
    deepest: dict[int, float] = {}
    lightest: dict[int, float] = {}
    crowd, scale = gathering.compiled.crowd, gathering.frame.scale
    for each in found:
        mass, solid = min(zip((gathering.weigh(each.one), gathering.weigh(each.other)), each.solids, strict=True))
        deepest[solid] = max(deepest.get(solid, 0.0), each.depth / scale)
        lightest[solid] = mass
    if not deepest or crowd is None:
        return None
    table, way = crowd.collider.copy(), PUSH / scale * gathering.spec.timestep
    for solid, depth in deepest.items():
        table[solid, d.LEFT_OVER] = max(table[solid, d.LEFT_OVER], 1.0 - way / depth)
        table[solid, d.CFM] = max(table[solid, d.CFM], PUSH / (PULL * lightest[solid]))
    return table
