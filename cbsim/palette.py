"""Colours of pictures, told apart by colour-blind eyes and in print; every colour has a shape or a sign beside it.

Source: Okabe and Ito, "Color Universal Design", 2008, for the hues; the report's scripts use the same ones.
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
    "Chrome",
    "KindColour",
    "Marking",
    "Paint",
    "Scene",
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

    ground: Colour = rgb("#eceee8")
    grid: Colour = rgb("#d3d7d0")
    asphalt: Colour = rgb("#8d949c")
    crossing: Colour = rgb("#a3a9b0")
    zone: Colour = rgb("#c3c8cc")
    unmarked: Colour = rgb("#737a82")
    paint: Colour = rgb("#ffffff")
    ink: Colour = rgb("#18202a")


class Paint(NamedTuple):
    """Colours of what is shown besides the road and the bodies."""

    checkpoint: Colour = rgb("#005580")
    goal: Colour = rgb("#7a3a00")
    route: Colour = rgb("#0072B2")
    trail: Colour = rgb("#18202a")
    laser: Colour = rgb("#b3003c")
    beam: Colour = rgb("#CC79A7")
    lost: Colour = rgb("#e3d3dc")
    plan: Colour = rgb("#005c43")
    danger: Colour = rgb("#9c1b00")
    warning: Colour = rgb("#8a5a00")
    selected: Colour = rgb("#F0E442")
    measure: Colour = rgb("#56339b")
    joint: Colour = rgb("#9c1b00")
    glass: Colour = rgb("#dfe8f0")
    tyre: Colour = rgb("#18202a")


class Chrome(NamedTuple):
    """Colours of panels and buttons."""

    panel: Colour = rgb("#ffffff")
    edge: Colour = rgb("#7d8895")
    ink: Colour = rgb("#18202a")
    soft: Colour = rgb("#4a5563")
    accent: Colour = rgb("#0b5cad")
    track: Colour = rgb("#b9c1cb")


SCENE, PAINT, CHROME = Scene(), Paint(), Chrome()

KINDS: dict[str, KindColour] = {
    "autonomous": KindColour(rgb("#0072B2"), "bot", front=True),
    "dynamic": KindColour(rgb("#E69F00"), "traffic", front=True),
    "static": KindColour(rgb("#5a6068"), "static object"),
    "model": KindColour(rgb("#009E73"), "body of a model"),
    "mesh": KindColour(rgb("#CC79A7"), "mesh", hatched=True),
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
