"""Mouse interaction: pan, zoom, rotate, select, measure and operate widgets."""

from __future__ import annotations

import math
import time

import numpy as np
import pygame

from cbsim.viewer.panels import Panels
from cbsim.viewer.pick import body_at
from cbsim.viewer.session_state import SessionState
from cbsim.viewer.widgets import Button, Widget, press

__all__ = ["Mouse"]

NOTCH = 1.15  # zoom factor per notch of the wheel
STILL = 4.0  # [points] a press that moves less is a click
DOUBLE = 0.4  # [s] time between the clicks of a double click


class Mouse:
    """Mouse state of a session."""

    def __init__(self, session: SessionState, panels: Panels) -> None:
        self.session, self._panels = session, panels
        self._held: Widget | None = None
        self._pressed: tuple[int, tuple[int, int]] | None = None
        self._moved, self._last = False, (0, 0)
        self._clicked = (-DOUBLE, -1)

    def handle(self, event: pygame.event.Event) -> None:
        """Handle an event."""
        if event.type == pygame.MOUSEBUTTONDOWN and event.button in {1, 2, 3}:
            self._press(event.button, event.pos)
        elif event.type == pygame.MOUSEMOTION:
            self._move(event)
        elif event.type == pygame.MOUSEBUTTONUP and event.button in {1, 2, 3}:
            self._release(event.pos)
        elif event.type == pygame.MOUSEWHEEL:
            notches = getattr(event, "precise_y", 0.0) or float(event.y)
            at = self.session.hover if self.session.hover[0] >= 0 else None
            at = None if self.session.following else at
            self.session.camera = self.session.camera.zoomed(NOTCH**notches, at)

    def _press(self, button: int, pixel: tuple[int, int]) -> None:
        self.session.hover = pixel
        self._held = press(self._panels.widgets, pixel) if button == 1 else None
        if isinstance(self._held, Button):
            self._held.callback()
        elif self._held is not None:
            self._held.drag(pixel)
        else:
            self._pressed, self._moved = (button, pixel), False

    def _move(self, event: pygame.event.Event) -> None:
        session = self.session
        session.hover = event.pos
        if self._held is not None:
            self._held.drag(event.pos)
            return
        if self._pressed is None:
            return
        button, start = self._pressed
        if not self._moved and math.dist(start, event.pos) < STILL * session.points:
            return
        before = self._last if self._moved else start
        self._moved, self._last = True, event.pos
        if button == 1:
            session.following = False
            session.camera = session.camera.panned(event.pos[0] - before[0], event.pos[1] - before[1])
        else:
            middle = 0.5 * np.asarray(session.camera.size)
            one, other = np.asarray(before) - middle, np.asarray(event.pos) - middle
            angle = math.atan2(float(other[1]), float(other[0])) - math.atan2(float(one[1]), float(one[0]))
            session.camera = session.camera.turned(angle)

    def _release(self, pixel: tuple[int, int]) -> None:
        if self._held is None and self._pressed is not None and not self._moved and self._pressed[0] == 1:
            self._click(pixel)
        self._held, self._pressed = None, None

    def _click(self, pixel: tuple[int, int]) -> None:
        session = self.session
        if session.measuring:
            x, y = session.camera.to_world(pixel).tolist()
            session.options.measure.append((x, y))
            return
        row, now = body_at(session.view(), pixel, session.points), time.monotonic()
        session.options.selected = row
        if row is None:
            session.following = False
        elif now - self._clicked[0] < DOUBLE and self._clicked[1] == row:
            session.following = True
        self._clicked = now, -1 if row is None else row
