"""Solid ground of a height field for dynamic walkers: two prisms per cell.

Feet touch it with small balls, the body with the box around it. Its cells are cut along one diagonal, while a walk
without dynamics takes heights in between along both axes: they differ by less than what a cell is bent.
"""

from __future__ import annotations

import numpy as np

from cbsim.arrays import Floats
from cbsim.errors import ModelError
from cbsim.models.irit.anatomy import Anatomy
from cbsim.models.irit.ground import Heights
from cbsim.spec.mechanism.bodies import Body, Origin
from cbsim.spec.mechanism.colliders import Collider, ConvexHull
from cbsim.spec.mechanism.shapes import Box, Sphere

__all__ = ["CELLS", "FOOT", "terrain"]

CELLS = 2500  # of a height field: each is two solids, and every step looks at those near the walker
FOOT = 0.03  # radius of a foot, as a share of its shin
GROUND, WALKER = 1, 2  # groups, each of which meets the other alone


def terrain(
    anatomy: Anatomy, body: Body, shins: list[Body], origin: Origin, ground: Heights, friction: float
) -> list[Collider]:
    """Make colliders of a height field, of a walker's feet and of its body.

    Raises
    ------
    ModelError
        If the field has too many cells, or none.
    """
    rows, columns = ground.values.shape
    cells = (rows - 1) * (columns - 1)
    if not 0 < cells <= CELLS:
        text = (
            f"a height field of {cells} cells; with dynamics it has 1 to {CELLS}: {rows} x {columns} heights are given"
        )
        raise ModelError(text, subject="ground")
    found = [
        Collider(origin, ConvexHull(points=prism), friction, group=GROUND, meets=WALKER) for prism in _prisms(ground)
    ]
    for k, shin in enumerate(shins):
        radius = FOOT * float(anatomy.limbs.lower[k])
        at = anatomy.limbs.foot[k] + (0.0, 0.0, radius) - anatomy.shins[k].lump.centre
        found.append(Collider(shin, Sphere(radius, position_offset=at), friction, group=WALKER, meets=GROUND))
    low, high = anatomy.body.low, anatomy.body.high
    box = Box(*map(float, np.maximum(high - low, 1e-6)), position_offset=0.5 * (low + high) - anatomy.body.lump.centre)
    found.append(Collider(body, box, friction, group=WALKER, meets=GROUND))
    return found


def _prisms(ground: Heights) -> Floats:
    """Corners (2 cells, 6, 3) of prisms below the triangles of the field, as deep as a cell is wide."""
    rows, columns = ground.values.shape
    x = ground.corner[0] + ground.cell * np.arange(columns)
    y = ground.corner[1] + ground.cell * np.arange(rows)
    points = np.stack([*np.meshgrid(x, y), ground.values], axis=-1)
    a, b, c, d = points[:-1, :-1], points[:-1, 1:], points[1:, 1:], points[1:, :-1]
    tops = np.concatenate(
        [np.stack([a, b, c], axis=2).reshape(-1, 3, 3), np.stack([a, c, d], axis=2).reshape(-1, 3, 3)]
    )
    return np.concatenate([tops, tops - (0.0, 0.0, ground.cell)], axis=1)
