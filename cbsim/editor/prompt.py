"""Lines that are typed, and questions that are answered by a key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import pygame

from cbsim.editor.clipboard import get_text, put_text
from cbsim.errors import CbsimError

__all__ = ["Answer", "Prompt", "Question"]

LONGEST = 1000  # characters of a line
BREAKS = " /\\._-:"  # between words


class Answer(NamedTuple):
    """What a key says to a question, and what it does then."""

    said: str
    act: Callable[[], object]


@dataclass
class Question:
    """A question that has to be answered before anything else."""

    text: str
    answers: Mapping[str, Answer]

    def handle(self, event: pygame.event.Event) -> Answer | None:
        """Take a key; the answer that it gives."""
        if event.type != pygame.KEYDOWN:
            return None
        name = pygame.key.name(event.key)
        return self.answers.get({"escape": "esc", "return": "enter"}.get(name, name))


@dataclass
class Prompt:
    """A line that is being typed.

    Attributes
    ----------
    label : str
        What is asked for.
    text : str
        What has been typed; at first what stands there, all of it selected.
    act : callable
        Takes the text when it is entered; what it raises is told, and the line stays.
    choices : tuple of str
        What it can be: tab goes through those that begin as what is typed.
    caret, anchor : int
        Ends of the selection in `text`; what is typed goes in at the caret, in place of the selection.
    """

    label: str
    text: str
    act: Callable[[str], object]
    choices: tuple[str, ...] = ()
    trouble: str = ""
    caret: int = -1
    anchor: int = 0
    _typed: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        if self.caret < 0:
            self.caret = len(self.text)

    @property
    def selection(self) -> tuple[int, int]:
        """First character that is selected, and the one after the last."""
        return min(self.caret, self.anchor), max(self.caret, self.anchor)

    @property
    def fresh(self) -> bool:
        """Whether all of it is selected, so that what is typed replaces it."""
        return bool(self.text) and self.selection == (0, len(self.text))

    def handle(self, event: pygame.event.Event) -> bool:
        """Take a key; True once the line is done with, entered or not."""
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
        """Put a text in place of the selection."""
        first, last = self.selection
        text = "".join(sign for sign in text if sign.isprintable())[: LONGEST - len(self.text) + last - first]
        self._type(self.text[:first] + text + self.text[last:], first + len(text))

    def select_all(self) -> None:
        """Select the whole line."""
        self.anchor, self.caret = 0, len(self.text)

    def put_caret(self, place: int) -> None:
        """Move the caret, with nothing selected."""
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
        """Place one character, or one word, before or after the caret."""
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
        """Put in the next choice that begins as what is typed."""
        fitting = [choice for choice in self.choices if choice.startswith(self._typed)]
        if fitting:
            here = fitting.index(self.text) if self.text in fitting else -1 if ahead > 0 else 0
            self.text = fitting[(here + ahead) % len(fitting)]
            self.put_caret(len(self.text))

    def _enter(self) -> bool:
        try:
            self.act(self.text)
        except CbsimError as error:
            self.error = str(error).splitlines()[0]
            return False
        return True
