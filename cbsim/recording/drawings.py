"""What planners showed, as a recording keeps it: rows of a batch, to bytes and back, no more of them than is useful.

A planner is asked now and then (`cbsim.simulation.annotations`); what it shows is kept in single precision, with errors
of at most 1 mm within 16 km.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cbsim.errors import UsageError
from cbsim.recording.container import DamageError
from cbsim.spec.drawing import Dots, Drawing, Line, Text

__all__ = ["LARGEST", "PERIOD", "RATE", "DrawingRow", "Quota", "rows_of", "size_of"]

PERIOD = 0.2  # [s] between two rows of a recording at least
RATE = 32 * 1024  # [bytes] of drawings in a second of a recording, on average
LARGEST = 2**20  # [bytes] of one row; what is beyond is left out

ROW = struct.Struct("<qI")  # step, drawings
DRAWING = struct.Struct("<BBBBBBxxfII")  # kind, closed, coloured, red, green, blue; size; points, bytes of text
LINE, DOTS, TEXT = range(3)
POINT = 12  # [bytes] three numbers of single precision


@dataclass(frozen=True, slots=True)
class DrawingRow:
    """What planners showed from a step on: all of them together, nothing where nothing is to be seen any more."""

    step: int
    drawings: tuple[Drawing, ...]

    def to_bytes(self) -> bytes:
        """Write the step, and the drawings as far as there is room for them."""
        parts, size = list[bytes](), ROW.size
        for one in self.drawings:
            size += size_of(one)
            if size > LARGEST:
                break
            parts.append(_packed(one))
        return ROW.pack(self.step, len(parts)) + b"".join(parts)


def size_of(one: Drawing) -> int:
    """Count the bytes that a drawing takes."""
    text = len(_letters(one.text)) if isinstance(one, Text) else 0
    return DRAWING.size + POINT * len(one.places) + text


def _packed(one: Drawing) -> bytes:
    kind, size, closed, text = DOTS, 0.0, False, b""
    if isinstance(one, Line):
        kind, size, closed = LINE, one.width, one.closed
    elif isinstance(one, Text):
        kind, text = TEXT, _letters(one.text)
    else:
        size = one.size
    red, green, blue = one.colour or (0, 0, 0)
    points = one.places.astype("<f4")
    head = DRAWING.pack(kind, closed, one.colour is not None, red, green, blue, size, len(points), len(text))
    return b"".join((head, points.tobytes(), text))


def _letters(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def rows_of(data: bytes) -> Iterator[DrawingRow]:
    """Read rows back that stand one after another.

    Raises
    ------
    DamageError
        If they are something else.
    """
    at = 0
    while at < len(data) or not data:
        if len(data) - at < ROW.size:
            raise DamageError(f"drawings have {len(data) - at} bytes, expected {ROW.size} at least")
        step, count = ROW.unpack_from(data, at)
        at += ROW.size
        found = list[Drawing]()
        for _ in range(count):
            one, at = _drawing(data, at)
            found.append(one)
        yield DrawingRow(step, tuple(found))


def _drawing(data: bytes, at: int) -> tuple[Drawing, int]:
    """Read the drawing at a byte; where the next one begins."""
    if len(data) - at < DRAWING.size:
        raise DamageError(f"a drawing has {len(data) - at} bytes, expected {DRAWING.size} at least")
    kind, closed, coloured, *rgb, size, points, letters = DRAWING.unpack_from(data, at)
    first = at + DRAWING.size
    last = first + POINT * points
    if last + letters > len(data):
        raise DamageError(f"a drawing has {points} points and {letters} letters in {len(data) - first} bytes")
    places = np.frombuffer(data, "<f4", 3 * points, first).reshape(points, 3)
    colour = rgb if coloured else None
    try:
        if kind == LINE:
            return Line(places, colour=colour, width=size, closed=bool(closed)), last
        if kind == DOTS:
            return Dots(places, colour=colour, size=size), last
        if kind == TEXT:
            return Text(places, colour=colour, text=data[last : last + letters].decode()), last + letters
    except (UsageError, UnicodeDecodeError) as reason:
        raise DamageError(f"a drawing is none: {reason}") from None
    raise DamageError(f"a drawing of kind {kind} is none")


class Quota:
    """Picks the rows that a recording keeps: not more often than `PERIOD`, not more bytes than `RATE` on average.

    That nothing is to be seen any more is told once and at once: nobody would say it again. What it picks, another one
    picks again, so that a recording that is copied stays as it is.
    """

    def __init__(self, step: float) -> None:
        self._step = step
        self._due = -np.inf
        self._empty = False

    def pick(self, rows: Sequence[DrawingRow]) -> list[DrawingRow]:
        """Pick from the next rows."""
        kept = list[DrawingRow]()
        for row in rows:
            time = row.step * self._step
            if not row.drawings and not self._empty:
                self._empty = True
                kept.append(row)
            elif row.drawings and time >= self._due - 1e-9:
                self._empty = False
                size = min(ROW.size + sum(map(size_of, row.drawings)), LARGEST)
                self._due = time + max(PERIOD, size / RATE)
                kept.append(row)
        return kept
