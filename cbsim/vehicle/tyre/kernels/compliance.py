"""Tyres: the brush model.

The brush model with uniform friction (Pacejka, Tire and Vehicle Dynamics, §3.2; Fiala 1954): with the slip σ = sliding
over rolling velocity, θ = C / (3 F) and p = θ σ, the force is F (1 − (1 − p)³) for p < 1 and F beyond. Kernels need not
the force but the sliding velocity per force, the *compliance*: it stays finite at rest, where the slip does not.
See docs/theory/drives_and_tyres.md §5.
"""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inner, kernel

__all__ = ["compliance", "cut"]


@inner
def compliance(stiffness, capacity, rolling, sliding):
    """Sliding velocity over force [m/s/N] of a tyre that slides at `sliding` ≥ 0 and rolls at `rolling` ≥ 0 [m/s].

    `stiffness` is dF/dσ [N] at no slip; `capacity` > 0 is the largest force [N]. Zero for a tyre at rest, which
    sticks.
    """
    # p = θ σ < 1: part of the contact patch adheres; multiplied by the rolling velocity, which may be 0
    full = 3.0 * capacity * rolling
    pull = stiffness * sliding
    if pull < full:
        # F = C σ (1 − p + p² / 3), and the sliding velocity is σ times the rolling one
        p = pull / full
        return rolling / (stiffness * (1.0 - p + p * p / 3.0))
    return sliding / capacity


@kernel
def cut(brake, grip, rolling, sliding):
    """Brake force [N] limited by friction; on a locked wheel, friction opposes the direction of sliding."""
    speed = math.hypot(rolling, sliding)
    # a locked wheel's force has the magnitude of the grip, and this component along the wheel
    if brake * speed > grip * abs(rolling):
        return grip * abs(rolling) / speed
    return brake
