"""Validation of a state before a step."""

from __future__ import annotations

import math

from cbsim.dynamics.kernels.columns import ROTATION, SPIN
from cbsim.jit import kernel

__all__ = ["first_unsound"]


@kernel
def first_unsound(z, h):
    """Find the first body (rows x, v, q, w) with a NaN, a non-unit quaternion, or half a turn per step; or -1."""
    for i in range(len(z)):
        total = 0.0
        for k in range(13):
            total += abs(z[i, k])  # a sum is NaN if any of its terms is
        a, b, c, d = z[i, ROTATION], z[i, ROTATION + 1], z[i, ROTATION + 2], z[i, ROTATION + 3]
        x, y, w = z[i, SPIN], z[i, SPIN + 1], z[i, SPIN + 2]
        length, rate = a * a + b * b + c * c + d * d, x * x + y * y + w * w
        # the map of a step exists for |ω| h < 2 (docs/theory/integrator.md §2)
        if not math.isfinite(total) or abs(length - 1.0) > 2e-6 or rate * h * h >= 4.0:
            return i
    return -1
