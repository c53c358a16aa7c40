"""Who is in whom when a step begins, and how they come out of one another: slowly, and never deeper in.

Bodies come to be in one another where they were put so, or where a step had no solution. A rigid contact would part
them within one step, which takes a blow; so those contacts are soft for the step: what they take away of the depth is
what a body slowly comes out by, and they press no harder than a few times its weight to do so. Its weight is that of
its effective mass along the contact: a light body that a hinge holds is as hard as the ground the hinge is fixed to.
What does as it is told cannot give way: what is too deep in that passes through it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from cbsim.coupling.contact_island import Gathering
from cbsim.dynamics.active_contacts import Gap, contact_gaps
from cbsim.dynamics.detection.kernels import columns as d
from cbsim.dynamics.effective_mass import EffectiveMasses
from cbsim.dynamics.workspaces import SolverWorkspaces
from cbsim.geometry.linear import norm
from cbsim.world.tables import Floats

__all__ = ["DEEP", "Overlap", "eased", "overlaps"]

DEEP = 0.1  # [m] what is in what does as it is told by more passes through it
SLACK = 2e-3  # [m] by which bodies may be in one another without being eased out
PUSH = 0.2  # [m/s] at which they come out
PULL = 100.0  # [m/s²] that the push alone may give the lighter of two, each by its effective mass

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
    inverse_masses : (float, float)
        Inverse effective masses of the two along the way out, in units of the gathering.
    """

    one: Who
    other: Who
    depth: float
    solids: tuple[int, int]
    inverse_masses: tuple[float, float]


def overlaps(gathering: Gathering, workspaces: SolverWorkspaces, start: Floats) -> list[Overlap]:
    """Find who is in whom at a state (bodies, 13) of a gathering: each pair of colliders once."""
    pairs: dict[tuple[int, int], list[Gap]] = {}
    for gap in contact_gaps(workspaces, start):
        if gap.gap < -SLACK / gathering.frame.scale:
            pairs.setdefault(gap.solids, []).append(gap)
    masses = EffectiveMasses(gathering.compiled, start)
    return [found for gaps in pairs.values() if (found := _overlap(gathering, masses, gaps)) is not None]


def _overlap(gathering: Gathering, masses: EffectiveMasses, gaps: list[Gap]) -> Overlap | None:
    """Describe two colliders that are in one another, given all their contacts; None for two of the same owner."""
    place, way = (np.mean([getattr(gap, name) for gap in gaps], axis=0) for name in ("place", "normal"))
    way = way / max(float(norm(way)), 1e-12)
    sides = []
    for body, solid in zip((gaps[0].one, gaps[0].other), gaps[0].solids, strict=True):
        owner = int(gathering.things[solid]) if body < 0 else int(gathering.owner[body])
        if owner < 0:
            return None
        sides.append((gathering.names[owner], solid, masses.inverse(body, place, way)))
    if sides[0][0] == sides[1][0]:
        return None
    (one, solid, inverse), (other, another, against) = sorted(sides, key=lambda side: (side[0][0] != "model", side))
    depth = -gathering.frame.scale * min(gap.gap for gap in gaps)
    return Overlap(one, other, depth, (solid, another), (inverse, against))


def eased(gathering: Gathering, found: Iterable[Overlap]) -> Floats | None:
    """Make a table of colliders (colliders, `COLLIDER_COLUMNS`) with soft ones of who overlaps; None where nobody does.

    A soft contact leaves (1 − ERP) of a depth in a step, and more by CFM times its impulse. Of two colliders the softer
    one counts: that of the body with the smaller effective mass is made so, and the other is as hard as ever for all
    else.
    """
    deepest: dict[int, float] = {}
    lightest: dict[int, float] = {}
    colliders, scale = gathering.compiled.colliders, gathering.frame.scale
    for each in found:
        inverse, solid = max(zip(each.inverse_masses, each.solids, strict=True))
        deepest[solid] = max(deepest.get(solid, 0.0), each.depth / scale)
        lightest[solid] = max(lightest.get(solid, 0.0), inverse)
    if not deepest or colliders is None:
        return None
    table, way = colliders.collider.copy(), PUSH / scale * gathering.spec.timestep
    for solid, depth in deepest.items():
        table[solid, d.ONE_MINUS_ERP] = max(table[solid, d.ONE_MINUS_ERP], 1.0 - way / depth)
        table[solid, d.CFM] = max(table[solid, d.CFM], PUSH / PULL * lightest[solid])
    return table
