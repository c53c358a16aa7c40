"""Arithmetic of the elementary functions: polynomials and their coefficients, for kernels and for Python alike.

Nothing here is compiled or needs numba. Kernels inline these functions; `cbsim.geometry.elementary` calls them with
numbers and with arrays.
"""

from __future__ import annotations

from typing import Any

__all__ = ["asin_tail", "atan_of", "cos_of", "exp_part", "log_of", "product_with_half_pi", "rest_of", "sin_of"]

PI, PI_LOW = 3.141592653589793, 1.2246467991473532e-16
HALF_PI, HALF_PI_LOW = 1.5707963267948966, 6.123233995736766e-17
QUARTER_PI, QUARTER_PI_LOW = 0.7853981633974483, 3.061616997868383e-17
ATAN_HALF, ATAN_HALF_LOW = 0.4636476090008061, 2.2698777452961687e-17
ATAN_3_HALVES, ATAN_3_HALVES_LOW = 0.982793723247329, 1.3903311031230998e-17
TWO_OVER_PI = 0.6366197723675814
PART_1, PART_2, PART_3 = 1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21
"""π/2 in parts of 33, 33 and 53 bits: products of the first two with n < 2²⁰ are exact."""
LARGE_ANGLE = 823549.0  # ≈ 2¹⁹ π/2: beyond it n has too many bits
SPLIT = 134217729.0  # 2²⁷ + 1, which splits a number into two halves (Dekker, Numer. Math. 18, 1971)
LOG2_E = 1.4426950408889634
LN2, LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10  # the first has 32 bits: its products with n are exact
ROOT_HALF = 0.7071067811865476
OVERFLOW, UNDERFLOW = 709.782712893384, -745.1332191019412
LARGE, SMALL = 2.0**500, 2.0**-500  # between them, squares neither overflow nor vanish


def rest_of(x: Any, n: Any) -> Any:
    """Reduce an angle: x − n π/2 as the sum of two numbers, |x| < `LARGE_ANGLE`."""
    a, b, tail = x - n * PART_1, n * PART_2, n * PART_3
    # a − b = t + error without rounding (two-sum, Knuth)
    t = a - b
    v = a - t
    error = (a - (t + v)) + (v - b)
    high = t - tail
    return high, ((t - high) - tail) + error


def product_with_half_pi(a: Any, b: Any, c: Any) -> Any:
    """Multiply a + b + c, a > b > c > 0, with π/2: the sum of two numbers."""
    # sums of terms of decreasing size: what rounding takes off each is exact
    high = a + b
    low = (a - high) + b + c
    total = high + low
    low = (high - total) + low
    # Dekker's product: both factors in halves, whose products are exact
    product = total * HALF_PI
    t = SPLIT * total
    t0 = t - (t - total)
    u = SPLIT * HALF_PI
    u0 = u - (u - HALF_PI)
    t1, u1 = total - t0, HALF_PI - u0
    rest = ((t0 * u0 - product) + t0 * u1 + t1 * u0) + t1 * u1
    return product, rest + (total * HALF_PI_LOW + low * HALF_PI)


def sin_of(r: Any, low: Any) -> Any:
    """Sine of r + low, |r| ≤ π/4: Chebyshev interpolation of (sin √z / √z − 1) / z with six nodes."""
    z = r * r
    tail = 2.7557316099748184e-06 + z * (-2.5051131260640362e-08 + z * 1.5918087200100518e-10)
    tail = 0.008333333333330945 + z * (-0.00019841269836753166 + z * tail)
    return r - ((z * (0.5 * low - z * r * tail) - low) + z * r * 0.16666666666666666)


def cos_of(r: Any, low: Any) -> Any:
    """Cosine of r + low, |r| ≤ π/4: Chebyshev interpolation of (cos √z − 1 + z / 2) / z² with six nodes."""
    z = r * r
    tail = -2.7557317269975503e-07 + z * (2.0876145902833164e-09 - z * 1.1382606091400289e-11)
    tail = 0.041666666666666664 + z * (-0.0013888888888887395 + z * (2.4801587298762304e-05 + z * tail))
    half = 0.5 * z
    main = 1.0 - half
    return main + (((1.0 - main) - half) + (z * z * tail - r * low))


def exp_part(x: Any, n: Any) -> Any:
    """e^(x − n ln 2) − 1, |x − n ln 2| ≤ ln 2 / 2.

    With r = x − n ln 2: Chebyshev interpolation of (e^r − 1 − r) / r² with eleven nodes.
    """
    high, low = x - n * LN2, n * LN2_LOW
    r = high - low
    tail = 2.7557278330890265e-07 + r * (2.5105274993379578e-08 + r * 2.0912959274216845e-09)
    tail = 0.00019841269874930624 + r * (2.480158732114803e-05 + r * (2.7557255260779666e-06 + r * tail))
    tail = 0.041666666666666664 + r * (0.008333333333326103 + r * (0.001388888888888541 + r * tail))
    return high + (r * r * (0.5 + r * (0.1666666666666667 + r * tail)) - low)


def log_of(f: Any, k: Any) -> Any:
    """ln(2ᵏ (1 + f)), |f| < 0.42.

    With s = f / (2 + f): ln(1 + f) = 2 s + s R(s²), R by Chebyshev interpolation with eight nodes, arranged so that the
    largest term, f, is exact.
    """
    s = f / (2.0 + f)
    z = s * s
    tail = 0.15386239830697943 + z * (0.1326876971386881 + z * 0.1308666196353411)
    tail = 0.28571428570803514 + z * (0.2222222239173592 + z * (0.18181795637781728 + z * tail))
    tail = z * (0.6666666666666666 + z * (0.4000000000000088 + z * tail))
    half = 0.5 * f * f
    return k * LN2 - ((half - (s * (half + tail) + k * LN2_LOW)) - f)


def atan_of(t: Any, high: Any, low: Any) -> Any:
    """``high + low +`` arctan t, |t| ≤ 7/16: Chebyshev interpolation of (1 − arctan √z / √z) / z with eleven nodes."""
    z = t * t
    tail = -0.05847669756799626 + z * (0.050336850838998956 + z * (-0.03781854858641458 + z * 0.017539916204913773))
    tail = 0.09090900168668452 + z * (-0.07692086789119736 + z * (0.06663232236816255 + z * tail))
    tail = 0.14285714283138384 + z * (-0.11111110899821627 + z * tail)
    tail = t * z * (0.33333333333333326 + z * (-0.19999999999987714 + z * tail))
    return high - ((tail - low) - t)


def asin_tail(z: Any) -> Any:
    """(arcsin √z / √z − 1), z ≤ 1/4: Chebyshev interpolation of it, divided by z, with thirteen nodes."""
    tail = 0.005457506718640358 + z * (0.01740087944269402 + z * (-0.014851887071247204 + z * 0.028757851367421566))
    tail = 0.013971212973552933 + z * (0.011479177415184906 + z * (0.01032281435018578 + z * tail))
    tail = 0.030381944138531247 + z * (0.02237217294214989 + z * (0.017352392720869973 + z * tail))
    return z * (0.16666666666666669 + z * (0.07499999999998433 + z * (0.04464285714635543 + z * tail)))
