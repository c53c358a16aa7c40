"""The window: sixty pictures a second of a session, until it is closed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pygame

from cbsim.errors import UsageError
from cbsim.viewer.canvas import points_for
from cbsim.viewer.repeat import Repeat
from cbsim.viewer.session import Session

__all__ = ["SIZE", "Window", "open_screen", "require_screen", "show"]

SIZE = (1280, 800)
RATE = 60  # [1/s]
UNSEEN = ("offscreen", "dummy")  # drivers that SDL takes where it finds no display, and that show nothing
INSTEAD = "--screenshot and --video need none"
ASKED = ("SDL_VIDEODRIVER", "SDL_VIDEO_DRIVER")
DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")
NONE = "there is no display"


def require_screen(instead: str = INSTEAD) -> None:
    """Find a display that somebody can see; a driver without a screen only serves where the environment names it.

    Parameters
    ----------
    instead : str
        What needs no display, to tell where there is none.

    Raises
    ------
    UsageError
        If there is no display.
    """
    asked = any(map(os.environ.get, ASKED))
    try:
        if not asked and _is_bare():
            raise pygame.error(NONE)
        pygame.display.init()
        if not asked and pygame.display.get_driver() in UNSEEN:
            pygame.display.quit()
            raise pygame.error(NONE)
    except pygame.error as reason:
        raise UsageError(f"no window can be opened: {reason}; {instead}") from None


def _is_bare() -> bool:
    """Tell whether there can be no display: SDL would look for one, and print what it misses on the way."""
    if not sys.platform.startswith("linux"):
        return False
    return not (any(map(os.environ.get, DISPLAYS)) or Path("/dev/dri").exists())


def open_screen(size: tuple[int, int], instead: str = INSTEAD) -> pygame.Surface:
    """Open a window of a size [pixels] that somebody can see; otherwise as `require_screen`."""
    require_screen(instead)
    try:
        return pygame.display.set_mode(size, pygame.RESIZABLE)
    except pygame.error as reason:
        raise UsageError(f"no window can be opened: {reason}; {instead}") from None


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
