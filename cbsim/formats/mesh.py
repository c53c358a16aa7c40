"""Reader of vertices and indices files of mesh objects (docs/formats/objects.md D27).

Vertices: one ``x y z`` per line [m]. Indices: three whole numbers per line, from 0. A lone count may come first.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.errors import Location, Problems
from cbsim.formats.reader import Source
from cbsim.formats.values import LIMIT, Complaint, Quantity, parse_number, parse_whole, quote
from cbsim.geometry.elementary import square
from cbsim.geometry.linear import norm

__all__ = ["ROW_LIMIT", "read_mesh"]

Vertices = NDArray[np.float64]
Triangles = NDArray[np.int64]

ROW_LIMIT = 4_000_000  # rows of one file, so that memory stays below a gigabyte
COORDINATE = Quantity("coordinate", "m")


def read_mesh(vertices: Source, indices: Source, problems: Problems) -> tuple[Vertices, Triangles] | None:
    """Read a mesh.

    Indices from 1 are recognised and shifted; triangles without area are left out. Orientation means nothing.

    Parameters
    ----------
    vertices, indices : Source
        The two files.
    problems : Problems
        Collects all problems, with their files and lines.

    Returns
    -------
    (ndarray, ndarray) or None
        Vertices (n, 3) [m] and triangles (m, 3), rows of the first, from 0; None if either file has an error.
    """
    points = _read_table(vertices, VERTEX, problems)
    corners = _read_table(indices, TRIANGLE, problems)
    if points is None or corners is None:
        return None
    positions = np.frombuffer(points.values, np.float64).reshape(-1, 3).copy()
    triangles = np.frombuffer(corners.values, np.float64).astype(np.int64).reshape(-1, 3)
    shifted = _from_zero(triangles, len(positions), corners, indices, problems)
    if shifted is None:
        return None
    return positions, _with_area(positions, shifted, corners, indices, problems)


class _Kind(NamedTuple):
    """Kind of rows of a file: name, parser of numbers, and the code of invalid ones."""

    noun: str
    parse: Callable[[str], float | Complaint]
    out_of_range: str


def _coordinate(text: str) -> float | Complaint:
    """Parse a coordinate, with a fast path, as terrains have millions."""
    if len(text) <= 32 and text.isascii() and "_" not in text:
        try:
            value = float(text)
        except ValueError:
            return parse_number(text, COORDINATE)
        if -LIMIT <= value <= LIMIT:
            return value
    return parse_number(text, COORDINATE)


def _index(text: str) -> int | Complaint:
    """Parse an index, with a fast path."""
    return int(text) if len(text) < 10 and text.isascii() and text.isdigit() else parse_whole(text, "an index")


VERTEX = _Kind("vertex", _coordinate, "E682")
TRIANGLE = _Kind("triangle", _index, "E683")


@dataclass
class _Table:
    """Rows of three numbers, flat, and the line of each row."""

    values: array[float] = field(default_factory=lambda: array("d"))
    lines: array[int] = field(default_factory=lambda: array("l"))


def _read_table(source: Source, kind: _Kind, problems: Problems) -> _Table | None:
    """Read rows of three numbers; None if one of them is wrong or there is none."""
    table, sound = _Table(), True
    claimed: int | None = None
    for first, (line, tokens) in enumerate(_rows(source)):
        if first == 0 and len(tokens) == 1 and isinstance(number := parse_whole(tokens[0], "the count"), int):
            claimed = number
            continue
        if len(table.lines) == ROW_LIMIT:
            problems.error("E688", f"more than {ROW_LIMIT} rows; the rest is not read", source.at(line))
            return None
        row = _row(tokens, kind, source.at(line), problems)
        sound = sound and row is not None
        table.values.extend(row or ())
        table.lines.append(line)
    if not table.lines:
        problems.error("E687", f"the file has no {kind.noun}", source.at(1))
        return None
    if sound and claimed is not None and claimed != len(table.lines):
        message = f"the first line says '{claimed}', but there are {len(table.lines)} rows; the rows count"
        problems.warning("W686", message, source.at(table.lines[0]))
    return table if sound else None


def _rows(source: Source) -> Iterator[tuple[int, list[str]]]:
    """Yield each line that holds something, without comments."""
    for line, raw in source.lines():
        tokens = (raw.split("//", 1)[0].split("#", 1)[0] if "/" in raw or "#" in raw else raw).split()
        if tokens:
            yield line, tokens


def _row(tokens: list[str], kind: _Kind, place: Location, problems: Problems) -> list[float] | None:
    if len(tokens) != 3:
        hint = WAVEFRONT if tokens[0] in ("v", "f", "vn", "vt", "o", "g") else ""
        message = f"a {kind.noun} is three numbers, not {len(tokens)}: {quote(' '.join(tokens))}"
        problems.error("E681", message, place, hint)
        return None
    values: list[float] = []
    for token in tokens:
        value = kind.parse(token)
        if isinstance(value, Complaint):
            problems.error(kind.out_of_range if value.out_of_range else "E682", value.message, place, value.hint)
        else:
            values.append(value)
    return values if len(values) == 3 else None


WAVEFRONT = "this looks like a Wavefront file; a CajunBot mesh has bare numbers, in two files"


def _from_zero(triangles: Triangles, n: int, table: _Table, source: Source, problems: Problems) -> Triangles | None:
    """Shift indices that count from 1; refuse indices without a vertex."""
    if triangles.min() >= 1 and triangles.max() == n:
        message = f"the indices go from {triangles.min()} to {n}, so they count from 1; they should count from 0"
        problems.warning("W684", message, source.at(table.lines[0]))
        return triangles - 1
    outside = np.flatnonzero((triangles >= n).any(axis=1))
    for row in outside:
        wrong = int(triangles[row].max())
        message = f"index '{wrong}' is out of range: there are {n} vertices, 0 to {n - 1}"
        problems.error("E683", message, source.at(table.lines[row]))
    return None if len(outside) else triangles


def _with_area(
    positions: Vertices, triangles: Triangles, table: _Table, source: Source, problems: Problems
) -> Triangles:
    """Leave out triangles without area, which no ray can hit."""
    a, b, c = (positions[triangles[:, k]] for k in range(3))
    area = 0.5 * norm(np.cross(b - a, c - a), axis=1)
    longest = np.max([square(q - p).sum(axis=1) for p, q in ((a, b), (b, c), (c, a))], axis=0)
    flat = np.asarray(area <= 1e-12 * longest)
    for row in np.flatnonzero(flat):
        shown = quote(" ".join(str(k) for k in triangles[row]))
        problems.warning("W685", f"triangle {shown} has no area; it is left out", source.at(table.lines[row]))
    return np.ascontiguousarray(triangles[~flat])
