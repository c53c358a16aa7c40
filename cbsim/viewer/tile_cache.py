"""Tiles: pictures of the static layers, drawn incrementally and shown from nearby cameras."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pygame

from cbsim.arrays import Floats
from cbsim.viewer.drawing.camera import Camera
from cbsim.viewer.drawing.canvas import Canvas
from cbsim.viewer.layers import draw_incrementally
from cbsim.viewer.layers.road import box_of
from cbsim.viewer.view import View

__all__ = ["Tile", "overview_tile"]

MAX_SMOOTHED = 3_000_000  # [pixels] larger tiles are scaled without smoothing, for speed
TRANSPARENT = (255, 0, 254)  # colour key outside a rotated tile; nothing is drawn in it
TOLERANCE = 1e-9  # relative difference of scales, or difference of angles [rad], that is ignored


class SpriteRecorder(Canvas):
    """A canvas that records sprites and texts instead of drawing them, so that they keep their size when replayed."""

    def __init__(self, surface: pygame.Surface, points: float) -> None:
        super().__init__(surface, points)
        self._recorded: list[pygame.Surface] = []
        self._places: list[Sequence[float]] = []
        self._away: list[Sequence[float]] = []  # offset of a sprite's corner from its position [pixels]

    def draw_sprite(self, sprite: pygame.Surface, centres: Floats) -> None:
        """Record a sprite centred at positions (n, 2) [pixels]."""
        width, height = sprite.get_size()
        self._recorded += [sprite] * len(centres)
        self._places += centres.tolist()
        self._away += [(-0.5 * width, -0.5 * height)] * len(centres)

    def blit_at(self, sprite: pygame.Surface, at: Sequence[float], away: Sequence[float]) -> None:
        """Record a sprite with its corner at an offset [pixels] from a position."""
        self._recorded.append(sprite)
        self._places.append(at)
        self._away.append(away)

    def show(self, canvas: Canvas, placed: Camera, seen: Camera) -> None:
        """Draw the recorded sprites as another camera sees them, and reserve their space for labels."""
        moved = _seen(np.array(self._places).reshape(-1, 2), placed, seen) + np.array(self._away).reshape(-1, 2)
        corners = np.round(moved).astype(int).tolist()
        canvas.surface.blits(list(zip(self._recorded, corners, strict=True)), doreturn=False)
        boxes = self.layout.taken
        middles = np.array([box.center for box in boxes], float).reshape(-1, 2)
        shifts = np.round(_seen(middles, placed, seen) - middles).astype(int).tolist()
        canvas.layout.fixed_labels += [box.move(x, y) for box, (x, y) in zip(boxes, shifts, strict=True)]


def _seen(pixels: Floats, placed: Camera, seen: Camera) -> Floats:
    """Convert pixels (n, 2) of one camera to another."""
    return seen.to_screen(placed.to_world(pixels))


class Tile:
    """A picture of the static layers, drawn by `render`.

    Parameters
    ----------
    view : View
    points : float
        Pixels per point.
    margin : float
        Fraction of the picture's size drawn beyond each edge.

    Attributes
    ----------
    camera : Camera
    done : bool
        Whether it is complete.
    """

    def __init__(self, view: View, points: float, margin: float = 0.0) -> None:
        width, height = view.camera.size
        size = width + 2 * round(margin * width), height + 2 * round(margin * height)
        self.camera = view.camera.resized(size)
        self.done = False
        self._spent = 0.0
        self._surface = pygame.Surface(size, depth=32)
        self._sprites = SpriteRecorder(self._surface, points)
        self._work = draw_incrementally(self._sprites, replace(view, camera=self.camera), static=True)

    def render(self, seconds: float = math.inf) -> bool:
        """Draw for some time [s], at least one piece; returns whether the tile is complete."""
        began = time.perf_counter()
        for _ in self._work:
            if time.perf_counter() - began >= seconds:
                break
        else:
            self.done = True
        self._spent += time.perf_counter() - began
        return self.done

    @property
    def seconds_per_pixel(self) -> float:
        """Drawing time per pixel [s]."""
        return self._spent / (self.camera.size[0] * self.camera.size[1])

    def has_same_scale(self, camera: Camera) -> bool:
        """Return whether a camera has the same scale and angle."""
        scaled, turned = camera.scale / self.camera.scale - 1.0, camera.angle - self.camera.angle
        return abs(scaled) < TOLERANCE and abs(turned) < TOLERANCE

    def fits(self, camera: Camera, spare: float = 0.0) -> bool:
        """Return whether it covers a camera's picture unscaled, with a fraction of its margin to spare."""
        corner, size = self._corner(camera), np.array(self.camera.size)
        beyond = np.floor(0.5 * spare * (size - camera.size))
        return self.has_same_scale(camera) and bool(
            (corner <= -beyond).all() and (corner + size >= camera.size + beyond).all()
        )

    def coverage(self, camera: Camera) -> float:
        """Fraction of a camera's picture that it covers."""
        whole = self._box_of(camera)
        inside = whole.clip(self._surface.get_rect())
        return inside.width * inside.height / (whole.width * whole.height)

    def show(self, canvas: Canvas, camera: Camera) -> None:
        """Show it from a camera, scaled and rotated if necessary; labels keep their size."""
        if self.has_same_scale(camera):
            canvas.surface.blit(self._surface, self._corner(camera).astype(int).tolist())
        else:
            self._show_scaled(canvas, camera)
        self._sprites.show(canvas, self.camera, camera)

    def _corner(self, camera: Camera) -> Floats:
        """Position of the tile's corner in the picture of a camera of the same scale [pixels]."""
        return np.round(camera.to_screen(self.camera.to_world((0.0, 0.0))))

    def _box_of(self, camera: Camera) -> pygame.Rect:
        """Bounding box of a camera's picture on the tile [pixels]."""
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
            scaling = pygame.transform.smoothscale if size[0] * size[1] <= MAX_SMOOTHED else pygame.transform.scale
            shown = scaling(shown, size)
        turned = math.remainder(camera.angle - self.camera.angle, 2.0 * math.pi)
        if abs(turned) > TOLERANCE:
            shown.set_colorkey(TRANSPARENT)
            shown = pygame.transform.rotate(shown, -math.degrees(turned))
        middle = np.array([box.x + 0.5 * box.width, box.y + 0.5 * box.height])
        corner = np.round(_seen(middle, self.camera, camera) - 0.5 * np.array(shown.get_size()))
        canvas.surface.blit(shown, corner.astype(int).tolist())


def overview_tile(view: View, points: float) -> Tile | None:
    """Start a tile of the whole road at a view's picture size; None without a road."""
    box = None if view.stage.road is None or not view.is_flat else box_of(view.stage.road)
    if box is None:
        return None
    return Tile(replace(view, camera=replace(view.camera, angle=0.0).fitted(*box)), points)
