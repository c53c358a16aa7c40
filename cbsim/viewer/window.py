"""The window: sixty pictures a second of a session, until it is closed."""

from __future__ import annotations

import os
from pathlib import Path

import pygame

from cbsim.viewer.canvas import points_for
from cbsim.viewer.repeat import Repeat
from cbsim.viewer.screen import SIZE, open_screen
from cbsim.viewer.session import Session

__all__ = ["Window", "show"]

RATE = 60  # [1/s]


class Window:
    """A session on the screen."""

    def __init__(self, session: Session, title: str, size: tuple[int, int] = SIZE) -> None:
        self.session = session
        self._open(title, size)
        self._clock, self._repeat = pygame.time.Clock(), Repeat()
        session.save_picture, session.patient = self.save, False

    def _open(self, title: str, size: tuple[int, int]) -> None:
        self.surface = open_screen(size)
        pygame.display.set_caption(title)
        pygame.key.set_repeat()  # not by SDL
        if self.session.source.controls:
            self.session.source.controls.open_sticks()

    def turn(self) -> bool:
        """Take what has happened, and show the next picture; False once the window is closed."""
        for event in self._repeat.after(pygame.event.get()):
            self.session.handle(event)
        self.surface = pygame.display.get_surface() or self.surface
        self.session.points = points_for(self.surface.get_height())
        self.session.tick(self._clock.tick(RATE) * 1e-3)
        self.session.draw(self.surface)
        pygame.display.flip()
        return self.session.running

    def save(self) -> str:
        """Save the picture in the working directory under a name that is free; says where."""
        number = 1
        while (path := Path(f"cbsim-{number}.png")).exists():
            number += 1
        self.session.draw(self.surface)  # keys that came together have changed what is shown, or it is not drawn yet
        try:
            pygame.image.save(self.surface, os.fspath(path))
        except (pygame.error, OSError) as reason:
            return f"no picture saved: {reason}"
        return f"saved {path}"

    def close(self) -> None:
        """Close it."""
        pygame.display.quit()


def show(session: Session, title: str, size: tuple[int, int] = SIZE) -> None:
    """Open a window, and stay until it is closed."""
    window = Window(session, title, size)
    try:
        while window.turn():
            pass
    finally:
        window.close()
