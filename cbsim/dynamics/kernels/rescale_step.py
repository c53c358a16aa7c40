"""Velocities after a step made in parts: those of one step of its whole length with the same momentum.

Velocities belong to the middle of the last part, and forces at a node act for half of the steps on either side. So they
act for half a step and half a part before the parts, for a part at each node between them, and for half a part and half
a step after them: half a step minus half a part of their action in the next step is subtracted here. The action of
springs, inputs, gravity and external forces in that time is computed with joints and loops held. A step leaves impulses
h e v of its dampers to the node after it (`cbsim.dynamics.kernels.dampers`), so that v becomes the v* of
(M − h E) v* = (M − h E) v + t (D v − F), with t half of the difference between h and the length of the last part. Rows
act by their motion, whatever the parts.
"""

from __future__ import annotations

from cbsim.dynamics.kernels.algebra import cross, turned_back
from cbsim.dynamics.kernels.begin_step import QUARTER
from cbsim.dynamics.kernels.columns import (
    APPLIED,
    BODY,
    DAMPED,
    DAMPER,
    DAMPING,
    DELTA,
    DOF,
    FLAGS,
    INERTIA,
    KINEMATIC,
    LATEST,
    MISSING,
    OWN,
    R2,
    SPIN,
    VELOCITY,
)
from cbsim.dynamics.kernels.dampers import damp, share_after
from cbsim.dynamics.kernels.newton import begin, evaluate_bodies, factorize_bodies
from cbsim.dynamics.kernels.tree import eliminate, gather
from cbsim.dynamics.kernels.tree_solve import solve
from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined, inner

__all__ = ["rescale_step"]

HALF_TURN = 0.5 * math.pi - 1e-6  # [rad], of half the angle


@inner
def rescale_step(model, work, z, inputs, external, settings, short, h):
    """Convert the velocities of a step of length ``short`` to those of one of length h with the same momentum.

    Return False if a body would rotate by half a turn or more, where there are none.
    """
    _take_off(model, work, z, inputs, external, settings, short, h)
    fits = True
    for b in range(model.links):
        if not model.link[b, FLAGS] & KINEMATIC:
            fits &= _stretch(model.joint, b, z, model.link[b, BODY], short, h)
    return fits


@inner
def _take_off(model, work, z, inputs, external, settings, short, h):
    """Subtract from velocities the action of forces in half of h − ``short``, at the current poses.

    It is the first Newton increment of a step from rest with reversed forces, in a workspace of its own, so that the
    solution of the last part remains available. Gaps of loops are ignored.
    """
    links, link, joint, link_work, late = model.links, model.link, model.joint, work.past, 0.5 * (h - short)
    for b in range(links):
        i = link[b, BODY]
        # velocities are put aside in LATEST, which a cold start leaves unused
        for k in range(3):
            link_work[b, LATEST + k], link_work[b, LATEST + 3 + k] = z[i, VELOCITY + k], z[i, SPIN + k]
            z[i, VELOCITY + k], z[i, SPIN + k] = 0.0, 0.0
    # a step from rest whose forces act for −(h − short)/2: `begin` takes half the sum of both lengths
    begin(links, link, joint, link_work, z, inputs, external, settings, -2.0 * late - h, h, 0.0)
    evaluate_bodies(links, link, joint, link_work, h)
    for b in range(links):
        if link[b, FLAGS] & DAMPED:
            # M − h E on the left-hand side, t D at the speed of the last part on the right
            link_work[b, DAMPING] = -share_after(joint, b, h)
            work.link_work[b, DAMPING] = -late * joint[b, DAMPER] / short
            damp(link, joint, work.link_work, b)
            for k in range(link[b, DOF]):
                link_work[b, APPLIED + k] += work.link_work[b, OWN + k]
    gather(links, link, joint, link_work)
    for j in range(links, len(link)):
        # gaps of loops are not forces
        for i in range(link[j, DOF]):
            link_work[j, MISSING + i] = 0.0
    factorize_bodies(links, link, joint, link_work, work.block, model.loop_block, h)
    eliminate(link, link_work, work.block, model.program, model.fan, model.pair, work.fanned)
    solve(link, link_work, model.program, model.fan, work.fanned)
    for b in range(links):
        i = link[b, BODY]
        # node 3 has moved by DELTA from rest: velocities change by DELTA / h, spins in axes of the body
        x, y, w = turned_back(
            link_work, b, R2, link_work[b, DELTA + 3], link_work[b, DELTA + 4], link_work[b, DELTA + 5]
        )
        for k in range(3):
            z[i, VELOCITY + k] = link_work[b, LATEST + k] + link_work[b, DELTA + k] / h
        z[i, SPIN] = link_work[b, LATEST + 3] + x / h
        z[i, SPIN + 1] = link_work[b, LATEST + 4] + y / h
        z[i, SPIN + 2] = link_work[b, LATEST + 5] + w / h


@inlined
def _stretch(joint, b, z, i, short, h):
    """Find the spin of a step of length h with the momentum of the current spin in a step of length ``short``.

    It is the root w of c J w − (h / 2) w × J w = L (docs/theory/integrator.md §3) near the current spin. A body that
    would rotate by more than a quarter of a turn keeps its spin; return False if it would rotate by half a turn or
    more, where there is no root.
    """
    x, y, w = z[i, SPIN], z[i, SPIN + 1], z[i, SPIN + 2]
    lx, ly, lz = _spin_momentum(joint, b, x, y, w, short)
    fits = True
    for _ in range(100):
        mx, my, mz = _spin_momentum(joint, b, x, y, w, h)
        # fixed-point iteration; it contracts while a step turns by less than a quarter of a turn
        dx, dy, dz = _over_inertia(joint, b, lx - mx, ly - my, lz - mz)
        x, y, w = x + dx, y + dy, w + dz
        fits = 0.25 * h * h * (x * x + y * y + w * w) < 1.0 - QUARTER
        if not fits or abs(dx) + abs(dy) + abs(dz) < 1e-15 * (abs(x) + abs(y) + abs(w)):
            break
    if fits:
        z[i, SPIN], z[i, SPIN + 1], z[i, SPIN + 2] = x, y, w
        return True
    x, y, w = z[i, SPIN], z[i, SPIN + 1], z[i, SPIN + 2]
    rate = math.sqrt(x * x + y * y + w * w)
    # beyond a quarter of a turn: the same rate of rotation, as the chord of a longer step
    half = h / short * math.asin(min(1.0, 0.5 * abs(short) * rate))
    scale = math.sin(half) / (0.5 * abs(h) * rate) if rate > 0.0 else 1.0
    z[i, SPIN], z[i, SPIN + 1], z[i, SPIN + 2] = scale * x, scale * y, scale * w
    return half < HALF_TURN


@inlined
def _spin_momentum(joint, b, x, y, z, h):
    """Angular momentum c J w − (h / 2) w × J w of a step of length h, in the body's frame."""
    k = 0.5 * h
    c = math.sqrt(max(0.0, 1.0 - k * k * (x * x + y * y + z * z)))
    jx = joint[b, INERTIA] * x + joint[b, INERTIA + 3] * y + joint[b, INERTIA + 4] * z
    jy = joint[b, INERTIA + 3] * x + joint[b, INERTIA + 1] * y + joint[b, INERTIA + 5] * z
    jz = joint[b, INERTIA + 4] * x + joint[b, INERTIA + 5] * y + joint[b, INERTIA + 2] * z
    lx, ly, lz = cross(x, y, z, jx, jy, jz)
    return c * jx - k * lx, c * jy - k * ly, c * jz - k * lz


@inlined
def _over_inertia(joint, b, x, y, z):
    """J⁻¹ times a vector in the body's frame."""
    xx, yy, zz = joint[b, INERTIA], joint[b, INERTIA + 1], joint[b, INERTIA + 2]
    xy, xz, yz = joint[b, INERTIA + 3], joint[b, INERTIA + 4], joint[b, INERTIA + 5]
    # inverse of a symmetric matrix by its cofactors
    a, e, g = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
    scale = 1.0 / (xx * a + xy * e + xz * g)
    f, k, m = xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy
    return scale * (a * x + e * y + g * z), scale * (e * x + f * y + k * z), scale * (g * x + k * y + m * z)
