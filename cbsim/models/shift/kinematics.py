"""Kinematics of a Shift model: poses and velocities of bodies, and residuals of its loops.

All joints have coordinates, loop joints too: a loop has six equations for the joint's frames on both bodies to coincide
(docs/formats/shift.md). Axes are the file's.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry import elementary as math
from cbsim.geometry.linear import norm, times
from cbsim.models.shift.network import HERE, Network, Place
from cbsim.models.shift.tree import Tree

__all__ = ["Chain", "Posture", "cross", "spin", "unspin"]

NONE = np.zeros(3)


def cross(v: Floats) -> Floats:
    """Return the matrix (3, 3) of v ×."""
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def crossed(a: Floats, b: Floats) -> Floats:
    """Return the products a × b of vectors (..., 3), as `numpy.cross` does, in half the time."""
    (ax, ay, az), (bx, by, bz) = ((v[..., 0], v[..., 1], v[..., 2]) for v in (a, b))
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-1)


def spin(vector: Floats) -> Floats:
    """Return the rotation (3, 3) of a rotation vector (Rodrigues)."""
    angle = float(norm(vector))
    if angle < 1e-12:
        return np.eye(3) + cross(vector)
    k = cross(vector / angle)
    return np.asarray(np.eye(3) + math.sin(angle) * k + (1.0 - math.cos(angle)) * times(k, k))


def axial(rotation: Floats) -> Floats:
    """Return the axis (3,) of a rotation times the sine of its angle."""
    r = rotation
    return 0.5 * np.array([r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]])


def unspin(rotation: Floats) -> Floats:
    """Return the rotation vector (3,), of length 0 to π, of a rotation."""
    vector = axial(rotation)
    sine, cosine = float(norm(vector)), 0.5 * (float(np.trace(rotation)) - 1.0)
    angle = float(math.atan2(sine, cosine))
    if sine > 1e-6:
        return np.asarray(vector * (angle / sine))
    if cosine > 0.0:
        return vector
    square = 0.5 * (rotation + np.eye(3))  # a half turn: a aᵀ
    column = square[:, int(np.argmax(np.diag(square)))]
    return np.asarray(angle * column / norm(column))


class Posture(NamedTuple):
    """Coordinates of all joints: numbers, and relative poses of joints with several coordinates.

    Attributes
    ----------
    numbers : ndarray, shape (ties,)
        Of revolute and prismatic joints [rad or m].
    places : list of Place
        Of the others, the child's frame in the parent's.
    """

    numbers: Floats
    places: list[Place]


class Chain:
    """Kinematics of a model along its tree.

    Attributes
    ----------
    first : list of int
        Index of each joint's first coordinate.
    size : int
        Number of coordinates.
    on_way : ndarray, shape (bodies, size)
        Sign of a coordinate's motion in that of a body: 1, −1, or 0 if it is not on the path to the ground.
    """

    def __init__(self, network: Network, tree: Tree) -> None:
        self.network, self.tree = network, tree
        counts = [tie.joint.freedoms for tie in tree.ties]
        self.first = [int(n) for n in np.concatenate([[0], np.cumsum(counts)])]
        self.size = self.first.pop()
        self.axes = [np.array(tie.joint.axis, float) for tie in tree.ties]
        self._backs = [(tie.at_parent.inverse, tie.at_child.inverse) for tie in tree.ties]
        self.on_way = np.zeros((len(network.links) + 1, self.size))
        for tie, body, turned in tree.branches:
            here = tree.ties[tie]
            self.on_way[body] = self.on_way[here.child if turned else here.parent]
            own = slice(self.first[tie], self.first[tie] + here.joint.freedoms)
            self.on_way[body, own] = -1.0 if turned else 1.0

    def start(self) -> Posture:
        """Coordinates of the file."""
        joints = [tie.joint for tie in self.tree.ties]
        return Posture(np.array([j.displacement for j in joints], float), [Place.of(j.placement) for j in joints])

    def moved(self, tie: int, posture: Posture) -> Place:
        """Relative pose of a joint's child frame in its parent's."""
        kind = self.tree.ties[tie].joint.kind
        if kind == "revolute":
            return Place(spin(self.axes[tie] * posture.numbers[tie]), NONE)
        if kind == "prismatic":
            return Place(np.eye(3), self.axes[tie] * posture.numbers[tie])
        return posture.places[tie]

    def poses(self, posture: Posture) -> list[Place]:
        """Poses of all bodies; the ground is the last."""
        found: list[Place] = [HERE] * (len(self.network.links) + 1)
        for number, body, turned in self.tree.branches:
            tie, moved = self.tree.ties[number], self.moved(number, posture)
            if turned:
                found[body] = found[tie.child] @ tie.at_child @ moved.inverse @ self._backs[number][0]
            else:
                found[body] = found[tie.parent] @ tie.at_parent @ moved @ self._backs[number][1]
        return found

    def screws(self, posture: Posture, poses: list[Place]) -> Floats:
        """Motion (size, 6) of a child against its parent by each rate: turning, and moving of the world's origin."""
        rows = np.zeros((self.size, 6))
        for number, tie in enumerate(self.tree.ties):
            base = poses[tie.parent] @ tie.at_parent
            first, kind = self.first[number], tie.joint.kind
            if kind == "revolute":
                axis = times(base.rotation, self.axes[number])
                rows[first, :3], rows[first, 3:] = axis, crossed(base.origin, axis)
            elif kind == "prismatic":
                rows[first, 3:] = times(base.rotation, self.axes[number])
            elif kind in ("spherical", "float"):
                point = times(base.rotation, posture.places[number].origin) + base.origin
                turns = first + 3 * (kind == "float")
                for k in range(3):
                    axis = base.rotation[:, k]
                    rows[turns + k, :3], rows[turns + k, 3:] = axis, crossed(point, axis)
                    if kind == "float":
                        rows[first + k, 3:] = axis
        return rows

    def gaps(self, posture: Posture, poses: list[Place], *, whole: bool = False) -> Floats:
        """Gaps of loops (loops, 6): a translation and a rotation, both along the world's axes.

        A rotation is sin(angle) times its axis; with ``whole`` the rotation vector, which tells a half turn from none.
        """
        found = np.zeros((len(self.tree.chords), 6))
        for row, number in enumerate(self.tree.chords):
            carried, other = self._ends(number, posture, poses)
            apart = times(carried.rotation, other.rotation.T)
            found[row, :3] = carried.origin - other.origin
            found[row, 3:] = unspin(apart) if whole else axial(apart)
        return found

    def _ends(self, number: int, posture: Posture, poses: list[Place]) -> tuple[Place, Place]:
        """Frames of a joint by its child and by the other body."""
        tie = self.tree.ties[number]
        return poses[tie.parent] @ tie.at_parent @ self.moved(number, posture), poses[tie.child] @ tie.at_child

    def slope(self, posture: Posture, poses: list[Place], *, whole: bool = False) -> Floats:
        """Differentiate the gaps by the coordinates (6 loops, size); ``whole`` ones as at zero.

        Of E = C Oᵀ with C turning by c and O by o, the axial vector changes by (tr E − E)(c − E o) / 2.
        """
        screws = self.screws(posture, poses)
        found = np.zeros((len(self.tree.chords), 6, self.size))
        for row, number in enumerate(self.tree.chords):
            tie = self.tree.ties[number]
            own = slice(self.first[number], self.first[number] + tie.joint.freedoms)
            ways = self.on_way[tie.parent].copy()
            ways[own] += 1.0
            one, two = screws * ways[:, None], screws * self.on_way[tie.child][:, None]
            carried, other = self._ends(number, posture, poses)
            apart = times(carried.rotation, other.rotation.T)
            speed = one[:, 3:] + crossed(one[:, :3], carried.origin) - two[:, 3:] - crossed(two[:, :3], other.origin)
            turn = one[:, :3].T - (two[:, :3].T if whole else times(apart, two[:, :3].T))
            found[row, :3] = speed.T
            found[row, 3:] = turn if whole else times(0.5 * (np.trace(apart) * np.eye(3) - apart), turn)
        return found.reshape(6 * len(self.tree.chords), self.size)

    def move(self, posture: Posture, way: Floats) -> Posture:
        """Return a posture changed by increments (size,) of its coordinates."""
        numbers, places = posture.numbers.copy(), list(posture.places)
        for number, tie in enumerate(self.tree.ties):
            first, kind, place = self.first[number], tie.joint.kind, places[number]
            if kind in ("revolute", "prismatic"):
                numbers[number] += way[first]
            elif kind == "spherical":
                places[number] = Place(times(spin(way[first : first + 3]), place.rotation), place.origin)
            elif kind == "float":
                turned = times(spin(way[first + 3 : first + 6]), place.rotation)
                places[number] = Place(turned, place.origin + way[first : first + 3])
        return Posture(numbers, places)

    def rates(self) -> Floats:
        """Rates (size,) of all coordinates in the file."""
        return np.concatenate([np.zeros(0), *(np.array(tie.joint.rates, float) for tie in self.tree.ties)])

    def velocities(self, posture: Posture, poses: list[Place], rates: Floats) -> Floats:
        """Compute angular velocities of bodies and velocities of their origins (bodies, 6) from rates."""
        motion = times(self.on_way[:-1], self.screws(posture, poses) * rates[:, None])
        origins = np.array([pose.origin for pose in poses[:-1]]).reshape(-1, 3)
        motion[:, 3:] += crossed(motion[:, :3], origins)
        return motion
