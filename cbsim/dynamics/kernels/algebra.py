"""Cross products, quaternion products, rotation matrices and products of 6 × 6 blocks on the columns of a row."""

from __future__ import annotations

import math

from cbsim.jit import inlined

__all__ = [
    "cross", "dot", "multiply_blocks", "product", "rotation", "turn", "turn_back", "turned", "turned_back", "unit",
]  # fmt: skip


@inlined
def cross(ax, ay, az, bx, by, bz):
    """Cross product a × b."""
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@inlined
def dot(table, i, k, x, y, z):
    """Scalar product of three columns with a vector."""
    return table[i, k] * x + table[i, k + 1] * y + table[i, k + 2] * z


@inlined
def product(a, b, c, d, e, f, g, h):
    """Hamilton product (a, b, c, d) ∘ (e, f, g, h), scalars first."""
    return (
        a * e - b * f - c * g - d * h,
        a * f + b * e + c * h - d * g,
        a * g - b * h + c * e + d * f,
        a * h + b * g - c * f + d * e,
    )


@inlined
def unit(a, b, c, d):
    """Scale a quaternion to length one."""
    scale = 1.0 / math.sqrt(a * a + b * b + c * c + d * d)
    return a * scale, b * scale, c * scale, d * scale


@inlined
def rotation(table, i, k, a, b, c, d):
    """Write the rotation matrix of a unit quaternion to nine columns, row by row."""
    # with |q| = 1 the diagonal, a² + b² − c² − d² and so on, is 1 − 2 (c² + d²)
    table[i, k] = 1.0 - 2.0 * (c * c + d * d)
    table[i, k + 1] = 2.0 * (b * c - a * d)
    table[i, k + 2] = 2.0 * (b * d + a * c)
    table[i, k + 3] = 2.0 * (b * c + a * d)
    table[i, k + 4] = 1.0 - 2.0 * (b * b + d * d)
    table[i, k + 5] = 2.0 * (c * d - a * b)
    table[i, k + 6] = 2.0 * (b * d - a * c)
    table[i, k + 7] = 2.0 * (c * d + a * b)
    table[i, k + 8] = 1.0 - 2.0 * (b * b + c * c)


@inlined
def turned(table, i, k, x, y, z):
    """Matrix in nine columns times a vector."""
    return (
        table[i, k] * x + table[i, k + 1] * y + table[i, k + 2] * z,
        table[i, k + 3] * x + table[i, k + 4] * y + table[i, k + 5] * z,
        table[i, k + 6] * x + table[i, k + 7] * y + table[i, k + 8] * z,
    )


@inlined
def turned_back(table, i, k, x, y, z):
    """Transpose of the matrix in nine columns times a vector."""
    return (
        table[i, k] * x + table[i, k + 3] * y + table[i, k + 6] * z,
        table[i, k + 1] * x + table[i, k + 4] * y + table[i, k + 7] * z,
        table[i, k + 2] * x + table[i, k + 5] * y + table[i, k + 8] * z,
    )


@inlined
def turn(a, b, c, d, x, y, z):
    """Rotate a vector by a unit quaternion."""
    # with v the vector part and t = 2 v × x, the result is x + s t + v × t
    tx, ty, tz = 2.0 * (c * z - d * y), 2.0 * (d * x - b * z), 2.0 * (b * y - c * x)
    return x + a * tx + c * tz - d * ty, y + a * ty + d * tx - b * tz, z + a * tz + b * ty - c * tx


@inlined
def turn_back(a, b, c, d, x, y, z):
    """Rotate a vector by the inverse of a unit quaternion."""
    return turn(a, -b, -c, -d, x, y, z)


@inlined
def multiply_blocks(one, b, first, other, f, second, out, g, target, sign):
    """Add the product of two blocks to a third, or subtract it; six independent sums, in registers."""
    for i in range(6):
        o = target + 6 * i
        s, t, v = out[g, o], out[g, o + 1], out[g, o + 2]
        x, y, z = out[g, o + 3], out[g, o + 4], out[g, o + 5]
        for k in range(6):
            u, e = sign * one[b, first + 6 * i + k], second + 6 * k
            s, t, v = s + u * other[f, e], t + u * other[f, e + 1], v + u * other[f, e + 2]
            x, y, z = x + u * other[f, e + 3], y + u * other[f, e + 4], z + u * other[f, e + 5]
        out[g, o], out[g, o + 1], out[g, o + 2] = s, t, v
        out[g, o + 3], out[g, o + 4], out[g, o + 5] = x, y, z
