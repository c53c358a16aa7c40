"""How lines are told apart: by colour and by dashes, so that either alone is enough for a few of them; and legends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cbsim.palette import SERIES
from cbsim.plot.courses import Course, Run
from cbsim.plot.library import plain

__all__ = ["Look", "hexadecimal", "legend", "looks_of"]

DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1.2, 1.4)), (0, (6, 1.6, 1.2, 1.6)), (0, (10, 2)))
GREYS = ("#000000", "#6e6e6e", "#a8a8a8")
COLUMNS = 4  # of a legend, at most
HANDLE, LETTER = 16.0, 1.75  # [mm] what a line in a legend takes, and a letter after it


@dataclass(frozen=True, slots=True)
class Look:
    """Colour, dashes and name of a line."""

    colour: str
    dash: Any
    name: str

    def line(self) -> dict[str, Any]:
        """As matplotlib wants it."""
        return {"color": self.colour, "linestyle": self.dash}


def hexadecimal(colour: tuple[int, int, int]) -> str:
    """Write a colour as ``#rrggbb``.

    >>> hexadecimal((0, 114, 178))
    '#0072b2'
    """
    return "#" + bytes(colour).hex()


def looks_of(runs: Sequence[Run], style: str) -> list[tuple[Run, Course, Look]]:
    """Give each course its look: colours for objects, dashes for recordings; both for whichever there is one of."""
    names = list(dict.fromkeys(course.body.name for run in runs for course in run.courses))
    found = []
    for number, run in enumerate(runs):
        for course in run.courses:
            one = names.index(course.body.name)
            label = _label(run.name, course.body.name, len(runs), len(names))
            found.append((run, course, _look(one, number, len(names), len(runs), style, label)))
    return found


def _label(run: str, name: str, runs: int, names: int) -> str:
    if runs == 1:
        return name
    return run if names == 1 else f"{name}, {run}"


def _look(one: int, number: int, names: int, runs: int, style: str, label: str) -> Look:
    """Choose by the number of the object and of the recording; dashes also tell apart what has run out of colours."""
    if style == "bw":
        both = one * runs + number
        return Look(GREYS[both // len(DASHES) % len(GREYS)], DASHES[both % len(DASHES)], label)
    colour = one if names > 1 else number
    dash = number if names == 1 else one // len(SERIES) * runs + number
    return Look(hexadecimal(SERIES[colour % len(SERIES)]), DASHES[dash % len(DASHES)], label)


def legend(drawn: Any, handles: Sequence[Any], names: Sequence[str]) -> None:
    """Put names of lines below a figure; one alone is named too."""
    if not handles:
        return
    marks = [str(k) for k in range(len(handles))]  # a name with a first underscore would be left out
    columns = int(25.4 * drawn.get_figwidth() / (HANDLE + LETTER * max(map(len, names))))
    columns = max(1, min(COLUMNS, len(handles), columns))
    made = drawn.legend(handles, marks, loc="outside lower center", ncols=columns)
    for text, name in zip(made.get_texts(), names, strict=True):
        text.set_text(plain(name))
