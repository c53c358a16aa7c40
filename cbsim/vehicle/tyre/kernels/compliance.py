"""Compliance of brush tyres, and braking forces limited by friction.

Kernels need not a tyre's force but its sliding velocity per force, the *compliance*: it stays finite at rest, where the
slip does not. See docs/theory/drives_and_tyres.md §5.
"""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined, inner
from cbsim.vehicle.tyre.kernels import forces

__all__ = ["compliance", "cut"]

relative_secant = inlined(forces.relative_secant)


@inner
def compliance(stiffness, capacity, rolling, sliding):
    """Sliding velocity over force [m/s/N] of a tyre that slides at `sliding` ≥ 0 and rolls at `rolling` ≥ 0 [m/s].

    `stiffness` is dF/dσ [N] at no slip; `capacity` > 0 is the largest force [N]. Zero for a tyre at rest, which
    sticks.
    """
    # p = C σ / (3 F) < 1: part of the contact patch adheres; multiplied by the rolling velocity, which may be 0
    full = 3.0 * capacity * rolling
    pull = stiffness * sliding
    if pull < full:
        return rolling / (stiffness * relative_secant(pull / full))
    return sliding / capacity


@inner
def cut(brake, grip, rolling, sliding):
    """Brake force [N] limited by friction; on a locked wheel, friction opposes the direction of sliding."""
    speed = math.hypot(rolling, sliding)
    # a locked wheel's force has the magnitude of the grip, and this component along the wheel
    if brake * speed > grip * abs(rolling):
        return grip * abs(rolling) / speed
    return brake
