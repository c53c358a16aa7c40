"""`Frame`: pose and scale of a model in a World.

A model keeps the frame and units of its file: its gravity, its springs, its ground plane. A similarity (rotation,
scale, translation) maps its bodies to rows of the World. A placed model therefore moves exactly as it does by itself,
at the same time, whatever its scale; its gravity in the World is that of its file times the scale.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry.elementary import square
from cbsim.geometry.linear import times
from cbsim.geometry.pose import Pose, conjugate, multiply, rotate

__all__ = ["WORLD_FRAME", "Frame"]


@dataclass(frozen=True, eq=False)
class Frame:
    """Similarity: rotation by ``orientation`` (4,), scaling by ``scale``, then translation by ``position`` (3,) [m].

    Attributes
    ----------
    position : ndarray, shape (3,)
        Of the model's origin in the World [m].
    orientation : ndarray, shape (4,)
        Of the model's axes, a unit quaternion, scalar first.
    scale : float
        Metres per unit of the model.
    weight : float
        Kilograms per unit of mass of the model.
    """

    position: Floats
    orientation: Floats
    scale: float = 1.0
    weight: float = 1.0

    @property
    def plain(self) -> bool:
        """Whether the model's frame is that of the World, so that conversion changes no bit."""
        return self.scale == 1.0 and not self.position.any() and not self.orientation[1:].any()

    def to_world(self, state: Floats) -> Floats:
        """Convert a state (bodies, 13) of the model to the World."""
        if self.plain:
            return state
        out = state.copy()
        out[:, :3] = self.position + self.scale * rotate(self.orientation, state[:, :3])
        out[:, 3:6] = self.scale * rotate(self.orientation, state[:, 3:6])
        out[:, 6:10] = multiply(self.orientation, state[:, 6:10])
        return out

    def to_model(self, state: Floats) -> Floats:
        """Convert a state (bodies, 13) in the World to the model's frame; quaternions are normalized."""
        if self.plain:
            return state
        own, back = state.copy(), conjugate(self.orientation)
        own[:, :3] = rotate(back, state[:, :3] - self.position) / self.scale
        own[:, 3:6] = rotate(back, state[:, 3:6]) / self.scale
        turned = multiply(back, state[:, 6:10])
        own[:, 6:10] = turned / np.sqrt((turned * turned).sum(axis=1))[:, None]
        return own

    @property
    def pose(self) -> Pose:
        """Position and orientation."""
        return Pose(self.position, self.orientation)

    def relative_to(self, other: Frame) -> Frame:
        """Express this frame in another one and its units; exactly `WORLD_FRAME` if both are equal."""
        if other is self or (self.table() == other.table()).all():
            return WORLD_FRAME
        back = conjugate(other.orientation)
        place = rotate(back, self.position - other.position) / other.scale
        turned = multiply(back, self.orientation)
        turned = turned / np.sqrt(times(turned, turned))
        return Frame(place, turned, self.scale / other.scale, self.weight / other.weight)

    @property
    def work(self) -> float:
        """Joules per unit of energy of the model."""
        return self.weight * square(self.scale)

    def table(self) -> Floats:
        """All of its values (9,)."""
        return np.array([*self.position, *self.orientation, self.scale, self.weight])


WORLD_FRAME = Frame(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))
"""The World's own frame."""
