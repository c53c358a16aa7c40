"""Elementary functions of numbers and arrays, with the same bits on every machine, without numba.

NumPy and the C library compute sine, exponential, powers and their like by other instructions on other CPUs, and so to
other last bits. These functions take only additions, multiplications, divisions and square roots, which IEEE 754
defines, and have the bits of `cbsim.geometry.kernels.elementary`, whose polynomials they share. What makes a World or a
step takes them from here; a test of the sources checks that.

A module writes ``from cbsim.geometry import elementary as math``. Each function takes a number, and returns one, or
arrays. Nothing is raised beyond a function's domain: the result is NaN or infinite.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from math import (
    ceil,
    copysign,
    degrees,
    floor,
    fmod,
    frexp,
    fsum,
    inf,
    isfinite,
    isinf,
    isnan,
    ldexp,
    nan,
    pi,
    radians,
    remainder,
    sqrt,
)
from typing import Any, TypeVar, cast

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry.elementwise import Binary, Unary, elementwise
from cbsim.geometry.kernels.polynomials import (
    ATAN_3_HALVES,
    ATAN_3_HALVES_LOW,
    ATAN_HALF,
    ATAN_HALF_LOW,
    HALF_PI,
    HALF_PI_LOW,
    LARGE,
    LARGE_ANGLE,
    LOG2_E,
    OVERFLOW,
    PI,
    PI_LOW,
    QUARTER_PI,
    QUARTER_PI_LOW,
    ROOT_HALF,
    SMALL,
    TWO_OVER_PI,
    UNDERFLOW,
    asin_tail,
    atan_of,
    cos_of,
    exp_part,
    log_of,
    rest_of,
    sin_of,
)
from cbsim.geometry.large_angles import reduced_large

__all__ = [
    "acos", "asin", "atan", "atan2", "ceil", "copysign", "cos", "degrees", "exp", "expm1", "floor", "fmod", "fsum",
    "hypot", "inf", "isfinite", "isinf", "isnan", "ldexp", "log", "log10", "nan", "pi", "power", "radians", "remainder",
    "sin", "sqrt", "square", "tan", "whole_power",
]  # fmt: skip

Number = TypeVar("Number", float, Floats)
LOG10_E, LOG10_2, LOG10_2_LOW = 0.4342944819032518, 0.30102999566361177, 3.694239077158931e-13


def _where(condition: Any, one: Any, other: Any) -> Any:
    """Select the elements of an array, or a number."""
    if isinstance(condition, np.ndarray):
        return np.where(condition, one, other)
    return one if condition else other


def _floor(x: Any) -> Any:
    return np.floor(x) if isinstance(x, np.ndarray) else float(floor(x))


def _copysign(x: Any, y: Any) -> Any:
    return np.copysign(x, y) if isinstance(y, np.ndarray) else copysign(x, y)


# --- sine, cosine, tangent --------------------------------------------------------------------------------------------
def _reduced(x: Any) -> tuple[Any, Any, Any]:
    """Reduce angles: quadrant n modulo 4, and the rest within ±π/4 as the sum of two numbers."""
    if not isinstance(x, np.ndarray) and not abs(x) < LARGE_ANGLE:
        return reduced_large(x)
    n = _floor(x * TWO_OVER_PI + 0.5)
    high, low = rest_of(x, n)
    n = n % 4.0
    if isinstance(x, np.ndarray) and not (abs(x) < LARGE_ANGLE).all():
        large = ~(abs(x) < LARGE_ANGLE)
        n[large], high[large], low[large] = np.array([reduced_large(each) for each in x[large].tolist()]).T
    return n, high, low


def _sin(x: Any) -> Any:
    n, r, low = _reduced(x)
    value = _where(n % 2.0 == 1.0, cos_of(r, low), sin_of(r, low))
    return _where(abs(x) < 1e-8, x, _where(n >= 2.0, -value, value))  # keeps the sign of zero


def _cos(x: Any) -> Any:
    n, r, low = _reduced(x)
    value = _where(n % 2.0 == 1.0, sin_of(r, low), cos_of(r, low))
    return _where((n == 1.0) | (n == 2.0), -value, value)


def _sin_number(x: float) -> float:
    if not 1e-8 <= abs(x) < LARGE_ANGLE:
        return float(_sin(x))
    n = floor(x * TWO_OVER_PI + 0.5)
    r, low = rest_of(x, n)
    value: float = cos_of(r, low) if n & 1 else sin_of(r, low)
    return -value if n & 2 else value


def _cos_number(x: float) -> float:
    if not abs(x) < LARGE_ANGLE:
        return float(_cos(x))
    n = floor(x * TWO_OVER_PI + 0.5)
    r, low = rest_of(x, n)
    value: float = sin_of(r, low) if n & 1 else cos_of(r, low)
    return -value if n + 1 & 2 else value


def _tan(x: Any) -> Any:
    n, r, low = _reduced(x)
    s, c = sin_of(r, low), cos_of(r, low)
    odd = n % 2.0 == 1.0
    return _where(abs(x) < 1e-8, x, _where(odd, -c, s) / _where(odd, s, c))


# --- their inverses ---------------------------------------------------------------------------------------------------
BORDERS = np.array([0.4375, 0.6875, 1.1875, 2.4375])
CENTRES = np.array(
    [
        [0.0, 0.0, 1.0, 0.0, 0.0, 1.0],
        [ATAN_HALF, ATAN_HALF_LOW, 2.0, -1.0, 1.0, 2.0],
        [QUARTER_PI, QUARTER_PI_LOW, 1.0, -1.0, 1.0, 1.0],
        [ATAN_3_HALVES, ATAN_3_HALVES_LOW, 1.0, -1.5, 1.5, 1.0],
        [HALF_PI, HALF_PI_LOW, 0.0, -1.0, 1.0, 0.0],
    ]
)
"""arctan c as the sum of two numbers, and the coefficients of (x − c) / (1 + c x), for each of five intervals."""
BORDER_LIST, CENTRE_LIST = BORDERS.tolist(), CENTRES.tolist()


def _atan(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        a = np.minimum(abs(x), 1e300)  # finite, for products with zero
        high, low, p, q, r, s = CENTRES[np.searchsorted(BORDERS, a, side="right")].transpose(-1, *range(a.ndim))
    else:
        a = min(abs(x), 1e300)
        high, low, p, q, r, s = CENTRE_LIST[bisect_right(BORDER_LIST, a)]
    value = atan_of((p * a + q) / (r * a + s), high, low)
    return _where(a < 1e-8, x, _where(x < 0.0, -value, value))


def _atan2(y: Any, x: Any) -> Any:
    a, b = abs(y), abs(x)
    value = _atan(a / _where(b == 0.0, 1.0, b))
    value = _where(b == 0.0, _where(a == 0.0, 0.0, HALF_PI), value)
    value = _where((a == inf) & (b == inf), QUARTER_PI, value)
    value = _where(_copysign(1.0, x) < 0.0, PI - (value - PI_LOW), value)
    return _where((x != x) | (y != y), nan, _copysign(value, y))  # noqa: PLR0124 (NaN alone differs from itself)


def _atan_number(x: float) -> float:
    a = -x if x < 0.0 else x
    if not 1e-8 <= a <= 1e300:
        return float(_atan(x))
    if a < 0.4375:
        value: float = atan_of(a, 0.0, 0.0)
    else:
        high, low, p, q, r, s = CENTRE_LIST[bisect_right(BORDER_LIST, a)]
        value = atan_of((p * a + q) / (r * a + s), high, low)
    return -value if x < 0.0 else value


def _atan2_number(y: float, x: float) -> float:
    a, b = abs(y), abs(x)
    if not (0.0 < b < inf and a < inf):
        return float(_atan2(y, x))
    value = _atan_number(a / b)
    return copysign(PI - (value - PI_LOW) if x < 0.0 else value, y)


def _root_parts(w: Any) -> tuple[Any, Any, Any]:
    """√w, the upper half of it, of which the square is exact, and the rest."""
    if isinstance(w, np.ndarray):
        roots = np.sqrt(w)
        above = (roots.view(np.uint64) & np.uint64(0xFFFFFFFF00000000)).view(np.float64)
        return roots, above, np.where(roots > 0.0, (w - above * above) / (roots + above), 0.0)
    root = sqrt(w)
    upper = struct.unpack("<d", bytes(4) + struct.pack("<d", root)[4:])[0]
    return root, upper, (w - upper * upper) / (root + upper) if root > 0.0 else 0.0


def _asin(x: Any) -> Any:
    a = abs(x)
    if not isinstance(x, np.ndarray) and not a <= 1.0:
        return nan
    w = 0.5 * (1.0 - a)
    root, upper, rest = _root_parts(w)
    value = QUARTER_PI - ((2.0 * root * asin_tail(w) - (HALF_PI_LOW - 2.0 * rest)) - (QUARTER_PI - 2.0 * upper))
    return _where(a < 0.5, x + x * asin_tail(x * x), _copysign(value, x))


def _acos(x: Any) -> Any:
    a = abs(x)
    if not isinstance(x, np.ndarray) and not a <= 1.0:
        return nan
    w = 0.5 * (1.0 - a)
    root, upper, rest = _root_parts(w)
    tail = root * asin_tail(w)
    value = _where(x < 0.0, PI - 2.0 * (root + (tail - HALF_PI_LOW)), 2.0 * (upper + (tail + rest)))
    return _where(a < 0.5, HALF_PI - (x - (HALF_PI_LOW - x * asin_tail(x * x))), value)


# --- exponential, logarithm, power, hypotenuse ------------------------------------------------------------------------
def _two_to(n: Any) -> Any:
    """2ⁿ."""
    return np.ldexp(1.0, n.astype(np.int64)) if isinstance(n, np.ndarray) else ldexp(1.0, int(n))


def _exp(x: Any) -> Any:
    if not isinstance(x, np.ndarray) and not UNDERFLOW <= x <= OVERFLOW:
        return x if isnan(x) else inf if x > 0.0 else 0.0
    inside = np.clip(x, UNDERFLOW, OVERFLOW) if isinstance(x, np.ndarray) else x
    n = _floor(inside * LOG2_E + 0.5)
    half = _floor(0.5 * n)  # in two factors, since 2ⁿ itself may be no normal number
    value = (1.0 + exp_part(inside, n)) * _two_to(half) * _two_to(n - half)
    return _where(x > OVERFLOW, inf, _where(x < UNDERFLOW, 0.0, value))


def _expm1(x: Any) -> Any:
    if not isinstance(x, np.ndarray) and not -38.0 < x < 700.0:
        return -1.0 if x < 0.0 else _exp(x)
    inside = np.clip(x, -38.0, 700.0) if isinstance(x, np.ndarray) else x
    n = _floor(inside * LOG2_E + 0.5)
    part, scale = exp_part(inside, n), _two_to(n)
    value = _where(n == 0.0, _where(abs(x) < 1e-17, x, part), (scale - 1.0) + scale * part)
    return _where(x <= -38.0, -1.0, _where(x >= 700.0, _exp(x), value))


def _split(x: Any) -> tuple[Any, Any]:
    """X as m 2ᵏ, √½ ≤ m < √2."""
    m, k = np.frexp(x) if isinstance(x, np.ndarray) else frexp(x)
    low = m < ROOT_HALF
    return _where(low, 2.0 * m, m), _where(low, k - 1, k)


def _log(x: Any) -> Any:
    if not isinstance(x, np.ndarray) and not 0.0 < x < inf:
        return -inf if x == 0.0 else inf if x > 0.0 else nan
    m, k = _split(x)
    value = log_of(m - 1.0, k)
    return _where(x > 0.0, _where(x == inf, inf, value), _where(x == 0.0, -inf, nan))


def _log10(x: Any) -> Any:
    if not isinstance(x, np.ndarray) and not 0.0 < x < inf:
        return _log(x)
    m, k = np.frexp(x) if isinstance(x, np.ndarray) else frexp(x)
    m, k = _where(k > 0, 2.0 * m, m), _where(k > 0, k - 1, k)  # so that powers of ten up to 10²² are exact
    value = (k * LOG10_2_LOW + LOG10_E * _log(m)) + k * LOG10_2
    return _where((x > 0.0) & (x < inf), value, _log(x))


def _hypot(x: Any, y: Any) -> Any:
    a, b = abs(x), abs(y)
    if isinstance(x, np.ndarray):
        value, most = np.sqrt(a * a + b * b), np.maximum(a, b)
        odd = ~((most > SMALL) & (most < LARGE)) & (most != 0.0)
        if odd.any():
            value[odd] = [_hypot(*pair) for pair in zip(a[odd].tolist(), b[odd].tolist(), strict=True)]
        return value
    most = max(a, b)
    if SMALL < most < LARGE:
        return sqrt(a * a + b * b)
    if isinf(a) or isinf(b):
        return inf
    if isnan(a) or isnan(b):
        return nan
    scale = 2.0**600 if most <= SMALL else 2.0**-600
    a, b = a * scale, b * scale
    return sqrt(a * a + b * b) / scale


def _hypot_number(x: float, y: float) -> float:
    a, b = abs(x), abs(y)
    return sqrt(a * a + b * b) if SMALL < (a if a > b else b) < LARGE else float(_hypot(x, y))


sin: Unary = elementwise(_sin, _sin_number)
cos: Unary = elementwise(_cos, _cos_number)
tan: Unary = elementwise(_tan)
asin: Unary = elementwise(_asin)
acos: Unary = elementwise(_acos)
atan: Unary = elementwise(_atan, _atan_number)
atan2: Binary = elementwise(_atan2, _atan2_number)
exp: Unary = elementwise(_exp)
expm1: Unary = elementwise(_expm1)
log: Unary = elementwise(_log)
log10: Unary = elementwise(_log10)
hypot: Binary = elementwise(_hypot, _hypot_number)


def square(x: Number) -> Number:
    """Square of numbers; of a number, the C library's power by 2 is not always the nearest one."""
    return x * x


def whole_power(x: Number, n: int) -> Number:
    """Power of numbers to a whole exponent, by squaring and multiplying; the reciprocal of it below 0."""
    value: Any = np.ones_like(x) if isinstance(x, np.ndarray) else 1.0
    factor: Any = x
    left = abs(n)
    while left:
        if left & 1:
            value = value * factor
        factor, left = factor * factor, left >> 1
    return cast(Number, 1.0 / value if n < 0 else value)


def power(base: float, exponent: float) -> float:
    """Power of a number; by multiplication if the exponent is whole, NaN of a number below 0 if it is not.

    Otherwise the error is below 1 + 3 |exponent ln base| units in the last place.
    """
    if abs(exponent) <= 1024.0 and exponent == floor(exponent):
        return whole_power(float(base), int(exponent)) if base or exponent >= 0.0 else inf
    return 0.0 if base == 0.0 and exponent > 0.0 else exp(exponent * log(base))
