"""Compliance of points of a mechanism to forces between them, for implicit dampers between frames."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats
from cbsim.geometry.linear import solve, svd, times
from cbsim.spec.mechanism.axes import masks_of
from cbsim.spec.mechanism.bodies import Body, Origin
from cbsim.spec.mechanism.joints import Joint, JointConstraint

__all__ = ["Yielding"]

RANK = 1e-6  # of a singular value that counts, to the largest
NONE = np.zeros(3)


class Yielding:
    """Joints and masses of a mechanism, as constraints on the velocities of its bodies.

    Parameters
    ----------
    bodies : sequence of Body
        In the order of the state.
    joints : sequence of JointConstraint
    """

    def __init__(self, bodies: Sequence[Body], joints: Sequence[JointConstraint]) -> None:
        row: dict[Body | Origin, int] = {body: place for place, body in enumerate(bodies)}
        self.masses = np.array([body.mass for body in bodies])
        self.inertias = np.array([body.inertia for body in bodies])
        slides = [(one, way) for one in joints for way in _held(one.translational)]
        turns = [(one, way) for one in joints for way in _held(one.rotational)]
        # rows of bodies; the ground's is the last one, which is left out
        self.slides, self.turns = (
            np.array([(row.get(one.parent, -1), row.get(one.child, -1)) for one, _ in some], np.int64).reshape(-1, 2)
            for some in (slides, turns)
        )
        self.along = np.array([way for _, way in slides]).reshape(-1, 3)
        self.about = np.array([way for _, way in turns]).reshape(-1, 3)
        points = [[NONE if point is None else point for point in one.translational.vertices] for one, _ in slides]
        self.points = np.array(points, float).reshape(-1, 2, 3)

    def rows(self, x: Floats, rotation: Floats) -> Floats:
        """Return the rows (held, 6 bodies) of joints that constrain velocities and angular velocities in the world.

        Parameters
        ----------
        x, rotation : ndarray, shape (bodies + 1, 3), (bodies + 1, 3, 3)
            Poses of bodies; the last row is the ground's.
        """
        count = len(self.slides)
        found = np.zeros((count + len(self.turns), len(x), 6))
        place, (parent, child) = np.arange(count), self.slides.T
        way = np.einsum("nij,nj->ni", rotation[parent], self.along)
        point = x[child] + np.einsum("nij,nj->ni", rotation[child], self.points[:, 1])
        for body, sign in ((child, 1.0), (parent, -1.0)):
            found[place, body, :3] = sign * way
            found[place, body, 3:] = sign * np.cross(point - x[body], way)
        place, (parent, child) = count + np.arange(len(self.turns)), self.turns.T
        way = np.einsum("nij,nj->ni", rotation[child], self.about)
        found[place, child, 3:], found[place, parent, 3:] = way, -way
        return found[:, :-1].reshape(len(found), -1)

    def of(self, x: Floats, rotation: Floats, ways: Floats) -> Floats:
        """Return the change of rates along some directions by forces along them: (ways, ways) [1/kg].

        Parameters
        ----------
        x, rotation
            As `rows`.
        ways : ndarray, shape (ways, bodies, 6)
            Force and torque of each, in the world, that a unit along it brings on bodies.
        """
        count = len(self.masses)
        mass = np.zeros((count, 6, count, 6))
        at = np.arange(count)
        mass[at, :3, at, :3] = self.masses[:, None, None] * np.eye(3)
        mass[at, 3:, at, 3:] = times(times(rotation[:-1], self.inertias), rotation[:-1].swapaxes(1, 2))
        held = self.rows(x, rotation)
        free = np.eye(6 * count)
        if len(held):
            _, values, vectors = svd(held)
            free = vectors[int((values > RANK * values[0]).sum()) :].T
        if not free.shape[1]:
            return np.zeros((len(ways), len(ways)))
        moved = times(ways.reshape(len(ways), -1), free)
        return np.asarray(times(moved, solve(times(times(free.T, mass.reshape(6 * count, -1)), free), moved.T)))

    def tables(self) -> Iterable[NDArray[np.generic]]:
        """All numbers that it depends on."""
        yield from (self.masses, self.inertias, self.slides, self.turns, self.along, self.about, self.points)


def _held(joint: Joint) -> Floats:
    """Directions that a joint constrains: of translations in its parent's frame, of rotations in its child's."""
    return masks_of(joint.axis, joint.free).constrained
