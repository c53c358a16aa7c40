"""References to frames of bodies in Shift files."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ORIGIN", "Reference"]

ORIGIN = "origin"  # the frame that every body has


class Reference(NamedTuple):
    """A frame of a body, as a file names it.

    Attributes
    ----------
    path : tuple of str
        Names of assemblies and, last, of the body; ``("fixed",)`` is the ground.
    frame : str
        Its frame.
    rooted : bool
        Written with colons: from the root of the file first, then from the assembly that it stands in.
    """

    path: tuple[str, ...]
    frame: str = ORIGIN
    rooted: bool = False
