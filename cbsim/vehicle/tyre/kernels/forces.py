"""Forces of tyres by slip: the brush model's curve, and Fiala's tyre as in property files.

Uniform or given friction and a parabolic pressure (Fiala 1954; Pacejka 2012, §3.2). Nothing here is compiled or needs
numba; kernels inline what they use. See docs/theory/drives_and_tyres.md §5 and §9.
"""

from __future__ import annotations

import math
from typing import Any

__all__ = ["aligning_torque", "friction_force", "lateral_force", "longitudinal_force", "relative_secant"]


def relative_secant(p: Any) -> Any:
    """Force over stiffness times slip, F / (C σ) = (1 − (1 − p)³) / (3 p) for 0 ≤ p = C σ / (3 F_max) ≤ 1."""
    return 1.0 - p + p * p / 3.0


def friction_force(load: float, slip: float, tangent: float, umin: float, umax: float) -> float:
    """Largest force [N] at a slip ratio and the tangent of a slip angle: friction falls from ``umax`` to ``umin``."""
    return max(0.0, (umax - (umax - umin) * min(1.0, math.sqrt(slip * slip + tangent * tangent))) * load)


def lateral_force(stiffness: float, capacity: float, tangent: float) -> float:
    """Force [N] against the lateral motion, by the brush curve.

    Parameters
    ----------
    stiffness : float
        Force by slip angle at none [N/rad].
    capacity : float
        Largest force [N].
    tangent : float
        Of the slip angle, above 0 where the tyre moves along its lateral axis.
    """
    linear = stiffness * abs(tangent)
    if linear >= 3.0 * capacity:
        return -math.copysign(capacity, tangent)
    return -math.copysign(linear * relative_secant(linear / (3.0 * capacity)), tangent)


def aligning_torque(stiffness: float, capacity: float, tangent: float, width: float) -> float:
    """Torque [N m] about the normal of the ground that turns a tyre of some width [m] to where it moves."""
    linear = stiffness * abs(tangent)
    if linear >= 3.0 * capacity:
        return 0.0
    adhering = 1.0 - linear / (3.0 * capacity)
    return math.copysign(capacity * width * (1.0 - adhering) * adhering * adhering * adhering, tangent)


def longitudinal_force(stiffness: float, capacity: float, slip: float) -> float:
    """Force [N] along the wheel: linear up to half of the largest force, then asymptotic to it.

    Parameters
    ----------
    stiffness : float
        Force by slip ratio at none [N].
    capacity : float
        Largest force [N].
    slip : float
        Slip ratio, above 0 where the tyre drives.
    """
    if 2.0 * stiffness * abs(slip) <= capacity:
        return stiffness * slip
    return math.copysign(capacity - capacity * capacity / (4.0 * abs(slip) * stiffness), slip)
