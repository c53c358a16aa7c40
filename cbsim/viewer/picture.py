"""Pictures without a screen: a session drawn on a surface in memory, with finer pixels than it is saved with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pygame
from numpy.typing import NDArray

from cbsim.errors import UsageError
from cbsim.viewer.session import Session

__all__ = ["FINER", "picture", "pixels_of", "save"]

FINER = 2  # as many pixels each way are drawn and then mixed: edges are smooth


def picture(session: Session, size: tuple[int, int], points: float = 1.0) -> pygame.Surface:
    """Draw what a session shows.

    Parameters
    ----------
    session : Session
    size : tuple of int
        Width and height [pixels].
    points : float
        Pixels in a point: 2 to 3 at 4K.
    """
    width, height = size
    if session.camera.size != (FINER * width, FINER * height):
        factor = FINER * width / session.camera.size[0]
        session.camera = session.camera.finer(factor).resized((FINER * width, FINER * height))
    session.points, session.transport = FINER * points, False
    surface = pygame.Surface((FINER * width, FINER * height), depth=32)
    session.draw(surface)
    return pygame.transform.smoothscale(surface, size)


def pixels_of(surface: pygame.Surface) -> NDArray[np.uint8]:
    """Red, green and blue (height, width, 3)."""
    return np.ascontiguousarray(pygame.surfarray.array3d(surface).swapaxes(0, 1))


def save(surface: pygame.Surface, path: str | Path) -> None:
    """Write a picture, in the format that the name's ending says.

    Raises
    ------
    UsageError
        If it cannot be written.
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
