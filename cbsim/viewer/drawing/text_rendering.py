"""Text rendering with font fallback for any script.

DejaVu Sans covers Europe, the Caucasus and the Near East, WenQuanYi Micro Hei East Asia. Text is laid out left to
right, glyph by glyph: scripts with joined or right-to-left letters are legible but not shaped.
"""

from __future__ import annotations

from functools import cache
from itertools import groupby
from pathlib import Path

import pygame

__all__ = ["extent", "render"]

Colour = tuple[int, int, int]

FONTS: tuple[Path | None, ...] = (
    None,  # pygame's default font, identical on every machine
    Path(__file__).with_name("fonts") / "DejaVuSans-Bold.ttf",
    Path(__file__).with_name("fonts") / "wqy-microhei.ttc",
)
MISSING = "\ufffe"  # a code point without a glyph in any font
SAMPLE = 16  # font size at which glyphs are compared


def extent(text: str, size: int) -> tuple[int, int]:
    """Width and height of a line of text [pixels]; glyphs with diacritics may be rendered higher."""
    sizes = [_font(font, size).size(part) for font, part in _runs(text)]
    return sum(width for width, _ in sizes), max((height for _, height in sizes), default=_font(0, size).get_height())


def render(text: str, size: int, colour: Colour) -> pygame.Surface:
    """Render a line of text."""
    runs = [(_font(font, size), part) for font, part in _runs(text)]
    made = [font.render(part, True, colour) for font, part in runs]
    if len(made) == 1:
        return made[0]
    base = max((font.get_ascent() for font, _ in runs), default=0)
    tops = [base - font.get_ascent() for font, _ in runs]
    height = max((top + part.get_height() for top, part in zip(tops, made, strict=True)), default=0)
    surface = pygame.Surface((sum(part.get_width() for part in made), height), pygame.SRCALPHA)
    x = 0
    for top, part in zip(tops, made, strict=True):
        surface.blit(part, (x, top))
        x += part.get_width()
    return surface


@cache
def _font(number: int, size: int) -> pygame.font.Font:
    pygame.font.init()
    return pygame.font.Font(FONTS[number], size)


def _runs(text: str) -> list[tuple[int, str]]:
    """Split a text into runs, each with the index of a font that has its glyphs."""
    if text.isascii():
        return [(0, text)]
    return [(font, "".join(letters)) for font, letters in groupby(text, _font_of)]


@cache
def _font_of(letter: str) -> int:
    """Return the index of the first font that has a glyph for a letter; 0 if none has."""
    if letter.isascii():
        return 0
    return next((number for number in range(len(FONTS)) if _has_glyph(number, letter)), 0)


def _has_glyph(number: int, letter: str) -> bool:
    """Return whether a font has a glyph, by comparison with its missing-glyph symbol; pygame offers no query."""
    drawn, missing = (_font(number, SAMPLE).render(each, False, (0, 0, 0)) for each in (letter, MISSING))
    return drawn.get_size() != missing.get_size() or _pixels(drawn) != _pixels(missing)


def _pixels(surface: pygame.Surface) -> bytes:
    return pygame.image.tobytes(surface, "RGBA")
