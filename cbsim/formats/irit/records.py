"""Numbers of IRIT's data files, and the brackets around them."""

from __future__ import annotations

import math

from cbsim.formats.irit.tokens import CLOSE, END, LARGEST, OPEN, WORD, Token, Tokens
from cbsim.formats.values import NUMBER, TEXT_LIMIT, quote

__all__ = ["number", "numbers", "open_or_close", "whole"]


def number(tokens: Tokens, token: Token) -> float:
    """Parse a number."""
    text = token.text
    if token.kind != WORD or len(text) > TEXT_LIMIT or not NUMBER.fullmatch(text):
        what = "']'" if token.kind == CLOSE else "the end of the file" if token.kind == END else quote(text)
        hint = "blanks stand between numbers, no commas" if "," in text else ""
        raise tokens.stop("E044", f"expected a number, not {what}", token, hint)
    value = float(text)
    if not math.isfinite(value) or abs(value) > LARGEST:
        raise tokens.stop("E044", f"the number {quote(text)} is beyond ±{LARGEST:g}", token)
    return value


def whole(tokens: Tokens, what: str, least: int = 0) -> int:
    """Take a whole number."""
    token = tokens.take()
    value = number(tokens, token)
    if value != round(value) or not least <= value <= 2**31:
        raise tokens.stop("E044", f"the {what} is {quote(token.text)}, expected a whole number from {least}", token)
    return round(value)


def numbers(tokens: Tokens, start: Token, count: int) -> tuple[float, ...]:
    """Take a number of values and the closing bracket."""
    found: list[float] = []
    while tokens.ahead.kind not in (CLOSE, END):
        found.append(number(tokens, tokens.take()))
    if tokens.ahead.kind == END:
        raise tokens.stop("E040", f"what begins with {quote(start.text)} is never closed", start)
    tokens.take()
    if count >= 0 and len(found) != count:
        raise tokens.stop("E044", f"{len(found)} numbers stand here, expected {count}", start)
    return tuple(found)


def open_or_close(tokens: Tokens, start: Token, expected: str = "") -> bool:
    """Take a bracket: True for an opening one. Anything else is an error."""
    token = tokens.take()
    if token.kind == END:
        raise tokens.stop("E040", f"the {start.text.upper()} that begins here is never closed", start)
    if token.kind not in (OPEN, CLOSE) or (expected and token.kind != expected):
        raise tokens.stop("E041", f"{quote(token.text)} does not belong into a {start.text.upper()}", token)
    return token.kind == OPEN
