"""Views, which layers draw from, and display options."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats
from cbsim.geometry.pose import heading, rotate
from cbsim.palette import KINDS, KindColour
from cbsim.viewer.drawing.camera import ABOVE, Camera, Projection
from cbsim.viewer.scene.stage import Stage
from cbsim.viewer.scene.timeline import SceneState, Timeline
from cbsim.world.motion import ABSENT_BELOW

__all__ = ["DisplayOptions", "View", "kind_of"]


@dataclass
class DisplayOptions:
    """Display options chosen by the user.

    Attributes
    ----------
    shown : dict
        Key of a layer → whether it is drawn; layers not listed keep their default.
    selected : int or None
        Row of the selected body.
    trail : float
        Length of trails [s]; infinite: from the start.
    measure : list of (float, float)
        Measured positions [m].
    """

    shown: dict[str, bool] = field(default_factory=dict)
    selected: int | None = None
    trail: float = 10.0
    measure: list[tuple[float, float]] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class View:
    """A scene at one time, seen by a camera.

    Attributes
    ----------
    stage, timeline, state
        What is shown.
    camera, projection
        From where it is seen.
    options : DisplayOptions
    letter : str
        ``B`` for the second of two sources, which is drawn as outlines over the first.
    """

    stage: Stage
    timeline: Timeline
    state: SceneState
    camera: Camera
    projection: Projection = ABOVE
    options: DisplayOptions = field(default_factory=DisplayOptions)
    letter: str = ""

    @property
    def is_flat(self) -> bool:
        """Whether this is the top view."""
        return self.projection is ABOVE

    def name_of(self, row: int) -> str:
        """Name of a body at this time."""
        return self.timeline.name(row, self.state.time)

    @cached_property
    def present(self) -> NDArray[np.bool_]:
        """Which bodies (n,) are there, and recorded."""
        return np.asarray(self.state.position[:, 2] > ABSENT_BELOW)

    def called(self, text: str) -> str:
        """Append the source's letter to a label."""
        return f"{text} ({self.letter})" if self.letter else text

    @cached_property
    def places(self) -> Floats:
        """Pixels (n, 2) of all bodies' centres."""
        return self.to_screen(self.state.position)

    def to_screen(self, points: Floats) -> Floats:
        """Convert points (..., 3) [m] in the world to pixels (..., 2)."""
        return self.camera.to_screen(self.projection.flat(points))

    @cached_property
    def headings(self) -> Floats:
        """Headings (n,) of all bodies [rad]."""
        return heading(self.state.orientation)

    @cached_property
    def speeds(self) -> Floats:
        """Speeds (n,) along the bodies' forward axes [m/s]."""
        ahead = rotate(self.state.orientation, np.array([0.0, 1.0, 0.0]))
        return np.asarray((ahead * self.state.velocity).sum(axis=1))

    @cached_property
    def visible(self) -> NDArray[np.int64]:
        """Rows of bodies that may be visible."""
        width, height = self.camera.size
        beyond = self.camera.scale * self.stage.radius + 2.0
        at = self.places
        inside = (at > -beyond[:, None]).all(axis=1) & (at[:, 0] < width + beyond) & (at[:, 1] < height + beyond)
        return np.flatnonzero(inside & self.present)


def kind_of(kind: str) -> KindColour:
    """Colours of a kind of body; an unknown kind looks like a static object."""
    return KINDS.get(kind, KINDS["static"])
