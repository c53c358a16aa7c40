"""Static stability margin of a walker: distance of its centre of mass from the edge of the support polygon."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry import elementary as math
from cbsim.geometry.linear import norm
from cbsim.models.irit.anatomy import Anatomy
from cbsim.models.irit.gait import Gait
from cbsim.models.irit.solids import together

__all__ = ["centre_of_mass", "margins", "standing_margin"]


def centre_of_mass(anatomy: Anatomy) -> Floats:
    """Centre of mass (3,) of a walker at rest [m]."""
    return together([part.lump for part in anatomy.parts]).centre


def margins(feet: Floats, at: Sequence[float]) -> Floats:
    """Distances (n,) of a place from the sides of the polygon of feet (n, 2) around it, negative outside [m].

    Feet are sorted by their directions from their centre; two feet have no area.
    """
    place = np.asarray(at, float)[:2]
    if len(feet) < 3:
        return np.array([-float(norm(feet.mean(axis=0) - place))])
    arms = feet - feet.mean(axis=0)
    corners = feet[np.argsort(math.atan2(arms[:, 1], arms[:, 0]), kind="stable")]
    sides = np.roll(corners, -1, axis=0) - corners
    out = place - corners
    return np.asarray((sides[:, 0] * out[:, 1] - sides[:, 1] * out[:, 0]) / norm(sides, axis=1))


def standing_margin(gait: Gait) -> float:
    """Least margin [m] of a walker on the feet of either group; if it is negative, the walker tips while it steps."""
    feet, at = gait.limbs.foot[:, :2], centre_of_mass(gait.anatomy)
    return min(float(margins(feet[~swinging], (at[0], at[1])).min()) for swinging in gait.groups)
