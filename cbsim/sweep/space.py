"""`Space`: the points of a sweep, each found by its row number."""

from __future__ import annotations

import importlib
import itertools
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from cbsim.errors import UsageError, did_you_mean
from cbsim.spec.sweep import METHODS, Choice, Count, Distribution, Normal, Range, SweepSpec, Value, Variation
from cbsim.sweep.constraints import Constraint

__all__ = ["MOST_ROWS", "Point", "Space", "check", "from_unit", "setting_text"]

MOST_ROWS = 10_000_000
MOST_STEPS = 2**53  # of a range: the number of its values is exact
LARGEST = 2**63 - 1  # whole number that a column holds
DIGITS = 9  # significant ones of a sampled number, so that its text is short and its bits are those of the text
ATTEMPTS = 64  # designs that are drawn where constraints refuse points


class Point(NamedTuple):
    """One run of a sweep: its values, and the texts of `--set` that ask for them.

    Attributes
    ----------
    row : int
    values : tuple
        In the order of the variations.
    """

    row: int
    values: tuple[Value, ...]


def setting_text(value: Value) -> str:
    """Write a value as YAML that reads back as the same value."""
    if isinstance(value, str):
        from cbsim.formats.yaml_tree import typed

        simple = value == value.strip() and value.isprintable() and isinstance(typed(value), str)
        plain = simple and not value.startswith(tuple("[]{},#&*!|>'\"%@`-?:")) and ": " not in value
        return value if plain and " #" not in value and not value.endswith(":") else json.dumps(value)
    return json.dumps(value, ensure_ascii=False)


class Space:
    """Points of a sweep.

    Parameters
    ----------
    variations : sequence of Variation
    where : sequence of str
        Constraints.
    method : str
        One of `cbsim.spec.sweep.METHODS`; empty for the grid, or for a Latin hypercube where `sample` is given.
    sample : int, optional
        Number of points to draw.
    seed : int
        Of the draw.

    Raises
    ------
    UsageError
        If there are no points, too many, or infinitely many; the message has their number.
    """

    def __init__(
        self,
        variations: Sequence[Variation],
        where: Sequence[str] = (),
        method: str = "",
        sample: int | None = None,
        seed: int = 1,
    ) -> None:
        self.variations = tuple(variations)
        self.names = tuple(one.key for one in self.variations)
        twice = next((name for name in self.names if self.names.count(name) > 1), None)
        if twice is not None:
            raise UsageError(f"'{twice}' is varied twice")
        self.method = method or ("grid" if sample is None else "latin")
        if self.method not in METHODS:
            hint = did_you_mean(self.method, METHODS) or f"known are {', '.join(METHODS)}"
            raise UsageError(f"no method '{self.method}' ({hint})")
        self._constraints = [Constraint(text, self.names) for text in where]
        for one in self.variations:
            check(one)
        self._kept: np.ndarray | None = None  # rows of the grid that satisfy the constraints
        self._drawn: list[tuple[Value, ...]] | np.ndarray | None = None
        if self.method in ("latin", "sobol"):
            if sample is None:
                raise UsageError(f"the method '{self.method}' needs the number of points: --sample N")
            self._drawn = self._sampled(sample, seed)
            return
        self._finite()
        self._order = sorted(range(len(self.names)), key=lambda k: self.names[k] == "seed")  # seeds change fastest
        self._sizes = [size_of(self.variations[k].values) or 0 for k in self._order]
        if self.method == "pairwise":
            self._drawn = self._pairwise()
        elif self._constraints:
            self._kept = np.array([k for k in range(self._whole) if self._allows(self._of_grid(k))], np.int64)
            if not len(self._kept):
                raise UsageError(f"none of the {self._whole} points of the grid satisfies the constraints")
        if sample is not None:
            self._thin(sample, seed)

    @property
    def _whole(self) -> int:
        return math.prod(self._sizes)

    def __len__(self) -> int:
        if self._drawn is not None:
            return len(self._drawn)
        return self._whole if self._kept is None else len(self._kept)

    def __getitem__(self, row: int) -> Point:
        if not 0 <= row < len(self):
            raise IndexError(row)
        if isinstance(self._drawn, np.ndarray):
            return Point(row, self._of_units(self._drawn[row]))
        if self._drawn is not None:
            return Point(row, self._drawn[row])
        return Point(row, self._of_grid(row if self._kept is None else int(self._kept[row])))

    def __iter__(self) -> Iterator[Point]:
        return (self[row] for row in range(len(self)))

    def _allows(self, values: tuple[Value, ...]) -> bool:
        point: Mapping[str, Any] = dict(zip(self.names, values, strict=True))
        return all(constraint(point) for constraint in self._constraints)

    def _of_grid(self, index: int) -> tuple[Value, ...]:
        """Values of a point of the whole grid: the last key of the order changes fastest."""
        found: list[Value] = [None] * len(self.names)
        for k, size in zip(reversed(self._order), reversed(self._sizes), strict=True):
            index, place = divmod(index, size)
            found[k] = value_at(self.variations[k].values, place)
        return tuple(found)

    def _finite(self) -> None:
        """Refuse infinite grids, and those with too many points to run, with their size."""
        sizes = {one.key: size_of(one.values) for one in self.variations}
        endless = [key for key, size in sizes.items() if size is None]
        if endless:
            told = " and ".join(f"'{key}'" for key in endless)
            raise UsageError(
                f"the grid is infinite: {told} {'is' if len(endless) == 1 else 'are'} continuous; "
                "draw points with --sample N, or give a range a step"
            )
        total = math.prod(size or 0 for size in sizes.values())
        if total > MOST_ROWS and self.method == "grid":
            product = " x ".join(str(size) for size in sizes.values())
            raise UsageError(f"the grid has {total} points ({product}), more than {MOST_ROWS}: draw with --sample N")

    def _pairwise(self) -> list[tuple[Value, ...]]:
        """Points in which every pair of values of two keys occurs, but for those that constraints exclude."""
        try:
            pairs: Any = importlib.import_module("allpairspy")
        except ImportError:
            raise UsageError("pairwise points need allpairspy: pip install 'cbsim[sweep]'") from None
        if len(self.names) < 2:
            return [self._of_grid(k) for k in range(self._whole)]
        places = [list(range(size_of(one.values) or 0)) for one in self.variations]
        if max(map(len, places)) > 10_000:
            raise UsageError(f"pairwise points of a key with {max(map(len, places))} values, at most 10000")

        def allowed(row: list[int]) -> bool:
            return len(row) < len(self.names) or self._allows(self._at(row))

        found = [self._at(row) for row in pairs.AllPairs(places, filter_func=allowed)]
        if not found:
            raise UsageError("no pairwise point satisfies the constraints")
        return found

    def _at(self, places: Sequence[int]) -> tuple[Value, ...]:
        return tuple(value_at(one.values, place) for one, place in zip(self.variations, places, strict=True))

    def _thin(self, sample: int, seed: int) -> None:
        """Draw some points of the grid, in its order."""
        if sample < len(self):
            generator = np.random.Generator(np.random.Philox(seed))
            chosen = np.sort(generator.choice(len(self), sample, replace=False))
            if self._drawn is not None:
                self._drawn = [self._drawn[k] for k in chosen.tolist()]
            else:
                self._kept = chosen if self._kept is None else self._kept[chosen]

    def _sampled(self, sample: int, seed: int) -> np.ndarray:
        """Draw points of the unit cube; where constraints refuse some, further ones are drawn."""
        if not 1 <= sample <= MOST_ROWS:
            raise UsageError(f"{sample} points are to be drawn, expected 1 to {MOST_ROWS}")
        if not self.variations:
            raise UsageError("nothing is varied: give --vary key=values")
        design = self._design(seed)
        found: list[np.ndarray] = []
        count = 0
        for _ in range(ATTEMPTS):
            units = design(sample)
            if self._constraints:
                units = units[[self._allows(self._of_units(row)) for row in units]]
            found.append(units)
            count += len(units)
            if count >= sample:
                return np.concatenate(found)[:sample]
        raise UsageError(f"of {ATTEMPTS * sample} points drawn, {count} satisfy the constraints, {sample} are needed")

    def _design(self, seed: int) -> Callable[[int], np.ndarray]:
        from scipy.stats import qmc

        kind = qmc.Sobol if self.method == "sobol" else qmc.LatinHypercube
        engine = kind(len(self.variations), seed=np.random.default_rng(seed))
        if self.method == "sobol":  # the number of all points drawn is a power of two, which keeps them balanced

            def draw(count: int) -> np.ndarray:
                drawn = engine.num_generated
                return np.asarray(engine.random_base2(drawn.bit_length() - 1 if drawn else (count - 1).bit_length()))

            return draw
        return lambda count: np.asarray(engine.random(count))

    def _of_units(self, row: np.ndarray) -> tuple[Value, ...]:
        return tuple(from_unit(one.values, float(unit)) for one, unit in zip(self.variations, row, strict=True))


def check(one: Variation) -> None:
    """Refuse values that are none, more than can be counted, or larger than a column holds.

    Raises
    ------
    UsageError
        If there are none, or if they are not finite.
    """
    key, values = one
    if isinstance(values, Range):
        _check_range(key, values)
    elif isinstance(values, Choice):
        if not values.values:
            raise UsageError(f"the grid is empty: '{key}' has no values")
        large = next((v for v in values.values if isinstance(v, int) and abs(v) > LARGEST), None)
        if large is not None:
            raise UsageError(f"'{key}' has a whole number of {large.bit_length()} bits, at most 63 are possible")
    elif isinstance(values, Count):
        number, first = values
        if not all(isinstance(whole, int) for whole in values) or number < 1 or first < 0:
            raise UsageError(f"'{key}' counts {number} values from {first}: expected whole numbers from 1 and 0 on")
        if first + number - 1 > LARGEST:
            raise UsageError(f"'{key}' counts {number} values from {first}, beyond the largest whole number {LARGEST}")
    elif not (math.isfinite(values.mean) and 0.0 <= values.deviation < math.inf):
        raise UsageError(f"'{key}' has the deviation {values.deviation:g}, expected a finite number from 0 on")


def _check_range(key: str, values: Range) -> None:
    first, last, step = values
    if not all(math.isfinite(number) for number in (*values[:2], step or 0.0, last - first)):
        raise UsageError(f"the range of '{key}' is not finite")
    if step is not None and step == 0.0:
        raise UsageError(f"the range of '{key}' is infinite: its step is 0")
    if (last < first) if step is None else (last - first) * step < 0.0:
        told = ":".join(f"{number:g}" for number in values if number is not None)
        raise UsageError(f"the grid is empty: the range {told} of '{key}' has no values")
    if step is not None and (last - first) / step >= MOST_STEPS:
        raise UsageError(f"the range of '{key}' has the step {step:g}: more than {MOST_STEPS} values cannot be counted")


def size_of(values: Distribution) -> int | None:
    """Count the values; None for infinitely many."""
    if isinstance(values, Choice):
        return len(values.values)
    if isinstance(values, Count):
        return values.number
    if isinstance(values, Normal) or values.step is None:
        return None
    return math.floor((values.last - values.first) / values.step + 1e-9) + 1


def value_at(values: Distribution, place: int) -> Value:
    """Return one of finitely many values."""
    if isinstance(values, Choice):
        return values.values[place]
    if isinstance(values, Count):
        return values.first + place
    assert isinstance(values, Range)
    assert values.step is not None
    number = round(values.first + place * values.step, 12)
    return int(number) if is_whole(values) else number


def is_whole(values: Range) -> bool:
    """Whether all values of a range with a step are whole numbers."""
    numbers = all(number is not None and float(number).is_integer() for number in values)
    return numbers and max(abs(values.first), abs(values.last)) < 2**53


def from_unit(values: Distribution, unit: float) -> Value:
    """Return the value at a quantile from 0 to 1: what sampling draws."""
    size = size_of(values)
    if size is not None:
        return value_at(values, min(int(unit * size), size - 1))
    if isinstance(values, Normal):
        from scipy.special import ndtri

        middle = min(max(unit, 1e-12), 1.0 - 1e-12)
        return rounded(values.mean + values.deviation * float(ndtri(middle)))
    assert isinstance(values, Range)
    return rounded(values.first + unit * (values.last - values.first))


def rounded(number: float) -> float:
    """Round to some significant digits."""
    return float(f"{number:.{DIGITS}g}")


def space_of(spec: SweepSpec, given: Sequence[Variation], **options: Any) -> Space:
    """Combine the sweep of a scenario with what a caller varies: the caller's keys and options come first."""
    named = {one.key: one for one in spec.variations} | {one.key: one for one in given}
    where = tuple(itertools.chain(spec.where, options.get("where") or ()))
    sample, method = options.get("sample") or spec.sample, options.get("method") or spec.method
    return Space(tuple(named.values()), where, method, sample, options.get("seed", 1))
