"""Reduction of large angles for `cbsim.geometry.elementary`."""

from __future__ import annotations

import struct
from math import isfinite, nan

from cbsim.geometry.kernels.polynomials import product_with_half_pi

__all__ = ["reduced_large"]

TWO_OVER_PI_BITS = int(
    "A2F9836E4E441529FC2757D1F534DDC0DB6295993C439041FE5163ABDEBBC561B7246E3A424DD2E006492EEA09D1921CFE1DEB1CB129A73E"
    "E88235F52EBB4484E99C7026B45F7E413991D639835339F49C845F8BBDF9283B1FF897FFDE05980FEF2F118B5A0A6D1F6D367ECF27CB09B7"
    "4F463F669E5FEA2D7527BAC7EBE5F17B3D0739F78A5292EA6BFB5FB11F8D5D0856033046FC7B6BABF0CFBC209AF4361D",
    16,
)
"""The first 1280 fraction bits of 2/π."""
COUNT = 1280


def reduced_large(x: float) -> tuple[float, float, float]:
    """Reduce an angle beyond `LARGE_ANGLE`, as `cbsim.geometry.kernels.trigonometry.reduce_large` does."""
    if not isfinite(x):
        return 0.0, nan, nan
    word = struct.unpack("<Q", struct.pack("<d", abs(x)))[0]
    mantissa, start = (word & 0xFFFFFFFFFFFFF) | 1 << 52, (word >> 52) - 1075 - 2
    bits = TWO_OVER_PI_BITS >> COUNT - start - 192 & (1 << 192) - 1  # 192 bits of 2/π; those before are multiples of 4
    product = bits * mantissa >> 64 & (1 << 128) - 1
    n, fraction = product >> 126, product << 2 & (1 << 128) - 1
    sign = 1.0
    if fraction >> 127:  # nearer to the next quadrant
        n, fraction, sign = n + 1, ~fraction & (1 << 128) - 1, -1.0
    words = [float(fraction >> shift & 0xFFFFFFFF) for shift in (96, 64, 32, 0)]
    a, b = words[0] * 2.0**-32, words[1] * 2.0**-64
    high, low = product_with_half_pi(a, b, words[2] * 2.0**-96 + words[3] * 2.0**-128)
    if x < 0.0:
        return float((4 - n) & 3), -sign * high, -sign * low
    return float(n & 3), sign * high, sign * low
