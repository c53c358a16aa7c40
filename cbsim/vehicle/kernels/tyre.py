"""Tyres: the brush model, and turning with the body.

The brush model with uniform friction (Pacejka, Tire and Vehicle Dynamics, §3.2; Fiala 1954): with the slip σ = sliding
over rolling velocity, θ = C / (3 F) and p = θ σ, the force is F (1 − (1 − p)³) for p < 1 and F beyond. Kernels need not
the force but the sliding velocity per force, the *compliance*: it stays finite at rest, where the slip does not.
"""

from __future__ import annotations

from cbsim.jit import kernel

__all__ = ["compliance", "turned"]


@kernel
def compliance(stiffness, capacity, rolling, sliding):
    """Sliding velocity over force [m/s/N] of a tyre that slides at `sliding` ≥ 0 and rolls at `rolling` ≥ 0 [m/s].

    `stiffness` is dF/dσ [N] at no slip; `capacity` > 0 is the largest force [N]. Zero for a tyre that does neither: it
    sticks.
    """
    full = 3.0 * capacity * rolling
    pull = stiffness * sliding
    if pull < full:
        p = pull / full
        return rolling / (stiffness * (1.0 - p + p * p / 3.0))
    return sliding / capacity


@kernel
def turned(turn, forward, left):
    """Components of a velocity after the axes have turned by an angle [rad], left of forward counted positive.

    A Cayley rotation: the length is kept to the last bits whatever the angle, which is true to 1e-6 at 0.5 rad.
    """
    half = 0.5 * turn
    square = half * half
    t = half * (1.0 + square * (1.0 / 3.0 + square * (2.0 / 15.0)))
    scale = 1.0 / (1.0 + t * t)
    c, s = (1.0 - t * t) * scale, 2.0 * t * scale
    return c * forward + s * left, c * left - s * forward
