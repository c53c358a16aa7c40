"""`Sheet`: a picture of what stands still, drawn piece by piece, and shown from where the camera has gone since."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pygame
from numpy.typing import NDArray

from cbsim.viewer.camera import Camera
from cbsim.viewer.canvas import Canvas
from cbsim.viewer.layers import pieces
from cbsim.viewer.layers.road import box_of
from cbsim.viewer.view import View

__all__ = ["Sheet", "sheet_of_all"]

Floats = NDArray[np.float64]

LARGE = 3_000_000  # [pixels] larger pictures are scaled without being smoothed, which would take too long
BEYOND = (255, 0, 254)  # a colour that nothing is drawn in: what lies beyond a turned picture
SAME = 1e-9  # of a scale, or of an angle [rad]: less is no difference


class Stamps(Canvas):
    """A canvas that lays no sprite or text down: it keeps them, so that they can be laid down elsewhere, as large."""

    def __init__(self, surface: pygame.Surface, points: float) -> None:
        super().__init__(surface, points)
        self._laid: list[pygame.Surface] = []
        self._places: list[Sequence[float]] = []
        self._away: list[Sequence[float]] = []  # of a sprite's corner from its place [pixels]

    def put(self, sprite: pygame.Surface, centres: Floats) -> None:
        """Keep a sprite, and the places of its middle (n, 2) [pixels]."""
        width, height = sprite.get_size()
        self._laid += [sprite] * len(centres)
        self._places += centres.tolist()
        self._away += [(-0.5 * width, -0.5 * height)] * len(centres)

    def lay(self, sprite: pygame.Surface, at: Sequence[float], away: Sequence[float]) -> None:
        """Keep a sprite, the place that it belongs to, and how far its corner is away from it [pixels]."""
        self._laid.append(sprite)
        self._places.append(at)
        self._away.append(away)

    def show(self, canvas: Canvas, placed: Camera, seen: Camera) -> None:
        """Lay all down where one camera sees what another one placed; labels that move are to keep clear of them."""
        moved = _seen(np.array(self._places).reshape(-1, 2), placed, seen) + np.array(self._away).reshape(-1, 2)
        corners = np.round(moved).astype(int).tolist()
        canvas.surface.blits(list(zip(self._laid, corners, strict=True)), doreturn=False)
        boxes = self.room.taken
        middles = np.array([box.center for box in boxes], float).reshape(-1, 2)
        shifts = np.round(_seen(middles, placed, seen) - middles).astype(int).tolist()
        canvas.room.signs += [box.move(x, y) for box, (x, y) in zip(boxes, shifts, strict=True)]


def _seen(pixels: Floats, placed: Camera, seen: Camera) -> Floats:
    """Pixels (n, 2) of one camera where another one sees them."""
    return seen.to_screen(placed.to_world(pixels))


class Sheet:
    """What stands still, from one camera; it is drawn by `go_on`.

    Parameters
    ----------
    view : View
    points : float
        Pixels in a point.
    margin : float
        Share of the picture's size that is drawn beyond each of its edges.

    Attributes
    ----------
    camera : Camera
    done : bool
        All of it is drawn.
    """

    def __init__(self, view: View, points: float, margin: float = 0.0) -> None:
        width, height = view.camera.size
        size = width + 2 * round(margin * width), height + 2 * round(margin * height)
        self.camera = view.camera.resized(size)
        self.done = False
        self._spent = 0.0
        self._surface = pygame.Surface(size, depth=32)
        self._stamps = Stamps(self._surface, points)
        self._work = pieces(self._stamps, replace(view, camera=self.camera), still=True)

    def go_on(self, seconds: float = math.inf) -> bool:
        """Draw for a while [s], a piece at least; tells whether all of it is drawn."""
        began = time.perf_counter()
        for _ in self._work:
            if time.perf_counter() - began >= seconds:
                break
        else:
            self.done = True
        self._spent += time.perf_counter() - began
        return self.done

    @property
    def pace(self) -> float:
        """How long a pixel of it took to draw [s]."""
        return self._spent / (self.camera.size[0] * self.camera.size[1])

    def is_like(self, camera: Camera) -> bool:
        """Tell whether a camera sees things as large and turned as this one did."""
        scaled, turned = camera.scale / self.camera.scale - 1.0, camera.angle - self.camera.angle
        return abs(scaled) < SAME and abs(turned) < SAME

    def fits(self, camera: Camera, spare: float = 0.0) -> bool:
        """Tell whether it can be shown as it is, and a share of its margin is left on every side."""
        corner, size = self._corner(camera), np.array(self.camera.size)
        beyond = np.floor(0.5 * spare * (size - camera.size))
        return self.is_like(camera) and bool(
            (corner <= -beyond).all() and (corner + size >= camera.size + beyond).all()
        )

    def share(self, camera: Camera) -> float:
        """How much it shows of what a camera sees: all is 1."""
        whole = self._box_of(camera)
        inside = whole.clip(self._surface.get_rect())
        return inside.width * inside.height / (whole.width * whole.height)

    def show(self, canvas: Canvas, camera: Camera) -> None:
        """Show it from another camera: as it is, or scaled and turned; its labels stay as large as they are."""
        if self.is_like(camera):
            canvas.surface.blit(self._surface, self._corner(camera).astype(int).tolist())
        else:
            self._show_scaled(canvas, camera)
        self._stamps.show(canvas, self.camera, camera)

    def _corner(self, camera: Camera) -> Floats:
        """Where its corner stands in the picture of a camera like its own [pixels]."""
        return np.round(camera.to_screen(self.camera.to_world((0.0, 0.0))))

    def _box_of(self, camera: Camera) -> pygame.Rect:
        """Least box on it that holds what a camera sees."""
        width, height = camera.size
        corners = _seen(np.array([(0, 0), (width, 0), (width, height), (0, height)], float), camera, self.camera)
        low, high = np.floor(corners.min(axis=0)), np.ceil(corners.max(axis=0))
        return pygame.Rect(*low.astype(int).tolist(), *np.maximum(high - low, 1.0).astype(int).tolist())

    def _show_scaled(self, canvas: Canvas, camera: Camera) -> None:
        box = self._box_of(camera).inflate(2, 2).clip(self._surface.get_rect())
        if not box.width or not box.height:
            return
        factor = camera.scale / self.camera.scale
        size = max(1, round(factor * box.width)), max(1, round(factor * box.height))
        shown = self._surface.subsurface(box)
        if size != box.size:
            scaling = pygame.transform.smoothscale if size[0] * size[1] <= LARGE else pygame.transform.scale
            shown = scaling(shown, size)
        turned = math.remainder(camera.angle - self.camera.angle, 2.0 * math.pi)
        if abs(turned) > SAME:
            shown.set_colorkey(BEYOND)
            shown = pygame.transform.rotate(shown, -math.degrees(turned))
        middle = np.array([box.x + 0.5 * box.width, box.y + 0.5 * box.height])
        corner = np.round(_seen(middle, self.camera, camera) - 0.5 * np.array(shown.get_size()))
        canvas.surface.blit(shown, corner.astype(int).tolist())


def sheet_of_all(view: View, points: float) -> Sheet | None:
    """Begin a picture of the whole road, as large as that of a view; None where there is none."""
    box = None if view.stage.road is None or not view.is_flat else box_of(view.stage.road)
    if box is None:
        return None
    return Sheet(replace(view, camera=replace(view.camera, angle=0.0).fitted(*box)), points)
