"""What a figure is asked for: which objects, which time, how large, in what style; checked before anything is read."""

from __future__ import annotations

import math
from dataclasses import dataclass

from cbsim.errors import UsageError, did_you_mean

__all__ = ["FRAMES", "STYLES", "Wishes", "one_of"]

STYLES = ("colour", "bw")
FRAMES = ("world", "sensor")
SIDES = 20.0, 2000.0  # [mm]


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a figure shows, and how.

    Attributes
    ----------
    objects : tuple of str
        Names; by default those that move, bots first, twelve at most.
    begin, end : float
        Of the time that is shown [s].
    at : tuple of float
        Times at which outlines are drawn, or scans taken [s]; by default outlines at begin and end, and all scans.
    size : tuple of float, optional
        Width and height [mm]; by default what suits the kind.
    style : str
        ``colour``, told apart by colour-blind eyes, or ``bw``, told apart by lines alone.
    sensor : str
        Key of a laser, ``<object>/<conf file stem>``; by default the first one.
    frame : str
        Of scans: ``world`` or ``sensor``.
    title : str
        Above the figure.
    """

    objects: tuple[str, ...] = ()
    begin: float = 0.0
    end: float = math.inf
    at: tuple[float, ...] = ()
    size: tuple[float, float] | None = None
    style: str = "colour"
    sensor: str = ""
    frame: str = "world"
    title: str = ""

    def check(self) -> None:
        """Refuse what makes no figure.

        Raises
        ------
        UsageError
            With what was expected.
        """
        one_of(self.style, STYLES, "style")
        one_of(self.frame, FRAMES, "frame")
        if math.isnan(self.begin) or math.isnan(self.end) or not self.begin < self.end:
            raise UsageError(f"from {self.begin:g} s to {self.end:g} s there is no time")
        for time in self.at:
            if not math.isfinite(time):
                raise UsageError(f"{time} is no time [s]")
        if self.size is not None and not all(SIDES[0] <= side <= SIDES[1] for side in self.size):
            raise UsageError(f"sides are from {SIDES[0]:g} to {SIDES[1]:g} mm, not {self.size[0]:g} x {self.size[1]:g}")


def one_of(word: str, words: tuple[str, ...], what: str) -> str:
    """Return a word that is one of some.

    Raises
    ------
    UsageError
        It is none of them; the message lists them.
    """
    if word not in words:
        hint = did_you_mean(word, words)
        raise UsageError(f"no {what} '{word}'; there is {', '.join(words)}" + (f" ({hint})" if hint else ""))
    return word
