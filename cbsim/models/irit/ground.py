"""Ground of a walker: a plane, or heights on a grid from a file.

A grid's file is an ESRI ASCII grid (``.asc``): ``ncols``, ``nrows``, ``xllcorner`` or ``xllcenter``, ``yllcorner`` or
``yllcenter``, ``cellsize``, at most a ``NODATA_value``, then heights row by row from north to south.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats
from cbsim.errors import Problems, did_you_mean
from cbsim.formats.reader import Source
from cbsim.formats.values import NUMBER, quote

__all__ = ["FLAT", "Ground", "Heights", "Slope", "read_heights"]

KEYS = ("ncols", "nrows", "xllcorner", "xllcenter", "yllcorner", "yllcenter", "cellsize", "nodata_value")
NEEDED = ("ncols", "nrows", "cellsize")
CELLS = 50_000_000


@dataclass(frozen=True, eq=False)
class Slope:
    """A plane through the origin.

    Attributes
    ----------
    right, ahead : float
        How much it rises per metre towards +x and +y.
    """

    right: float = 0.0
    ahead: float = 0.0

    def height(self, x: Floats, y: Floats) -> Floats:
        """Height of the ground [m] at places [m]."""
        return np.asarray(self.right * x + self.ahead * y)

    def tables(self) -> Iterable[NDArray[np.generic]]:
        """All numbers that say where it is."""
        yield np.array([self.right, self.ahead])


@dataclass(frozen=True, eq=False)
class Heights:
    """Heights on a grid, linear between four of them along both axes; beyond its edge as at the edge.

    Attributes
    ----------
    values : ndarray, shape (rows, columns)
        Height at each point [m], rows from south to north.
    corner : (float, float)
        Place of the first [m].
    cell : float
        Distance between points [m].
    """

    values: Floats
    corner: tuple[float, float]
    cell: float

    def height(self, x: Floats, y: Floats) -> Floats:
        """Height of the ground [m] at places [m]."""
        rows, columns = self.values.shape
        u = np.clip((np.asarray(x, float) - self.corner[0]) / self.cell, 0.0, columns - 1)
        v = np.clip((np.asarray(y, float) - self.corner[1]) / self.cell, 0.0, rows - 1)
        i, j = np.minimum(u.astype(int), max(columns - 2, 0)), np.minimum(v.astype(int), max(rows - 2, 0))
        a, b = u - i, v - j
        east, north = np.minimum(i + 1, columns - 1), np.minimum(j + 1, rows - 1)
        low = (1.0 - a) * self.values[j, i] + a * self.values[j, east]
        high = (1.0 - a) * self.values[north, i] + a * self.values[north, east]
        return np.asarray((1.0 - b) * low + b * high)

    def tables(self) -> Iterable[NDArray[np.generic]]:
        """All numbers that say where it is."""
        yield self.values
        yield np.array([*self.corner, self.cell])


Ground = Slope | Heights
FLAT = Slope()


def read_heights(source: Source, problems: Problems) -> Heights | None:
    """Read an ESRI ASCII grid; None, with problems (E057), of what is none."""
    head, first = _head(source, problems)
    missing = [key for key in NEEDED if key not in head]
    if missing:
        problems.error("E057", f"the grid says no {', '.join(missing)}", source.at(1), f"it begins with {KEYS[0]} …")
        return None
    columns, rows, cell = head["ncols"], head["nrows"], head["cellsize"]
    if not (columns >= 1 and rows >= 1 and columns * rows <= CELLS and cell > 0.0 and not (columns % 1 or rows % 1)):
        problems.error("E057", f"the grid has {columns:g} x {rows:g} cells of {cell:g} m", source.at(1))
        return None
    values = _values(source, first, problems)
    if values is None:
        return None
    if len(values) != columns * rows:
        text = f"the grid has {len(values)} heights, expected {columns:g} x {rows:g}"
        problems.error("E057", text, source.at(first))
        return None
    table = np.array(values).reshape(int(rows), int(columns))[::-1]
    none = head.get("nodata_value")
    known = np.ones(table.shape, bool) if none is None else table != none
    if not known.any():
        problems.error("E057", "the grid has no height at all", source.at(first))
        return None
    table = np.where(known, table, table[known].min())
    half = 0.5 * cell
    x = head.get("xllcenter", head.get("xllcorner", 0.0 - half) + half)
    y = head.get("yllcenter", head.get("yllcorner", 0.0 - half) + half)
    return Heights(np.ascontiguousarray(table), (x, y), cell)


def _head(source: Source, problems: Problems) -> tuple[dict[str, float], int]:
    """Read the keys at the start, and the number of the first line behind them."""
    head: dict[str, float] = {}
    for line, text in source.lines():
        words = text.split()
        if not words:
            continue
        key = words[0].lower()
        if key not in KEYS:
            if not NUMBER.fullmatch(words[0]):
                hint = did_you_mean(key, KEYS)
                problems.error("E057", f"{quote(words[0])} is no key of a grid", source.at(line), hint)
            return head, line
        if len(words) != 2 or not NUMBER.fullmatch(words[1]) or not math.isfinite(float(words[1])):
            problems.error("E057", f"{key} needs one number", source.at(line))
            return head, line
        head[key] = float(words[1])
    return head, 1


def _values(source: Source, first: int, problems: Problems) -> list[float] | None:
    found: list[float] = []
    for line, text in source.lines():
        if line < first:
            continue
        for word in text.split():
            if not NUMBER.fullmatch(word) or not abs(float(word)) < 1e9:
                problems.error("E057", f"expected a height, not {quote(word)}", source.at(line))
                return None
            found.append(float(word))
    return found
