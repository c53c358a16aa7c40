"""Key repeat that does not depend on the frame rate.

SDL's timer repeats a held key even while the program is busy and the key has long been released, so a run that takes a
second to start could be left by the very key press that started it. Here a key counts as held only if its release has
not arrived once all pending events are processed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import pygame

__all__ = ["KeyRepeat"]

DELAY, EVERY = 0.3, 0.04  # [s] delay before the first repetition, and period of the following ones
PICTURES = 18  # frames for which a key must be held: on a slow display, releases arrive late as well
HELD = {
    pygame.K_LSHIFT, pygame.K_RSHIFT, pygame.K_LCTRL, pygame.K_RCTRL, pygame.K_LALT, pygame.K_RALT, pygame.K_LMETA,
    pygame.K_RMETA,
}  # fmt: skip


class KeyRepeat:
    """Tracks the held key of a window.

    Parameters
    ----------
    clock : callable
        Returns the current time [s].
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._held: pygame.event.Event | None = None
        self._due, self._pictures = 0.0, 0

    def process(self, events: Iterable[pygame.event.Event]) -> list[pygame.event.Event]:
        """Process the events of one frame; returns them, followed by a repeated key press if one is due."""
        taken, now = list(events), self._clock()
        self._pictures += 1
        for event in taken:
            if event.type == pygame.KEYDOWN:
                self._held, self._due, self._pictures = event, now + DELAY, 0
            elif event.type == pygame.KEYUP and self._held is not None and event.key in {self._held.key, *HELD}:
                self._held = None
        if self._held is not None and now >= self._due and self._pictures >= PICTURES:
            taken.append(pygame.event.Event(pygame.KEYDOWN, self._held.dict))
            self._due = now + EVERY
        return taken
