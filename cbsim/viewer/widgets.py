"""Widgets: buttons and sliders on a canvas, worked with a mouse."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import pygame

from cbsim.palette import CHROME, PAINT
from cbsim.viewer.canvas import Canvas

__all__ = ["Button", "Slider", "Widget", "press"]


class Widget(Protocol):
    """Something on the screen that a mouse works."""

    box: pygame.Rect

    def draw(self, canvas: Canvas) -> None:
        """Draw it."""

    def drag(self, pixel: tuple[int, int]) -> None:
        """Take the mouse at a pixel with its button down: pressed there, or moved there since."""


def press(widgets: Sequence[Widget], pixel: tuple[int, int]) -> Widget | None:
    """Find the widget at a pixel, the last first."""
    return next((widget for widget in reversed(widgets) if widget.box.collidepoint(pixel)), None)


@dataclass
class Button:
    """A button: it does something once when it is pressed."""

    said: Callable[[], str]
    act: Callable[[], None]
    box: pygame.Rect = field(default_factory=lambda: pygame.Rect(0, 0, 0, 0))

    def draw(self, canvas: Canvas) -> None:
        """Draw it with what it says."""
        canvas.panel(self.box, alpha=0.95)
        canvas.text(self.box.center, self.said(), CHROME.ink, 17)

    def drag(self, _pixel: tuple[int, int]) -> None:
        """Nothing follows the mouse."""


@dataclass
class Slider:
    """A number between two bounds, with marks along its way.

    Attributes
    ----------
    low, high, value : callable
        Give the bounds and the number.
    put : callable
        Takes a new one.
    said : callable
        Says the number.
    marks : callable
        Numbers along the way that are worth a look.
    known : callable
        Up to where a number can be put; what lies beyond is drawn in dashes.
    """

    low: Callable[[], float]
    high: Callable[[], float]
    value: Callable[[], float]
    put: Callable[[float], None]
    said: Callable[[], str]
    marks: Callable[[], Sequence[float]] = tuple
    known: Callable[[], float] = lambda: math.inf
    box: pygame.Rect = field(default_factory=lambda: pygame.Rect(0, 0, 0, 0))
    wide: float = 110.0  # [points] room for what it says

    def _way(self, points: float) -> tuple[float, float]:
        return self.box.x + 12.0 * points, self.box.right - (self.wide + 12.0) * points

    def draw(self, canvas: Canvas) -> None:
        """Draw the way, the part before the number, the marks and the knob."""
        points = canvas.points
        self._points = points
        canvas.panel(self.box, alpha=0.95)
        left, right = self._way(points)
        y, span = self.box.centery, max(self.high() - self.low(), 1e-12)

        def at(value: float) -> float:
            return left + (right - left) * min(max((value - self.low()) / span, 0.0), 1.0)

        known = at(self.known())
        canvas.line([(left, y), (known, y)], CHROME.track, 4.0)
        if known < right:
            canvas.dashes([(known, y), (right, y)], CHROME.track, 2.0 * points, 3.0 * points, 5.0 * points)
        if not math.isnan(self.value()):
            canvas.line([(at(0.0), y), (at(self.value()), y)], CHROME.accent, 4.0)
        for x in {round(at(mark)) for mark in self.marks()}:
            strip = (x, round(y - 8 * points), max(1, round(2 * points)), round(16 * points))
            canvas.surface.fill(PAINT.danger, strip)
        if not math.isnan(self.value()):
            canvas.disc((at(self.value()), y), 7.0 * points, CHROME.panel, CHROME.accent, 2.5)
        canvas.text((self.box.right - 10.0 * points, y), self.said(), CHROME.ink, 16, anchor="right")

    def drag(self, pixel: tuple[int, int]) -> None:
        """Put the number that stands below the mouse."""
        left, right = self._way(self._points)
        share = (pixel[0] - left) / max(right - left, 1.0)
        self.put(self.low() + (self.high() - self.low()) * min(max(share, 0.0), 1.0))

    _points: float = 1.0
