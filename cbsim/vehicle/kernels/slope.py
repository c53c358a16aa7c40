"""Substep on a slope: the drive acts in the ground plane, its result is projected onto the map.

The plane rises by the gradient ∇z = (p, q), at the angle a with tan a = |∇z|. Drives know a flat world: the plane,
turned about its level line until it lies flat. A heading φ seen from above, counted from uphill, is φ' there with
tan φ' = tan φ · cos a; lengths uphill are 1 / cos a longer there; gravity pulls with g sin a downhill and presses with
g cos a.
"""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inner
from cbsim.vehicle.kernels.columns import GRAVITY
from cbsim.vehicle.kernels.drives import step_vehicle

__all__ = ["step_on_ground"]


@inner
def lean(sine, cosine, stretch):
    """Change of a heading [rad], given by sine and cosine from uphill, when lengths uphill are scaled by `stretch`."""
    return math.atan2(sine, stretch * cosine) - math.atan2(sine, cosine)


@inner
def step_on_ground(drive, planar, wheel, actuator, command, parameters, p, q, dt):
    """Carry a vehicle through a substep on ground of the gradient (p, q); see `step_vehicle`.

    Place and heading in `planar` are seen from above, velocities are those in the plane of the ground, and the yaw rate
    is about its normal.
    """
    if p == 0.0 and q == 0.0:
        step_vehicle(drive, planar, wheel, actuator, command, parameters, (0.0, 0.0, GRAVITY), dt)
        return
    rise = math.hypot(p, q)
    secant = math.sqrt(1.0 + rise * rise)
    ex, ey = p / rise, q / rise  # uphill
    x, y, above = planar[0], planar[1], planar[2]
    fx, fy = -math.sin(above), math.cos(above)
    # heading in the ground plane, where lengths uphill are 1 / cos a longer than on the map
    within = above + lean(ex * fy - ey * fx, fx * ex + fy * ey, secant)
    fx, fy = -math.sin(within), math.cos(within)
    # heading from uphill: sine and cosine of its angle in the plane
    sine, cosine = ex * fy - ey * fx, fx * ex + fy * ey
    planar[2] = within
    # gravity along the plane is downhill, against the cosine of a heading that points uphill
    down = -GRAVITY * rise / secant
    pull = (down * cosine, -down * sine, GRAVITY / secant)
    step_vehicle(drive, planar, wheel, actuator, command, parameters, pull, dt)
    # project the displacement back onto the map: its uphill component shrinks by cos a
    along = (1.0 - 1.0 / secant) * ((planar[0] - x) * ex + (planar[1] - y) * ey)
    planar[0] -= along * ex
    planar[1] -= along * ey
    if planar[2] == within:  # without a turn, the heading keeps its bits
        planar[2] = above
    else:
        fx, fy = -math.sin(planar[2]), math.cos(planar[2])
        planar[2] += lean(ex * fy - ey * fx, fx * ex + fy * ey, 1.0 / secant)
