"""Elementary functions for kernels, with the same bits on every machine; they take the place of `math`.

The C library computes sine, exponential and their like by other instructions on other CPUs (fused multiply-add where
there is one), and in other versions in other ways. Here each function is a fixed sequence of additions,
multiplications, divisions and square roots, which IEEE 754 defines to the last bit, and which the compiler does not
reorder or contract. Polynomials interpolate at Chebyshev nodes, computed with 80 digits. Errors are measured by
``tests/geometry/test_elementary.py``.

A kernel writes ``from cbsim.geometry.kernels import elementary as math``.
"""

from __future__ import annotations

from math import ceil, copysign, floor, inf, isfinite, isinf, isnan, nan, pi, radians, sqrt

from cbsim.geometry.kernels.exponential import exp, expm1, hypot, log, power
from cbsim.geometry.kernels.inverse_trigonometry import acos, asin, atan, atan2
from cbsim.geometry.kernels.trigonometry import cos, sin, sin_cos, sin_cos_into, tan, tan_into

__all__ = [
    "acos", "asin", "atan", "atan2", "ceil", "copysign", "cos", "exp", "expm1", "floor", "hypot", "inf", "isfinite",
    "isinf", "isnan", "log", "nan", "pi", "power", "radians", "sin", "sin_cos",
    "sin_cos_into", "sqrt", "tan", "tan_into",
]  # fmt: skip
