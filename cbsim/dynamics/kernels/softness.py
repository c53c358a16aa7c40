"""What a contact asks of its gap at node 3, said by how its bodies come along at node 2.

The gap of a rigid contact is at least 0. A soft one is let stay at (1 − ERP) of a penetration at node 2, as ODE has it.
One with restitution e that would close in this step is asked for the gap that it has at e times its closing speed, so
that the velocity of the step is e times the one before: at e = 1 a ball in flight runs its nodes backwards, and what
it loses at each bounce is not the step's doing (Newton's law; in penetration ERP counts where it asks for more).
Friction limited by a force is there where bodies touch at node 2.
"""

from __future__ import annotations

import math

from cbsim.dynamics.kernels.algebra import cross, turned
from cbsim.dynamics.kernels.columns import (
    AXES,
    BODY,
    BOXED,
    DOF,
    GAP,
    GRAVITY,
    KAPPA,
    LAW,
    LEFT_OVER,
    MOST,
    MU,
    NORMAL2,
    ONE,
    OTHER,
    PARENT,
    POINT,
    POINT2,
    R2,
    RESTITUTION,
    SHIFT_OF_GAP,
    SPIN,
    VELOCITY,
    X2,
    X3,
    U,
)
from cbsim.dynamics.kernels.touching import see
from cbsim.jit import inlined, inner

__all__ = ["yield_gaps"]

AT_REST = 2.0  # closing speeds up to so many times what gravity gives in a step do not bounce
TOUCHING = 1e-5  # gap below which bodies touch [m]


@inlined
def _to_node_2(arena, b, back):
    """Put a body's node 2 in the place of its node 3, or take it back; U keeps node 3."""
    if b >= 0:
        for k in range(16):
            if back:
                arena[b, X3 + k] = arena[b, U + k]
            else:
                arena[b, U + k], arena[b, X3 + k] = arena[b, X3 + k], arena[b, X2 + k]


@inlined
def _speed_along(link, arena, z, b, nx, ny, nz, px, py, pz):
    """Velocity along n that body b comes with at a point of the world."""
    i = link[b, BODY]
    wx, wy, wz = turned(arena, b, R2, z[i, SPIN], z[i, SPIN + 1], z[i, SPIN + 2])
    vx, vy, vz = cross(wx, wy, wz, px - arena[b, X2], py - arena[b, X2 + 1], pz - arena[b, X2 + 2])
    return nx * (z[i, VELOCITY] + vx) + ny * (z[i, VELOCITY + 1] + vy) + nz * (z[i, VELOCITY + 2] + vz)


@inlined
def _falls(link, b):
    """Whether gravity moves a body: nothing holds it to the world for good."""
    return b >= 0 and (link[b, PARENT] >= 0 or link[b, DOF] > 0)


@inlined
def _bounce(link, contact_link, touch, arena, z, i, settings, h):
    """Return how far the contact's closing speed takes its bodies in a step, 0 where it does not close or is slow."""
    b, q = contact_link[i, ONE], contact_link[i, OTHER]
    nx, ny, nz = touch[i, AXES], touch[i, AXES + 1], touch[i, AXES + 2]
    px, py, pz = touch[i, POINT], touch[i, POINT + 1], touch[i, POINT + 2]
    speed = _speed_along(link, arena, z, b, nx, ny, nz, px, py, pz)
    if q >= 0:
        speed -= _speed_along(link, arena, z, q, nx, ny, nz, px, py, pz)
    k = GRAVITY
    pull = nx * settings[k] + ny * settings[k + 1] + nz * settings[k + 2]
    pull = h * pull * (1.0 * _falls(link, b) - 1.0 * _falls(link, q))
    rest = AT_REST * h * math.sqrt(settings[k] ** 2 + settings[k + 1] ** 2 + settings[k + 2] ** 2)
    if speed >= -rest or touch[i, GAP] + h * (speed + pull) >= 0.0:
        return 0.0
    return -h * speed


@inner
def yield_gaps(link, contact_link, contact, touch, arena, z, settings, impulse, h):
    """Set SHIFT_OF_GAP and MOST of every contact.

    ``impulse`` [N s] is what a contact bears or so: in a relaxed problem bodies at rest are kappa / impulse apart.
    """
    for i in range(len(contact_link)):
        touch[i, SHIFT_OF_GAP], touch[i, MOST] = 0.0, 0.0
        law, bounces = contact_link[i, LAW], contact[i, RESTITUTION] > 0.0 and h > 0.0
        if law != BOXED and contact[i, LEFT_OVER] == 0.0 and not bounces:
            continue
        b, q = contact_link[i, ONE], contact_link[i, OTHER]
        _to_node_2(arena, b, False)
        _to_node_2(arena, q, False)
        see(contact_link, contact, touch, arena, i, h)
        gap = touch[i, GAP]
        for k in range(3):
            touch[i, NORMAL2 + k], touch[i, POINT2 + k] = touch[i, AXES + k], touch[i, POINT + k]
        far = _bounce(link, contact_link, touch, arena, z, i, settings, h) if bounces else 0.0
        _to_node_2(arena, b, True)
        _to_node_2(arena, q, True)
        see(contact_link, contact, touch, arena, i, h)
        if law == BOXED and gap < TOUCHING + 3.0 * max(0.0, settings[KAPPA]) / impulse:
            touch[i, MOST] = contact[i, MU] * abs(h)
        under = min(0.0, gap)
        shift = contact[i, LEFT_OVER] * under
        if far > 0.0:
            shift = max(shift, gap + contact[i, RESTITUTION] * far)
        touch[i, SHIFT_OF_GAP] = shift
