"""Display detection and the program's single window."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pygame

from cbsim.errors import UsageError

__all__ = ["SIZE", "open_screen", "require_screen"]

SIZE = (1280, 800)
UNSEEN = ("offscreen", "dummy")  # drivers that SDL falls back to without a display; they show nothing
INSTEAD = "--screenshot and --video need none"
ASKED = ("SDL_VIDEODRIVER", "SDL_VIDEO_DRIVER")
DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")
NONE = "there is no display"

_opened: list[tuple[int, int]] = []
"""Requested size of the open window [pixels]."""


def require_screen(instead: str = INSTEAD) -> None:
    """Check that a visible display exists; off-screen drivers are used only if the environment selects them.

    Parameters
    ----------
    instead : str
        Alternatives that need no display, for the error message.

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
    """Return whether there can be no display; asking SDL would print to standard error."""
    if not sys.platform.startswith("linux"):
        return False
    return not (any(map(os.environ.get, DISPLAYS)) or Path("/dev/dri").exists())


def open_screen(size: tuple[int, int] = SIZE, instead: str = INSTEAD) -> pygame.Surface:
    """Open a window of a size [pixels]; errors as in `require_screen`.

    An open window that was requested with the same size is reused, even if the user has resized it since.
    """
    require_screen(instead)
    surface = pygame.display.get_surface()
    if surface is not None and _opened == [size]:
        return surface
    if pygame.display.get_driver() == "x11":
        # By default SDL presents software surfaces as OpenGL textures, for which it closes each new X window and opens
        # another. Shared memory needs no second window, and is faster without a graphics card.
        os.environ.setdefault("SDL_FRAMEBUFFER_ACCELERATION", "0")
    try:
        surface = pygame.display.set_mode(size, pygame.RESIZABLE)
    except pygame.error as reason:
        raise UsageError(f"no window can be opened: {reason}; {instead}") from None
    _opened[:] = [size]
    return surface
