"""Line styles, distinct by colour and by dashes, and legends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cbsim.palette import SERIES
from cbsim.plot.backend import printable
from cbsim.plot.tracks import ObjectTrack, Run

__all__ = ["LineStyle", "hexadecimal", "legend", "line_styles_of"]

DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1.2, 1.4)), (0, (6, 1.6, 1.2, 1.6)), (0, (10, 2)))
GREYS = ("#000000", "#6e6e6e", "#a8a8a8")
COLUMNS = 4  # columns of a legend at most
HANDLE, LETTER = 16.0, 1.75  # [mm] width of a legend handle and of a character


@dataclass(frozen=True, slots=True)
class LineStyle:
    """Colour, dashes and name of a line."""

    colour: str
    dash: Any
    name: str

    def line(self) -> dict[str, Any]:
        """Return the arguments for matplotlib."""
        return {"color": self.colour, "linestyle": self.dash}


def hexadecimal(colour: tuple[int, int, int]) -> str:
    """Format a colour as ``#rrggbb``.

    >>> hexadecimal((0, 114, 178))
    '#0072b2'
    """
    return "#" + bytes(colour).hex()


def line_styles_of(runs: Sequence[Run], style: str) -> list[tuple[Run, ObjectTrack, LineStyle]]:
    """Assign line styles: colours to objects and dashes to recordings, or both if there is only one of either."""
    names = list(dict.fromkeys(track.body.name for run in runs for track in run.tracks))
    found = []
    for number, run in enumerate(runs):
        for track in run.tracks:
            one = names.index(track.body.name)
            label = _label(run.name, track.body.name, len(runs), len(names))
            found.append((run, track, _line_style(one, number, len(names), len(runs), style, label)))
    return found


def _label(run: str, name: str, runs: int, names: int) -> str:
    if runs == 1:
        return name
    return run if names == 1 else f"{name}, {run}"


def _line_style(one: int, number: int, names: int, runs: int, style: str, label: str) -> LineStyle:
    """Choose a style by the numbers of the object and recording; dashes also vary when colours repeat."""
    if style == "bw":
        both = one * runs + number
        return LineStyle(GREYS[both // len(DASHES) % len(GREYS)], DASHES[both % len(DASHES)], label)
    colour = one if names > 1 else number
    dash = number if names == 1 else one // len(SERIES) * runs + number
    return LineStyle(hexadecimal(SERIES[colour % len(SERIES)]), DASHES[dash % len(DASHES)], label)


def legend(drawn: Any, handles: Sequence[Any], names: Sequence[str]) -> None:
    """Draw a legend below a figure."""
    if not handles:
        return
    marks = [str(k) for k in range(len(handles))]  # matplotlib omits labels that start with an underscore
    columns = int(25.4 * drawn.get_figwidth() / (HANDLE + LETTER * max(map(len, names))))
    columns = max(1, min(COLUMNS, len(handles), columns))
    made = drawn.legend(handles, marks, loc="outside lower center", ncols=columns)
    for text, name in zip(made.get_texts(), names, strict=True):
        text.set_text(printable(name))
