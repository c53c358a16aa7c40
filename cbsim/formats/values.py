"""Numbers in files: kinds, parsing and error messages.

A `Quantity` is one row of a format's table. Parsing gives a value or a `Complaint`; the format adds code and place.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from cbsim.spec.number import Written

__all__ = ["LIMIT", "NUMBER", "WHOLE_LIMIT", "Complaint", "Quantity", "parse_number", "parse_whole", "quote"]

LIMIT = 1e9  # magnitude past which a number is an error in any of our units, and sums of squares lose all meaning
WHOLE_LIMIT = 2**31 - 1
TEXT_LIMIT = 64  # characters of a number; converting text of any length takes time that grows with its square
SHOWN = 60  # characters of a file's text that a message quotes

NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
WHOLE = re.compile(r"[+-]?[0-9]+")
DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")


class Quantity(NamedTuple):
    """A kind of number.

    Attributes
    ----------
    name : str
        What a message calls it.
    unit : str
        The file's unit, for messages; empty for a pure number.
    factor : float
        The file's unit in SI.
    least, above, most : float
        Closed lower bound, open lower bound and closed upper bound, in the file's unit.
    default : float
        Substitute after an error, in SI.
    grain : float
        What it must be a multiple of; 0 for any number, 1 for whole ones.
    reason : str
        Why the bounds are where they are; told to who is beyond them.
    """

    name: str
    unit: str = ""
    factor: float = 1.0
    least: float = -LIMIT
    above: float = -math.inf
    most: float = LIMIT
    default: float = 0.0
    grain: float = 0.0
    reason: str = ""

    @property
    def range(self) -> str:
        """The range in words."""
        unit = f" {self.unit}" if self.unit else ""
        parts = []
        if self.above > -LIMIT:
            parts.append(f"greater than {self.above:g}")
        elif self.least > -LIMIT:
            parts.append(f"at least {self.least:g}")
        if self.most < LIMIT or not parts:
            parts.append(f"at most {self.most:g}")
        return " and ".join(parts) + unit

    def expected(self, plain: float) -> str:
        """Say in words what a number outside the range (in the file's unit) should be: the bound that it broke."""
        unit = f" {self.unit}" if self.unit else ""
        if plain > LIMIT <= self.most:
            return f"at most {LIMIT:g}{unit}"
        if plain < -LIMIT and max(self.least, self.above) <= -LIMIT:
            return f"at least {-LIMIT:g}{unit}"
        return self.range


class Complaint(NamedTuple):
    """Why a text is not the value it should be; `out_of_range` where it is a number, but an impossible one."""

    message: str
    hint: str = ""
    out_of_range: bool = False


def quote(text: str) -> str:
    """Quote a file's text for a message: bounded, and without control characters."""
    shown = text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
    return "'" + "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in shown) + "'"


def parse_number(text: str, quantity: Quantity) -> Written | Complaint:
    """Parse a finite number in the quantity's range."""
    if len(text) > TEXT_LIMIT or not NUMBER.fullmatch(text):
        hint = "write a decimal point, not a comma" if DECIMAL_COMMA.fullmatch(text) else ""
        unit = f" [{quantity.unit}]" if quantity.unit else ""
        return Complaint(f"{quantity.name} must be a number{unit}, not {quote(text)}", hint)
    plain = float(text)
    if not (quantity.least <= plain <= quantity.most and plain > quantity.above and abs(plain) <= LIMIT):
        return Complaint(
            f"{quantity.name} must be {quantity.expected(plain)}, not {quote(text)}", quantity.reason, True
        )
    if quantity.grain and plain % quantity.grain:
        return Complaint(f"{quantity.name} must be a multiple of {quantity.grain:g}, not {quote(text)}", "", True)
    return Written.of(text, plain, quantity.factor)


def parse_whole(text: str, name: str, least: int = 0, most: int = WHOLE_LIMIT) -> int | Complaint:
    """Parse a whole number in a range."""
    if len(text) > TEXT_LIMIT or not WHOLE.fullmatch(text):
        return Complaint(f"{name} must be a whole number, not {quote(text)}")
    value = int(text)
    if not least <= value <= most:
        bounds = f"at least {least}" if most == WHOLE_LIMIT and value < least else f"from {least} to {most}"
        return Complaint(f"{name} must be {bounds}, not {quote(text)}", "", True)
    return value
