"""Widgets: buttons and sliders operated with the mouse."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import pygame

from cbsim.palette import CHROME, PAINT
from cbsim.viewer.drawing.canvas import Canvas

__all__ = ["Button", "Slider", "Widget", "press"]


class Widget(Protocol):
    """An element that reacts to the mouse."""

    box: pygame.Rect

    def draw(self, canvas: Canvas) -> None:
        """Draw the widget."""

    def drag(self, pixel: tuple[int, int]) -> None:
        """Handle the mouse at a pixel with its button held."""


def press(widgets: Sequence[Widget], pixel: tuple[int, int]) -> Widget | None:
    """Return the topmost widget at a pixel, or None."""
    return next((widget for widget in reversed(widgets) if widget.box.collidepoint(pixel)), None)


@dataclass
class Button:
    """A push button."""

    label: Callable[[], str]
    callback: Callable[[], None]
    box: pygame.Rect = field(default_factory=lambda: pygame.Rect(0, 0, 0, 0))

    def draw(self, canvas: Canvas) -> None:
        """Draw the button with its label."""
        canvas.panel(self.box, alpha=0.95)
        canvas.text(self.box.center, self.label(), CHROME.ink, 17)

    def drag(self, _pixel: tuple[int, int]) -> None:
        """Do nothing: a button does not follow the mouse."""


@dataclass
class Slider:
    """A slider with tick marks.

    Attributes
    ----------
    low, high, value : callable
        Return the bounds and the current value.
    set_value : callable
        Called with the new value.
    label : callable
        Returns the text beside the slider.
    marks : callable
        Returns the values of the tick marks.
    limit : callable
        Returns the largest value that can be chosen; the rest of the track is dashed.
    """

    low: Callable[[], float]
    high: Callable[[], float]
    value: Callable[[], float]
    set_value: Callable[[float], None]
    label: Callable[[], str]
    marks: Callable[[], Sequence[float]] = tuple
    limit: Callable[[], float] = lambda: math.inf
    box: pygame.Rect = field(default_factory=lambda: pygame.Rect(0, 0, 0, 0))
    label_width: float = 110.0  # [points] space for the label

    def _span(self, points: float) -> tuple[float, float]:
        return self.box.x + 12.0 * points, self.box.right - (self.label_width + 12.0) * points

    def draw(self, canvas: Canvas) -> None:
        """Draw the track, the filled part, the tick marks and the knob."""
        points = canvas.points
        self._points = points
        canvas.panel(self.box, alpha=0.95)
        left, right = self._span(points)
        y, span = self.box.centery, max(self.high() - self.low(), 1e-12)

        def at(value: float) -> float:
            return left + (right - left) * min(max((value - self.low()) / span, 0.0), 1.0)

        limit = at(self.limit())
        canvas.line([(left, y), (limit, y)], CHROME.track, 4.0)
        if limit < right:
            canvas.dashes([(limit, y), (right, y)], CHROME.track, 2.0 * points, 3.0 * points, 5.0 * points)
        if not math.isnan(self.value()):
            canvas.line([(at(0.0), y), (at(self.value()), y)], CHROME.accent, 4.0)
        for x in {round(at(mark)) for mark in self.marks()}:
            strip = (x, round(y - 8 * points), max(1, round(2 * points)), round(16 * points))
            canvas.surface.fill(PAINT.danger, strip)
        if not math.isnan(self.value()):
            canvas.disc((at(self.value()), y), 7.0 * points, CHROME.panel, CHROME.accent, 2.5)
        canvas.text((self.box.right - 10.0 * points, y), self.label(), CHROME.ink, 16, anchor="right")

    def drag(self, pixel: tuple[int, int]) -> None:
        """Set the value at the mouse position."""
        left, right = self._span(self._points)
        share = (pixel[0] - left) / max(right - left, 1.0)
        self.set_value(self.low() + (self.high() - self.low()) * min(max(share, 0.0), 1.0))

    _points: float = 1.0
