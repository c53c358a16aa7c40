"""`BoundarySeeker`: points on the boundary between runs that pass and runs that do not.

Lines along each parameter are bisected first. The rest of the runs go where a surface through what is known changes its
sign, as far as possible from the points that are known.
"""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cbsim.errors import UsageError
from cbsim.spec.sweep import Value, Variation
from cbsim.sweep.constraints import Constraint
from cbsim.sweep.space import from_unit

__all__ = ["BoundarySeeker", "surface"]

WIDTH = 0.02  # of a bracket that is narrow enough, as a share of the range
LINES = 4  # along each parameter
CANDIDATES = 11  # as a power of two
MOST_PARAMETERS = 8


@dataclass
class _Bracket:
    """A piece of a line along a parameter, whose ends are `low` and `high`; bisected once their verdicts differ."""

    anchor: np.ndarray
    axis: int
    low: float = 0.0
    high: float = 1.0
    at_low: bool | None = None
    at_high: bool | None = None

    def at(self, place: float) -> np.ndarray:
        point = self.anchor.copy()
        point[self.axis] = place
        return point

    @property
    def is_open(self) -> bool:
        """Whether another point is wanted."""
        if self.at_low is None or self.at_high is None:
            return True
        return self.at_low != self.at_high and self.high - self.low > WIDTH

    def wanted(self) -> float:
        """Place of the next point."""
        if self.at_low is None:
            return self.low
        return self.high if self.at_high is None else 0.5 * (self.low + self.high)

    def take(self, place: float, *, passed: bool) -> None:
        """Take the verdict of the point that was wanted."""
        if self.at_low is None:
            self.at_low = passed
        elif self.at_high is None:
            self.at_high = passed
        elif passed == self.at_low:
            self.low = place
        else:
            self.high = place


class BoundarySeeker:
    """Seeks the boundary between pass and fail.

    Parameters
    ----------
    variations : sequence of Variation
    where : sequence of str
        Constraints.
    seed : int
        Of the lines and of the candidates.

    Raises
    ------
    UsageError
        If there are more than eight parameters.
    """

    def __init__(self, variations: Sequence[Variation], where: Sequence[str] = (), seed: int = 1) -> None:
        if not 1 <= len(variations) <= MOST_PARAMETERS:
            raise UsageError(f"a boundary is sought in 1 to {MOST_PARAMETERS} parameters, not in {len(variations)}")
        self.variations = tuple(variations)
        names = [one.key for one in variations]
        self._names, self._constraints = names, [Constraint(text, names) for text in where]
        from scipy.stats import qmc

        drawn = np.asarray(qmc.Sobol(len(names), seed=np.random.default_rng(seed)).random_base2(CANDIDATES))
        anchors = drawn[:LINES]
        self._candidates = drawn[[self._allowed(point) for point in drawn]] if self._constraints else drawn
        if not len(self._candidates):
            raise UsageError("the constraints refuse every point")
        count = 1 if len(names) == 1 else LINES
        self._brackets = [_Bracket(anchors[k], axis) for axis in range(len(names)) for k in range(count)]
        self._points: list[np.ndarray] = []
        self._passed: list[bool] = []
        self._asked: list[tuple[np.ndarray, _Bracket | None, float]] = []

    def ask(self, count: int) -> list[tuple[Value, ...]]:
        """Choose the next points: of lines that are not bisected yet, then of the boundary as far as it is known."""
        self._asked = []
        for one in self._brackets:
            point = one.at(one.wanted())
            if one.is_open and not self._allowed(point):
                one.at_low = one.at_high = True  # the line leaves the space: it is given up
            elif one.is_open and len(self._asked) < count:
                self._asked.append((point, one, one.wanted()))
        if len(self._asked) < count:
            self._asked += [(point, None, 0.0) for point in self._sampled(count - len(self._asked))]
        return [self.values(point) for point, _, _ in self._asked]

    def tell(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Take the rows of the points asked for last."""
        for (point, bracket, place), row in zip(self._asked, rows, strict=True):
            passed = row["verdict"] == "pass"
            self._points.append(point)
            self._passed.append(passed)
            if bracket is not None:
                bracket.take(place, passed=passed)

    def values(self, point: np.ndarray) -> tuple[Value, ...]:
        """Values of a point of the unit cube."""
        return tuple(from_unit(one.values, float(unit)) for one, unit in zip(self.variations, point, strict=True))

    def _allowed(self, point: np.ndarray) -> bool:
        named = dict(zip(self._names, self.values(point), strict=True))
        return all(constraint(named) for constraint in self._constraints)

    def _sampled(self, count: int) -> Iterator[np.ndarray]:
        """Draw points near the boundary and far from what is known; anywhere while all verdicts are the same."""
        drawn = self._candidates
        known = np.array(self._points).reshape(-1, drawn.shape[1])
        if any(self._passed) and not all(self._passed):
            heights = np.abs(surface(known, np.array(self._passed), drawn))
            order = np.argsort(heights, kind="stable")
            drawn = drawn[order[: max(8 * count, len(drawn) // 16)]]
        distance = np.full(len(drawn), np.inf)
        for point in known:
            distance = np.minimum(distance, np.abs(drawn - point).max(axis=1))
        for _ in itertools.repeat(None, count):
            chosen = drawn[int(np.argmax(distance))]
            distance = np.minimum(distance, np.abs(drawn - chosen).max(axis=1))
            yield chosen


def surface(points: np.ndarray, passed: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Interpolate the signed distance to the boundary: positive where runs pass.

    Parameters
    ----------
    points : ndarray, shape (n, d)
        Of the unit cube.
    passed : ndarray, shape (n,)
        Both verdicts occur.
    at : ndarray, shape (m, d)

    Returns
    -------
    ndarray, shape (m,)
        Each known point has the distance to the nearest one of the other verdict, of which half is beyond the boundary.
    """
    interpolate: Any = importlib.import_module("scipy.interpolate")
    spatial: Any = importlib.import_module("scipy.spatial")
    unique, first = np.unique(points, axis=0, return_index=True)
    good = passed[first]
    heights = np.empty(len(unique))
    for verdict in (True, False):
        distance, _ = spatial.KDTree(unique[good != verdict]).query(unique[good == verdict])
        heights[good == verdict] = distance if verdict else -distance
    neighbours = None if len(unique) <= 200 else 64
    return np.asarray(interpolate.RBFInterpolator(unique, heights, neighbors=neighbours, kernel="linear", degree=0)(at))
