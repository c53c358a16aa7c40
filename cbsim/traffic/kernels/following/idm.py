"""Intelligent driver model (Treiber, Hennecke, Helbing 2000, Phys. Rev. E 62, 1805)."""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined

__all__ = ["idm"]


@inlined
def idm(speed, desired, gap, leader, values):
    """Acceleration [m/s²]; arguments as in `follow`.

    a (1 − (v/v₀)⁴ − (s*/s)²) with s* = s₀ + max(0, v T + v Δv / (2 √(a b))). Above the desired speed the free term is
    −b (1 − (v₀/v)^(4a/b)) instead, as in the improved model (Treiber and Kesting 2013, Traffic Flow Dynamics, §11.3.7),
    so that a lower limit ahead is met with a comfortable deceleration.
    """
    headway, least, strongest, comfortable = values
    if speed <= desired:
        ratio = speed / desired
        ratio *= ratio
        free = strongest * (1.0 - ratio * ratio)
    else:
        free = -comfortable * (1.0 - math.power(desired / speed, 4.0 * strongest / comfortable))
    if gap == math.inf:
        return free
    closing = speed * (speed - leader) / (2.0 * math.sqrt(strongest * comfortable))
    wanted = least + max(0.0, speed * headway + closing)
    ratio = wanted / max(gap, 0.01)
    return free - strongest * ratio * ratio
