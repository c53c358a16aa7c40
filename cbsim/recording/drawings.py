"""Annotations of planners in a recording: rows of a batch, their encoding, and a limit of their rate.

Planners are asked for annotations at intervals (`cbsim.simulation.annotations`). Points are kept in single precision,
with errors of at most 1 mm within 16 km.
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
LARGEST = 2**20  # [bytes] of one row; further drawings are left out

ROW = struct.Struct("<qI")  # step, drawings
DRAWING = struct.Struct("<BBBBBBxxfII")  # kind, closed, coloured, red, green, blue; size; points, bytes of text
LINE, DOTS, TEXT = range(3)
POINT = 12  # [bytes] three single-precision numbers


@dataclass(frozen=True, slots=True)
class DrawingRow:
    """Annotations of all planners from a step on; empty when there are none any more."""

    step: int
    drawings: tuple[Drawing, ...]

    def to_bytes(self) -> bytes:
        """Encode the step and as many drawings as fit."""
        parts, size = list[bytes](), ROW.size
        for one in self.drawings:
            part = _packed(one)
            size += len(part)
            if size > LARGEST:
                break
            parts.append(part)
        return ROW.pack(self.step, len(parts)) + b"".join(parts)


def size_of(one: Drawing) -> int:
    """Count the bytes that a drawing takes."""
    text = len(_letters(one.text)) if isinstance(one, Text) else 0
    return DRAWING.size + POINT * len(one.single) + text


def _packed(one: Drawing) -> bytes:
    kind, size, closed, text = DOTS, 0.0, False, b""
    if isinstance(one, Line):
        kind, size, closed = LINE, one.width, one.closed
    elif isinstance(one, Text):
        kind, text = TEXT, _letters(one.text)
    else:
        size = one.size
    red, green, blue = one.colour or (0, 0, 0)
    points = one.single.astype("<f4", copy=False)
    head = DRAWING.pack(kind, closed, one.colour is not None, red, green, blue, size, len(points), len(text))
    return b"".join((head, points.tobytes(), text))


def _letters(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def rows_of(data: bytes) -> Iterator[DrawingRow]:
    """Decode consecutive rows.

    Raises
    ------
    DamageError
        If the bytes are malformed.
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
    """Rate limit of recorded rows: at most one per `PERIOD`, and `RATE` bytes on average.

    A row without drawings is always kept, once, because it isn't repeated. Applied to its own output, the limit drops
    nothing, so copies of a recording are equal to it.
    """

    def __init__(self, step: float) -> None:
        self._step = step
        self._due = -np.inf
        self._empty = False

    def pick(self, rows: Sequence[DrawingRow]) -> list[DrawingRow]:
        """Select the rows to keep among the next ones."""
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
