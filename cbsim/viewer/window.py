"""Viewer window, drawn at 60 frames per second until it is closed."""

from __future__ import annotations

import os
from pathlib import Path

import pygame

from cbsim.viewer.drawing.canvas import points_for
from cbsim.viewer.key_repeat import KeyRepeat
from cbsim.viewer.screen import SIZE, open_screen
from cbsim.viewer.session import Session

__all__ = ["Window", "show"]

RATE = 60  # [1/s]


class Window:
    """A session on the screen."""

    def __init__(self, session: Session, title: str, size: tuple[int, int] = SIZE) -> None:
        self.session = session
        self._open(title, size)
        self._clock, self._repeat = pygame.time.Clock(), KeyRepeat()
        session.save_picture, session.draw_fully = self.save, False

    def _open(self, title: str, size: tuple[int, int]) -> None:
        self.surface = open_screen(size)
        pygame.display.set_caption(title)
        pygame.key.set_repeat()  # key repeat is handled by `KeyRepeat`
        if self.session.source.controls:
            self.session.source.controls.open_joysticks()

    def turn(self) -> bool:
        """Handle pending events and draw the next frame; returns False once the window is closed."""
        for event in self._repeat.process(pygame.event.get()):
            self.session.handle(event)
        self.surface = pygame.display.get_surface() or self.surface
        self.session.points = points_for(self.surface.get_height())
        self.session.tick(self._clock.tick(RATE) * 1e-3)
        self.session.draw(self.surface)
        pygame.display.flip()
        return self.session.running

    def save(self) -> str:
        """Save the frame under a free name in the working directory; returns a message."""
        number = 1
        while (path := Path(f"cbsim-{number}.png")).exists():
            number += 1
        self.session.draw(self.surface)  # pending key presses may have changed what is shown
        try:
            pygame.image.save(self.surface, os.fspath(path))
        except (pygame.error, OSError) as reason:
            return f"no picture saved: {reason}"
        return f"saved {path}"

    def close(self) -> None:
        """Close the window."""
        pygame.display.quit()


def show(session: Session, title: str, size: tuple[int, int] = SIZE) -> None:
    """Open a window and run until it is closed."""
    window = Window(session, title, size)
    try:
        while window.turn():
            pass
    finally:
        window.close()
