"""A snake whose joints turn about x, y and z by turns."""

from __future__ import annotations

from typing import Any

from cbsim.multibody.gallery.snake import snake
from cbsim.multibody.mechanism import Mechanism

__all__ = ["twister"]


def twister(links: int = 5, **parameters: Any) -> Mechanism:
    """Build a `snake` of five links with the axes of its joints by turns; parameters are the snake's.

    Parameters
    ----------
    links : int
        How many.
    **parameters
        As of `snake`.
    """
    return snake(links, twisted=True, **parameters)
