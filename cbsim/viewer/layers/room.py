"""`Room`: where labels stand already, so that none is written over another."""

from __future__ import annotations

from collections.abc import Sequence

import pygame

from cbsim.viewer.canvas import ANCHORS, Canvas, Corner

__all__ = ["Room"]


class Room:
    """Room for labels of one picture."""

    def __init__(self) -> None:
        self._taken: list[pygame.Rect] = []

    def take(self, box: pygame.Rect) -> bool:
        """Take a place [pixels], unless another label stands there."""
        if box.collidelist(self._taken) >= 0:
            return False
        self._taken.append(box)
        return True

    def take_text(self, canvas: Canvas, at: Sequence[float], text: str, size: float, anchor: Corner = "middle") -> bool:
        """Take the place of a line of text, with a little air."""
        width, height = canvas.extent(text, size)
        share = ANCHORS[anchor]
        box = pygame.Rect(round(at[0] - share[0] * width), round(at[1] - share[1] * height), width, height)
        return self.take(box.inflate(round(5 * canvas.points), round(2 * canvas.points)))
