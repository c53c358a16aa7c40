"""Inverse sine, cosine and tangent with the same bits on every machine; see `cbsim.geometry.kernels.elementary`."""

from __future__ import annotations

import math

from cbsim.geometry.kernels import polynomials
from cbsim.geometry.kernels.polynomials import (
    ATAN_3_HALVES,
    ATAN_3_HALVES_LOW,
    ATAN_HALF,
    ATAN_HALF_LOW,
    HALF_PI,
    HALF_PI_LOW,
    PI,
    PI_LOW,
    QUARTER_PI,
    QUARTER_PI_LOW,
)
from cbsim.jit import bits_of, float_of, inlined, inner

__all__ = ["acos", "asin", "atan", "atan2"]

atan_of, asin_tail = inlined(polynomials.atan_of), inlined(polynomials.asin_tail)


@inner
def atan(x):
    """Inverse tangent; error below 1 unit in the last place.

    With arctan x = arctan c + arctan((x − c) / (1 + c x)) for the nearest c of 0, 1/2, 1, 3/2 and infinity.
    """
    a = abs(x)
    if a < 0.4375:
        return x if a < 1e-8 else atan_of(x, 0.0, 0.0)  # keeps the sign of zero
    if a < 0.6875:
        high, low, t = ATAN_HALF, ATAN_HALF_LOW, (2.0 * a - 1.0) / (2.0 + a)
    elif a < 1.1875:
        high, low, t = QUARTER_PI, QUARTER_PI_LOW, (a - 1.0) / (a + 1.0)
    elif a < 2.4375:
        high, low, t = ATAN_3_HALVES, ATAN_3_HALVES_LOW, (a - 1.5) / (1.0 + 1.5 * a)
    else:
        high, low, t = HALF_PI, HALF_PI_LOW, -1.0 / a
    value = atan_of(t, high, low)
    return -value if x < 0.0 else value


@inner
def atan2(y, x):
    """Angle of a point (x, y), within ±π; error below 2 units in the last place. Signs of zeros count as in C."""
    if math.isnan(x) or math.isnan(y):
        return math.nan
    a, b = abs(y), abs(x)
    if a == 0.0 and b == 0.0:
        value = 0.0
    elif math.isinf(a) and math.isinf(b):
        value = QUARTER_PI
    else:
        value = HALF_PI if b == 0.0 else atan(a / b)
    if math.copysign(1.0, x) < 0.0:  # left half: π less the angle of the mirror image, with π in two parts
        value = PI - (value - PI_LOW)
    return math.copysign(value, y)


@inlined
def root_parts(w):
    """√w as its upper half, of which the square is exact, and the rest."""
    root = math.sqrt(w)
    upper = float_of(bits_of(root) >> 32 << 32)  # the lower half of the bits cleared: the square of the rest is exact
    return root, upper, (w - upper * upper) / (root + upper) if root > 0.0 else 0.0


@inner
def asin(x):
    """Inverse sine; error below 1 unit in the last place. NaN beyond ±1."""
    a = abs(x)
    if a < 0.5:
        return x + x * asin_tail(x * x)
    # asin a = π/2 − 2 asin √w, w = (1 − a) / 2, with the parts of π/2 and √w subtracted from the largest on
    w = 0.5 * (1.0 - a)
    root, upper, rest = root_parts(w)
    value = QUARTER_PI - ((2.0 * root * asin_tail(w) - (HALF_PI_LOW - 2.0 * rest)) - (QUARTER_PI - 2.0 * upper))
    return math.copysign(value, x)


@inner
def acos(x):
    """Inverse cosine; error below 1 unit in the last place. NaN beyond ±1."""
    if abs(x) < 0.5:
        return HALF_PI - (x - (HALF_PI_LOW - x * asin_tail(x * x)))  # π/2 − asin x
    # 2 asin √w, and π less that on the negative side
    w = 0.5 * (1.0 - abs(x))
    root, upper, rest = root_parts(w)
    tail = root * asin_tail(w)
    if x < 0.0:
        return PI - 2.0 * (root + (tail - HALF_PI_LOW))
    return 2.0 * (upper + (tail + rest))
