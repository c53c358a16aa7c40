"""Editor window, drawn at 60 frames per second until it is closed."""

from __future__ import annotations

import pygame

from cbsim.editor.session import Session
from cbsim.viewer.key_repeat import KeyRepeat
from cbsim.viewer.progress_window import run_with_progress
from cbsim.viewer.screen import SIZE, open_screen

__all__ = ["INSTEAD", "Window", "render", "show"]

INSTEAD = "--screenshot, 'cbsim check' and 'convert' need none"

RATE = 60  # [1/s]


class Window:
    """A session on the screen."""

    def __init__(self, session: Session, size: tuple[int, int] = SIZE) -> None:
        self.session = session
        session.draw_fully, session.run_with_progress = False, run_with_progress
        self.surface = open_screen(size, INSTEAD)
        pygame.key.set_repeat()  # key repeat is handled by `KeyRepeat`
        self._clock, self._repeat = pygame.time.Clock(), KeyRepeat()
        self._title = ""

    def turn(self) -> bool:
        """Handle pending events and draw the next frame; returns False once the window is closed."""
        for event in self._repeat.process(pygame.event.get()):
            self.session.handle(event)
        self.surface = pygame.display.get_surface() or self.surface
        self.session.tick(self._clock.tick(RATE) * 1e-3)
        self.session.draw(self.surface)
        title = f"{self.session.document.path.name}{' *' if self.session.store.dirty else ''} - cbsim edit"
        if title != self._title:
            pygame.display.set_caption(title)
            self._title = title
        pygame.display.flip()
        return self.session.running

    def close(self) -> None:
        """Close the window."""
        pygame.display.quit()


def show(session: Session, size: tuple[int, int] = SIZE) -> None:
    """Open a window and run until it is closed."""
    window = Window(session, size)
    try:
        while window.turn():
            pass
    finally:
        session.store.keep()
        session.store.autosave.release()
        window.close()


def render(session: Session, size: tuple[int, int] = SIZE) -> pygame.Surface:
    """Render a session without a display."""
    surface = pygame.Surface(size)
    session.camera = session.camera.resized(size)
    session.fit()
    session.draw(surface)
    return surface
