"""`Room`: where something stands in a picture already, so that no label is written over another or under a panel."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pygame

__all__ = ["Room"]


class Room:
    """Room for the labels of one picture.

    Attributes
    ----------
    signs : list of pygame.Rect
        What is written over only where there is no other place: labels of what stands still, the ring of the selected.
    bodies : list of pygame.Rect
        Bodies, which are written over only where there is no place beside them.
    marks : list of pygame.Rect
        What no label may cover, though panels and other marks may.
    """

    def __init__(self) -> None:
        self._taken: list[pygame.Rect] = []
        self.signs: list[pygame.Rect] = []
        self.bodies: list[pygame.Rect] = []
        self.marks: list[pygame.Rect] = []

    @property
    def taken(self) -> list[pygame.Rect]:
        """Boxes that are taken [pixels]."""
        return self._taken

    def is_free(self, pixel: Sequence[float]) -> bool:
        """Tell whether nothing stands at a pixel."""
        return all(not box.collidepoint(pixel[0], pixel[1]) for box in self._taken)

    def block(self, boxes: Iterable[pygame.Rect]) -> None:
        """Keep boxes free of labels, whatever stands there."""
        self._taken.extend(boxes)

    def take(self, box: pygame.Rect, within: pygame.Rect | None = None, clear: Sequence[pygame.Rect] = ()) -> bool:
        """Take a box [pixels], unless something stands there, it reaches beyond another, or it is not clear of some."""
        if box.collidelist(self._taken) >= 0 or box.collidelist(self.marks) >= 0 or box.collidelist(list(clear)) >= 0:
            return False
        if within is not None and not within.contains(box):
            return False
        self._taken.append(box)
        return True
