"""Lines that are typed, and questions that are answered by a key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import pygame

from cbsim.errors import CbsimError

__all__ = ["Answer", "Prompt", "Question"]

LONGEST = 1000  # characters of a line


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
        What has been typed; at first what stands there, which the first sign replaces.
    act : callable
        Takes the text when it is entered; what it raises is told, and the line stays.
    choices : tuple of str
        What it can be: tab goes through those that begin as what is typed.
    """

    label: str
    text: str
    act: Callable[[str], object]
    choices: tuple[str, ...] = ()
    trouble: str = ""
    fresh: bool = True
    _typed: str = field(default="", repr=False)

    def handle(self, event: pygame.event.Event) -> bool:
        """Take a key; True once the line is done with, entered or not."""
        if event.type != pygame.KEYDOWN:
            return False
        if event.key == pygame.K_ESCAPE:
            return True
        if event.key in {pygame.K_RETURN, pygame.K_KP_ENTER}:
            return self._enter()
        if event.key == pygame.K_TAB:
            self._complete(-1 if event.mod & pygame.KMOD_SHIFT else 1)
        elif event.key == pygame.K_BACKSPACE:
            self._type("" if self.fresh or event.mod & pygame.KMOD_CTRL else self.text[:-1])
        elif event.key in {pygame.K_RIGHT, pygame.K_END}:
            self.fresh = False
        elif event.unicode and event.unicode.isprintable() and not event.mod & (pygame.KMOD_CTRL | pygame.KMOD_META):
            self._type(("" if self.fresh else self.text)[:LONGEST] + event.unicode)
        return False

    def _type(self, text: str) -> None:
        self.text, self._typed, self.fresh, self.trouble = text, text, False, ""

    def _complete(self, ahead: int) -> None:
        """Put in the next choice that begins as what is typed."""
        fitting = [choice for choice in self.choices if choice.startswith(self._typed)]
        if fitting:
            here = fitting.index(self.text) if self.text in fitting else -1 if ahead > 0 else 0
            self.text, self.fresh = fitting[(here + ahead) % len(fitting)], False

    def _enter(self) -> bool:
        try:
            self.act(self.text)
        except CbsimError as error:
            self.trouble = str(error).splitlines()[0]
            return False
        return True
