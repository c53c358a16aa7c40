"""Cameras (map plane to pixels) and projections (world to map plane).

Pure numbers without any graphics library. Cameras are immutable; every change returns a new one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from cbsim.arrays import Floats

__all__ = ["ABOVE", "PROJECTIONS", "Camera", "Projection"]

MIN_SCALE, MAX_SCALE = 0.002, 2000.0  # [pixels per metre] half a country to a screw


@dataclass(frozen=True, eq=False)
class Projection:
    """An orthographic viewing direction.

    Attributes
    ----------
    name : str
        For display: ``from above``.
    right, up, near : ndarray, shape (3,)
        Unit vectors in the world: right and up in the picture, and towards the viewer.
    labels : tuple of str
        Names of the picture's two axes.
    """

    name: str
    right: Floats
    up: Floats
    near: Floats
    labels: tuple[str, str]

    def flat(self, points: ArrayLike) -> Floats:
        """Project points (..., 3) [m] to the plane (..., 2) [m]."""
        return np.asarray(points, float) @ np.stack([self.right, self.up], axis=1)

    def depth(self, points: ArrayLike) -> Floats:
        """Depth (...) [m] of points (..., 3) along the viewing direction; larger is nearer to the viewer."""
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
"""Available projections; the first is the default, the second shows a vehicle from its right."""


@dataclass(frozen=True)
class Camera:
    """The region of a plane that a picture shows.

    Attributes
    ----------
    centre : tuple of float
        Centre of the picture [m].
    scale : float
        [pixels per metre]
    angle : float
        Heading that points up in the picture [rad]; 0 is the plane's second axis, counter-clockwise is positive.
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
        """Unit vectors (2, 2) that point right and up in the picture, one per row."""
        cos, sin = math.cos(self.angle), math.sin(self.angle)
        return np.array([(cos, sin), (-sin, cos)])

    def to_screen(self, places: ArrayLike) -> Floats:
        """Convert positions (..., 2) [m] to pixels (..., 2), x right and y down."""
        away = (np.asarray(places, float) - self.centre) @ self.axes.T
        return np.asarray(0.5 * np.asarray(self.size) + away * (self.scale, -self.scale))

    def to_world(self, pixels: ArrayLike) -> Floats:
        """Convert pixels (..., 2) to positions (..., 2) [m]."""
        away = (np.asarray(pixels, float) - 0.5 * np.asarray(self.size)) / (self.scale, -self.scale)
        return np.asarray(away @ self.axes + self.centre)

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Axis-aligned bounding box of the visible region: low x, low y, high x, high y [m]."""
        width, height = self.size
        corners = self.to_world([(0, 0), (width, 0), (width, height), (0, height)])
        low, high = corners.min(axis=0), corners.max(axis=0)
        return float(low[0]), float(low[1]), float(high[0]), float(high[1])

    def looking_at(self, place: ArrayLike) -> Camera:
        """Centre the picture on a position (2,) [m]."""
        x, y = np.asarray(place, float).tolist()
        return replace(self, centre=(x, y))

    def panned(self, right: float, down: float) -> Camera:
        """Shift the picture by pixels; the content moves right and down."""
        middle = 0.5 * np.asarray(self.size)
        return self.looking_at(self.to_world(middle - (right, down)))

    def zoomed(self, factor: float, at: ArrayLike | None = None) -> Camera:
        """Zoom in by a factor about a pixel (2,), by default the centre."""
        pixel = 0.5 * np.asarray(self.size) if at is None else np.asarray(at, float)
        nearer = replace(self, scale=min(max(self.scale * factor, MIN_SCALE), MAX_SCALE))
        return nearer._keeping(self.to_world(pixel), pixel)

    def turned(self, angle: float, at: ArrayLike | None = None) -> Camera:
        """Rotate the picture clockwise by an angle [rad] about a pixel (2,), by default the centre."""
        pixel = 0.5 * np.asarray(self.size) if at is None else np.asarray(at, float)
        turned = replace(self, angle=math.remainder(self.angle + angle, 2.0 * math.pi))
        return turned._keeping(self.to_world(pixel), pixel)

    def _keeping(self, place: Floats, pixel: Floats) -> Camera:
        """Shift the picture so that a position appears at a pixel."""
        return self.looking_at(np.asarray(self.centre) + place - self.to_world(pixel))

    def resized(self, size: tuple[int, int]) -> Camera:
        """Change the size of the picture at the same centre and scale."""
        return replace(self, size=size)

    def fitted(self, low: ArrayLike, high: ArrayLike, margin: float = 0.08, least: float = 4.0) -> Camera:
        """Fit a box into the picture.

        Parameters
        ----------
        low, high : array_like, shape (2,)
            Corners of the box [m].
        margin : float
            Fraction of the picture left free on each side.
        least : float
            Smallest extent shown [m]; a smaller box is not magnified further.
        """
        first, second = np.asarray(low, float), np.asarray(high, float)
        corners = np.array([(x, y) for x in (first[0], second[0]) for y in (first[1], second[1])])
        seen = (corners - 0.5 * (first + second)) @ self.axes.T
        extent = np.maximum(np.ptp(seen, axis=0), least)
        scale = float(np.min(np.asarray(self.size) * (1.0 - 2.0 * margin) / extent))
        return replace(self, scale=min(max(scale, MIN_SCALE), MAX_SCALE)).looking_at(0.5 * (first + second))

    def finer(self, factor: float) -> Camera:
        """Scale the picture up by a factor: the same region with more pixels."""
        width, height = self.size
        return replace(self, scale=self.scale * factor, size=(round(width * factor), round(height * factor)))
