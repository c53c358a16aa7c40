"""Sine, cosine and tangent with the same bits on every machine; see `cbsim.geometry.kernels.elementary`.

An angle is reduced to r = x − n π/2 with |r| ≤ π/4, kept as the sum of two numbers: by subtraction of n times three
parts of π/2 (Cody and Waite, *Software Manual for the Elementary Functions*, 1980), and for large angles by integer
multiplication with the bits of 2/π (Payne and Hanek, SIGNUM Newsletter 18, 1983).
"""

from __future__ import annotations

import math

import numpy as np

from cbsim.geometry.kernels import polynomials
from cbsim.geometry.kernels.polynomials import LARGE_ANGLE, TWO_OVER_PI
from cbsim.jit import bits_of, inlined, inner, multiply_high

__all__ = ["cos", "sin", "sin_cos", "sin_cos_into", "tan", "tan_into"]

rest_of, product_with_half_pi = inlined(polynomials.rest_of), inlined(polynomials.product_with_half_pi)
sin_of, cos_of = inlined(polynomials.sin_of), inlined(polynomials.cos_of)
FRACTION = np.array(
    [
        0, 0xA2F9836E4E441529, 0xFC2757D1F534DDC0, 0xDB6295993C439041, 0xFE5163ABDEBBC561, 0xB7246E3A424DD2E0,
        0x06492EEA09D1921C, 0xFE1DEB1CB129A73E, 0xE88235F52EBB4484, 0xE99C7026B45F7E41, 0x3991D639835339F4,
        0x9C845F8BBDF9283B, 0x1FF897FFDE05980F, 0xEF2F118B5A0A6D1F, 0x6D367ECF27CB09B7, 0x4F463F669E5FEA2D,
        0x7527BAC7EBE5F17B, 0x3D0739F78A5292EA, 0x6BFB5FB11F8D5D08, 0x56033046FC7B6BAB, 0xF0CFBC209AF4361D,
    ],
    np.uint64,
)  # fmt: skip
"""64 bits of zero, for angles near `LARGE_ANGLE`, then the fraction bits of 2/π."""


@inner
def reduce_large(x):
    """Reduce an angle beyond `LARGE_ANGLE`: the product of its 53 bits with 192 bits of 2/π, modulo 4.

    Returns
    -------
    n : int
        Quadrant, modulo 4.
    high, low : float
        The rest.
    """
    word = bits_of(abs(x))
    exponent = np.int64(word >> np.uint64(52)) - 1075
    mantissa = (word & np.uint64(0xFFFFFFFFFFFFF)) | np.uint64(0x10000000000000)
    start = exponent - 2 + 64  # bits of 2/π before this one give multiples of 4
    k, shift = start >> 6, np.uint64(start & 63)
    w0, w1, w2 = FRACTION[k], FRACTION[k + 1], FRACTION[k + 2]
    if shift > np.uint64(0):
        back = np.uint64(64) - shift
        w0 = (w0 << shift) | (w1 >> back)
        w1 = (w1 << shift) | (w2 >> back)
        w2 = (w2 << shift) | (FRACTION[k + 3] >> back)
    # the highest 128 bits of the product: two bits of quadrant, then the fraction f of a quadrant
    p1 = w1 * mantissa
    carry = multiply_high(w2, mantissa)
    p1 = p1 + carry
    p0 = w0 * mantissa + multiply_high(w1, mantissa) + np.uint64(p1 < carry)
    n = np.int64(p0 >> np.uint64(62))
    f0, f1 = (p0 << np.uint64(2)) | (p1 >> np.uint64(62)), p1 << np.uint64(2)
    sign = 1.0
    if f0 >> np.uint64(63) != np.uint64(0):  # nearer to the next quadrant
        n += 1
        f0, f1, sign = ~f0, ~f1, -1.0
    # fraction to two floats, then the exact product of both with π/2 by Dekker's splitting
    half = np.uint64(0xFFFFFFFF)
    a, b = float(f0 >> np.uint64(32)) * 2.0**-32, float(f0 & half) * 2.0**-64
    c = float(f1 >> np.uint64(32)) * 2.0**-96 + float(f1 & half) * 2.0**-128
    product, rest = product_with_half_pi(a, b, c)
    if x < 0.0:
        return (4 - n) & 3, -sign * product, -sign * rest
    return n & 3, sign * product, sign * rest


@inlined
def reduced(x):
    """Reduce an angle: quadrant n modulo 4, and the rest within ±π/4 as the sum of two numbers."""
    if not abs(x) < LARGE_ANGLE:
        if not math.isfinite(x):
            return 0, math.nan, math.nan
        return reduce_large(x)
    n = math.floor(x * TWO_OVER_PI + 0.5)
    high, low = rest_of(x, n)
    return int(n) & 3, high, low


@inlined
def sin(x):
    """Sine; error below 1 unit in the last place. NaN if x isn't finite."""
    n, r, low = reduced(x)
    # odd quadrants swap sine and cosine; n & 2 and (n + 1) & 2 are where either is negative
    value = cos_of(r, low) if n & 1 else sin_of(r, low)
    value = -value if n & 2 else value
    return x if abs(x) < 1e-8 else value  # keeps the sign of zero


@inlined
def cos(x):
    """Cosine; error below 1 unit in the last place. NaN if x isn't finite."""
    n, r, low = reduced(x)
    value = sin_of(r, low) if n & 1 else cos_of(r, low)
    return -value if (n + 1) & 2 else value


@inlined
def sin_cos(x):
    """Sine and cosine, with the bits of `sin` and `cos`, of one reduction."""
    n, r, low = reduced(x)
    s, c = sin_of(r, low), cos_of(r, low)
    sine, cosine = (c, s) if n & 1 else (s, c)
    sine = -sine if n & 2 else sine
    return (x if abs(x) < 1e-8 else sine), (-cosine if (n + 1) & 2 else cosine)


ROUND = 6755399441055744.0  # 1.5 · 2⁵²: a number plus this, less this, is rounded to a whole one


@inner
def sin_cos_into(angles, sines, cosines):
    """Write sines and cosines (n,) of angles below 10⁵, with the bits of `sin` and `cos`; without branches."""
    for k in range(angles.shape[0]):
        x = angles[k]
        # floor by rounding, and by 1 less where that was up; n modulo 4 in the same way, all in floats
        y = x * TWO_OVER_PI + 0.5
        n = (y + ROUND) - ROUND
        n = n - 1.0 if n > y else n
        r, low = rest_of(x, n)
        s, c = sin_of(r, low), cos_of(r, low)
        m = 0.25 * n
        quarter = (m + ROUND) - ROUND
        quarter = quarter - 1.0 if quarter > m else quarter
        quadrant = n - 4.0 * quarter
        is_odd = (quadrant == 1.0) | (quadrant == 3.0)
        sine, cosine = c if is_odd else s, s if is_odd else c
        sine = -sine if quadrant >= 2.0 else sine
        sines[k] = x if abs(x) < 1e-8 else sine
        cosines[k] = -cosine if (quadrant == 1.0) | (quadrant == 2.0) else cosine


@inner
def tan(x):
    """Tangent; error below 2.5 units in the last place. NaN if x isn't finite."""
    n, r, low = reduced(x)
    s, c = sin_of(r, low), cos_of(r, low)
    value = -c / s if n & 1 else s / c
    return x if abs(x) < 1e-8 else value


@inner
def tan_into(angles, tangents):
    """Write tangents (n,) of angles below 10⁵, with the bits of `tan`; without branches."""
    for k in range(angles.shape[0]):
        x = angles[k]
        y = x * TWO_OVER_PI + 0.5
        n = (y + ROUND) - ROUND
        n = n - 1.0 if n > y else n
        r, low = rest_of(x, n)
        s, c = sin_of(r, low), cos_of(r, low)
        # n modulo 2, as in `sin_cos_into` modulo 4
        m = 0.5 * n
        half = (m + ROUND) - ROUND
        half = half - 1.0 if half > m else half
        is_odd = n - 2.0 * half == 1.0
        value = (-c if is_odd else s) / (s if is_odd else c)
        tangents[k] = x if abs(x) < 1e-8 else value
