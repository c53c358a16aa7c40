"""The step of docs/theory once more: dense, in maximal coordinates, plain numpy, made to be read and not to be fast.

Unknowns are all bodies' velocities and all joints' multipliers; a joint is a set of rows and knows no tree. It shares
no code with the kernels but the description of the mechanism.
"""

from __future__ import annotations

import numpy as np

from cbsim.dynamics.kernels import columns as c

ONE = np.array([1.0, 0.0, 0.0, 0.0])


def product(p, q):
    (a, b, d, e), (f, g, h, k) = np.asarray(p).tolist(), np.asarray(q).tolist()  # a tenth of the time of arrays
    return np.array(
        [
            a * f - b * g - d * h - e * k,
            a * g + b * f + d * k - e * h,
            a * h - b * k + d * f + e * g,
            a * k + b * h - d * g + e * f,
        ]
    )


def inverse(q):
    return q * np.array([1.0, -1.0, -1.0, -1.0])


def rotation(q):
    return np.array([product(product(q, np.array([0.0, *e])), inverse(q))[1:] for e in np.eye(3)]).T


def skew(v):
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def vector_of(q):
    length = np.linalg.norm(q[1:])
    return (2.0 * np.arctan2(length, q[0]) / length if length > 1e-14 else 2.0) * q[1:]


def turning_of(vector):
    """The small rotation, about axes that stay, by which a rotation vector changes, as a matrix: its left Jacobian."""
    t, a = np.linalg.norm(vector), skew(vector)
    if t < 1e-4:
        return np.eye(3) + a / 2.0 + a @ a / 6.0
    return np.eye(3) + (1.0 - np.cos(t)) / t**2 * a + (t - np.sin(t)) / t**3 * a @ a


def turn(w, h):
    p = 0.5 * h * w
    return np.concatenate([[np.sqrt(1.0 - p @ p)], p])


class Twin:
    """A mechanism for `step`."""

    def __init__(self, mechanism):
        self.m = mechanism
        self.h = mechanism.timestep

    def pose(self, body, x, q):
        if body is self.m.origin:
            return np.zeros(3), ONE
        i = self.m.bodies.index(body)
        return x[i], q[i]

    def seen(self, joint, x, q):
        """Displacement in the parent's frame, relative rotation, the child's joint point, both rotation matrices."""
        (xa, qa), (xb, qb) = self.pose(joint.parent, x, q), self.pose(joint.child, x, q)
        ra, rb = rotation(qa), rotation(qb)
        pa, pb = joint.translational.vertices
        displacement = ra.T @ (xb + rb @ pb - xa - ra @ pa)
        relative = product(inverse(joint.rotational.orientation_offset), product(inverse(qa), qb))
        return displacement, relative, xb + rb @ pb, ra, rb

    def rows(self, joint, x, q):
        displacement, relative, *_ = self.seen(joint, x, q)
        slide, turned = joint.translational.masks.constrained, joint.rotational.masks.constrained
        return np.concatenate([slide @ displacement, turned @ relative[1:]])

    def load(self, wrench, joint, x, q, force, torque, at):
        """Put a force (world) at a point, and a torque (world), on the child; take them from the parent."""
        for body, sign in ((joint.child, 1.0), (joint.parent, -1.0)):
            if body is not self.m.origin:
                i = self.m.bodies.index(body)
                wrench[i, :3] += sign * force
                wrench[i, 3:] += sign * rotation(q[i]).T @ (torque + np.cross(at - x[i], force))

    def damping(self, joint):
        """What the dampers of a joint give per motion in the step before, and in this one; implicit springs as well."""
        half, row = joint.translational if joint.translational.free else joint.rotational, self.m.joints.index(joint)
        least = dict(zip(self.m.compiled.rows, self.m.compiled.model.joint[:, c.LEAST_MASS], strict=True))[row]
        before = min(0.5 * half.damper, 0.5 * least / self.h)
        return before, half.damper - before + self.h * half.spring * joint.implicit_spring

    def wrenches(self, x, q, x1, q1, x3, q3, multipliers, u):
        """Impulses of joints on bodies: force in the world, torque in the body's frame."""
        wrench, first, lam = np.zeros((len(x), 6)), 0, 0
        for joint in self.m.joints:
            slide, spin = joint.translational, joint.rotational
            displacement, relative, at, ra, rb = self.seen(joint, x, q)
            displacement1, relative1, *_ = self.seen(joint, x1, q1)
            displacement3, relative3, *_ = self.seen(joint, x3, q3)
            before, after = self.damping(joint)
            free, turns = slide.masks.free, spin.masks.free
            inputs = u[first : first + joint.dof] * self.m.input_scaling
            first += joint.dof
            push = inputs[: slide.free] + self.h * slide.spring * (slide.spring_offset - free @ displacement)
            push -= after * free @ (displacement3 - displacement) + before * free @ (displacement - displacement1)
            vector = vector_of(relative)
            pull = turns.T @ (self.h * spin.spring * (spin.spring_offset - turns @ vector))
            torque = turns.T @ inputs[slide.free :] + np.linalg.solve(turning_of(vector).T, pull)
            torque = ra @ rotation(spin.orientation_offset) @ torque
            for damper, start, end in ((before, relative1, relative), (after, relative, relative3)):
                stepped = product(inverse(start), end)
                torque -= damper * (spin.free > 0) * rb @ vector_of(stepped * np.sign(stepped[0]))
            count = 3 - slide.free
            force = ra @ (free.T @ push + slide.masks.constrained.T @ multipliers[lam : lam + count])
            lam += count
            holding = spin.masks.constrained.T @ multipliers[lam : lam + 3 - spin.free]
            lam += 3 - spin.free
            map_ = 0.5 * (relative[0] * np.eye(3) + skew(relative[1:]))
            self.load(wrench, joint, x, q, force, torque + rb @ map_.T @ holding, at)
        return wrench

    def residual(self, unknown, z, u):
        h, n = self.h, len(z)
        x, v0, q, w0 = z[:, :3], z[:, 3:6], z[:, 6:10], z[:, 10:]
        v, w = unknown[: 3 * n].reshape(n, 3), unknown[3 * n : 6 * n].reshape(n, 3)
        x3 = x + h * v
        q3 = np.array([product(a, turn(b, h)) for a, b in zip(q, w, strict=True)])
        x1, q1 = x - h * v0, np.array([product(a, inverse(turn(b, h))) for a, b in zip(q, w0, strict=True)])
        wrench = self.wrenches(x, q, x1, q1, x3, q3, unknown[6 * n :], u)
        out = []
        for i, body in enumerate(self.m.bodies):
            spin = {}
            for sign, rate in ((1.0, w[i]), (-1.0, w0[i])):
                moment = body.inertia @ rate
                spin[sign] = turn(rate, h)[0] * moment + sign * 0.5 * h * np.cross(rate, moment)
            out.append(body.mass * (v[i] - v0[i]) - h * body.mass * self.m.gravity - wrench[i, :3])
            out.append(spin[1.0] - spin[-1.0] - wrench[i, 3:])
        out += [self.rows(joint, x3, q3) for joint in self.m.joints]
        return np.concatenate(out)

    def step(self, z, u):
        """Newton's method with a Jacobian by differences; redundant rows share what one of them would carry."""
        z = np.asarray(z, float).reshape(-1, 13)
        rows = sum(6 - joint.dof for joint in self.m.joints)
        unknown = np.concatenate([z[:, 3:6].ravel(), z[:, 10:].ravel(), np.zeros(rows)])
        for _ in range(30):
            now = self.residual(unknown, z, u)
            if np.abs(now).max() < 1e-12:
                break
            slope = np.zeros((len(now), len(unknown)))
            for k, e in enumerate(1e-6 * np.eye(len(unknown))):
                slope[:, k] = (self.residual(unknown + e, z, u) - self.residual(unknown - e, z, u)) / 2e-6
            unknown = unknown - np.linalg.lstsq(slope, now, rcond=1e-10)[0]
        assert np.abs(now).max() < 1e-11
        n, out = len(z), z.copy()
        out[:, 3:6], out[:, 10:] = unknown[: 3 * n].reshape(n, 3), unknown[3 * n : 6 * n].reshape(n, 3)
        out[:, :3] += self.h * out[:, 3:6]
        out[:, 6:10] = [product(a, turn(b, self.h)) for a, b in zip(z[:, 6:10], out[:, 10:], strict=True)]
        return out.ravel()
