"""Effective masses: inertia of a mechanism against an impulse at a point of a body, given its joints.

An impulse along n at a point p of a body changes the velocity of p along n by n · (J M⁻¹ Jᵀ) n per impulse, with M⁻¹
the inverse inertia of all bodies within the motions that joints and closed loops allow. The reciprocal is the effective
mass: for a free body through its centre it is the mass, along a direction that joints constrain it is infinite.
Springs, motors, stops and contacts are ignored.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats
from cbsim.dynamics.compile import Compiled
from cbsim.dynamics.graph import labels_of
from cbsim.dynamics.kernels import columns as c
from cbsim.geometry.linear import cholesky, norm, substitute, times
from cbsim.geometry.pose import conjugate, multiply, rotate

__all__ = ["EffectiveMasses", "orthonormal"]

UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])
SMALL = 1e-12  # relative rounding error
IMPLIED = 1e-7  # share of a loop's row beyond which other rows imply it


class _Part(NamedTuple):
    """Bodies connected by joints, not through the world.

    Attributes
    ----------
    motions : dict of int → ndarray
        Velocity of each link (6, coordinates), linear then angular, per rate of the part's coordinates.
    factor : ndarray
        Of their inertia, from `cholesky`.
    held : ndarray, shape (coordinates, rows)
        Constraints of loops, orthonormal in the metric of the factor.
    """

    motions: dict[int, Floats]
    factor: Floats
    held: Floats


class EffectiveMasses:
    """Effective masses of a mechanism at one state.

    Parameters
    ----------
    compiled : Compiled
    z : ndarray, shape (bodies, 13)
        Maximal state, in which loops are closed.
    """

    def __init__(self, compiled: Compiled, z: Floats) -> None:
        self._model, self._z = compiled.model, z
        self._link_of = {int(body): b for b, body in enumerate(self._model.link[: self._model.links, c.BODY])}
        self._label = labels_of(compiled.model.links, compiled.model.link[:, [c.PARENT, c.CHILD]].tolist())
        self._parts: dict[int, _Part] = {}

    def inverse(self, body: int, point: Floats, direction: Floats) -> float:
        """Return the inverse effective mass [1/kg] of a body (-1: the world) at a point [m] along a unit direction.

        It is 0 where joints constrain the body in that direction, and for a kinematic body.
        """
        if body < 0:
            return 0.0
        b = self._link_of[body]
        part = self._part(int(self._label[b]))
        if not part.motions[b].shape[1]:
            return 0.0
        push = np.concatenate([direction, np.cross(point - self._z[body, :3], direction)])
        share = substitute(part.factor, times(push, part.motions[b])[:, None])[:, 0]
        whole = float((share * share).sum())
        for _ in range(2):  # repeated against rounding
            share = share - times(part.held, times(share, part.held))
        left = float((share * share).sum())
        return left if left > SMALL * max(whole, self._free(b, push)) else 0.0

    @property
    def labels(self) -> list[int]:
        """Numbers of the parts: bodies connected by joints, not through the world."""
        return sorted({int(label) for label in self._label})

    def label_of(self, row: int) -> int:
        """Part of a link or a loop joint."""
        return int(self._label[self._model.link[row, c.CHILD]])

    def held(self, label: int) -> Floats:
        """Return the constraints of loops on a part (coordinates, rows), orthonormal in the metric of the inertia."""
        return self._part(label).held

    def coordinate_slopes(self, row: int) -> Floats:
        """Rates (its coordinates, those of its part) of a joint's own coordinates, in the metric of the inertia."""
        part = self._part(self.label_of(row))
        slopes = self._loop(row, part.motions, free=True)
        return np.asarray(substitute(part.factor, slopes.T).T)

    def _free(self, b: int, push: Floats) -> float:
        """Inverse mass of an unconstrained body."""
        mass, inertia = self._inertia(b)
        lower = cholesky(inertia)
        turning = substitute(lower, push[3:, None])
        return float((push[:3] * push[:3]).sum() / mass + (turning * turning).sum())

    def _inertia(self, b: int) -> tuple[float, Floats]:
        """Mass of a link, and its inertia (3, 3) about its centre of mass along the world's axes."""
        row = self._model.joint[b]
        xx, yy, zz, xy, xz, yz = row[c.INERTIA : c.INERTIA + 6].tolist()
        turn = self._pose(b)[1]
        half = rotate(turn, np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])).T
        return float(row[c.MASS]), rotate(turn, half)

    def _pose(self, b: int) -> tuple[Floats, Floats]:
        if b < 0:
            return np.zeros(3), UPRIGHT
        row = self._z[self._model.link[b, c.BODY]]
        return row[:3], row[6:10]

    # --- motions --------------------------------------------------------------------------------------------------
    def _part(self, label: int) -> _Part:
        """Find the part of a label, or make it."""
        if label in self._parts:
            return self._parts[label]
        model = self._model
        members = [b for b in range(model.links) if self._label[b] == label]
        size = int(model.link[members, c.DOF].sum())
        motions: dict[int, Floats] = {-1: np.zeros((6, size))}
        inertia, first = np.zeros((size, size)), 0
        for b in members:
            motions[b] = self._motion(b, motions[int(model.link[b, c.PARENT])], first)
            first += int(model.link[b, c.DOF])
            mass, turning = self._inertia(b)
            linear, angular = motions[b][:3], motions[b][3:]
            inertia += mass * times(linear.T, linear) + times(angular.T, times(turning, angular))
        loops = [row for row in range(model.links, len(model.link)) if self._label[model.link[row, c.CHILD]] == label]
        rows = np.concatenate([np.zeros((0, size)), *(self._loop(row, motions) for row in loops)])
        factor = cholesky(inertia, SMALL)
        made = self._parts[label] = _Part(motions, factor, orthonormal(substitute(factor, rows.T)))
        return made

    def _motion(self, b: int, above: Floats, first: int) -> Floats:
        """Motion (6, coordinates) of a link, whose own coordinates begin at ``first``, given that of its parent."""
        link, joint = self._model.link[b], self._model.joint[b]
        if link[c.FLAGS] & c.KINEMATIC:
            return np.zeros_like(above)
        (place, turn), (_, parent_turn) = self._pose(b), self._pose(int(link[c.PARENT]))
        arm = rotate(turn, joint[c.CHILD_VERTEX : c.CHILD_VERTEX + 3])
        out = self._at(int(link[c.PARENT]), above, place + arm)
        slides, turns = int(link[c.N_TRANS]), int(link[c.N_ROT])
        out[:3, first : first + slides] = rotate(parent_turn, _axes(joint, c.SLIDE_AXES)[:slides]).T
        w, r = self._relative(b)
        for k, axis in enumerate(_axes(joint, c.TURN_AXES)[:turns]):  # q' = ½ q ∘ ω along one axis of q's vector
            rate = w * w * axis - w * np.cross(r, axis) + float((r * axis).sum()) * r
            out[3:, first + slides + k] = rotate(turn, rate)
        out[:3] += np.cross(arm, out[3:], axis=0) if out.shape[1] else 0.0
        return out

    def _at(self, b: int, motion: Floats, point: Floats) -> Floats:
        """Motion (6, coordinates) of a link's point in the world."""
        out = motion.copy()
        if b >= 0:
            out[:3] -= np.cross(point - self._pose(b)[0], motion[3:], axis=0) if out.shape[1] else 0.0
        return out

    def _relative(self, row: int) -> tuple[float, Floats]:
        """Relative rotation of a joint: scalar and vector."""
        link, offset = self._model.link[row], self._model.joint[row, c.ORIENTATION : c.ORIENTATION + 4]
        parent, child = self._pose(int(link[c.PARENT]))[1], self._pose(int(link[c.CHILD]))[1]
        q = multiply(conjugate(offset), multiply(conjugate(parent), child))
        return float(q[0]), q[1:]

    def _loop(self, row: int, motions: dict[int, Floats], *, free: bool = False) -> Floats:
        """Rows (rows, coordinates) of the constraints of a loop joint; or of the free directions of a joint."""
        link, joint = self._model.link[row], self._model.joint[row]
        parent, child = int(link[c.PARENT]), int(link[c.CHILD])
        place, turn = self._pose(child)
        point = place + rotate(turn, joint[c.CHILD_VERTEX : c.CHILD_VERTEX + 3])
        apart = self._at(child, motions[child], point) - self._at(parent, motions[parent], point)
        n_slides, n_turns = int(link[c.N_TRANS]), int(link[c.N_ROT])
        slides = _axes(joint, c.SLIDE_AXES)
        slides = rotate(self._pose(parent)[1], slides[:n_slides] if free else slides[n_slides:])
        w, r = self._relative(row)
        axes = _axes(joint, c.TURN_AXES)
        if free:  # rotations about the child's own axes, the change of the rotation vector near zero
            return np.concatenate([times(slides, apart[:3]), times(rotate(turn, axes[:n_turns]), apart[3:])])
        axes = axes[n_turns:]
        turns = rotate(turn, w * axes + np.cross(axes, r))
        return np.concatenate([times(slides, apart[:3]), times(turns, apart[3:])])


def _axes(joint: Floats, first: int) -> Floats:
    return joint[first : first + 9].reshape(3, 3)


def orthonormal(vectors: Floats) -> Floats:
    """Orthonormalize columns (n, m); those that others imply are omitted."""
    kept: list[Floats] = []
    for vector in vectors.T:
        size, left = float(norm(vector)), vector
        for _ in range(2):
            for known in kept:
                left = left - float((known * left).sum()) * known
        rest = float(norm(left))
        if rest > IMPLIED * size:
            kept.append(left / rest)
    return np.stack(kept, axis=1) if kept else vectors[:, :0]
