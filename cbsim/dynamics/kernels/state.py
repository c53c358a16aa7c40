"""Validation of a state before a step."""

from __future__ import annotations

import math

from cbsim.jit import kernel

__all__ = ["first_unsound"]


@kernel
def first_unsound(z, h):
    """Find the first body (rows x, v, q, w) with a NaN, a non-unit quaternion, or half a turn per step; or -1."""
    for i in range(len(z)):
        total = 0.0
        for k in range(13):
            total += abs(z[i, k])  # a sum is NaN if any of its terms is
        length = z[i, 6] * z[i, 6] + z[i, 7] * z[i, 7] + z[i, 8] * z[i, 8] + z[i, 9] * z[i, 9]
        rate = z[i, 10] * z[i, 10] + z[i, 11] * z[i, 11] + z[i, 12] * z[i, 12]
        # the map of a step exists for |ω| h < 2 (docs/theory/integrator.md §2)
        if not math.isfinite(total) or abs(length - 1.0) > 2e-6 or rate * h * h >= 4.0:
            return i
    return -1
