"""`Written`: a number that remembers how a file wrote it, so that an untouched value is written back unchanged."""

from __future__ import annotations

import math

__all__ = ["Written", "number_text"]


class Written(float):
    """A float in SI with the text it came from; equal to, and computed with, like any float.

    Parameters
    ----------
    text : str
        The number as written in the file: ``0.20``.
    unit : float
        The file's unit in SI: `cbsim.units.FOOT` for a lane width.

    Raises
    ------
    ValueError
        If the text is not a finite number.

    Examples
    --------
    >>> Written("0.20") == 0.2, number_text(Written("0.20")), number_text(0.2)
    (True, '0.20', '0.2')
    """

    __slots__ = ("text", "unit")

    text: str
    unit: float

    def __new__(cls, text: str, unit: float = 1.0) -> Written:
        """Parse the text; digit-group underscores, ``nan`` and ``inf`` are not numbers in a file."""
        value = float(text)
        if "_" in text or not math.isfinite(value):
            raise ValueError(f"'{text}' is not a finite number")
        number = super().__new__(cls, value * unit)
        number.text = text.strip()
        number.unit = unit
        return number

    @classmethod
    def of(cls, text: str, value: float, unit: float = 1.0) -> Written:
        """Make one of a text whose value in the file's unit is known already, and finite."""
        number = super().__new__(cls, value * unit)
        number.text = text
        number.unit = unit
        return number

    def __reduce__(self) -> tuple[type[Written], tuple[str, float]]:
        return (Written, (self.text, self.unit))


def number_text(value: float, unit: float = 1.0) -> str:
    """Write a number in the file's unit: its own text if it has one, else the shortest that reads back as it is."""
    if isinstance(value, Written) and value.unit == unit:
        return value.text
    scaled = value / unit
    if scaled == (whole := round(scaled)) and abs(scaled) < 1e15:
        return str(whole)
    for digits in range(1, 17):
        if float(text := f"{scaled:.{digits}g}") * unit == value:
            return repr(float(text))
    return repr(float(scaled))
