"""Normals of polygons."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cbsim.spec.objects import Triple

__all__ = ["newell"]


def newell(points: Sequence[Triple] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the normal (3,) of a polygon by Newell's sum: twice its area [m²] long, counter-clockwise from its tip."""
    x0, y0, z0 = points[0]
    nx = ny = nz = 0.0
    ax, ay, az = (float(end - start) for end, start in zip(points[-1], points[0], strict=True))
    for x, y, z in points:  # few corners as a rule, for which plain numbers are faster than arrays
        bx, by, bz = x - x0, y - y0, z - z0
        nx, ny, nz = nx + ay * bz - az * by, ny + az * bx - ax * bz, nz + ax * by - ay * bx
        ax, ay, az = bx, by, bz
    return np.array([nx, ny, nz])
