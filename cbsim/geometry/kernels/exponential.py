"""Exponential, logarithm, power and hypotenuse with the same bits on every machine.

See `cbsim.geometry.kernels.elementary`.
"""

from __future__ import annotations

import math

import numpy as np

from cbsim.geometry.kernels import polynomials
from cbsim.geometry.kernels.polynomials import LARGE, LOG2_E, OVERFLOW, ROOT_HALF, SMALL, UNDERFLOW
from cbsim.jit import bits_of, float_of, inlined, inner

__all__ = ["exp", "expm1", "hypot", "log", "power"]

exp_part, log_of = inlined(polynomials.exp_part), inlined(polynomials.log_of)


@inlined
def two_to(n):
    """2ⁿ, −1022 ≤ n ≤ 1023."""
    return float_of(np.uint64(n + 1023) << np.uint64(52))


@inner
def exp(x):
    """Exponential; error below 1 unit in the last place."""
    if math.isnan(x):
        return x
    if x > OVERFLOW:
        return math.inf
    if x < UNDERFLOW:
        return 0.0
    # x = n ln 2 + r with |r| ≤ ln 2 / 2, r as the sum of two numbers, so that e^x = 2ⁿ e^r
    n = math.floor(x * LOG2_E + 0.5)
    value = 1.0 + exp_part(x, n)
    half = n >> 1  # in two factors, since 2ⁿ itself may be no normal number
    return value * two_to(half) * two_to(n - half)


@inner
def expm1(x):
    """Exponential less 1; error below 2 units in the last place."""
    # outside, one of the two terms is lost in the rounding of the other
    if not -38.0 < x < 700.0:
        return -1.0 if x < 0.0 else exp(x)
    n = math.floor(x * LOG2_E + 0.5)
    if n == 0:  # no scaling: the polynomial itself has all digits near 0
        return x if abs(x) < 1e-17 else exp_part(x, 0)  # keeps the sign of zero
    scale = two_to(n)
    return (scale - 1.0) + scale * exp_part(x, n)


@inner
def log(x):
    """Natural logarithm; error below 1 unit in the last place. NaN below 0."""
    if not x > 0.0:
        return -math.inf if x == 0.0 else math.nan
    if x == math.inf:
        return x
    k = 0
    if x < 2.2250738585072014e-308:  # subnormal: the mantissa has no hidden bit
        x, k = x * 2.0**54, -54
    # exponent and mantissa from the bits, the mantissa then in [√½, √2)
    word = bits_of(x)
    k += np.int64(word >> np.uint64(52)) - 1022
    m = float_of((word & np.uint64(0xFFFFFFFFFFFFF)) | np.uint64(0x3FE0000000000000))
    if m < ROOT_HALF:
        m, k = 2.0 * m, k - 1
    return log_of(m - 1.0, k)


@inner
def power(base, exponent):
    """Power of a number ≥ 0 to an exponent > 0; error below 1 + 3 |exponent ln base| units in the last place."""
    return 0.0 if base == 0.0 else exp(exponent * log(base))


@inlined
def hypot(x, y):
    """Length of a vector (x, y); error below 1.25 units in the last place."""
    a, b = abs(x), abs(y)
    if a < b:
        a, b = b, a
    if SMALL < a < LARGE:
        return math.sqrt(a * a + b * b)
    return scaled_hypot(a, b)


@inner
def scaled_hypot(a, b):
    """Length of a vector of which squares may overflow or vanish."""
    if math.isinf(a) or math.isinf(b):
        return math.inf
    if math.isnan(a) or math.isnan(b):
        return math.nan
    if a == 0.0:
        return b  # both are zero, or b is NaN
    scale = 2.0**600 if a <= SMALL else 2.0**-600
    a, b = a * scale, b * scale
    return math.sqrt(a * a + b * b) / scale
