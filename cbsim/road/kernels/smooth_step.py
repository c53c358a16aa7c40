"""The smooth step by which vehicles shift sideways: slope and curvature vanish at both ends."""

from __future__ import annotations

from cbsim.jit import inlined

__all__ = ["STEEPEST", "smooth_step"]

STEEPEST = 5.7735  # largest second derivative, 10 / √3: a shift by d over a length L has the curvature 5.77 d / L²


@inlined
def smooth_step(part):
    """Share of a shift that is done at a part of its length: 10 u³ − 15 u⁴ + 6 u⁵, for u from 0 to 1."""
    return part * part * part * (10.0 - 15.0 * part + 6.0 * part * part)
