"""Coordinates of all points of a file in two arrays, with a slice for each block."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate, chain, pairwise

import numpy as np
from numpy.typing import NDArray

from cbsim.formats.rndf.draft import Draft
from cbsim.formats.rndf.state import State
from cbsim.formats.values import LIMIT, quote
from cbsim.spec.road import Points

__all__ = ["Columns", "column", "drop_impossible"]


class Columns:
    """Two arrays with the range of each block.

    Attributes
    ----------
    latitude, longitude : ndarray, shape (n,)
        The two columns of all points; read only.
    borders : list of int
        0, the row at which each block but the first starts, and n.
    """

    def __init__(self, drafts: Iterable[Draft]) -> None:
        holders = [draft for draft in drafts if draft.runs]
        runs = [run for draft in holders for run in draft.runs]
        self.latitude = column(chain.from_iterable(run.latitudes for run in runs))
        self.longitude = column(chain.from_iterable(run.longitudes for run in runs))
        self.borders = [0, *accumulate(draft.count for draft in holders)]
        self._places = dict(zip(map(id, holders), pairwise(self.borders), strict=True))

    def points(self, draft: Draft) -> Points:
        """Make the spec of a block's points."""
        if not draft.runs:
            return NO_POINTS
        run = draft.points
        start, end = self._places[id(draft)]
        lines = run.lines if isinstance(run.lines, range) else tuple(run.lines)
        return Points(tuple(run.numbers), self.latitude[start:end], self.longitude[start:end], tuple(run.texts), lines)

    @property
    def is_possible(self) -> bool:
        """Whether all numbers are finite and in a plausible range."""
        return bool((np.abs(self.latitude) <= LIMIT).all() and (np.abs(self.longitude) <= LIMIT).all())


def column(values: Iterable[float]) -> NDArray[np.float64]:
    """Make a read-only array."""
    made = np.fromiter(values, dtype=np.float64)
    made.flags.writeable = False
    return made


NO_POINTS = Points((), column(()), column(()), (), ())


def drop_impossible(state: State) -> None:
    """Report points with numbers that are implausible in any unit, and drop them."""
    for draft in state.drafts:
        run = draft.points
        good = [abs(first) <= LIMIT and abs(second) <= LIMIT for first, second in zip(*run[1:3], strict=True)]
        if all(good):
            continue
        draft.runs, draft.count = [], 0
        for is_good, number, *coordinates, texts, line in zip(good, *run, strict=True):
            if is_good:
                draft.add_point(number, (coordinates[0], coordinates[1]), texts, line)
                continue
            draft.broken.append(number)
            message = f"point '{draft.label}.{number}' has impossible coordinates {quote(' '.join(texts))}"
            state.problems.error("E007", message, state.at(line, f"{draft.label}.{number}"))
