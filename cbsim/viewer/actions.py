"""Key bindings: rows of keys, descriptions and callbacks, from which help and documentation are generated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import pygame

__all__ = ["CLOSE", "Action", "chords_of", "find_action", "help_rows", "keys_of", "markdown"]

NAMES = {"return": "enter", "escape": "esc", "page up": "pageup", "page down": "pagedown", "keypad enter": "enter"}
CLOSE = ("ctrl+q", "ctrl+w")  # chords that close a window


class Action(NamedTuple):
    """One key binding.

    Attributes
    ----------
    keys : tuple of str
        Key chords, any of which triggers the action: ``space``, ``ctrl+z``, ``shift+left``, ``?``. A printable
        character matches on every keyboard layout.
    description : str
        What the action does, shown in the help.
    group : str
        Heading in the help.
    callback : callable
        Called with the session that owns the table.
    """

    keys: tuple[str, ...]
    description: str
    group: str
    callback: Callable[..., object]


def chords_of(event: pygame.event.Event) -> list[str]:
    """Return the chords that a key event may stand for: the typed character, and the key with its modifiers."""
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
    """Return the action bound to a key event, or None."""
    chords = chords_of(event)
    table = {key: action for action in actions for key in action.keys}
    return next((table[chord] for chord in chords if chord in table), None)


def keys_of(action: Action) -> str:
    """Format the keys of an action for display."""
    return " or ".join(action.keys)


def help_rows(actions: Sequence[Action]) -> list[tuple[str, str]]:
    """Return help rows: a heading with an empty text, then keys and descriptions."""
    rows, group = list[tuple[str, str]](), ""
    for action in actions:
        if action.group != group:
            group = action.group
            rows.append((group, ""))
        rows.append((keys_of(action), action.description))
    return rows


def markdown(actions: Sequence[Action]) -> str:
    """Format the table as Markdown for the documentation."""
    lines = ["| keys | do |", "|---|---|"]
    for keys, description in help_rows(actions):
        if not description:
            lines.append(f"| **{keys}** | |")
        else:
            shown = " or ".join(f"`{key}`" for key in keys.split(" or "))
            lines.append(f"| {shown} | {description} |")
    return "\n".join(lines) + "\n"
