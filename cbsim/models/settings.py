"""Settings of a model from texts, as of ``--set key=value``.

Values are parsed when they are requested; this module has the error messages.

>>> given = Settings({"friction": "0.5"}, {"friction": "of its feet, at least 0"}, "a walker")
>>> given.number("friction", 0.8, least=0.0)
0.5
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TypeVar

from cbsim.errors import UsageError, did_you_mean
from cbsim.formats.values import quote

__all__ = ["FLAGS", "Settings"]

FLAGS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
T = TypeVar("T")


class Settings:
    """Texts of settings by their keys, parsed on request.

    Parameters
    ----------
    texts : mapping
        Key → text.
    options : mapping
        Key → meaning, for error messages.
    owner : str
        Owner of the settings, for messages.

    Raises
    ------
    UsageError
        If there is no such key; all methods raise it if a text is not a valid value.
    """

    def __init__(self, texts: Mapping[str, str], options: Mapping[str, str], owner: str) -> None:
        self.texts, self.options = texts, options
        for key in texts:
            if key not in options:
                text = f"{owner} has no setting {quote(key)}; there is {', '.join(options)}"
                raise UsageError(f"{text} {did_you_mean(key, options)}".rstrip())

    def __contains__(self, key: str) -> bool:
        return key in self.texts

    def text(self, key: str, default: str = "") -> str:
        """Return a text without blanks around it."""
        return self.texts.get(key, default).strip()

    def refusal(self, key: str, hint: str = "") -> UsageError:
        """Return the error of a text that is not a valid value of its key."""
        return UsageError(f"{key} is {quote(self.texts.get(key, ''))}; {self.options[key]} {hint}".rstrip())

    def among(self, key: str, values: Mapping[str, T], default: T) -> T:
        """Return the value of a word, ignoring case."""
        if key not in self.texts:
            return default
        word = self.text(key).lower()
        if word not in values:
            raise self.refusal(key, did_you_mean(word, values) if len(word) > 1 else "")
        return values[word]

    def flag(self, key: str, *, default: bool) -> bool:
        """Return a truth value."""
        return self.among(key, FLAGS, default)

    def numbers(self, key: str) -> list[float]:
        """Return finite numbers separated by commas; empty if there is anything else."""
        try:
            values = [float(word) for word in self.text(key).split(",")]
        except ValueError:
            return []
        return values if all(map(math.isfinite, values)) else []

    def number(self, key: str, default: float, *, least: float = -math.inf, most: float = math.inf) -> float:
        """Return a finite number in a range."""
        if key not in self.texts:
            return default
        values = self.numbers(key)
        if len(values) != 1 or not least <= values[0] <= most:
            raise self.refusal(key)
        return values[0]
