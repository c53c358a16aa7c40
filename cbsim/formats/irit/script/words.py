"""Tokens of a script: names, numbers, texts and operators, without comments."""

from __future__ import annotations

import re
from typing import NamedTuple

from cbsim.errors import Problems
from cbsim.formats.reader import Source
from cbsim.formats.values import quote

__all__ = ["END", "NAME", "NUMBER", "SIGN", "TEXT", "Word", "words_of"]

NAME, NUMBER, TEXT, SIGN, END = "name", "number", "text", "sign", "end"
LIMIT = 2_000_000  # words of a script
WORD = re.compile(
    r"(?P<blank>[ \t\r\n\f\v]+|#[^\n]*)"
    r"|(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r'|(?P<text>"(?:\\[^\n]|[^"\\\n]++)*+(?P<closed>"?))'
    r"|(?P<sign>==|!=|<=|>=|&&|\|\||[-+*/^=<>!(),:;])"
)


class Word(NamedTuple):
    """A word.

    Attributes
    ----------
    kind : str
        ``name``, ``number``, ``text``, ``sign`` or ``end``.
    text : str
        As written; a name in lower case, a text without quotes.
    line : int
        1-based.
    """

    kind: str
    text: str
    line: int


def words_of(source: Source, problems: Problems) -> list[Word]:
    """Cut a script into words, the last of which is its end; what is none is reported (E060, E050)."""
    text, at, line = source.text, 0, 1
    found: list[Word] = []
    while at < len(text):
        match = WORD.match(text, at)
        if match is None:
            problems.error("E060", f"{quote(text[at])} is no word of a script", source.at(line))
            at += 1
            continue
        if len(found) >= LIMIT:
            problems.error("E065", f"the script has more than {LIMIT} words", source.at(line))
            break
        at = match.end()
        kind, word = str(match.lastgroup), match[0]
        if match["text"] is not None:
            kind = TEXT
            word = re.sub(r"\\(.)", r"\1", word[1 : -1 if match["closed"] else None])
            if not match["closed"]:
                problems.error("E050", f"the text {quote(match[0])} has no closing quote", source.at(line))
        if kind == NAME and word.lower() == "comment":
            at = _behind_comment(source, at, line, problems)
        elif kind != "blank":
            found.append(Word(kind, word.lower() if kind == NAME else word, line))
        line += text.count("\n", match.start(), at)
    return [*found, Word(END, "", line)]


def _behind_comment(source: Source, at: int, line: int, problems: Problems) -> int:
    """Where a block ``COMMENT $ … $`` ends: its first letter is its bracket."""
    text = source.text
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    end = text.find(text[at], at + 1) if at < len(text) else -1
    if end < 0:
        problems.error("E060", "the COMMENT that begins here never ends", source.at(line))
        return len(text)
    return end + 1
