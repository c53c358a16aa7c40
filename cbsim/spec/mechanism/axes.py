"""Free directions of joints: masks from an axis, with the same bits on every machine.

Source: docs/theory/joints_and_loops.md §2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cbsim.arrays import Floats
from cbsim.geometry.linear import norm, times
from cbsim.spec.mechanism.values import unit

__all__ = ["Masks", "masks_of"]


class Masks(NamedTuple):
    """Three directions, right-handed: V3 is the axis, V1 and V2 complete it.

    Attributes
    ----------
    frame : ndarray, shape (3, 3)
        Rows V1, V2, V3.
    free : ndarray, shape (n, 3)
        Directions that are free: none, V3, V1 and V2, or x, y and z.
    constrained : ndarray, shape (3 - n, 3)
        The others: x, y and z, V1 and V2, V3, or none.
    """

    frame: Floats
    free: Floats
    constrained: Floats


def masks_of(axis: ArrayLike | None, free: int, subject: str = "") -> Masks:
    """Make the masks of a joint with 0 to 3 free directions.

    V1 is the coordinate direction along which the axis is shortest (x before y before z), made normal to it;
    V2 = V3 × V1.

    >>> masks_of((0, 0, 1), 2).free
    array([[1., 0., 0.],
           [0., 1., 0.]])
    """
    third = unit((0.0, 0.0, 1.0) if axis is None else axis, subject, "axis")
    seed = np.zeros(3)
    seed[int(np.argmin(np.abs(third)))] = 1.0
    first = seed - times(seed, third) * third
    first /= norm(first)
    frame = np.stack([first, np.cross(third, first), third]) + 0.0  # no negative zeros
    if free in {0, 3}:
        whole, none = np.eye(3), np.zeros((0, 3))
        return Masks(frame, none if free == 0 else whole, whole if free == 0 else none)
    return Masks(frame, frame[2:] if free == 1 else frame[:2], frame[:2] if free == 1 else frame[2:])
