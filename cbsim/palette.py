"""Colours of pictures, told apart by colour-blind eyes and in print; every colour has a shape or a sign beside it.

Roads are dark and the ground is light; what is drawn on either has a relative luminance of about 0.25, so that its
contrast with both is at least 3:1, as WCAG 2.1 (success criterion 1.4.11) requires of graphical objects. Markings are
light. The report's scripts use the same colours.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = [
    "CHROME",
    "KINDS",
    "MARKINGS",
    "PAINT",
    "SCENE",
    "SERIES",
    "WORDS",
    "Chrome",
    "KindColour",
    "Marking",
    "Paint",
    "Scene",
    "Words",
    "rgb",
]

Colour = tuple[int, int, int]


def rgb(text: str) -> Colour:
    """Read ``#rrggbb``.

    >>> rgb("#0072B2")
    (0, 114, 178)
    """
    red, green, blue = bytes.fromhex(text.removeprefix("#"))
    return red, green, blue


class KindColour(NamedTuple):
    """How bodies of a kind are drawn: what fills them, what they are called, whether they have a front, hatching."""

    fill: Colour
    text: str
    front: bool = False
    hatched: bool = False


class Marking(NamedTuple):
    """How the edge of a lane is drawn: colour, number of lines, lengths of dash and gap [m], none where solid."""

    colour: Colour
    lines: int
    dash: tuple[float, float] | None = None


class Scene(NamedTuple):
    """Colours of what stands still."""

    ground: Colour = rgb("#eef0ea")
    grid: Colour = rgb("#d3d7d0")
    asphalt: Colour = rgb("#2e3238")
    crossing: Colour = rgb("#383d44")
    zone: Colour = rgb("#363b42")
    unmarked: Colour = rgb("#7d858e")
    paint: Colour = rgb("#ffffff")
    ink: Colour = rgb("#18202a")


class Paint(NamedTuple):
    """Colours of what is shown besides the road and the bodies."""

    checkpoint: Colour = rgb("#4c89df")
    goal: Colour = rgb("#da6918")
    route: Colour = rgb("#4c89df")
    trail: Colour = rgb("#9f74dc")
    laser: Colour = rgb("#ec536c")
    beam: Colour = rgb("#cc65a9")
    lost: Colour = rgb("#848a8f")
    plan: Colour = rgb("#119c6d")
    danger: Colour = rgb("#eb574a")
    warning: Colour = rgb("#c07900")
    selected: Colour = rgb("#F0E442")
    measure: Colour = rgb("#9f74dc")
    joint: Colour = rgb("#eb574a")
    glass: Colour = rgb("#dfe8f0")
    tyre: Colour = rgb("#18202a")


class Words(NamedTuple):
    """Colours of text, on white or with a white edge around it: darker than what it names."""

    checkpoint: Colour = rgb("#005580")
    goal: Colour = rgb("#7a3a00")
    passed: Colour = rgb("#005c43")
    danger: Colour = rgb("#9c1b00")
    warning: Colour = rgb("#8a5a00")
    measure: Colour = rgb("#56339b")


class Chrome(NamedTuple):
    """Colours of panels and buttons."""

    panel: Colour = rgb("#ffffff")
    edge: Colour = rgb("#7d8895")
    ink: Colour = rgb("#18202a")
    soft: Colour = rgb("#4a5563")
    accent: Colour = rgb("#0b5cad")
    track: Colour = rgb("#b9c1cb")


SCENE, PAINT, WORDS, CHROME = Scene(), Paint(), Words(), Chrome()

KINDS: dict[str, KindColour] = {
    "autonomous": KindColour(rgb("#5585f0"), "bot", front=True),
    "dynamic": KindColour(rgb("#d76b00"), "traffic", front=True),
    "static": KindColour(rgb("#848a8f"), "static object"),
    "model": KindColour(rgb("#169c59"), "body of a model"),
    "mesh": KindColour(rgb("#cb62b9"), "mesh", hatched=True),
}
"""Kind of body, as a recording's header has it → its colours."""

MARKINGS: dict[str, Marking] = {
    "double_yellow": Marking(rgb("#ffd400"), 2),
    "solid_yellow": Marking(rgb("#ffd400"), 1),
    "solid_white": Marking(rgb("#ffffff"), 1),
    "broken_white": Marking(rgb("#ffffff"), 1, (3.0, 9.0)),
}
"""Boundary of a lane, as the network file has it → how it is drawn."""

SERIES: tuple[Colour, ...] = tuple(
    map(rgb, ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#18202a"))
)
"""Colours of lines in a plot, one after another; yellow is left out, which is not seen on white."""
