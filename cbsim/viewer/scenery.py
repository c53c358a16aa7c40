"""`Scenery`: what stands still is drawn once and kept while the camera only moves; what moves is drawn over it."""

from __future__ import annotations

from cbsim.viewer.camera import Camera
from cbsim.viewer.canvas import Canvas
from cbsim.viewer.layers import LAYERS, draw_layers, ground
from cbsim.viewer.layers.marks import ring_of
from cbsim.viewer.sheet import Sheet, sheet_of_all
from cbsim.viewer.view import View

__all__ = ["Scenery"]

MARGIN = 0.2  # of the picture's size that is drawn beyond each of its edges
SPARE = 0.5  # of the margin: with less of it left, another picture is begun
SLICE = 0.004  # [s] for how long a picture of a window is held up by drawing what stands still
AT_ONCE = 0.006  # [s] what will take less is drawn at once
ENOUGH = 0.3  # of what is seen: with less of it to show in the meantime, the rest is drawn at once
FACTOR = 4.0  # by which pictures are scaled at most


class Scenery:
    """Keeps the picture of the still layers of one source."""

    def __init__(self) -> None:
        self._look: tuple[object, ...] = ()
        self._camera = Camera()
        self._sheet: Sheet | None = None
        self._next: Sheet | None = None
        self._all: Sheet | None = None

    def draw(self, canvas: Canvas, view: View, *others: View, patient: bool = True) -> None:
        """Draw all layers of a view, and over it what moves of others.

        A picture that has to be there soon (not `patient`) shows what stands still scaled and turned from an older one,
        until that has been drawn anew beside a few pictures: at the end of a turn of the wheel at the latest.
        """
        look = self._look_of(canvas, view)
        if look != self._look:
            self._look, self._sheet, self._next, self._all = look, None, None, None
        sheet = self._exact(canvas, view) if patient else self._soon(canvas, view)
        if not sheet.fits(view.camera) and sheet.share(view.camera) < 1.0:
            ground.draw(canvas, view)
            if self._all is not None and self._all.done:
                self._all.show(canvas, view.camera)
        sheet.show(canvas, view.camera)
        self._camera = view.camera
        canvas.room.signs += ring_of(canvas, view)
        draw_layers(canvas, view, *others, still=False)

    @staticmethod
    def _is_quick(sheet: Sheet, camera: Camera) -> bool:
        """Tell whether drawing anew is done in no time, or is all that helps."""
        margin = 1.0 + 2.0 * MARGIN if sheet.is_like(camera) else 1.0
        needed = sheet.pace * camera.size[0] * camera.size[1] * margin**2
        factor = camera.scale / sheet.camera.scale
        return needed < AT_ONCE or not 1.0 / FACTOR < factor < FACTOR or sheet.share(camera) < ENOUGH

    @staticmethod
    def _look_of(canvas: Canvas, view: View) -> tuple[object, ...]:
        shown = tuple(view.looks.shown.get(layer.key, layer.shown) for layer in LAYERS if layer.still)
        return view.stage, canvas.points, view.projection.name, shown

    def _exact(self, canvas: Canvas, view: View) -> Sheet:
        """Show what is seen; while one turns or comes nearer, it will not be of use again, and needs no margin."""
        sheet = self._sheet
        if sheet is None or not sheet.fits(view.camera):
            sheet = Sheet(view, canvas.points, MARGIN if sheet is not None and sheet.is_like(view.camera) else 0.0)
            sheet.go_on()
            self._sheet, self._next = sheet, None
        return sheet

    def _soon(self, canvas: Canvas, view: View) -> Sheet:
        """Show what is seen as far as it can be drawn in a slice of time."""
        sheet, camera = self._sheet, view.camera
        if sheet is None or (not sheet.fits(camera) and self._is_quick(sheet, camera)):
            return self._exact(canvas, view)
        if sheet.fits(camera, SPARE):
            self._next = None
            self._all = self._all or sheet_of_all(view, canvas.points)
            if self._all is not None and not self._all.done:
                self._all.go_on(SLICE)
            return sheet
        resting = camera == self._camera
        if self._next is None or (resting and not self._next.fits(camera)):
            self._next = Sheet(view, canvas.points, MARGIN)
        if self._next.go_on(SLICE):
            sheet = self._sheet = self._next
            self._next = None
        return sheet
