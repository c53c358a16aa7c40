"""`View`: everything that a layer draws from; `Looks`: what a user has chosen to see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cbsim.geometry.pose import heading, rotate
from cbsim.palette import KINDS, KindColour
from cbsim.viewer.camera import ABOVE, Camera, Projection
from cbsim.viewer.stage import Stage
from cbsim.viewer.tape import Moment, Tape

__all__ = ["Looks", "View", "kind_of"]

Floats = NDArray[np.float64]


@dataclass
class Looks:
    """What a user has chosen to see.

    Attributes
    ----------
    shown : dict
        Key of a layer → whether it is drawn; what is not there is as the table of layers has it.
    selected : int or None
        Row of the body whose state is told.
    trail : float
        How far back trails go [s]; infinite: to the start.
    measure : list of (float, float)
        Places between which distances are measured [m].
    """

    shown: dict[str, bool] = field(default_factory=dict)
    selected: int | None = None
    trail: float = 10.0
    measure: list[tuple[float, float]] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class View:
    """A moment of a source, seen by a camera.

    Attributes
    ----------
    stage, tape, moment
        What there is to see.
    camera, projection
        From where.
    looks : Looks
    letter : str
        ``B`` for the second of two recordings: drawn in outlines over the first.
    """

    stage: Stage
    tape: Tape
    moment: Moment
    camera: Camera
    projection: Projection = ABOVE
    looks: Looks = field(default_factory=Looks)
    letter: str = ""

    @property
    def is_flat(self) -> bool:
        """Whether one looks from above."""
        return self.projection is ABOVE

    def called(self, text: str) -> str:
        """Write of which of two recordings a label is."""
        return f"{text} ({self.letter})" if self.letter else text

    @cached_property
    def places(self) -> Floats:
        """Pixels (n, 2) of the centres of all bodies."""
        return self.to_screen(self.moment.position)

    def to_screen(self, points: Floats) -> Floats:
        """Pixels (..., 2) of points (..., 3) [m] in the world."""
        return self.camera.to_screen(self.projection.flat(points))

    @cached_property
    def headings(self) -> Floats:
        """Headings (n,) of all bodies [rad]."""
        return heading(self.moment.orientation)

    @cached_property
    def speeds(self) -> Floats:
        """Speeds (n,) along the forward axes [m/s]."""
        ahead = rotate(self.moment.orientation, np.array([0.0, 1.0, 0.0]))
        return np.asarray((ahead * self.moment.velocity).sum(axis=1))

    @cached_property
    def seen(self) -> NDArray[np.int64]:
        """Rows of bodies that may be in the picture."""
        width, height = self.camera.size
        beyond = self.camera.scale * self.stage.reach + 2.0
        at = self.places
        inside = (at > -beyond[:, None]).all(axis=1) & (at[:, 0] < width + beyond) & (at[:, 1] < height + beyond)
        return np.flatnonzero(inside)


def kind_of(kind: str, kinds: Mapping[str, KindColour] = KINDS) -> KindColour:
    """Colours of a kind of body; of an unknown one, those of static objects."""
    return kinds.get(kind, kinds["static"])
