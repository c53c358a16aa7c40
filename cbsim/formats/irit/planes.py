"""Normals of polygons."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cbsim.spec.objects import Triple

__all__ = ["newell"]


def newell(points: Sequence[Triple] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the normal (3,) of a polygon by Newell's sum: twice its area [m²] long, counter-clockwise from its tip."""
    corners = np.asarray(points, float)
    corners = corners - corners[0]
    return np.asarray(np.cross(corners, np.roll(corners, -1, axis=0)).sum(axis=0))
