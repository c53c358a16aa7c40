"""Contents of a sweep's declaration: parameters and keys of a scenario that vary, with the values that they take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["METHODS", "NO_SWEEP", "Choice", "Count", "Normal", "Range", "SweepSpec", "Value", "Variation"]

METHODS = ("grid", "latin", "sobol", "pairwise")

Value = str | int | float | bool | None | list[object] | dict[str, object]


class Range(NamedTuple):
    """Numbers between two, both included; without a step they are continuous."""

    first: float
    last: float
    step: float | None = None


class Choice(NamedTuple):
    """One of several values, as a file spells them."""

    values: tuple[Value, ...]


class Normal(NamedTuple):
    """Normally distributed numbers, which can only be sampled."""

    mean: float
    deviation: float


class Count(NamedTuple):
    """Consecutive whole numbers: seeds."""

    number: int
    first: int = 1


Distribution = Range | Choice | Normal | Count


class Variation(NamedTuple):
    """A key and its values.

    Attributes
    ----------
    key : str
        A scenario parameter, or a key path as of `--set`: ``seed``, ``add.Truck.size``.
    values : Range, Choice, Normal or Count
    """

    key: str
    values: Distribution


@dataclass(frozen=True, slots=True)
class SweepSpec:
    """The `sweep` of a scenario file.

    Attributes
    ----------
    variations : tuple of Variation
    where : tuple of str
        Constraints between parameters; a point must satisfy all of them.
    sample : int or None
        Number of points that are drawn; None for all of the grid.
    method : str
        One of `METHODS`; empty where the file does not say.
    """

    variations: tuple[Variation, ...] = ()
    where: tuple[str, ...] = ()
    sample: int | None = None
    method: str = ""


NO_SWEEP = SweepSpec()
