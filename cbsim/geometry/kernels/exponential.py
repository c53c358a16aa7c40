"""Exponential, logarithm, power and hypotenuse with the same bits on every machine.

See `cbsim.geometry.kernels.elementary`.
"""

from __future__ import annotations

import math

import numpy as np

from cbsim.jit import bits_of, float_of, inlined, inner

__all__ = ["exp", "expm1", "hypot", "log", "power"]

LOG2_E = 1.4426950408889634
LN2, LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10  # the first has 32 bits: its products with n are exact
ROOT_HALF = 0.7071067811865476
OVERFLOW, UNDERFLOW = 709.782712893384, -745.1332191019412
LARGE, SMALL = 2.0**500, 2.0**-500


@inlined
def two_to(n):
    """2ⁿ, −1022 ≤ n ≤ 1023."""
    return float_of(np.uint64(n + 1023) << np.uint64(52))


@inlined
def exp_tail(r):
    """e^r − 1 − r, |r| ≤ ln 2 / 2: Chebyshev interpolation of it, divided by r², with eleven nodes."""
    tail = 2.7557278330890265e-07 + r * (2.5105274993379578e-08 + r * 2.0912959274216845e-09)
    tail = 0.00019841269874930624 + r * (2.480158732114803e-05 + r * (2.7557255260779666e-06 + r * tail))
    tail = 0.041666666666666664 + r * (0.008333333333326103 + r * (0.001388888888888541 + r * tail))
    return r * r * (0.5 + r * (0.1666666666666667 + r * tail))


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
    high, low = x - n * LN2, n * LN2_LOW
    value = 1.0 + (high + (exp_tail(high - low) - low))
    half = n >> 1  # in two factors, since 2ⁿ itself may be subnormal
    return value * two_to(half) * two_to(n - half)


@inner
def expm1(x):
    """Exponential less 1; error below 2 units in the last place."""
    if not -38.0 < x < 700.0:
        return -1.0 if x < 0.0 else exp(x)
    n = math.floor(x * LOG2_E + 0.5)
    if n == 0:
        return x if abs(x) < 1e-17 else x + exp_tail(x)  # keeps the sign of zero
    high, low = x - n * LN2, n * LN2_LOW
    part = high + (exp_tail(high - low) - low)
    scale = two_to(n)
    return (scale - 1.0) + scale * part


@inner
def log(x):
    """Natural logarithm; error below 1 unit in the last place. NaN below 0.

    With x = 2ᵏ (1 + f), |f| < 0.42, and s = f / (2 + f): ln(1 + f) = 2 s + s R(s²), R by Chebyshev interpolation
    with eight nodes, arranged so that the largest term, f, is exact.
    """
    if not x > 0.0:
        return -math.inf if x == 0.0 else math.nan
    if x == math.inf:
        return x
    k = 0
    if x < 2.2250738585072014e-308:
        x, k = x * 2.0**54, -54
    # exponent and mantissa from the bits, the mantissa then in [√½, √2)
    word = bits_of(x)
    k += np.int64(word >> np.uint64(52)) - 1022
    m = float_of((word & np.uint64(0xFFFFFFFFFFFFF)) | np.uint64(0x3FE0000000000000))
    if m < ROOT_HALF:
        m, k = 2.0 * m, k - 1
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    tail = 0.15386239830697943 + z * (0.1326876971386881 + z * 0.1308666196353411)
    tail = 0.28571428570803514 + z * (0.2222222239173592 + z * (0.18181795637781728 + z * tail))
    tail = z * (0.6666666666666666 + z * (0.4000000000000088 + z * tail))
    half = 0.5 * f * f
    return k * LN2 - ((half - (s * (half + tail) + k * LN2_LOW)) - f)


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
