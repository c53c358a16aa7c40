"""Beginning of a step: quantities at node 2, which do not depend on the unknowns, and the first guess of node 3."""

from __future__ import annotations

from cbsim.dynamics.kernels.algebra import cross, product, rotation, turn_back, turned, turned_back, unit
from cbsim.dynamics.kernels.columns import (
    APPLIED,
    ARM2,
    CHILD_VERTEX,
    FLAGS,
    FREE,
    GRAVITY,
    INERTIA,
    INPUT,
    JW,
    LATEST,
    MASS,
    N_ROT,
    N_TRANS,
    OFFSET,
    ORIENTATION,
    PARENT,
    PARENT_VERTEX,
    POSITION,
    PUSH,
    PUSHED,
    Q2,
    Q3,
    R2,
    R3,
    RELATIVE,
    RELATIVE2,
    ROTATION,
    SHIFT,
    SHIFT2,
    SLIDE_AXES,
    SPIN,
    SPRING,
    SPRING_OFFSET,
    SPRUNG,
    TURN,
    TURN_AXES,
    TWISTED,
    VELOCITIES,
    VELOCITY,
    X2,
    X3,
)
from cbsim.dynamics.kernels.joints import free_turns
from cbsim.dynamics.kernels.vectors import rotation_vector, slope_of_vector
from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined

QUARTER = 0.5  # square of the cosine of half the angle

__all__ = ["begin_body", "begin_joint", "carry_body", "relative_turn", "spring_pull", "turn_between"]


@inlined
def begin_body(joint, link_work, b, body, state, external, settings, before, h, warm):
    """Read a body's row (x, v, q, w) of node 2 and set its load: incoming momentum, gravity, external wrench.

    Its velocities are those of the step ``before`` [s]; 0 means those of node 2 itself. Node 3 is guessed from them and
    ``warm`` times their last change. Return False if it turned by a quarter of a turn or more in the step before:
    momentum decreases beyond that angle. A part of a step then takes the momentum of the same spin within the part.
    """
    pull = 0.5 * (before + h)  # time for which forces at node 2 act (docs/theory/integrator.md §3)
    # columns that do not depend on the step: pose, and inertia in world axes
    for i in range(3):
        link_work[b, X2 + i] = state[body, POSITION + i]
    q0, q1, q2, q3 = (
        state[body, ROTATION],
        state[body, ROTATION + 1],
        state[body, ROTATION + 2],
        state[body, ROTATION + 3],
    )
    link_work[b, Q2], link_work[b, Q2 + 1], link_work[b, Q2 + 2], link_work[b, Q2 + 3] = q0, q1, q2, q3
    rotation(link_work, b, R2, q0, q1, q2, q3)
    _turn_inertia(joint, link_work, b)
    mass = joint[b, MASS]
    # external force and torque are constant in the body's frame
    fx, fy, fz = turned(
        link_work, b, R2, external[body, PUSHED], external[body, PUSHED + 1], external[body, PUSHED + 2]
    )
    link_work[b, PUSH] = mass * state[body, VELOCITY] + pull * (mass * settings[GRAVITY] + fx)
    link_work[b, PUSH + 1] = mass * state[body, VELOCITY + 1] + pull * (mass * settings[GRAVITY + 1] + fy)
    link_work[b, PUSH + 2] = mass * state[body, VELOCITY + 2] + pull * (mass * settings[GRAVITY + 2] + fz)
    wx, wy, wz = turned(link_work, b, R2, state[body, SPIN], state[body, SPIN + 1], state[body, SPIN + 2])
    # incoming angular momentum c J w − (h/2) w × J w, with c the cosine of half the angle of the step
    k, rate = 0.5 * before, wx * wx + wy * wy + wz * wz
    left = 1.0 - k * k * rate
    if 0.0 < left < QUARTER and abs(h) < abs(before):
        # a part of a step turns by its share of the angle; its spin is the chord of that
        sine = math.sin(h / before * math.asin(math.sqrt(k * k * rate)))
        k, scale = 0.5 * h, abs(sine / (0.5 * h)) / math.sqrt(rate)
        left, wx, wy, wz = 1.0 - sine * sine, scale * wx, scale * wy, scale * wz
    c = math.sqrt(max(0.0, left))
    jx = link_work[b, JW] * wx + link_work[b, JW + 3] * wy + link_work[b, JW + 4] * wz
    jy = link_work[b, JW + 3] * wx + link_work[b, JW + 1] * wy + link_work[b, JW + 5] * wz
    jz = link_work[b, JW + 4] * wx + link_work[b, JW + 5] * wy + link_work[b, JW + 2] * wz
    lx, ly, lz = cross(wx, wy, wz, jx, jy, jz)
    tx, ty, tz = turned(
        link_work, b, R2, external[body, TWISTED], external[body, TWISTED + 1], external[body, TWISTED + 2]
    )
    # w × J w enters with the opposite sign as in the outgoing momentum: the same function, reversed in time
    link_work[b, PUSH + 3] = c * jx - k * lx + pull * tx
    link_work[b, PUSH + 4] = c * jy - k * ly + pull * ty
    link_work[b, PUSH + 5] = c * jz - k * lz + pull * tz
    # guess of node 3: velocities of the step before, and their last change once more if the run continues
    k = LATEST
    for i in range(3):
        link_work[b, X3 + i] = state[body, POSITION + i] + h * (state[body, VELOCITY + i] + warm * link_work[b, k + i])
    # vector part of the quaternion of the next step
    x = 0.5 * h * (state[body, SPIN] + warm * link_work[b, k + 3])
    y = 0.5 * h * (state[body, SPIN + 1] + warm * link_work[b, k + 4])
    z = 0.5 * h * (state[body, SPIN + 2] + warm * link_work[b, k + 5])
    s = math.sqrt(max(0.0, 1.0 - x * x - y * y - z * z))
    s, x, y, z = unit(*product(q0, q1, q2, q3, s, x, y, z))
    link_work[b, Q3], link_work[b, Q3 + 1], link_work[b, Q3 + 2], link_work[b, Q3 + 3] = s, x, y, z
    rotation(link_work, b, R3, s, x, y, z)
    return left > QUARTER


@inlined
def carry_body(link_work, b, body, state, whole, h):
    """Set node 3 of a kinematic body, which keeps its velocities whatever acts on it.

    In a part of a step of length ``whole`` it rotates by its share of the angle, so that parts add up to the step.
    """
    for i in range(3):
        link_work[b, X3 + i] = state[body, POSITION + i] + h * state[body, VELOCITY + i]
    x, y, z = state[body, SPIN], state[body, SPIN + 1], state[body, SPIN + 2]
    k, rate = 0.5 * h, math.sqrt(x * x + y * y + z * z)
    if h != whole and rate > 0.0:
        # sine of half the share of the angle, over the spin
        k = math.sin(h / whole * math.asin(min(1.0, 0.5 * whole * rate))) / rate
    x, y, z = k * x, k * y, k * z
    s = math.sqrt(max(0.0, 1.0 - x * x - y * y - z * z))
    o = Q2
    s, x, y, z = product(link_work[b, o], link_work[b, o + 1], link_work[b, o + 2], link_work[b, o + 3], s, x, y, z)
    s, x, y, z = unit(s, x, y, z)
    link_work[b, Q3], link_work[b, Q3 + 1], link_work[b, Q3 + 2], link_work[b, Q3 + 3] = s, x, y, z
    rotation(link_work, b, R3, s, x, y, z)


@inlined
def guess_turn(link_work, b):
    """Set the rotation of the step from the guess of node 3."""
    s, x, y, z = product(
        link_work[b, Q3], link_work[b, Q3 + 1], link_work[b, Q3 + 2], link_work[b, Q3 + 3],
        link_work[b, Q2], -link_work[b, Q2 + 1], -link_work[b, Q2 + 2], -link_work[b, Q2 + 3],
    )  # fmt: skip
    link_work[b, TURN], link_work[b, TURN + 1], link_work[b, TURN + 2], link_work[b, TURN + 3] = s, x, y, z


@inlined
def _turn_inertia(joint, link_work, b):
    """JW = R J Rᵀ."""
    xx, yy, zz = joint[b, INERTIA], joint[b, INERTIA + 1], joint[b, INERTIA + 2]
    xy, xz, yz = joint[b, INERTIA + 3], joint[b, INERTIA + 4], joint[b, INERTIA + 5]
    r, o = R2, JW
    for i in range(3):
        x, y, z = link_work[b, r + 3 * i], link_work[b, r + 3 * i + 1], link_work[b, r + 3 * i + 2]
        # row i of R J, then its products with the rows of R
        tx, ty, tz = x * xx + y * xy + z * xz, x * xy + y * yy + z * yz, x * xz + y * yz + z * zz
        link_work[b, o + i] = tx * x + ty * y + tz * z
        for j in range(i + 1, 3):
            k = r + 3 * j
            # columns 3 to 5 are xy, xz, yz
            link_work[b, o + 2 + i + j] = tx * link_work[b, k] + ty * link_work[b, k + 1] + tz * link_work[b, k + 2]


@inlined
def relative_turn(link, joint, b, pq0, pq1, pq2, pq3, q0, q1, q2, q3):
    """Rotation of a joint, q_off⁻¹ ∘ q_a⁻¹ ∘ q_b, from the orientations of its parent and its child."""
    s, x, y, z = q0, q1, q2, q3
    if link[b, PARENT] >= 0:
        s, x, y, z = product(pq0, -pq1, -pq2, -pq3, s, x, y, z)
    if link[b, FLAGS] & OFFSET:
        k = ORIENTATION
        s, x, y, z = product(joint[b, k], -joint[b, k + 1], -joint[b, k + 2], -joint[b, k + 3], s, x, y, z)
    return s, x, y, z


@inlined
def turn_between(link, joint, link_work, row, a, b, column):
    """Rotation of link b against link a, -1 for the world, in the frame of the joint of a row, by a column's node."""
    s, x, y, z = link_work[b, column], link_work[b, column + 1], link_work[b, column + 2], link_work[b, column + 3]
    if a >= 0:
        k = column
        p, q, r, t = link_work[a, k], link_work[a, k + 1], link_work[a, k + 2], link_work[a, k + 3]
        return relative_turn(link, joint, row, p, q, r, t, s, x, y, z)
    return relative_turn(link, joint, row, 1.0, 0.0, 0.0, 0.0, s, x, y, z)


@inlined
def separation(joint, link_work, a, b, place, matrix):
    """Return the child's joint point relative to the parent's, in the parent's frame.

    Source: docs/theory/joints_and_loops.md §2.
    """
    k = CHILD_VERTEX
    px, py, pz = turned(link_work, b, matrix, joint[b, k], joint[b, k + 1], joint[b, k + 2])
    x, y, z = link_work[b, place] + px, link_work[b, place + 1] + py, link_work[b, place + 2] + pz
    if a >= 0:
        x, y, z = x - link_work[a, place], y - link_work[a, place + 1], z - link_work[a, place + 2]
        x, y, z = turned_back(link_work, a, matrix, x, y, z)
    k = PARENT_VERTEX
    return x - joint[b, k], y - joint[b, k + 1], z - joint[b, k + 2]


@inlined
def begin_joint(link, joint, link_work, b, inputs, pull, scaling):
    """Set free directions, coordinates and applied impulses of the joint of row b at node 2.

    ``pull`` [s] is the time that forces act. Return the torque of springs and inputs in the joint's frame.
    """
    a, slides, turns = link[b, PARENT], link[b, N_TRANS], link[b, N_ROT]
    if a >= 0:
        for i in range(3):
            link_work[b, ARM2 + i] = link_work[b, X2 + i] - link_work[a, X2 + i]
    s, x, y, z = turn_between(link, joint, link_work, b, a, b, Q2)
    link_work[b, RELATIVE2], link_work[b, RELATIVE2 + 1], link_work[b, RELATIVE2 + 2], link_work[b, RELATIVE2 + 3] = (
        s,
        x,
        y,
        z,
    )
    # coordinates of the translation at node 2
    dx, dy, dz = separation(joint, link_work, a, b, X2, R2) if slides > 0 else (0.0, 0.0, 0.0)
    load = scaling if scaling != 0.0 else pull  # impulse per unit of an input
    spring = pull * joint[b, SPRING] if link[b, FLAGS] & SPRUNG else 0.0
    first = link[b, INPUT]
    for i in range(slides):
        k = SLIDE_AXES + 3 * i
        shift = dx * joint[b, k] + dy * joint[b, k + 1] + dz * joint[b, k + 2]
        link_work[b, SHIFT2 + i] = shift
        # an input that is the target velocity of a motor is no force
        given = 0.0 if link[b, VELOCITIES] >> i & 1 else load * inputs[first + i]
        link_work[b, APPLIED + i] = given + spring * (joint[b, SPRING_OFFSET + i] - shift)
    tx, ty, tz = 0.0, 0.0, 0.0
    # the spring acts on the rotation vector; of several rotations its torque is mapped by J
    if spring != 0.0 and turns > 0:
        rx, ry, rz = rotation_vector(s, x, y, z)
        tx, ty, tz = spring_pull(joint, b, turns, spring, rx, ry, rz)
        if turns > 1:
            tx, ty, tz = slope_of_vector(rx, ry, rz, tx, ty, tz)
    # inputs push about the axes themselves, whatever the rotation
    for i in range(turns):
        k = TURN_AXES + 3 * i
        torque = 0.0 if link[b, VELOCITIES] >> (slides + i) & 1 else load * inputs[first + slides + i]
        tx, ty, tz = tx + torque * joint[b, k], ty + torque * joint[b, k + 1], tz + torque * joint[b, k + 2]
    return tx, ty, tz


@inlined
def spring_pull(joint, b, turns, spring, x, y, z):
    """Load of a spring along the coordinates of a joint's rotation, a vector.

    It is −∂V/∂θ of V = ½ k |θ − offset|². With J the slope of the rotation vector a by rotations of the child about its
    own axes, the torque −∂V is Jᵀ p about those axes, and R Jᵀ p = J p in the joint's frame, since J(−a) = J(a)ᵀ = Rᵀ
    J(a).
    """
    px, py, pz = 0.0, 0.0, 0.0
    for i in range(turns):
        k = TURN_AXES + 3 * i
        ax, ay, az = joint[b, k], joint[b, k + 1], joint[b, k + 2]
        # force along each coordinate, spread over the axes
        pull = spring * (joint[b, SPRING_OFFSET + 3 + i] - (x * ax + y * ay + z * az))
        px, py, pz = px + pull * ax, py + pull * ay, pz + pull * az
    return px, py, pz


@inlined
def apply_torque(link, joint, link_work, b, slides, turns, target, tx, ty, tz):
    """Write a torque in the joint's frame as impulses along the free rotations of node 2, axes of the child."""
    if link[b, FLAGS] & FREE:
        link_work[b, target + 3], link_work[b, target + 4], link_work[b, target + 5] = tx, ty, tz
        return
    o = RELATIVE2
    s, x, y, z = link_work[b, o], link_work[b, o + 1], link_work[b, o + 2], link_work[b, o + 3]
    if turns > 1:
        # about one axis the frames of joint and child agree
        tx, ty, tz = turn_back(s, x, y, z, tx, ty, tz)
    for i in range(turns):
        ax, ay, az = free_turns(joint, b, turns, i, s, x, y, z)
        link_work[b, target + slides + i] = ax * tx + ay * ty + az * tz


@inlined
def guess(link, joint, link_work, b):
    """Set the joint's coordinates from the bodies' guesses of node 3, projected onto what the joint allows."""
    a, slides, turns = link[b, PARENT], link[b, N_TRANS], link[b, N_ROT]
    s, x, y, z = turn_between(link, joint, link_work, b, a, b, Q3)
    # each body was guessed by itself, so that the joint may not allow it
    s, x, y, z = allowed(joint, b, turns, s, x, y, z)
    link_work[b, RELATIVE], link_work[b, RELATIVE + 1], link_work[b, RELATIVE + 2], link_work[b, RELATIVE + 3] = (
        s,
        x,
        y,
        z,
    )
    if slides == 0:
        return
    # separation of the two vertices along the free axes
    dx, dy, dz = separation(joint, link_work, a, b, X3, R3)
    for i in range(slides):
        k = SLIDE_AXES + 3 * i
        link_work[b, SHIFT + i] = dx * joint[b, k] + dy * joint[b, k + 1] + dz * joint[b, k + 2]


@inlined
def allowed(joint, b, turns, s, x, y, z):
    """Nearest rotation that a joint with a number of free rotations allows."""
    k = TURN_AXES
    if turns == 3:
        return s, x, y, z
    if turns == 0:
        return 1.0, 0.0, 0.0, 0.0
    if turns == 1:
        # projection of the vector part onto the axis
        along = x * joint[b, k] + y * joint[b, k + 1] + z * joint[b, k + 2]
        x, y, z = along * joint[b, k], along * joint[b, k + 1], along * joint[b, k + 2]
    else:
        # the vector part must have no component along the third axis
        off = x * joint[b, k + 6] + y * joint[b, k + 7] + z * joint[b, k + 8]
        x, y, z = x - off * joint[b, k + 6], y - off * joint[b, k + 7], z - off * joint[b, k + 8]
    return unit(s, x, y, z)
