"""What touches do to vehicles: impulses in the plane, then a push out of what they are in.

At every point of touch the relative velocity along the normal must end up no less than the bounce, and the tangential
impulse within the friction cone: solved by sequential impulses (Catto 2005), all points together, until they no longer
change. Newton's law of restitution can create energy where there is friction and the blow is not central, so the
bounce of each group of vehicles is scaled down to what the touch can give: with impulses J, K the compliance, the work
½ Σ J · (v⁻ + v⁺) must not be positive; without bounce it never is. What stands, and literal movers, are not moved.
"""

from __future__ import annotations

import math

from cbsim.collision.kernels.touch import (
    BOUNCE,
    CAR_A,
    CAR_B,
    CLOSING,
    DRIFT_X,
    DRIFT_Y,
    GAP,
    LIMIT,
    NORMAL_X,
    NORMAL_Y,
    PUSH,
    PUSH_ZERO,
    RUB,
    RUB_ZERO,
    X,
    Y,
)
from cbsim.jit import kernel
from cbsim.vehicle.kernels.columns import BODY_FRICTION, MASS, RESTITUTION, YAW_INERTIA

__all__ = ["prepare", "respond"]

QUIET = 0.3  # [m/s] slower touches do not bounce: so a car comes to rest against a wall
SLOP = 1e-4  # [m] that is left of a depth, so that what rests goes on touching
SWEEPS = 200  # of sequential impulses at most
SETTLED = 1e-13  # of the fastest closing speed: smaller changes end the sweeps
PUSHES = 12  # sweeps of the push out
BEFORE, AFTER, DULL = range(3)  # planes of motion: before, after, after without bounce


@kernel
def to_world(planar, out):
    """Write velocity x, y [m/s] and yaw rate [rad/s] of a vehicle (3,)."""
    fx, fy = -math.sin(planar[2]), math.cos(planar[2])
    out[0], out[1], out[2] = planar[3] * fx - planar[4] * fy, planar[3] * fy + planar[4] * fx, planar[5]


@kernel
def speed_at(motion, planar, v, x, y, drift_x, drift_y):
    """Velocity x, y of the point x, y of a vehicle; the drift for what is none."""
    if v < 0:
        return drift_x, drift_y
    return motion[v, 0] - motion[v, 2] * (y - planar[v, 1]), motion[v, 1] + motion[v, 2] * (x - planar[v, 0])


@kernel
def relative(motion, planar, row):
    """Velocity of b's point of touch from a's: along the normal, and along the tangent to its left."""
    a, b = int(row[CAR_A]), int(row[CAR_B])
    ax, ay = speed_at(motion, planar, a, row[X], row[Y], 0.0, 0.0)
    bx, by = speed_at(motion, planar, b, row[X], row[Y], row[DRIFT_X], row[DRIFT_Y])
    x, y = bx - ax, by - ay
    return x * row[NORMAL_X] + y * row[NORMAL_Y], y * row[NORMAL_X] - x * row[NORMAL_Y]


@kernel
def compliance(parameters, planar, v, row, nx, ny):
    """Change of a vehicle's velocity along (nx, ny) at the point of touch by a unit impulse there."""
    if v < 0:
        return 0.0
    arm = (row[X] - planar[v, 0]) * ny - (row[Y] - planar[v, 1]) * nx
    return 1.0 / parameters[v, MASS] + arm * arm / parameters[v, YAW_INERTIA]


@kernel
def strike(parameters, planar, motion, v, row, jx, jy):
    """Change the motion of a vehicle by an impulse (jx, jy) [N s] at the point of touch."""
    if v < 0:
        return
    mass, inertia = parameters[v, MASS], parameters[v, YAW_INERTIA]
    motion[v, 0] += jx / mass
    motion[v, 1] += jy / mass
    motion[v, 2] += ((row[X] - planar[v, 0]) * jy - (row[Y] - planar[v, 1]) * jx) / inertia


@kernel
def strike_both(parameters, planar, motion, row, push, rub):
    """Part both bodies of a touch by `push`, and drag b to its left by `rub` [N s]."""
    jx = push * row[NORMAL_X] - rub * row[NORMAL_Y]
    jy = push * row[NORMAL_Y] + rub * row[NORMAL_X]
    strike(parameters, planar, motion, int(row[CAR_A]), row, -jx, -jy)
    strike(parameters, planar, motion, int(row[CAR_B]), row, jx, jy)


@kernel
def prepare(parameters, planar, motion, dt, row):
    """Fill in closing speed, bounce and friction of a point of touch before the blow."""
    a, b = int(row[CAR_A]), int(row[CAR_B])
    along, _ = relative(motion, planar, row)
    row[CLOSING] = -along
    bounce, friction = parameters[a, RESTITUTION], parameters[a, BODY_FRICTION]
    if b >= 0:
        bounce = max(bounce, parameters[b, RESTITUTION])
        friction = math.sqrt(friction * parameters[b, BODY_FRICTION])
    row[LIMIT] = friction
    if row[GAP] > 0.0:  # not there yet: may come as near as that in a substep
        row[BOUNCE] = -row[GAP] / dt if dt > 0.0 else -math.inf
    else:
        row[BOUNCE] = bounce * -along if -along > QUIET else 0.0


@kernel
def solve(parameters, planar, motion, touches, count, bounces):
    """Sweep over all points until their impulses rest; `motion` (vehicles, 3) ends as after the blow."""
    scale = 0.0
    for k in range(count):
        touches[k, PUSH] = touches[k, RUB] = 0.0
        scale = max(scale, abs(touches[k, CLOSING]))
    for _ in range(SWEEPS):
        change = 0.0
        for k in range(count):
            row = touches[k]
            a, b = int(row[CAR_A]), int(row[CAR_B])
            nx, ny = row[NORMAL_X], row[NORMAL_Y]
            along, _ = relative(motion, planar, row)
            wanted = row[BOUNCE] if bounces else min(row[BOUNCE], 0.0)
            give = compliance(parameters, planar, a, row, nx, ny) + compliance(parameters, planar, b, row, nx, ny)
            push = max(row[PUSH] + (wanted - along) / give, 0.0)
            change = max(change, abs(push - row[PUSH]) * give)
            strike_both(parameters, planar, motion, row, push - row[PUSH], 0.0)
            row[PUSH] = push
            _, across = relative(motion, planar, row)
            give = compliance(parameters, planar, a, row, -ny, nx) + compliance(parameters, planar, b, row, -ny, nx)
            most = row[LIMIT] * push
            rub = min(max(row[RUB] - across / give, -most), most)
            change = max(change, abs(rub - row[RUB]) * give)
            strike_both(parameters, planar, motion, row, 0.0, rub - row[RUB])
            row[RUB] = rub
        if change <= SETTLED * scale:
            break


@kernel
def group(touches, count, labels):
    """Give vehicles that touch each other, at any remove, one label: the least row among them."""
    for k in range(labels.shape[0]):
        labels[k] = k
    changed = True
    while changed:
        changed = False
        for k in range(count):
            a, b = int(touches[k, CAR_A]), int(touches[k, CAR_B])
            if b >= 0 and labels[a] != labels[b]:
                labels[a] = labels[b] = min(labels[a], labels[b])
                changed = True


@kernel
def bounce_share(planar, motions, touches, count, labels, label):
    """Largest share in [0, 1] of the bounce at which a group gains no energy: the root of c₀ + c₁ s + c₂ s²."""
    c0 = c1 = c2 = 0.0
    for k in range(count):
        row = touches[k]
        if labels[int(row[CAR_A])] != label:
            continue
        n, t = relative(motions[0], planar, row)
        n0, t0 = relative(motions[2], planar, row)
        n1, t1 = relative(motions[1], planar, row)
        n, t = n + n0, t + t0
        dn, dt = n1 - n0, t1 - t0
        push, rub = row[PUSH] - row[PUSH_ZERO], row[RUB] - row[RUB_ZERO]
        c0 += row[PUSH_ZERO] * n + row[RUB_ZERO] * t
        c1 += row[PUSH_ZERO] * dn + row[RUB_ZERO] * dt + push * n + rub * t
        c2 += push * dn + rub * dt
    if c0 + c1 + c2 <= 0.0 or c2 <= 0.0:
        return 1.0
    root = (-c1 + math.sqrt(max(c1 * c1 - 4.0 * c2 * c0, 0.0))) / (2.0 * c2)
    return min(max(root, 0.0), 1.0)


@kernel
def temper(parameters, planar, motions, touches, count, labels):
    """Redo the blow with no more bounce than the energy of each group allows."""
    motions[DULL] = motions[BEFORE]
    for k in range(count):
        touches[k, PUSH_ZERO], touches[k, RUB_ZERO] = touches[k, PUSH], touches[k, RUB]
    solve(parameters, planar, motions[DULL], touches, count, False)
    for k in range(count):  # solve leaves its own impulses: those of the full bounce were put aside
        row = touches[k]
        row[PUSH], row[PUSH_ZERO] = row[PUSH_ZERO], row[PUSH]
        row[RUB], row[RUB_ZERO] = row[RUB_ZERO], row[RUB]
    group(touches, count, labels)
    for label in range(labels.shape[0]):
        known = -1.0
        for k in range(count):
            row = touches[k]
            if labels[int(row[CAR_A])] != label:
                continue
            if known < 0.0:
                known = bounce_share(planar, motions, touches, count, labels, label)
                for v in range(labels.shape[0]):
                    if labels[v] == label and known < 1.0:
                        for c in range(3):
                            motions[AFTER, v, c] = motions[DULL, v, c] + known * (
                                motions[AFTER, v, c] - motions[DULL, v, c]
                            )
            row[PUSH] = row[PUSH_ZERO] + known * (row[PUSH] - row[PUSH_ZERO])
            row[RUB] = row[RUB_ZERO] + known * (row[RUB] - row[RUB_ZERO])


@kernel
def push_out(parameters, touches, count, shift):
    """Move vehicles along the normals out of what they are in, down to `SLOP`; that takes no velocity with it."""
    shift[:] = 0.0
    for _ in range(PUSHES):
        moved = 0.0
        for k in range(count):
            row = touches[k]
            a, b = int(row[CAR_A]), int(row[CAR_B])
            x, y = -shift[a, 0], -shift[a, 1]
            light_a, light_b = 1.0 / parameters[a, MASS], 0.0
            if b >= 0:
                x, y = x + shift[b, 0], y + shift[b, 1]
                light_b = 1.0 / parameters[b, MASS]
            short = -SLOP - (row[GAP] + x * row[NORMAL_X] + y * row[NORMAL_Y])
            if short <= 0.0:
                continue
            moved = max(moved, short)
            part = light_a / (light_a + light_b) * short
            shift[a, 0] -= part * row[NORMAL_X]
            shift[a, 1] -= part * row[NORMAL_Y]
            if b >= 0:
                shift[b, 0] += (short - part) * row[NORMAL_X]
                shift[b, 1] += (short - part) * row[NORMAL_Y]
        if moved <= 1e-9:
            break


@kernel
def respond(parameters, planar, touches, count, yard):
    """Change motion and place of vehicles (planar) by all their touches, prepared; impulses stay in the table."""
    motions, shift, labels = yard[6], yard[7], yard[8]
    bounces = False
    for k in range(count):
        bounces = bounces or touches[k, BOUNCE] > 0.0
    motions[AFTER] = motions[BEFORE]
    solve(parameters, planar, motions[AFTER], touches, count, True)
    if bounces:
        temper(parameters, planar, motions, touches, count, labels)
    push_out(parameters, touches, count, shift)
    for k in range(count):
        for v in (int(touches[k, CAR_A]), int(touches[k, CAR_B])):
            if v >= 0:
                fx, fy = -math.sin(planar[v, 2]), math.cos(planar[v, 2])
                vx, vy = motions[AFTER, v, 0], motions[AFTER, v, 1]
                planar[v, 3], planar[v, 4], planar[v, 5] = vx * fx + vy * fy, vy * fx - vx * fy, motions[AFTER, v, 2]
                planar[v, 0], planar[v, 1] = planar[v, 0] + shift[v, 0], planar[v, 1] + shift[v, 1]
                shift[v, 0] = shift[v, 1] = 0.0
