"""Collision response of vehicles: planar impulses, then position correction of penetrating pairs.

At every contact point the relative normal velocity after the impact must be at least the rebound velocity, and the
impulse must lie within the friction cone. Each point is solved exactly; sweeps over all points repeat until they
converge (sequential impulses, Catto 2005). Newton's law of restitution can create energy in eccentric impacts with
friction, so the rebound of each group of vehicles is scaled down until the impact dissipates energy: with impulses J,
the work ½ Σ J · (v⁻ + v⁺) must not be positive; without rebound it never is. Static bodies and literal movers are not
moved.
"""

from __future__ import annotations

from cbsim.collision.kernels.touch import (
    BOUNCE,
    CLOSING,
    CROSS_COMPLIANCE,
    DRIFT_X,
    DRIFT_Y,
    FRICTION,
    GAP,
    INELASTIC_NORMAL_IMPULSE,
    INELASTIC_TANGENT_IMPULSE,
    NORMAL_COMPLIANCE,
    NORMAL_IMPULSE,
    NORMAL_X,
    NORMAL_Y,
    TANGENT_COMPLIANCE,
    TANGENT_IMPULSE,
    VEHICLE_A,
    VEHICLE_B,
    X,
    Y,
)
from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inner
from cbsim.vehicle.kernels.columns import (
    BODY_FRICTION,
    CENTRE_X,
    CENTRE_Y,
    FORWARD,
    HEADING,
    LEFTWARD,
    MASS,
    RESTITUTION,
    YAW_INERTIA,
    YAW_RATE,
)

__all__ = ["prepare_contact", "resolve_contacts"]

RESTITUTION_THRESHOLD = 0.3  # [m/s] slower impacts are inelastic, so that a car comes to rest against a wall
SLOP = 1e-4  # [m] depth that position correction leaves, so that resting bodies stay in contact
SWEEPS = 200  # largest number of sweeps of sequential impulses
TOLERANCE = 1e-12  # of 1 m/s, or of the largest closing speed; smaller changes end the sweeps
CORRECTION_SWEEPS = 60  # largest number of sweeps of position correction
CORRECTION_TOLERANCE = 1e-9  # [m] by which position correction may fall short
BEFORE, AFTER, INELASTIC = range(3)  # planes of motion: before the impact, after it, after an inelastic one


@inner
def copy_motion(motion, out):
    """Copy the motion of all vehicles (vehicles, 3)."""
    for v in range(motion.shape[0]):
        for c in range(3):
            out[v, c] = motion[v, c]


@inner
def to_world(planar, out):
    """Write velocity x, y [m/s] and yaw rate [rad/s] of a vehicle (3,)."""
    fx, fy = -math.sin(planar[HEADING]), math.cos(planar[HEADING])
    out[0], out[1] = planar[FORWARD] * fx - planar[LEFTWARD] * fy, planar[FORWARD] * fy + planar[LEFTWARD] * fx
    out[2] = planar[YAW_RATE]


@inner
def point_velocity(motion, planar, v, x, y, drift_x, drift_y):
    """Velocity x, y of the point x, y of a vehicle; the drift for any other body."""
    if v < 0:
        return drift_x, drift_y
    ahead, up = x - planar[v, CENTRE_X], y - planar[v, CENTRE_Y]
    return motion[v, 0] - motion[v, 2] * up, motion[v, 1] + motion[v, 2] * ahead


@inner
def relative_velocity(motion, planar, row):
    """Velocity of the contact point of b relative to a: along the normal, and along the tangent to its left."""
    a, b = int(row[VEHICLE_A]), int(row[VEHICLE_B])
    ax, ay = point_velocity(motion, planar, a, row[X], row[Y], 0.0, 0.0)
    bx, by = point_velocity(motion, planar, b, row[X], row[Y], row[DRIFT_X], row[DRIFT_Y])
    x, y = bx - ax, by - ay
    # the tangent is the normal turned left, (−n_y, n_x)
    return x * row[NORMAL_X] + y * row[NORMAL_Y], y * row[NORMAL_X] - x * row[NORMAL_Y]


@inner
def add_compliance(parameters, planar, v, row):
    """Add a vehicle's compliance at a contact point: velocity change per unit impulse along normal and tangent."""
    if v < 0:
        return
    x, y = row[X] - planar[v, CENTRE_X], row[Y] - planar[v, CENTRE_Y]
    # moments of a unit impulse along normal and tangent about the centre
    arm_n = x * row[NORMAL_Y] - y * row[NORMAL_X]
    arm_t = x * row[NORMAL_X] + y * row[NORMAL_Y]
    light, turn = 1.0 / parameters[v, MASS], 1.0 / parameters[v, YAW_INERTIA]
    row[NORMAL_COMPLIANCE] += light + turn * arm_n * arm_n
    row[CROSS_COMPLIANCE] += turn * arm_n * arm_t
    row[TANGENT_COMPLIANCE] += light + turn * arm_t * arm_t


@inner
def point_impulse(c_nn, c_nt, c_tt, v_n, v_t, limit):
    """Solve one contact point by itself: normal and tangential impulse [N s].

    Parameters
    ----------
    c_nn, c_nt, c_tt : float
        Compliance [1/kg]: normal, mixed, tangential.
    v_n, v_t : float
        Velocity of b relative to a without this impulse: along the normal less its target, and along the tangent [m/s].
    limit : float
        Coefficient of friction.
    """
    # even without an impulse it opens fast enough
    if v_n >= 0.0:
        return 0.0, 0.0
    # sticking: both velocity components vanish, if friction suffices for it
    determinant = c_nn * c_tt - c_nt * c_nt
    if determinant > 0.0:
        # C (j_n, j_t) = −(v_n, v_t), with C symmetric
        j_n, j_t = (c_nt * v_t - c_tt * v_n) / determinant, (c_nt * v_n - c_nn * v_t) / determinant
        if j_n >= 0.0 and abs(j_t) <= limit * j_n:
            return j_n, j_t
    for turn in range(2):  # sliding, in either direction
        # friction at its limit opposes the sliding; first the direction in which the point slides now
        side = limit if (v_t < 0.0) == (turn == 0) else -limit
        if c_nn + side * c_nt > 1e-3 * c_nn:
            j_n = -v_n / (c_nn + side * c_nt)
            # consistent if the point still slides against the friction
            if (v_t + (c_nt + side * c_tt) * j_n) * side <= 0.0:
                return j_n, side * j_n
    # numerically degenerate: without friction
    return -v_n / c_nn, 0.0


@inner
def apply_impulse(parameters, planar, motion, v, row, jx, jy):
    """Apply an impulse (jx, jy) [N s] to a vehicle at a contact point."""
    if v < 0:
        return
    mass, inertia = parameters[v, MASS], parameters[v, YAW_INERTIA]
    motion[v, 0] += jx / mass
    motion[v, 1] += jy / mass
    motion[v, 2] += ((row[X] - planar[v, CENTRE_X]) * jy - (row[Y] - planar[v, CENTRE_Y]) * jx) / inertia


@inner
def apply_impulses(parameters, planar, motion, row, j_n, j_t):
    """Apply normal and tangential impulses [N s] to b, and the opposite ones to a."""
    jx = j_n * row[NORMAL_X] - j_t * row[NORMAL_Y]
    jy = j_n * row[NORMAL_Y] + j_t * row[NORMAL_X]
    apply_impulse(parameters, planar, motion, int(row[VEHICLE_A]), row, -jx, -jy)
    apply_impulse(parameters, planar, motion, int(row[VEHICLE_B]), row, jx, jy)


@inner
def prepare_contact(parameters, planar, motion, dt, row):
    """Fill in closing speed, rebound velocity, friction and compliance of a contact point before the impact."""
    a, b = int(row[VEHICLE_A]), int(row[VEHICLE_B])
    v_n, _ = relative_velocity(motion, planar, row)
    row[CLOSING] = -v_n
    # the larger restitution, the geometric mean of friction
    bounce, friction = parameters[a, RESTITUTION], parameters[a, BODY_FRICTION]
    if b >= 0:
        bounce = max(bounce, parameters[b, RESTITUTION])
        friction = math.sqrt(friction * parameters[b, BODY_FRICTION])
    row[FRICTION], row[NORMAL_COMPLIANCE], row[CROSS_COMPLIANCE], row[TANGENT_COMPLIANCE] = friction, 0.0, 0.0, 0.0
    add_compliance(parameters, planar, a, row)
    add_compliance(parameters, planar, b, row)
    if row[GAP] > 0.0:  # speculative contact: the gap may close within the substep
        row[BOUNCE] = -row[GAP] / dt if dt > 0.0 else -math.inf
    else:
        row[BOUNCE] = bounce * -v_n if -v_n > RESTITUTION_THRESHOLD else 0.0


@inner
def solve(parameters, planar, motion, touches, count, bounces):
    """Sweep over all points until their impulses converge; `motion` (vehicles, 3) becomes that after the impact."""
    scale = 1.0
    for k in range(count):
        touches[k, NORMAL_IMPULSE] = touches[k, TANGENT_IMPULSE] = 0.0
        scale = max(scale, abs(touches[k, CLOSING]))
    for _ in range(SWEEPS):
        change = 0.0
        # Gauss–Seidel: a point sees the impulses that those before it have got in the same sweep
        for k in range(count):
            row = touches[k]
            c_nn, c_nt, c_tt = row[NORMAL_COMPLIANCE], row[CROSS_COMPLIANCE], row[TANGENT_COMPLIANCE]
            v_n, v_t = relative_velocity(motion, planar, row)
            v_n -= c_nn * row[NORMAL_IMPULSE] + c_nt * row[TANGENT_IMPULSE]  # without the impulse of this point
            v_t -= c_nt * row[NORMAL_IMPULSE] + c_tt * row[TANGENT_IMPULSE]
            # without rebound, but speculative points may still approach
            wanted = row[BOUNCE] if bounces else min(row[BOUNCE], 0.0)
            j_n, j_t = point_impulse(c_nn, c_nt, c_tt, v_n - wanted, v_t, row[FRICTION])
            more, drag = j_n - row[NORMAL_IMPULSE], j_t - row[TANGENT_IMPULSE]
            change = max(change, abs(more) * c_nn, abs(drag) * c_tt)
            apply_impulses(parameters, planar, motion, row, more, drag)
            row[NORMAL_IMPULSE], row[TANGENT_IMPULSE] = j_n, j_t
        if change <= TOLERANCE * scale:
            break


@inner
def label_groups(touches, count, labels):
    """Label connected groups of touching vehicles by the least row among them."""
    for k in range(labels.shape[0]):
        labels[k] = k
    # the least label spreads along shared contacts, in at most as many rounds as there are vehicles
    changed = True
    while changed:
        changed = False
        for k in range(count):
            a, b = int(touches[k, VEHICLE_A]), int(touches[k, VEHICLE_B])
            if b >= 0 and labels[a] != labels[b]:
                labels[a] = labels[b] = min(labels[a], labels[b])
                changed = True


@inner
def restitution_share(planar, motions, touches, count, labels, label):
    """Largest share in [0, 1] of the rebound at which a group gains no energy: the root of c₀ + c₁ s + c₂ s²."""
    c0 = c1 = c2 = 0.0
    for k in range(count):
        row = touches[k]
        if labels[int(row[VEHICLE_A])] != label:
            continue
        n, t = relative_velocity(motions[0], planar, row)
        n0, t0 = relative_velocity(motions[2], planar, row)
        n1, t1 = relative_velocity(motions[1], planar, row)
        # work of the scaled impulses J₀ + s (J − J₀) on v⁻ + v⁺, collected by powers of s
        n, t = n + n0, t + t0
        dn, dt = n1 - n0, t1 - t0
        j_n, j_t = (
            row[NORMAL_IMPULSE] - row[INELASTIC_NORMAL_IMPULSE],
            row[TANGENT_IMPULSE] - row[INELASTIC_TANGENT_IMPULSE],
        )
        c0 += row[INELASTIC_NORMAL_IMPULSE] * n + row[INELASTIC_TANGENT_IMPULSE] * t
        c1 += row[INELASTIC_NORMAL_IMPULSE] * dn + row[INELASTIC_TANGENT_IMPULSE] * dt + j_n * n + j_t * t
        c2 += j_n * dn + j_t * dt
    # c₂ is never negative, a quadratic form of the compliance; it is 0 without any rebound
    if c0 + c1 + c2 <= 0.0 or c2 <= 0.0:
        return 1.0
    root = (-c1 + math.sqrt(max(c1 * c1 - 4.0 * c2 * c0, 0.0))) / (2.0 * c2)
    return min(max(root, 0.0), 1.0)


@inner
def limit_restitution(parameters, planar, motions, touches, count, labels):
    """Solve the impact again with the share of rebound that the energy of each group allows."""
    copy_motion(motions[BEFORE], motions[INELASTIC])
    for k in range(count):
        touches[k, INELASTIC_NORMAL_IMPULSE], touches[k, INELASTIC_TANGENT_IMPULSE] = (
            touches[k, NORMAL_IMPULSE],
            touches[k, TANGENT_IMPULSE],
        )
    solve(parameters, planar, motions[INELASTIC], touches, count, False)
    for k in range(count):  # solve has overwritten the impulses with full rebound, which were put aside
        row = touches[k]
        row[NORMAL_IMPULSE], row[INELASTIC_NORMAL_IMPULSE] = row[INELASTIC_NORMAL_IMPULSE], row[NORMAL_IMPULSE]
        row[TANGENT_IMPULSE], row[INELASTIC_TANGENT_IMPULSE] = row[INELASTIC_TANGENT_IMPULSE], row[TANGENT_IMPULSE]
    label_groups(touches, count, labels)
    for label in range(labels.shape[0]):
        known = -1.0
        for k in range(count):
            row = touches[k]
            if labels[int(row[VEHICLE_A])] != label:
                continue
            if known < 0.0:
                # velocities and impulses are linear in the share of restitution
                known = restitution_share(planar, motions, touches, count, labels, label)
                for v in range(labels.shape[0]):
                    if labels[v] == label and known < 1.0:
                        for c in range(3):
                            motions[AFTER, v, c] = motions[INELASTIC, v, c] + known * (
                                motions[AFTER, v, c] - motions[INELASTIC, v, c]
                            )
            row[NORMAL_IMPULSE] = row[INELASTIC_NORMAL_IMPULSE] + known * (
                row[NORMAL_IMPULSE] - row[INELASTIC_NORMAL_IMPULSE]
            )
            row[TANGENT_IMPULSE] = row[INELASTIC_TANGENT_IMPULSE] + known * (
                row[TANGENT_IMPULSE] - row[INELASTIC_TANGENT_IMPULSE]
            )


@inner
def correct_positions(parameters, touches, count, shift, share, active):
    """Move penetrating vehicles apart along the normals, down to a depth of `SLOP`; velocities do not change.

    A vehicle moves by the mean of the corrections of its contact points, so that one held symmetrically from two sides
    stays in place.
    """
    for v in range(shift.shape[0]):
        shift[v, 0] = shift[v, 1] = 0.0
    for _ in range(CORRECTION_SWEEPS):
        # Jacobi: shifts of a sweep are summed and then averaged, so that the order of the points does not matter
        for v in range(shift.shape[0]):
            active[v], share[v, 0], share[v, 1] = 0, 0.0, 0.0
        for k in range(count):
            row = touches[k]
            a, b = int(row[VEHICLE_A]), int(row[VEHICLE_B])
            x, y, light_a, light_b = -shift[a, 0], -shift[a, 1], 1.0 / parameters[a, MASS], 0.0
            if b >= 0:
                x, y, light_b = x + shift[b, 0], y + shift[b, 1], 1.0 / parameters[b, MASS]
            # penetration beyond the slop after the shifts so far, shared by inverse masses
            short = -SLOP - (row[GAP] + x * row[NORMAL_X] + y * row[NORMAL_Y])
            if short <= CORRECTION_TOLERANCE:
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
        if moved <= CORRECTION_TOLERANCE:
            break


@inner
def resolve_contacts(parameters, planar, touches, count, touch_workspace):
    """Resolve prepared contact points: update motion and pose of vehicles (planar), store impulses in the table."""
    motions, shift, labels = touch_workspace.motion, touch_workspace.shift, touch_workspace.labels
    bounces = False
    for k in range(count):
        bounces = bounces or touches[k, BOUNCE] > 0.0
    copy_motion(motions[BEFORE], motions[AFTER])
    solve(parameters, planar, motions[AFTER], touches, count, True)
    if bounces:
        limit_restitution(parameters, planar, motions, touches, count, labels)
    # the motion of the inelastic impact and the labels are not needed any more, and serve as scratch
    correct_positions(parameters, touches, count, shift, motions[INELASTIC], labels)
    for k in range(count):
        for v in (int(touches[k, VEHICLE_A]), int(touches[k, VEHICLE_B])):
            if v >= 0:
                fx, fy = -math.sin(planar[v, HEADING]), math.cos(planar[v, HEADING])
                vx, vy = motions[AFTER, v, 0], motions[AFTER, v, 1]
                planar[v, FORWARD], planar[v, LEFTWARD] = vx * fx + vy * fy, vy * fx - vx * fy
                planar[v, YAW_RATE] = motions[AFTER, v, 2]
                planar[v, CENTRE_X] = planar[v, CENTRE_X] + shift[v, 0]
                planar[v, CENTRE_Y] = planar[v, CENTRE_Y] + shift[v, 1]
                shift[v, 0] = shift[v, 1] = 0.0
