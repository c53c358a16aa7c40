"""`Repeat`: a key that is held down does its work again and again, but not because a picture took long.

SDL's timer repeats a key in the background while a program is busy, though the key has long been let go: a run that
takes a second to start would be left at once by the key that starts it. Here a key counts as held only if its release
has not come by the time that all events have been looked at.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import pygame

__all__ = ["Repeat"]

DELAY, EVERY = 0.3, 0.04  # [s] until a key is repeated, and then from one time to the next
PICTURES = 18  # that a key is held for at least: where everything is slow, so is the hand that lets it go
HELD = {
    pygame.K_LSHIFT, pygame.K_RSHIFT, pygame.K_LCTRL, pygame.K_RCTRL, pygame.K_LALT, pygame.K_RALT, pygame.K_LMETA,
    pygame.K_RMETA,
}  # fmt: skip


class Repeat:
    """What keys a window's events leave held.

    Parameters
    ----------
    clock : callable
        Tells the time [s].
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._held: pygame.event.Event | None = None
        self._due, self._pictures = 0.0, 0

    def after(self, events: Iterable[pygame.event.Event]) -> list[pygame.event.Event]:
        """Take all events of a picture; gives them, and after them the key that is held where it is time for it."""
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
