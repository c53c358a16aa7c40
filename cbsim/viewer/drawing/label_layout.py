"""Label layout: rectangles of the picture that labels must keep clear of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pygame

__all__ = ["LabelLayout"]


class LabelLayout:
    """Space taken by labels, bodies and panels in one picture.

    Attributes
    ----------
    fixed_labels : list of pygame.Rect
        Static labels and the selection ring: covered only if there is no other free position.
    bodies : list of pygame.Rect
        Bodies: covered only if there is no free position beside them.
    event_boxes : list of pygame.Rect
        Symbols of events: never covered by a label, but panels and other symbols may cover them.
    """

    def __init__(self) -> None:
        self._taken: list[pygame.Rect] = []
        self.fixed_labels: list[pygame.Rect] = []
        self.bodies: list[pygame.Rect] = []
        self.event_boxes: list[pygame.Rect] = []

    @property
    def taken(self) -> list[pygame.Rect]:
        """Occupied rectangles [pixels]."""
        return self._taken

    def is_free(self, pixel: Sequence[float]) -> bool:
        """Return whether a pixel is free."""
        return all(not box.collidepoint(pixel[0], pixel[1]) for box in self._taken)

    def block(self, boxes: Iterable[pygame.Rect]) -> None:
        """Reserve rectangles unconditionally."""
        self._taken.extend(boxes)

    def take(self, box: pygame.Rect, within: pygame.Rect | None = None, clear: Sequence[pygame.Rect] = ()) -> bool:
        """Reserve a rectangle [pixels]; False if it overlaps an occupied one or `clear`, or exceeds `within`."""
        if (
            box.collidelist(self._taken) >= 0
            or box.collidelist(self.event_boxes) >= 0
            or box.collidelist(list(clear)) >= 0
        ):
            return False
        if within is not None and not within.contains(box):
            return False
        self._taken.append(box)
        return True
