"""Parameters of a tyre from a property file."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["TyreNumbers"]


@dataclass(frozen=True, slots=True)
class TyreNumbers:
    """Numbers of a tyre; the defaults are those of a passenger car's.

    Attributes
    ----------
    unloaded_radius, width : float
        [m].
    vertical_stiffness, vertical_damping : float
        [N/m], [N s/m].
    rolling_resistance : float
        Lever arm of the normal force [m].
    cslip, calpha : float
        Longitudinal force by slip ratio [N], lateral force by slip angle [N/rad].
    umin, umax : float
        Coefficient of friction at full slip and at none.
    """

    unloaded_radius: float = 0.355
    width: float = 0.235
    vertical_stiffness: float = 2.1e5
    vertical_damping: float = 500.0
    rolling_resistance: float = 0.0
    cslip: float = 1.0e5
    calpha: float = 4.5e4
    umin: float = 0.9
    umax: float = 1.0
