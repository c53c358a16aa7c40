"""The screen: whether there is one, and the one window on it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pygame

from cbsim.errors import UsageError

__all__ = ["SIZE", "open_screen", "require_screen"]

SIZE = (1280, 800)
UNSEEN = ("offscreen", "dummy")  # drivers that SDL takes where it finds no display, and that show nothing
INSTEAD = "--screenshot and --video need none"
ASKED = ("SDL_VIDEODRIVER", "SDL_VIDEO_DRIVER")
DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")
NONE = "there is no display"

_opened: list[tuple[int, int]] = []
"""The size that the open window was asked for with [pixels]."""


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


def open_screen(size: tuple[int, int] = SIZE, instead: str = INSTEAD) -> pygame.Surface:
    """Open a window of a size [pixels] that somebody can see; otherwise as `require_screen`.

    A window that was opened with this size and is still open is kept, even if the user has resized it since.
    """
    require_screen(instead)
    surface = pygame.display.get_surface()
    if surface is not None and _opened == [size]:
        return surface
    if pygame.display.get_driver() == "x11":
        # By default SDL shows pictures of pixels as OpenGL textures, for which it closes each new X window and opens
        # another one. Shared memory needs no second window, and is faster where no graphics card draws.
        os.environ.setdefault("SDL_FRAMEBUFFER_ACCELERATION", "0")
    try:
        surface = pygame.display.set_mode(size, pygame.RESIZABLE)
    except pygame.error as reason:
        raise UsageError(f"no window can be opened: {reason}; {instead}") from None
    _opened[:] = [size]
    return surface
