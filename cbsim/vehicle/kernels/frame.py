"""Planar frame of a body: velocities in rotating axes, and integration of the pose."""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import kernel
from cbsim.vehicle.kernels.columns import CENTRE_X, CENTRE_Y, HEADING

__all__ = ["carry", "pulled", "turned"]


@kernel
def turned(turn, forward, left):
    """Components of a velocity after the axes have turned by an angle [rad], left of forward counted positive.

    A Cayley rotation, which keeps the length to the last bits at any angle; the angle is accurate to 1e-6 at 0.5 rad.
    """
    half = 0.5 * turn
    square = half * half
    # series of tan(turn / 2); cosine and sine follow by the half-angle formulas, c² + s² = 1 by construction
    t = half * (1.0 + square * (1.0 / 3.0 + square * (2.0 / 15.0)))
    scale = 1.0 / (1.0 + t * t)
    c, s = (1.0 - t * t) * scale, 2.0 * t * scale
    return c * forward + s * left, c * left - s * forward


@kernel
def pulled(forward, left, downhill, aside, dt):
    """Components of a velocity [m/s] after gravity has acted for dt [s]; unchanged to the bit on level ground."""
    if downhill == 0.0 and aside == 0.0:
        return forward, left
    return forward + dt * downhill, left + dt * aside


@kernel
def carry(turn, along, across, planar):
    """Turn a body by an angle [rad], then move it along and to the left of its new heading [m]."""
    planar[HEADING] += turn
    sin, cos = math.sin(planar[HEADING]), math.cos(planar[HEADING])
    planar[CENTRE_X] -= along * sin + across * cos
    planar[CENTRE_Y] += along * cos - across * sin
