"""Plot requests: objects, time span, size and style, validated before anything is read."""

from __future__ import annotations

import math
from dataclasses import dataclass

from cbsim.errors import UsageError, did_you_mean

__all__ = ["FRAMES", "STYLES", "PlotRequest", "one_of"]

STYLES = ("colour", "bw")
FRAMES = ("world", "sensor")
SIDES = 20.0, 2000.0  # [mm]


@dataclass(frozen=True, slots=True)
class PlotRequest:
    """Contents and appearance of a figure.

    Attributes
    ----------
    objects : tuple of str
        Names; by default up to twelve moving objects, egos first.
    begin, end : float
        Time span [s].
    at : tuple of float
        Times of outlines or scans [s]; by default outlines at the begin and end, and all scans.
    size : tuple of float, optional
        Width and height [mm]; by default that of the kind.
    style : str
        ``colour``, safe for colour vision deficiency, or ``bw``, distinguished by dashes.
    sensor : str
        Key of a laser, ``<object>/<conf file stem>``; by default the first one.
    frame : str
        Frame of scans: ``world`` or ``sensor``.
    title : str
        Title above the figure.
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
        """Validate the request.

        Raises
        ------
        UsageError
            If it is invalid; the message says what was expected.
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
    """Return a word if it is one of `words`.

    Raises
    ------
    UsageError
        If it is not; the message lists them.
    """
    if word not in words:
        hint = did_you_mean(word, words)
        raise UsageError(f"no {what} '{word}'; there is {', '.join(words)}" + (f" ({hint})" if hint else ""))
    return word
