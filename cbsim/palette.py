"""Colour palette, distinguishable with colour vision deficiency and in print; shapes repeat what colours say.

Roads are dark and the ground is light. Objects drawn on either have a relative luminance of about 0.25, so that their
contrast with both is at least 3:1 as WCAG 2.1 (success criterion 1.4.11) requires of graphical objects. Markings are
light. The scripts of the report use the same colours.
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
    """Appearance of a kind of body: fill colour, name, whether it has a front, hatching."""

    fill: Colour
    text: str
    front: bool = False
    hatched: bool = False


class Marking(NamedTuple):
    """Appearance of a lane marking: colour, number of lines, lengths of dash and gap [m] or None if solid."""

    colour: Colour
    lines: int
    dash: tuple[float, float] | None = None


class Scene(NamedTuple):
    """Colours of static scenery."""

    ground: Colour = rgb("#eef0ea")
    grid: Colour = rgb("#d3d7d0")
    asphalt: Colour = rgb("#2e3238")
    crossing: Colour = rgb("#383d44")
    zone: Colour = rgb("#363b42")
    unmarked: Colour = rgb("#7d858e")
    paint: Colour = rgb("#ffffff")
    ink: Colour = rgb("#18202a")


class Paint(NamedTuple):
    """Colours of overlays on the road and bodies."""

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
    """Colours of text on white or with a white halo: darker than the objects they label."""

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
"""Kind of body in a recording's header → its appearance."""

MARKINGS: dict[str, Marking] = {
    "double_yellow": Marking(rgb("#ffd400"), 2),
    "solid_yellow": Marking(rgb("#ffd400"), 1),
    "solid_white": Marking(rgb("#ffffff"), 1),
    "broken_white": Marking(rgb("#ffffff"), 1, (3.0, 9.0)),
}
"""Lane marking in the network file → its appearance."""

SERIES: tuple[Colour, ...] = tuple(
    map(rgb, ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#18202a"))
)
"""Colours of lines in a plot, in order; yellow is omitted because it is hard to see on white."""
