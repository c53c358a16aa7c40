"""Maps between maximal states (of bodies) and minimal states (of joints).

The maps are derived in docs/theory/joints_and_loops.md §8.

A coordinate's velocity is its difference over the step before the node, so both maps use two nodes; the poses at the
earlier one follow from the velocities: x₁ = x₂ − h v, q₁ = q₂ ∘ (√(1 − p²), −p) with p = h w / 2.
"""

from __future__ import annotations

from cbsim.dynamics.kernels.algebra import product, turn, turn_back
from cbsim.dynamics.kernels.begin_step import relative_turn
from cbsim.dynamics.kernels.columns import (
    BODY,
    CHILD_VERTEX,
    FLAGS,
    N_ROT,
    N_TRANS,
    OFFSET,
    ORIENTATION,
    PARENT,
    PARENT_VERTEX,
    POSITION,
    ROTATION,
    SLIDE_AXES,
    SPIN,
    TURN_AXES,
    VELOCITY,
)
from cbsim.dynamics.kernels.vectors import rotation_vector
from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined, kernel

__all__ = ["maximal_to_minimal", "minimal_to_maximal", "minimal_to_maximal_each", "put_joint"]


@inlined
def pose_before(z, i, h):
    """Position and orientation of body i one step of length h before; h = 0 for those of the node itself."""
    # q₁ = q₂ ∘ (√(1 − p²), −p) with p = h w / 2
    k = -0.5 * h
    # columns of a state: position 0, velocity 3, orientation 6, angular velocity 10
    px, py, pz = k * z[i, SPIN], k * z[i, SPIN + 1], k * z[i, SPIN + 2]
    c = math.sqrt(max(0.0, 1.0 - px * px - py * py - pz * pz))
    a, b, d, e = product(z[i, ROTATION], z[i, ROTATION + 1], z[i, ROTATION + 2], z[i, ROTATION + 3], c, px, py, pz)
    x, y, w = z[i, POSITION], z[i, POSITION + 1], z[i, POSITION + 2]
    return x - h * z[i, VELOCITY], y - h * z[i, VELOCITY + 1], w - h * z[i, VELOCITY + 2], a, b, d, e


@inlined
def parent_before(link, z, b, h):
    """Pose of the parent of link b, one step of length h before; h = 0 at the node."""
    if link[b, PARENT] < 0:
        return 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0
    return pose_before(z, link[link[b, PARENT], BODY], h)


@inlined
def joint_before(link, joint, z, b, h):
    """Compute shift (in the parent's frame) and rotation of the joint of link b, a step before the node or at it."""
    x, y, w, e0, e1, e2, e3 = pose_before(z, link[b, BODY], h)
    px, py, pz, a0, a1, a2, a3 = parent_before(link, z, b, h)
    s, i, j, k = relative_turn(link, joint, b, a0, a1, a2, a3, e0, e1, e2, e3)
    c = CHILD_VERTEX
    vx, vy, vz = turn(e0, e1, e2, e3, joint[b, c], joint[b, c + 1], joint[b, c + 2])
    vx, vy, vz = turn_back(a0, a1, a2, a3, vx + x - px, vy + y - py, vz + w - pz)
    c = PARENT_VERTEX
    return vx - joint[b, c], vy - joint[b, c + 1], vz - joint[b, c + 2], s, i, j, k


@inlined
def along(joint, b, axes, i, x, y, z):
    """Component along axis i of a joint."""
    k = axes + 3 * i
    return joint[b, k] * x + joint[b, k + 1] * y + joint[b, k + 2] * z


@kernel
def maximal_to_minimal(links, link, joint, z, h, out):
    """Write the minimal state: for each link, parents first, coordinates, then velocities; translations first."""
    first = 0
    for b in range(links):
        slides, turns = link[b, N_TRANS], link[b, N_ROT]
        dof = slides + turns
        dx, dy, dz, s, i, j, k = joint_before(link, joint, z, b, 0.0)
        ex, ey, ez, t, u, v, w = joint_before(link, joint, z, b, h)
        for c in range(slides):
            now, before = along(joint, b, SLIDE_AXES, c, dx, dy, dz), along(joint, b, SLIDE_AXES, c, ex, ey, ez)
            out[first + c] = now
            out[first + dof + c] = (now - before) / h
        rx, ry, rz = rotation_vector(s, i, j, k)
        # rotation of the joint in the step before the node, at most half a turn
        t, u, v, w = product(t, -u, -v, -w, s, i, j, k)
        if t < 0.0:
            t, u, v, w = -t, -u, -v, -w
        wx, wy, wz = rotation_vector(t, u, v, w)
        for c in range(turns):
            out[first + slides + c] = along(joint, b, TURN_AXES, c, rx, ry, rz)
            out[first + dof + slides + c] = along(joint, b, TURN_AXES, c, wx, wy, wz) / h
        first += 2 * dof


@inlined
def exponential(x, y, z):
    # half the angle per unit of angle: the limit of sin(a/2) / a is 1/2
    """Quaternion of a rotation vector."""
    angle = math.sqrt(x * x + y * y + z * z)
    k = math.sin(0.5 * angle) / angle if angle > 1e-12 else 0.5
    return math.cos(0.5 * angle), k * x, k * y, k * z


@inlined
def spread(joint, b, turns, values, first, scale):
    """Vector in the joint's frame from components along the free axes."""
    x, y, z = 0.0, 0.0, 0.0
    for c in range(turns):
        k = TURN_AXES + 3 * c
        v = scale * values[first + c]
        x, y, z = x + v * joint[b, k], y + v * joint[b, k + 1], z + v * joint[b, k + 2]
    return x, y, z


@inlined
def stay(joint, b, s, x, y, z, wx, wy, wz):
    """Complete the angular velocity of two free rotations so that the constraint holds one step before.

    The vector part of r ∘ exp(−h w) has no component along the third axis if s w₃ + r₁ w₂ − r₂ w₁ = 0.
    """
    # at half a turn the constraint does not determine the third component
    if abs(s) < 1e-9:
        return wx, wy, wz
    r1, r2 = along(joint, b, TURN_AXES, 0, x, y, z), along(joint, b, TURN_AXES, 1, x, y, z)
    w1, w2 = along(joint, b, TURN_AXES, 0, wx, wy, wz), along(joint, b, TURN_AXES, 1, wx, wy, wz)
    third, k = (r2 * w1 - r1 * w2) / s, TURN_AXES + 6
    return wx + third * joint[b, k], wy + third * joint[b, k + 1], wz + third * joint[b, k + 2]


@inlined
def child_pose(link, joint, z, b, values, first, rate, h, s, x, y, w):
    """Pose of link b with translations ``values − h rate`` and a rotation, its parent one step of length h before."""
    px, py, pz, a0, a1, a2, a3 = parent_before(link, z, b, h)
    dx, dy, dz = joint[b, PARENT_VERTEX], joint[b, PARENT_VERTEX + 1], joint[b, PARENT_VERTEX + 2]
    for c in range(link[b, N_TRANS]):
        k = SLIDE_AXES + 3 * c
        v = values[first + c] - h * values[rate + c]
        dx, dy, dz = dx + v * joint[b, k], dy + v * joint[b, k + 1], dz + v * joint[b, k + 2]
    dx, dy, dz = turn(a0, a1, a2, a3, dx, dy, dz)
    if link[b, FLAGS] & OFFSET:
        k = ORIENTATION
        s, x, y, w = product(joint[b, k], joint[b, k + 1], joint[b, k + 2], joint[b, k + 3], s, x, y, w)
    s, x, y, w = product(a0, a1, a2, a3, s, x, y, w)
    k = CHILD_VERTEX
    cx, cy, cz = turn(s, x, y, w, joint[b, k], joint[b, k + 1], joint[b, k + 2])
    return px + dx - cx, py + dy - cy, pz + dz - cz, s, x, y, w


@inlined
def put_joint(link, joint, b, x, first, h, z):
    """Write the row of the body of link b from its joint's coordinates and velocities, x[first] and on."""
    slides, turns = link[b, N_TRANS], link[b, N_ROT]
    rate = first + slides + turns
    s, i, j, k = exponential(*spread(joint, b, turns, x, first + slides, 1.0))
    wx, wy, wz = spread(joint, b, turns, x, rate + slides, 1.0)
    if turns == 2:
        wx, wy, wz = stay(joint, b, s, i, j, k, wx, wy, wz)
    px, py, pz, q0, q1, q2, q3 = child_pose(link, joint, z, b, x, first, rate, 0.0, s, i, j, k)
    # pose of the child one step before: the joint's rotation turned back by its velocity
    s, i, j, k = product(s, i, j, k, *exponential(-h * wx, -h * wy, -h * wz))
    ex, ey, ez, e0, e1, e2, e3 = child_pose(link, joint, z, b, x, first, rate, h, s, i, j, k)
    s, i, j, k = product(e0, -e1, -e2, -e3, q0, q1, q2, q3)  # q₁⁻¹ ∘ q₂, the rotation of the step
    # velocities are the differences of both nodes; w = 2/h times the vector part
    n, scale = link[b, BODY], 2.0 / h if s >= 0.0 else -2.0 / h
    z[n, POSITION], z[n, POSITION + 1], z[n, POSITION + 2] = px, py, pz
    z[n, VELOCITY], z[n, VELOCITY + 1], z[n, VELOCITY + 2] = (px - ex) / h, (py - ey) / h, (pz - ez) / h
    z[n, ROTATION], z[n, ROTATION + 1], z[n, ROTATION + 2], z[n, ROTATION + 3] = q0, q1, q2, q3
    z[n, SPIN], z[n, SPIN + 1], z[n, SPIN + 2] = scale * i, scale * j, scale * k


@kernel
def minimal_to_maximal(links, link, joint, x, h, out):
    """Write every body's row from a minimal state."""
    first = 0
    for b in range(links):
        put_joint(link, joint, b, x, first, h, out)
        first += 2 * (link[b, N_TRANS] + link[b, N_ROT])


@kernel
def minimal_to_maximal_each(links, link, joint, x, h, out):
    """Write every body's row of many states (k, bodies, 13) from minimal ones (k, n)."""
    for i in range(len(x)):
        minimal_to_maximal(links, link, joint, x[i], h, out[i])
