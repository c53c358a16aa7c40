"""Inverse sine, cosine and tangent with the same bits on every machine; see `cbsim.geometry.kernels.elementary`."""

from __future__ import annotations

import math

from cbsim.jit import bits_of, float_of, inlined, inner

__all__ = ["acos", "asin", "atan", "atan2"]

PI, PI_LOW = 3.141592653589793, 1.2246467991473532e-16
HALF_PI, HALF_PI_LOW = 1.5707963267948966, 6.123233995736766e-17
QUARTER_PI, QUARTER_PI_LOW = 0.7853981633974483, 3.061616997868383e-17


@inlined
def atan_tail(t):
    """T − arctan t, |t| ≤ 7/16: Chebyshev interpolation of (1 − arctan √z / √z) / z with eleven nodes."""
    z = t * t
    tail = -0.05847669756799626 + z * (0.050336850838998956 + z * (-0.03781854858641458 + z * 0.017539916204913773))
    tail = 0.09090900168668452 + z * (-0.07692086789119736 + z * (0.06663232236816255 + z * tail))
    tail = 0.14285714283138384 + z * (-0.11111110899821627 + z * tail)
    return t * z * (0.33333333333333326 + z * (-0.19999999999987714 + z * tail))


@inner
def atan(x):
    """Inverse tangent; error below 1 unit in the last place.

    With arctan x = arctan c + arctan((x − c) / (1 + c x)) for the nearest c of 0, 1/2, 1, 3/2 and infinity.
    """
    a = abs(x)
    if a < 0.4375:
        return x if a < 1e-8 else x - atan_tail(x)  # keeps the sign of zero
    if a < 0.6875:
        high, low, t = 0.4636476090008061, 2.2698777452961687e-17, (2.0 * a - 1.0) / (2.0 + a)
    elif a < 1.1875:
        high, low, t = QUARTER_PI, QUARTER_PI_LOW, (a - 1.0) / (a + 1.0)
    elif a < 2.4375:
        high, low, t = 0.982793723247329, 1.3903311031230998e-17, (a - 1.5) / (1.0 + 1.5 * a)
    else:
        high, low, t = HALF_PI, HALF_PI_LOW, -1.0 / a
    value = high - ((atan_tail(t) - low) - t)
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
    if math.copysign(1.0, x) < 0.0:
        value = PI - (value - PI_LOW)
    return math.copysign(value, y)


@inlined
def asin_tail(z):
    """(arcsin √z / √z − 1), z ≤ 1/4: Chebyshev interpolation of it, divided by z, with thirteen nodes."""
    tail = 0.005457506718640358 + z * (0.01740087944269402 + z * (-0.014851887071247204 + z * 0.028757851367421566))
    tail = 0.013971212973552933 + z * (0.011479177415184906 + z * (0.01032281435018578 + z * tail))
    tail = 0.030381944138531247 + z * (0.02237217294214989 + z * (0.017352392720869973 + z * tail))
    return z * (0.16666666666666669 + z * (0.07499999999998433 + z * (0.04464285714635543 + z * tail)))


@inlined
def root_parts(w):
    """√w as its upper half, of which the square is exact, and the rest."""
    root = math.sqrt(w)
    upper = float_of(bits_of(root) >> 32 << 32)
    return root, upper, (w - upper * upper) / (root + upper) if root > 0.0 else 0.0


@inner
def asin(x):
    """Inverse sine; error below 1 unit in the last place. NaN beyond ±1."""
    a = abs(x)
    if a < 0.5:
        return x + x * asin_tail(x * x)
    w = 0.5 * (1.0 - a)
    root, upper, rest = root_parts(w)
    value = QUARTER_PI - ((2.0 * root * asin_tail(w) - (HALF_PI_LOW - 2.0 * rest)) - (QUARTER_PI - 2.0 * upper))
    return math.copysign(value, x)


@inner
def acos(x):
    """Inverse cosine; error below 1 unit in the last place. NaN beyond ±1."""
    if abs(x) < 0.5:
        return HALF_PI - (x - (HALF_PI_LOW - x * asin_tail(x * x)))
    w = 0.5 * (1.0 - abs(x))
    root, upper, rest = root_parts(w)
    tail = root * asin_tail(w)
    if x < 0.0:
        return PI - 2.0 * (root + (tail - HALF_PI_LOW))
    return 2.0 * (upper + (tail + rest))
