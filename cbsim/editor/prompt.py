"""Prompts (single-line text input) and questions answered by a key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import pygame

from cbsim.editor.clipboard import get_text, put_text
from cbsim.errors import CbsimError

__all__ = ["Answer", "Prompt", "Question"]

LONGEST = 1000  # characters per prompt at most
BREAKS = " /\\._-:"  # word boundaries


class Answer(NamedTuple):
    """An answer to a question: its label and what it does."""

    label: str
    callback: Callable[[], object]


@dataclass
class Question:
    """A modal question."""

    text: str
    answers: Mapping[str, Answer]

    def handle(self, event: pygame.event.Event) -> Answer | None:
        """Handle a key event; returns the chosen answer, or None."""
        if event.type != pygame.KEYDOWN:
            return None
        name = pygame.key.name(event.key)
        return self.answers.get({"escape": "esc", "return": "enter"}.get(name, name))


@dataclass
class Prompt:
    """A line of text input.

    Attributes
    ----------
    label : str
        What is asked for.
    text : str
        Current text; initially the old value, all selected.
    callback : callable
        Called with the text on enter; if it raises, the error is shown and the prompt stays open.
    choices : tuple of str
        Completions; tab cycles through those that start with the typed text.
    caret, anchor : int
        Ends of the selection in `text`; typed text replaces the selection at the caret.
    """

    label: str
    text: str
    callback: Callable[[str], object]
    choices: tuple[str, ...] = ()
    error: str = ""
    caret: int = -1
    anchor: int = 0
    _typed: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        if self.caret < 0:
            self.caret = len(self.text)

    @property
    def selection(self) -> tuple[int, int]:
        """Start and end of the selection."""
        return min(self.caret, self.anchor), max(self.caret, self.anchor)

    @property
    def fresh(self) -> bool:
        """Whether all text is selected, so that typing replaces it."""
        return bool(self.text) and self.selection == (0, len(self.text))

    def handle(self, event: pygame.event.Event) -> bool:
        """Handle a key event; returns True once the prompt is closed."""
        if event.type != pygame.KEYDOWN:
            return False
        if event.key == pygame.K_ESCAPE:
            return True
        if event.key in {pygame.K_RETURN, pygame.K_KP_ENTER}:
            return self._enter()
        control = bool(event.mod & (pygame.KMOD_CTRL | pygame.KMOD_META))
        if event.key == pygame.K_TAB:
            self._complete(-1 if event.mod & pygame.KMOD_SHIFT else 1)
        elif event.key in {pygame.K_BACKSPACE, pygame.K_DELETE}:
            self._erase(forwards=event.key == pygame.K_DELETE, word=control)
        elif event.key in {pygame.K_LEFT, pygame.K_RIGHT, pygame.K_HOME, pygame.K_END}:
            self._move(event.key, extend=bool(event.mod & pygame.KMOD_SHIFT), word=control)
        elif control:
            self._clip(event.key)
        elif event.unicode and event.unicode.isprintable():
            self.insert(event.unicode)
        return False

    def insert(self, text: str) -> None:
        """Replace the selection."""
        first, last = self.selection
        text = "".join(sign for sign in text if sign.isprintable())[: LONGEST - len(self.text) + last - first]
        self._type(self.text[:first] + text + self.text[last:], first + len(text))

    def select_all(self) -> None:
        """Select the whole line."""
        self.anchor, self.caret = 0, len(self.text)

    def put_caret(self, place: int) -> None:
        """Move the caret and clear the selection."""
        self.caret = self.anchor = min(max(place, 0), len(self.text))

    def _type(self, text: str, caret: int) -> None:
        self.text, self._typed, self.error = text, text, ""
        self.put_caret(caret)

    def _erase(self, *, forwards: bool, word: bool) -> None:
        if self.caret == self.anchor:
            self.caret = self._beside(1 if forwards else -1, word=word)
        first, last = self.selection
        self._type(self.text[:first] + self.text[last:], first)

    def _move(self, key: int, *, extend: bool, word: bool) -> None:
        first, last = self.selection
        if key in {pygame.K_HOME, pygame.K_END}:
            place = 0 if key == pygame.K_HOME else len(self.text)
        elif first != last and not extend:
            place = first if key == pygame.K_LEFT else last
        else:
            place = self._beside(-1 if key == pygame.K_LEFT else 1, word=word)
        self.caret = place
        if not extend:
            self.anchor = place

    def _beside(self, ahead: int, *, word: bool) -> int:
        """Position one character or word before or after the caret."""
        place = self.caret + ahead
        while word and 0 < place < len(self.text) and not self._begins_word(place):
            place += ahead
        return min(max(place, 0), len(self.text))

    def _begins_word(self, place: int) -> bool:
        return self.text[place - 1] in BREAKS and self.text[place] not in BREAKS

    def _clip(self, key: int) -> None:
        """Select all, copy, cut or paste."""
        first, last = self.selection
        if key == pygame.K_a:
            self.select_all()
        elif key in {pygame.K_c, pygame.K_x} and first != last:
            put_text(self.text[first:last])
            if key == pygame.K_x:
                self.insert("")
        elif key == pygame.K_v:
            self.insert(get_text())

    def _complete(self, ahead: int) -> None:
        """Insert the next completion."""
        fitting = [choice for choice in self.choices if choice.startswith(self._typed)]
        if fitting:
            here = fitting.index(self.text) if self.text in fitting else -1 if ahead > 0 else 0
            self.text = fitting[(here + ahead) % len(fitting)]
            self.put_caret(len(self.text))

    def _enter(self) -> bool:
        try:
            self.callback(self.text)
        except CbsimError as error:
            self.error = str(error).splitlines()[0]
            return False
        return True
