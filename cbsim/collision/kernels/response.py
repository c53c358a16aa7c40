"""Collision response of vehicles: planar impulses, then position correction of penetrating pairs.

At every point of touch the relative velocity along the normal must end up no less than the bounce, and the tangential
impulse within the friction cone: each point is solved exactly, and all of them in turn, over and over, until they no
longer change (sequential impulses, Catto 2005). Newton's law of restitution can create energy where there is friction
and the blow is not central, so the bounce of each group of vehicles is scaled down to what the touch can give: with
impulses J, the work ½ Σ J · (v⁻ + v⁺) must not be positive; without bounce it never is. What stands, and literal
movers, are not moved.
"""

from __future__ import annotations

from cbsim.collision.kernels.touch import (
    BOUNCE,
    CAR_A,
    CAR_B,
    CLOSING,
    DRIFT_X,
    DRIFT_Y,
    GAP,
    GIVE,
    LIMIT,
    NORMAL_X,
    NORMAL_Y,
    PUSH,
    PUSH_ZERO,
    RUB,
    RUB_ZERO,
    SKEW,
    SLIP,
    X,
    Y,
)
from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inner
from cbsim.vehicle.kernels.columns import BODY_FRICTION, MASS, RESTITUTION, YAW_INERTIA

__all__ = ["prepare", "respond"]

QUIET = 0.3  # [m/s] slower touches do not bounce: so a car comes to rest against a wall
SLOP = 1e-4  # [m] that is left of a depth, so that what rests goes on touching
SWEEPS = 200  # of sequential impulses at most
SETTLED = 1e-12  # of 1 m/s, or of the fastest closing speed: smaller changes end the sweeps
PUSHES = 60  # sweeps of the push out at most
NEAR = 1e-9  # [m] that a push out may fall short by
BEFORE, AFTER, DULL = range(3)  # planes of motion: before, after, after without bounce


@inner
def copy_motion(motion, out):
    """Copy the motion of all vehicles (vehicles, 3)."""
    for v in range(motion.shape[0]):
        for c in range(3):
            out[v, c] = motion[v, c]


@inner
def to_world(planar, out):
    """Write velocity x, y [m/s] and yaw rate [rad/s] of a vehicle (3,)."""
    fx, fy = -math.sin(planar[2]), math.cos(planar[2])
    out[0], out[1], out[2] = planar[3] * fx - planar[4] * fy, planar[3] * fy + planar[4] * fx, planar[5]


@inner
def speed_at(motion, planar, v, x, y, drift_x, drift_y):
    """Velocity x, y of the point x, y of a vehicle; the drift for what is none."""
    if v < 0:
        return drift_x, drift_y
    return motion[v, 0] - motion[v, 2] * (y - planar[v, 1]), motion[v, 1] + motion[v, 2] * (x - planar[v, 0])


@inner
def relative(motion, planar, row):
    """Velocity of b's point of touch from a's: along the normal, and along the tangent to its left."""
    a, b = int(row[CAR_A]), int(row[CAR_B])
    ax, ay = speed_at(motion, planar, a, row[X], row[Y], 0.0, 0.0)
    bx, by = speed_at(motion, planar, b, row[X], row[Y], row[DRIFT_X], row[DRIFT_Y])
    x, y = bx - ax, by - ay
    return x * row[NORMAL_X] + y * row[NORMAL_Y], y * row[NORMAL_X] - x * row[NORMAL_Y]


@inner
def add_compliance(parameters, planar, v, row):
    """Add what a vehicle's velocity at the point of touch changes by unit impulses there, along normal and tangent."""
    if v < 0:
        return
    x, y = row[X] - planar[v, 0], row[Y] - planar[v, 1]
    along = x * row[NORMAL_Y] - y * row[NORMAL_X]
    across = x * row[NORMAL_X] + y * row[NORMAL_Y]
    light, turn = 1.0 / parameters[v, MASS], 1.0 / parameters[v, YAW_INERTIA]
    row[GIVE] += light + turn * along * along
    row[SKEW] += turn * along * across
    row[SLIP] += light + turn * across * across


@inner
def point_impulse(give, skew, slip, along, across, limit):
    """Push and rub [N s] that one point of touch needs by itself.

    Parameters
    ----------
    give, skew, slip : float
        Compliance [1/kg]: normal, mixed, tangential.
    along, across : float
        Velocity of b from a without this point, along the normal less what is wanted, and along the tangent [m/s].
    limit : float
        Coefficient of friction.
    """
    if along >= 0.0:
        return 0.0, 0.0
    determinant = give * slip - skew * skew
    if determinant > 0.0:
        push, rub = (skew * across - slip * along) / determinant, (skew * along - give * across) / determinant
        if push >= 0.0 and abs(rub) <= limit * push:
            return push, rub
    for turn in range(2):  # it slides, to the one side or the other
        side = limit if (across < 0.0) == (turn == 0) else -limit
        if give + side * skew > 1e-3 * give:
            push = -along / (give + side * skew)
            if (across + (skew + side * slip) * push) * side <= 0.0:
                return push, side * push
    return -along / give, 0.0


@inner
def strike(parameters, planar, motion, v, row, jx, jy):
    """Change the motion of a vehicle by an impulse (jx, jy) [N s] at the point of touch."""
    if v < 0:
        return
    mass, inertia = parameters[v, MASS], parameters[v, YAW_INERTIA]
    motion[v, 0] += jx / mass
    motion[v, 1] += jy / mass
    motion[v, 2] += ((row[X] - planar[v, 0]) * jy - (row[Y] - planar[v, 1]) * jx) / inertia


@inner
def strike_both(parameters, planar, motion, row, push, rub):
    """Part both bodies of a touch by `push`, and drag b to its left by `rub` [N s]."""
    jx = push * row[NORMAL_X] - rub * row[NORMAL_Y]
    jy = push * row[NORMAL_Y] + rub * row[NORMAL_X]
    strike(parameters, planar, motion, int(row[CAR_A]), row, -jx, -jy)
    strike(parameters, planar, motion, int(row[CAR_B]), row, jx, jy)


@inner
def prepare(parameters, planar, motion, dt, row):
    """Fill in closing speed, bounce and friction of a point of touch before the blow."""
    a, b = int(row[CAR_A]), int(row[CAR_B])
    along, _ = relative(motion, planar, row)
    row[CLOSING] = -along
    bounce, friction = parameters[a, RESTITUTION], parameters[a, BODY_FRICTION]
    if b >= 0:
        bounce = max(bounce, parameters[b, RESTITUTION])
        friction = math.sqrt(friction * parameters[b, BODY_FRICTION])
    row[LIMIT], row[GIVE], row[SKEW], row[SLIP] = friction, 0.0, 0.0, 0.0
    add_compliance(parameters, planar, a, row)
    add_compliance(parameters, planar, b, row)
    if row[GAP] > 0.0:  # not there yet: may come as near as that in a substep
        row[BOUNCE] = -row[GAP] / dt if dt > 0.0 else -math.inf
    else:
        row[BOUNCE] = bounce * -along if -along > QUIET else 0.0


@inner
def solve(parameters, planar, motion, touches, count, bounces):
    """Sweep over all points until their impulses rest; `motion` (vehicles, 3) ends as after the blow."""
    scale = 1.0
    for k in range(count):
        touches[k, PUSH] = touches[k, RUB] = 0.0
        scale = max(scale, abs(touches[k, CLOSING]))
    for _ in range(SWEEPS):
        change = 0.0
        for k in range(count):
            row = touches[k]
            give, skew, slip = row[GIVE], row[SKEW], row[SLIP]
            along, across = relative(motion, planar, row)
            along -= give * row[PUSH] + skew * row[RUB]  # as if this point gave nothing
            across -= skew * row[PUSH] + slip * row[RUB]
            wanted = row[BOUNCE] if bounces else min(row[BOUNCE], 0.0)
            push, rub = point_impulse(give, skew, slip, along - wanted, across, row[LIMIT])
            more, drag = push - row[PUSH], rub - row[RUB]
            change = max(change, abs(more) * give, abs(drag) * slip)
            strike_both(parameters, planar, motion, row, more, drag)
            row[PUSH], row[RUB] = push, rub
        if change <= SETTLED * scale:
            break


@inner
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


@inner
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


@inner
def temper(parameters, planar, motions, touches, count, labels):
    """Redo the blow with no more bounce than the energy of each group allows."""
    copy_motion(motions[BEFORE], motions[DULL])
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


@inner
def push_out(parameters, touches, count, shift, share, active):
    """Move vehicles along the normals out of what they are in, down to `SLOP`; that takes no velocity with it.

    All touches of a vehicle move it together, each by its share, so that one that is pressed from two sides alike
    stays where it is.
    """
    for v in range(shift.shape[0]):
        shift[v, 0] = shift[v, 1] = 0.0
    for _ in range(PUSHES):
        for v in range(shift.shape[0]):
            active[v], share[v, 0], share[v, 1] = 0, 0.0, 0.0
        for k in range(count):
            row = touches[k]
            a, b = int(row[CAR_A]), int(row[CAR_B])
            x, y, light_a, light_b = -shift[a, 0], -shift[a, 1], 1.0 / parameters[a, MASS], 0.0
            if b >= 0:
                x, y, light_b = x + shift[b, 0], y + shift[b, 1], 1.0 / parameters[b, MASS]
            short = -SLOP - (row[GAP] + x * row[NORMAL_X] + y * row[NORMAL_Y])
            if short <= NEAR:
                continue
            part = light_a / (light_a + light_b) * short
            active[a] += 1
            share[a, 0] -= part * row[NORMAL_X]
            share[a, 1] -= part * row[NORMAL_Y]
            if b >= 0:
                active[b] += 1
                share[b, 0] += (short - part) * row[NORMAL_X]
                share[b, 1] += (short - part) * row[NORMAL_Y]
        moved = 0.0
        for v in range(shift.shape[0]):
            if active[v] > 0:
                x, y = share[v, 0] / active[v], share[v, 1] / active[v]
                shift[v, 0], shift[v, 1] = shift[v, 0] + x, shift[v, 1] + y
                moved = max(moved, abs(x), abs(y))
        if moved <= NEAR:
            break


@inner
def respond(parameters, planar, touches, count, touch_workspace):
    """Change motion and place of vehicles (planar) by all their touches, prepared; impulses stay in the table."""
    motions, shift, labels = touch_workspace.motion, touch_workspace.shift, touch_workspace.labels
    bounces = False
    for k in range(count):
        bounces = bounces or touches[k, BOUNCE] > 0.0
    copy_motion(motions[BEFORE], motions[AFTER])
    solve(parameters, planar, motions[AFTER], touches, count, True)
    if bounces:
        temper(parameters, planar, motions, touches, count, labels)
    push_out(parameters, touches, count, shift, motions[DULL], labels)
    for k in range(count):
        for v in (int(touches[k, CAR_A]), int(touches[k, CAR_B])):
            if v >= 0:
                fx, fy = -math.sin(planar[v, 2]), math.cos(planar[v, 2])
                vx, vy = motions[AFTER, v, 0], motions[AFTER, v, 1]
                planar[v, 3], planar[v, 4], planar[v, 5] = vx * fx + vy * fy, vy * fx - vx * fy, motions[AFTER, v, 2]
                planar[v, 0], planar[v, 1] = planar[v, 0] + shift[v, 0], planar[v, 1] + shift[v, 1]
                shift[v, 0] = shift[v, 1] = 0.0
