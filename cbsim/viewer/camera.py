"""`Camera`: between the plane that is looked at and the pixels of a picture; `Projection`: from the world to it.

Pure numbers: no screen, no library of pictures. Every change gives a new camera, so that a picture can be made again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["ABOVE", "PROJECTIONS", "Camera", "Projection"]

Floats = NDArray[np.float64]

LEAST, MOST = 0.002, 2000.0  # [pixels per metre] from a picture of half a country to a screw


@dataclass(frozen=True, eq=False)
class Projection:
    """A direction to look from, at right angles to the plane of the picture.

    Attributes
    ----------
    name : str
        As it is told: ``from above``.
    right, up, near : ndarray, shape (3,)
        Directions in the world: to the right and up in the picture, and towards the viewer.
    labels : tuple of str
        Names of the two axes of the picture.
    """

    name: str
    right: Floats
    up: Floats
    near: Floats
    labels: tuple[str, str]

    def flat(self, points: ArrayLike) -> Floats:
        """Places (..., 2) [m] in the plane of points (..., 3) [m]."""
        return np.asarray(points, float) @ np.stack([self.right, self.up], axis=1)

    def depth(self, points: ArrayLike) -> Floats:
        """How near to the viewer points (..., 3) are (...) [m]; larger is nearer."""
        return np.asarray(points, float) @ self.near


def _projection(name: str, right: ArrayLike, up: ArrayLike, labels: tuple[str, str]) -> Projection:
    first, second = np.asarray(right, float), np.asarray(up, float)
    return Projection(name, first, second, np.cross(first, second), labels)


ABOVE = _projection("from above", (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), ("x", "y"))
PROJECTIONS: tuple[Projection, ...] = (
    ABOVE,
    _projection("from the east", (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), ("y", "z")),
    _projection("from the south", (1.0, 0.0, 0.0), (0.0, 0.0, 1.0), ("x", "z")),
)
"""Directions to look from; the first is where every picture begins, the second sees a vehicle from its right."""


@dataclass(frozen=True)
class Camera:
    """What part of a plane a picture shows.

    Attributes
    ----------
    centre : tuple of float
        What is in the middle [m].
    scale : float
        [pixels per metre]
    angle : float
        Heading of what is up in the picture, 0 = the plane's second axis, counter-clockwise positive [rad].
    size : tuple of int
        Width and height [pixels].

    Examples
    --------
    >>> camera = Camera((10.0, 5.0), 2.0, 0.0, (200, 100))
    >>> camera.to_screen((10.0, 15.0)).tolist()
    [100.0, 30.0]
    >>> camera.to_world((100.0, 30.0)).tolist()
    [10.0, 15.0]
    """

    centre: tuple[float, float] = (0.0, 0.0)
    scale: float = 10.0
    angle: float = 0.0
    size: tuple[int, int] = (1280, 800)

    @property
    def axes(self) -> Floats:
        """What is to the right and what is up in the picture, unit rows (2, 2)."""
        cos, sin = math.cos(self.angle), math.sin(self.angle)
        return np.array([(cos, sin), (-sin, cos)])

    def to_screen(self, places: ArrayLike) -> Floats:
        """Pixels (..., 2), x to the right and y down, of places (..., 2) [m]."""
        away = (np.asarray(places, float) - self.centre) @ self.axes.T
        return np.asarray(0.5 * np.asarray(self.size) + away * (self.scale, -self.scale))

    def to_world(self, pixels: ArrayLike) -> Floats:
        """Places (..., 2) [m] of pixels (..., 2)."""
        away = (np.asarray(pixels, float) - 0.5 * np.asarray(self.size)) / (self.scale, -self.scale)
        return np.asarray(away @ self.axes + self.centre)

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Least box along the axes of the plane that holds what is seen: low x, low y, high x, high y [m]."""
        width, height = self.size
        corners = self.to_world([(0, 0), (width, 0), (width, height), (0, height)])
        low, high = corners.min(axis=0), corners.max(axis=0)
        return float(low[0]), float(low[1]), float(high[0]), float(high[1])

    def looking_at(self, place: ArrayLike) -> Camera:
        """Move a place (2,) [m] into the middle."""
        x, y = np.asarray(place, float).tolist()
        return replace(self, centre=(x, y))

    def panned(self, right: float, down: float) -> Camera:
        """Move the picture by pixels: what is seen moves to the right and down."""
        middle = 0.5 * np.asarray(self.size)
        return self.looking_at(self.to_world(middle - (right, down)))

    def zoomed(self, factor: float, at: ArrayLike | None = None) -> Camera:
        """Come nearer by a factor; the place at a pixel (2,), the middle by default, stays where it is."""
        pixel = 0.5 * np.asarray(self.size) if at is None else np.asarray(at, float)
        nearer = replace(self, scale=min(max(self.scale * factor, LEAST), MOST))
        return nearer._keeping(self.to_world(pixel), pixel)

    def turned(self, angle: float, at: ArrayLike | None = None) -> Camera:
        """Turn the picture clockwise by an angle [rad]; the place at a pixel (2,), the middle by default, stays."""
        pixel = 0.5 * np.asarray(self.size) if at is None else np.asarray(at, float)
        turned = replace(self, angle=math.remainder(self.angle + angle, 2.0 * math.pi))
        return turned._keeping(self.to_world(pixel), pixel)

    def _keeping(self, place: Floats, pixel: Floats) -> Camera:
        """Move so that a place stands at a pixel."""
        return self.looking_at(np.asarray(self.centre) + place - self.to_world(pixel))

    def resized(self, size: tuple[int, int]) -> Camera:
        """Show the same in the middle of a picture of another size, as large as before."""
        return replace(self, size=size)

    def fitted(self, low: ArrayLike, high: ArrayLike, margin: float = 0.08, least: float = 4.0) -> Camera:
        """Show all of a box.

        Parameters
        ----------
        low, high : array_like, shape (2,)
            Its corners [m].
        margin : float
            Share of the picture that is left free on each side.
        least : float
            A smaller box is shown as if it had this extent [m].
        """
        first, second = np.asarray(low, float), np.asarray(high, float)
        corners = np.array([(x, y) for x in (first[0], second[0]) for y in (first[1], second[1])])
        seen = (corners - 0.5 * (first + second)) @ self.axes.T
        extent = np.maximum(np.ptp(seen, axis=0), least)
        scale = float(np.min(np.asarray(self.size) * (1.0 - 2.0 * margin) / extent))
        return replace(self, scale=min(max(scale, LEAST), MOST)).looking_at(0.5 * (first + second))

    def finer(self, factor: float) -> Camera:
        """Show the same with more pixels: sizes of pictures are scaled as well."""
        width, height = self.size
        return replace(self, scale=self.scale * factor, size=(round(width * factor), round(height * factor)))
