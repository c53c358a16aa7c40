"""What keys do: `Action`, a row of a table of keys, words and deeds; help and documentation are made of such tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import pygame

__all__ = ["CLOSE", "Action", "chords_of", "find_action", "help_rows", "keys_of", "markdown"]

NAMES = {"return": "enter", "escape": "esc", "page up": "pageup", "page down": "pagedown", "keypad enter": "enter"}
CLOSE = ("ctrl+q", "ctrl+w")  # chords that close a window


class Action(NamedTuple):
    """One thing that keys do.

    Attributes
    ----------
    keys : tuple of str
        Chords, any of which does it: ``space``, ``ctrl+z``, ``shift+left``, ``?``. A sign that is typed stands for
        itself on every layout of keys.
    said : str
        What it does, for the help.
    group : str
        Under which heading it is told.
    act : callable
        Takes whoever's table this is.
    """

    keys: tuple[str, ...]
    said: str
    group: str
    act: Callable[..., object]


def chords_of(event: pygame.event.Event) -> list[str]:
    """Name the chords that a key event may be meant as: by the sign it types, and by its key with what is held."""
    name = pygame.key.name(event.key)
    name = NAMES.get(name, name)
    held = [
        word
        for word, mask in (
            ("ctrl", pygame.KMOD_CTRL | pygame.KMOD_META),
            ("alt", pygame.KMOD_ALT),
            ("shift", pygame.KMOD_SHIFT),
        )
        if event.mod & mask
    ]
    chords = ["+".join([*held, name])]
    typed = getattr(event, "unicode", "")
    if typed and typed.isprintable() and typed != " " and not {"ctrl", "alt"} & set(held):
        chords.insert(0, typed)
    return chords


def find_action(actions: Iterable[Action], event: pygame.event.Event) -> Action | None:
    """Find what a key event does."""
    chords = chords_of(event)
    table = {key: action for action in actions for key in action.keys}
    return next((table[chord] for chord in chords if chord in table), None)


def keys_of(action: Action) -> str:
    """Write the keys of an action for people."""
    return " or ".join(action.keys)


def help_rows(actions: Sequence[Action]) -> list[tuple[str, str]]:
    """Rows of help: heading and nothing, then keys and what they do."""
    rows, group = list[tuple[str, str]](), ""
    for action in actions:
        if action.group != group:
            group = action.group
            rows.append((group, ""))
        rows.append((keys_of(action), action.said))
    return rows


def markdown(actions: Sequence[Action]) -> str:
    """Write the table for the documentation."""
    lines = ["| keys | do |", "|---|---|"]
    for keys, said in help_rows(actions):
        if not said:
            lines.append(f"| **{keys}** | |")
        else:
            shown = " or ".join(f"`{key}`" for key in keys.split(" or "))
            lines.append(f"| {shown} | {said} |")
    return "\n".join(lines) + "\n"
