"""Colours of what has happened in a run: contacts, and checks that passed, failed or are undecided."""

from __future__ import annotations

from cbsim.palette import CHROME, PAINT, WORDS, Colour

__all__ = ["symbol_colour", "word_colour"]


def symbol_colour(kind: str) -> Colour:
    """Colour of the symbol of an event of a kind."""
    return {"passed": PAINT.plan, "undecided": PAINT.warning, "event": CHROME.ink}.get(kind, PAINT.danger)


def word_colour(kind: str) -> Colour:
    """Colour of what is written about an event of a kind."""
    return {"passed": WORDS.passed, "undecided": WORDS.warning, "event": CHROME.ink}.get(kind, WORDS.danger)
