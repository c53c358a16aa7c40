"""Rotation vectors of quaternions, their slopes by rotations, and slopes of torques along them."""

from __future__ import annotations

from cbsim.dynamics.kernels.algebra import cross
from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined

__all__ = ["held_slope", "rotation_vector", "slope_of_vector"]


@inlined
def rotation_vector(s, x, y, z):
    """Rotation vector of a unit quaternion, 4 atan(|m|) m / |m| with m = Vec / (1 + s); valid to 2 π.

    Source: docs/theory/joints_and_loops.md §2.
    """
    norm = math.sqrt(x * x + y * y + z * z)
    # limit at zero; −q is the same rotation with the opposite vector
    if norm < 1e-8:
        scale = 2.0 if s >= 0.0 else -2.0
    else:
        scale = 2.0 * math.atan2(norm, s) / norm
    return scale * x, scale * y, scale * z


@inlined
def slope_of_vector(x, y, z, fx, fy, fz):
    """Change of a rotation vector by a small rotation f about the child's axes (docs/theory/joints_and_loops.md §2)."""
    t2 = x * x + y * y + z * z
    ax, ay, az = cross(x, y, z, fx, fy, fz)
    # J f = f + ½ a × f + k a × (a × f), k = (1 − ½ t cot ½ t) / t², by its series at small angles
    bx, by, bz = cross(x, y, z, ax, ay, az)
    if t2 < 1e-6:
        k = 1.0 / 12.0 + t2 / 720.0
    else:
        t = math.sqrt(t2)
        k = (1.0 - 0.5 * t * math.cos(0.5 * t) / math.sin(0.5 * t)) / t2
    return fx + 0.5 * ax + k * bx, fy + 0.5 * ay + k * by, fz + 0.5 * az + k * bz


@inlined
def held_slope(ax, ay, az, px, py, pz, hx, hy, hz):
    """Change of Jᵀ p, J the slope of the rotation vector (a), when that changes by (h).

    With k = (1 − ½ t cot ½ t) / t², Jᵀ p = p − ½ a × p + k a × (a × p).
    """
    t2 = ax * ax + ay * ay + az * az
    # `dk` is the derivative of k by t, over t
    if t2 < 1e-6:
        k, dk = 1.0 / 12.0 + t2 / 720.0, 1.0 / 360.0
    else:
        t = math.sqrt(t2)
        cosine, sine = math.cos(0.5 * t), math.sin(0.5 * t)
        k = (1.0 - 0.5 * t * cosine / sine) / t2
        dk = (0.5 * (0.5 * t / (sine * sine) - cosine / sine) / t - 2.0 * k) / t2
    # k changes by its derivative along a · h
    dk *= ax * hx + ay * hy + az * hz
    ux, uy, uz = cross(ax, ay, az, px, py, pz)
    vx, vy, vz = cross(hx, hy, hz, px, py, pz)
    # product rule for a × (a × p)
    xx, xy, xz = cross(ax, ay, az, ux, uy, uz)
    yx, yy, yz = cross(hx, hy, hz, ux, uy, uz)
    zx, zy, zz = cross(ax, ay, az, vx, vy, vz)
    return (
        dk * xx + k * (yx + zx) - 0.5 * vx,
        dk * xy + k * (yy + zy) - 0.5 * vy,
        dk * xz + k * (yz + zz) - 0.5 * vz,
    )
