"""`Scenery`: what stands still is drawn once and kept while the camera only moves; what moves is drawn over it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pygame

from cbsim.viewer.camera import Camera
from cbsim.viewer.canvas import Canvas
from cbsim.viewer.layers import LAYERS, draw_layers
from cbsim.viewer.layers.marks import ring_of
from cbsim.viewer.view import View

__all__ = ["Scenery"]

MARGIN = 0.2  # of the picture's size that is drawn beyond each of its edges


class Scenery:
    """Keeps the picture of the still layers of one source."""

    def __init__(self) -> None:
        self._key: tuple[object, ...] = ()
        self._sheet: pygame.Surface | None = None
        self._camera = Camera()
        self._signs: list[pygame.Rect] = []

    def draw(self, canvas: Canvas, view: View, *others: View) -> None:
        """Draw all layers of a view, and over it what moves of others."""
        key = self._key_of(canvas, view)
        shift = self._shift(view)
        if self._sheet is None or key != self._key or not self._covers(canvas, shift):
            self._make(canvas, view, MARGIN if key == self._key else 0.0)
            self._key, shift = key, self._shift(view)
        assert self._sheet is not None
        corner = round(shift[0]), round(shift[1])
        canvas.surface.blit(self._sheet, corner)
        canvas.room.signs += [sign.move(corner) for sign in self._signs]
        canvas.room.signs += ring_of(canvas, view)
        draw_layers(canvas, view, *others, still=False)

    def _key_of(self, canvas: Canvas, view: View) -> tuple[object, ...]:
        shown = tuple(view.looks.shown.get(layer.key, layer.shown) for layer in LAYERS if layer.still)
        camera = view.camera
        return id(view.stage), camera.scale, camera.angle, camera.size, canvas.points, view.projection.name, shown

    def _make(self, canvas: Canvas, view: View, margin: float) -> None:
        """Draw what stands still; while one turns or comes nearer it will not be of use again, and needs no margin."""
        width, height = view.camera.size
        size = width + 2 * round(margin * width), height + 2 * round(margin * height)
        if self._sheet is None or self._sheet.get_size() != size:
            self._sheet = pygame.Surface(size, depth=32)
        self._camera = view.camera.resized(size)
        sheet = Canvas(self._sheet, canvas.points)
        draw_layers(sheet, replace(view, camera=self._camera), still=True)
        self._signs = sheet.room.taken

    def _shift(self, view: View) -> tuple[float, float]:
        """Where the kept picture's corner stands in the new one [pixels]."""
        corner = view.camera.to_screen(self._camera.to_world((0.0, 0.0)))
        return float(corner[0]), float(corner[1])

    def _covers(self, canvas: Canvas, shift: tuple[float, float]) -> bool:
        assert self._sheet is not None
        return bool(np.all(np.round(shift) <= 0) and np.all(np.round(shift) + self._sheet.get_size() >= canvas.size))
