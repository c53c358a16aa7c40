"""Mass, centre and inertia of solids bounded by triangles.

Surfaces of files are often open (a cone without its base, a tube). They are closed by cones to their own centre, and if
the result has no volume, it is replaced by the bounding box.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry.elementary import square
from cbsim.geometry.linear import eigvalsh, times

__all__ = ["Lump", "lump_of", "together"]

THIN = 0.02  # thickness of a box around a flat part, as a share of its largest extent
SLIGHT = 1e-3  # least volume, as a share of the box
EYE = np.eye(3)


@dataclass(frozen=True, eq=False)
class Lump:
    """Homogeneous solid of 1 kg/m³.

    Attributes
    ----------
    mass : float
        Its volume [m³ · 1 kg/m³].
    centre : ndarray, shape (3,)
        Of mass [m].
    inertia : ndarray, shape (3, 3)
        About the centre [kg m²].
    """

    mass: float
    centre: Floats
    inertia: Floats


def lump_of(pieces: Sequence[Floats], points: Floats) -> Lump:
    """Compute the lump that pieces of triangles (n, 3, 3) enclose; without any, that of a box around points (n, 3)."""
    triangles = np.concatenate([np.zeros((0, 3, 3)), *pieces])
    corners = np.concatenate([triangles.reshape(-1, 3), points]) if len(points) else triangles.reshape(-1, 3)
    if not len(corners):
        corners = np.zeros((1, 3))
    box = _box(corners.min(axis=0), corners.max(axis=0))
    inside = [solid for piece in pieces if len(piece) and (solid := _enclosed(piece)) is not None]
    solid = together(inside) if inside else None
    if (
        solid is None
        or solid.mass < SLIGHT * box.mass
        or eigvalsh(solid.inertia)[0] <= 1e-9 * solid.mass * square(np.ptp(corners, axis=0).max())
    ):
        return box
    return solid


def together(parts: Sequence[Lump]) -> Lump:
    """Add lumps up (Steiner's theorem)."""
    mass = math.fsum(part.mass for part in parts)
    centre = np.asarray(sum(part.mass * part.centre for part in parts) / mass)
    inertia = np.zeros((3, 3))
    for part in parts:
        arm = part.centre - centre
        inertia += part.inertia + part.mass * (times(arm, arm) * EYE - np.outer(arm, arm))
    return Lump(mass, centre, inertia)


def _enclosed(triangles: Floats) -> Lump | None:
    """Lump inside triangles: the sum over tetrahedra from their middle, ∫ x xᵀ = (Σ xᵢ xᵢᵀ + s sᵀ) V / 20, s = Σ xᵢ."""
    middle = triangles.mean(axis=(0, 1))
    corners = triangles - middle
    volumes = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0
    total = float(volumes.sum())
    if not abs(total) > 0.0:
        return None
    sums = corners.sum(axis=1)
    shift = (volumes[:, None] * sums).sum(axis=0) / (4.0 * total)
    outer = np.einsum("n,nki,nkj->ij", volumes, corners, corners) + np.einsum("n,ni,nj->ij", volumes, sums, sums)
    moments = outer / (20.0 * total) - np.outer(shift, shift)
    mass = abs(total)
    values = eigvalsh(moments)
    if values[0] <= 0.0:
        return None
    return Lump(mass, middle + shift, mass * (np.trace(moments) * EYE - moments))


def _box(low: Floats, high: Floats) -> Lump:
    sizes = high - low
    sizes = np.maximum(sizes, max(THIN * float(sizes.max()), 1e-6))
    mass = float(sizes.prod())
    squares = square(sizes) / 12.0
    return Lump(mass, 0.5 * (low + high), mass * (squares.sum() * EYE - np.diag(squares)))
