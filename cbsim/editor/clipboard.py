"""Text clipboard of the system, or an internal one where no window is open."""

from __future__ import annotations

import pygame

__all__ = ["get_text", "put_text"]

TEXT = "text/plain;charset=utf-8"
_own = ""


def put_text(text: str) -> None:
    """Put text on the clipboard."""
    global _own  # noqa: PLW0603 - there is one clipboard
    _own = text
    try:
        if hasattr(pygame.scrap, "put_text"):
            pygame.scrap.put_text(text)
        else:  # the original pygame; pygame-ce is its maintained fork
            pygame.scrap.init()
            pygame.scrap.put(TEXT, text.encode())
    except (pygame.error, NotImplementedError):
        pass  # without a window there is only the internal clipboard


def get_text() -> str:
    """Return the first line of the text on the clipboard, or an empty string."""
    found = ""
    try:
        if hasattr(pygame.scrap, "get_text"):
            found = pygame.scrap.get_text()
        else:
            pygame.scrap.init()
            found = (pygame.scrap.get(TEXT) or b"").decode(errors="replace").rstrip("\0")
    except (pygame.error, NotImplementedError):
        pass
    return next(iter((found or _own).splitlines()), "")
