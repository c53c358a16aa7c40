"""Penetration at the beginning of a step, and soft contacts that resolve it slowly.

Bodies penetrate where they were placed so, or where a step had no solution. A rigid contact would separate them within
one step, by a large impulse. These contacts are softened for the step instead: they remove the depth at a limited
speed, and press no harder than a few times the body's weight. The weight is that of the effective mass along the
contact: a light body on a hinge is as stiff as what the hinge is fixed to. Kinematic actors don't yield, so pairs that
penetrate them too deeply are excluded from contact.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats
from cbsim.coupling.contact_island import ContactIsland
from cbsim.dynamics.active_contacts import Gap, contact_gaps
from cbsim.dynamics.detection.kernels import columns as d
from cbsim.dynamics.effective_mass import EffectiveMasses
from cbsim.dynamics.workspaces import SolverWorkspaces
from cbsim.geometry.linear import norm

__all__ = ["DEEP", "Overlap", "overlaps", "soften_contacts"]

DEEP = 0.1  # [m] penetration of kinematic actors beyond which contact is excluded
SLACK = 2e-3  # [m] penetration that needs no softening
PUSH = 0.2  # [m/s] speed of separation
PULL = 100.0  # [m/s²] largest acceleration of the lighter body by separation, from effective masses

EntityKey = tuple[str, int]
"""Kind and number in the plan of an island."""


class Overlap(NamedTuple):
    """Two colliders that penetrate by more than `SLACK`.

    Attributes
    ----------
    one, other : (str, int)
        Kinds and numbers in the plan, a model first.
    depth : float
        Along the shortest way out [m].
    solids : (int, int)
        Their rows in the island's table of colliders.
    inverse_masses : (float, float)
        Inverse effective masses along that way, in island units.
    """

    one: EntityKey
    other: EntityKey
    depth: float
    solids: tuple[int, int]
    inverse_masses: tuple[float, float]


def overlaps(island: ContactIsland, workspace: SolverWorkspaces, start: Floats) -> list[Overlap]:
    """Find the penetrating pairs of colliders at a state (bodies, 13) of an island, each once."""
    pairs: dict[tuple[int, int], list[Gap]] = {}
    for gap in contact_gaps(workspace, start):
        if gap.gap < -SLACK / island.frame.scale:
            pairs.setdefault(gap.solids, []).append(gap)
    masses = EffectiveMasses(island.compiled, start)
    return [found for gaps in pairs.values() if (found := _overlap(island, masses, gaps)) is not None]


def _overlap(island: ContactIsland, masses: EffectiveMasses, gaps: list[Gap]) -> Overlap | None:
    """Describe a penetrating pair, given all its contacts; None if both belong to the same owner."""
    place, way = (np.mean([getattr(gap, name) for gap in gaps], axis=0) for name in ("place", "normal"))
    way = way / max(float(norm(way)), 1e-12)
    sides = []
    for body, solid in zip((gaps[0].one, gaps[0].other), gaps[0].solids, strict=True):
        owner = int(island.obstacles[solid]) if body < 0 else int(island.owner[body])
        if owner < 0:
            return None
        sides.append((island.names[owner], solid, masses.inverse(body, place, way)))
    if sides[0][0] == sides[1][0]:
        return None
    (one, solid, inverse), (other, another, against) = sorted(sides, key=lambda side: (side[0][0] != "model", side))
    depth = -island.frame.scale * min(gap.gap for gap in gaps)
    return Overlap(one, other, depth, (solid, another), (inverse, against))


def soften_contacts(island: ContactIsland, found: Iterable[Overlap]) -> Floats | None:
    """Make a table of colliders (colliders, `COLLIDER_COLUMNS`), soft for penetrating pairs; None if there are none.

    A soft contact keeps (1 − ERP) of its depth in a step, plus CFM times its impulse. The softer collider of a pair
    decides, so only that of the body with the smaller effective mass is softened, and the other stays rigid towards all
    other bodies.
    """
    deepest: dict[int, float] = {}
    lightest: dict[int, float] = {}
    colliders, scale = island.compiled.colliders, island.frame.scale
    for each in found:
        inverse, solid = max(zip(each.inverse_masses, each.solids, strict=True))
        deepest[solid] = max(deepest.get(solid, 0.0), each.depth / scale)
        lightest[solid] = max(lightest.get(solid, 0.0), inverse)
    if not deepest or colliders is None:
        return None
    table, way = colliders.collider.copy(), PUSH / scale * island.spec.timestep
    for solid, depth in deepest.items():
        table[solid, d.ONE_MINUS_ERP] = max(table[solid, d.ONE_MINUS_ERP], 1.0 - way / depth)
        table[solid, d.CFM] = max(table[solid, d.CFM], PUSH / PULL * lightest[solid])
    return table
