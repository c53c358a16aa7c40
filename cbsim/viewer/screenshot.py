"""Screenshots without a display, rendered in memory with supersampling."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pygame
from numpy.typing import NDArray

from cbsim.errors import UsageError
from cbsim.viewer.session import Session

__all__ = ["SUPERSAMPLING", "pixels_of", "render", "save"]

SUPERSAMPLING = 2  # supersampling factor per axis, for anti-aliasing


def render(session: Session, size: tuple[int, int], points: float = 1.0) -> pygame.Surface:
    """Render a session.

    Parameters
    ----------
    session : Session
    size : tuple of int
        Width and height [pixels].
    points : float
        Pixels per point: 2 to 3 at 4K.
    """
    width, height = size
    if session.camera.size != (SUPERSAMPLING * width, SUPERSAMPLING * height):
        factor = SUPERSAMPLING * width / session.camera.size[0]
        session.camera = session.camera.finer(factor).resized((SUPERSAMPLING * width, SUPERSAMPLING * height))
    session.points, session.transport = SUPERSAMPLING * points, False
    surface = pygame.Surface((SUPERSAMPLING * width, SUPERSAMPLING * height), depth=32)
    session.draw(surface)
    return pygame.transform.smoothscale(surface, size)


def pixels_of(surface: pygame.Surface) -> NDArray[np.uint8]:
    """Return the RGB values (height, width, 3) of a surface."""
    return np.ascontiguousarray(pygame.surfarray.array3d(surface).swapaxes(0, 1))


def save(surface: pygame.Surface, path: str | Path) -> None:
    """Write a picture in the format given by the file's suffix.

    Raises
    ------
    UsageError
        If the suffix is unknown or the file cannot be written.
    """
    target = Path(path)
    if target.suffix.lower() not in {".png", ".jpg", ".jpeg", ".bmp"}:
        raise UsageError(f"'{path}' is no name of a picture: it should end in .png")
    try:
        with target.open("wb") as stream:
            pygame.image.save(surface, stream, target.name)
    except (pygame.error, OSError) as reason:
        said = getattr(reason, "strerror", None) or reason
        raise UsageError(f"cannot write '{path}': {said}") from None
