"""Cache of the static layers, redrawn progressively while the camera moves."""

from __future__ import annotations

from cbsim.viewer.drawing.camera import Camera
from cbsim.viewer.drawing.canvas import Canvas
from cbsim.viewer.layers import LAYERS, draw_layers, ground
from cbsim.viewer.layers.events import ring_of
from cbsim.viewer.tile_cache import Tile, overview_tile
from cbsim.viewer.view import View

__all__ = ["StaticLayerCache"]

MARGIN = 0.2  # fraction of the picture's size drawn beyond each edge
SPARE_MARGIN = 0.5  # fraction of the margin below which a new tile is started
TIME_SLICE = 0.004  # [s] drawing time of static layers per frame of a window
IMMEDIATE = 0.006  # [s] expected drawing time up to which a tile is drawn at once
MIN_COVERAGE = 0.3  # covered fraction of the picture below which a tile is drawn at once
MAX_SCALING = 4.0  # largest scaling of an outdated tile


class StaticLayerCache:
    """Cached tiles of the static layers of one source."""

    def __init__(self) -> None:
        self._key: tuple[object, ...] = ()
        self._camera = Camera()
        self._tile: Tile | None = None
        self._next_tile: Tile | None = None
        self._overview: Tile | None = None

    def draw(self, canvas: Canvas, view: View, *others: View, draw_fully: bool = True) -> None:
        """Draw all layers of a view, and the dynamic layers of other views over it.

        Without `draw_fully`, static layers are shown from an outdated tile, scaled and rotated, until a new tile
        has been drawn over a few frames.
        """
        key = self._cache_key(canvas, view)
        if key != self._key:
            self._key, self._tile, self._next_tile, self._overview = key, None, None, None
        tile = self._complete(canvas, view) if draw_fully else self._progressive(canvas, view)
        if not tile.fits(view.camera) and tile.coverage(view.camera) < 1.0:
            ground.draw(canvas, view)
            if self._overview is not None and self._overview.done:
                self._overview.show(canvas, view.camera)
        tile.show(canvas, view.camera)
        self._camera = view.camera
        canvas.layout.fixed_labels += ring_of(canvas, view)
        draw_layers(canvas, view, *others, static=False)

    @staticmethod
    def _is_quick(tile: Tile, camera: Camera) -> bool:
        """Return whether a new tile is fast to draw, or the old one is of no use."""
        margin = 1.0 + 2.0 * MARGIN if tile.has_same_scale(camera) else 1.0
        needed = tile.seconds_per_pixel * camera.size[0] * camera.size[1] * margin**2
        factor = camera.scale / tile.camera.scale
        return (
            needed < IMMEDIATE or not 1.0 / MAX_SCALING < factor < MAX_SCALING or tile.coverage(camera) < MIN_COVERAGE
        )

    @staticmethod
    def _cache_key(canvas: Canvas, view: View) -> tuple[object, ...]:
        shown = tuple(view.options.shown.get(layer.key, layer.shown) for layer in LAYERS if layer.static)
        return view.stage, canvas.points, view.projection.name, shown

    def _complete(self, canvas: Canvas, view: View) -> Tile:
        """Return an up-to-date tile, without a margin while the scale or angle changes."""
        tile = self._tile
        if tile is None or not tile.fits(view.camera):
            tile = Tile(view, canvas.points, MARGIN if tile is not None and tile.has_same_scale(view.camera) else 0.0)
            tile.render()
            self._tile, self._next_tile = tile, None
        return tile

    def _progressive(self, canvas: Canvas, view: View) -> Tile:
        """Return the best available tile, spending at most a time slice on drawing."""
        tile, camera = self._tile, view.camera
        if tile is None or (not tile.fits(camera) and self._is_quick(tile, camera)):
            return self._complete(canvas, view)
        if tile.fits(camera, SPARE_MARGIN):
            self._next_tile = None
            self._overview = self._overview or overview_tile(view, canvas.points)
            if self._overview is not None and not self._overview.done:
                self._overview.render(TIME_SLICE)
            return tile
        resting = camera == self._camera
        if self._next_tile is None or (resting and not self._next_tile.fits(camera)):
            self._next_tile = Tile(view, canvas.points, MARGIN)
        if self._next_tile.render(TIME_SLICE):
            tile = self._tile = self._next_tile
            self._next_tile = None
        return tile
