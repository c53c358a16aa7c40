"""The score of a run: the product of gates, times the weighted mean of rules and metrics, line by line."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from cbsim.evaluation.rules import Rule
from cbsim.spec.scenario import Term

__all__ = ["Line", "ScoreResult", "gate_line", "term_line"]

UNFINISHED = ("mission_time",)  # metrics that are not measured where something was not reached


class Line(NamedTuple):
    """A gate or a term of a score.

    Attributes
    ----------
    name : str
        ``collision Bot``, ``ttc Bot``.
    value : float or None
        From 0 to 1; None where it is undecided.
    weight : float or None
        None for gates.
    message : str
        What was found.
    """

    name: str
    value: float | None
    weight: float | None
    message: str

    def __str__(self) -> str:
        value = _shown(self.value)
        lead = f"gate {value}" if self.weight is None else f"{self.weight:g} x {value}"
        return f"{lead}  {self.name}: {self.message}"


@dataclass(frozen=True, slots=True)
class ScoreResult:
    """A score with its lines.

    Attributes
    ----------
    gates, mean : tuple of Line
    """

    gates: tuple[Line, ...]
    mean: tuple[Line, ...]

    @property
    def gate(self) -> float | None:
        """Product of the gates; None where one is undecided and none is 0."""
        return _product([line.value for line in self.gates])

    @property
    def average(self) -> float | None:
        """Weighted mean of the terms, 1 without any; None where one that counts is undecided."""
        total, found = 0.0, 0.0
        for line in self.mean:
            weight = line.weight or 0.0
            if weight and line.value is None:
                return None
            total += weight
            found += weight * (line.value or 0.0)
        return found / total if total else 1.0

    @property
    def value(self) -> float | None:
        """The score, from 0 to 1; None where it is undecided."""
        return _product([self.gate, self.average])

    @property
    def head(self) -> str:
        """The score and its two factors."""
        return f"score {_shown(self.value)} = gates {_shown(self.gate)} x mean {_shown(self.average)}"

    def lines(self) -> Iterator[str]:
        """List the score, and what it is made of."""
        yield self.head
        yield from (f"  {line}" for line in (*self.gates, *self.mean))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        lines = {"gates": [line._asdict() for line in self.gates], "mean": [line._asdict() for line in self.mean]}
        return {"value": self.value, "gate": self.gate, "average": self.average, **lines}


def _product(values: list[float | None]) -> float | None:
    if 0.0 in values:
        return 0.0
    known = [value for value in values if value is not None]
    return math.prod(known) if len(known) == len(values) else None


def _shown(value: float | None) -> str:
    return "undecided" if value is None else f"{value:.3f}"


def gate_line(rule: Rule, weight: float | None = None) -> Line:
    """Return the line of a rule: 1 if it holds, else 0."""
    check = rule.result()
    value = None if check.passed is None else float(check.passed)
    return Line(check.name, value, weight, check.message)


def term_line(rule: Rule, term: Term) -> Line:
    """Return the line of a term of the mean.

    A metric is interpolated from 0 at its worst to 1 at its best value. Where there was nothing to measure, no object
    came near, and it counts 1; a mission that was not finished counts 0.
    """
    if not term.metric:
        return gate_line(rule, term.weight)
    name = f"{term.metric} {rule.subject}"
    measure = next(one for one in rule.measures() if one.metric == term.metric)
    between = f"0 at {term.worst:g}, 1 at {term.best:g}"
    if measure.value is None:
        value = 0.0 if term.metric in UNFINISHED else 1.0
        return Line(name, value, term.weight, f"nothing to measure, {between}")
    share = (measure.value - term.worst) / (term.best - term.worst)
    told = f"{measure.value:.3f} {measure.unit}".rstrip()
    when = "" if measure.time is None else f" at {measure.time:.2f} s"
    return Line(name, min(max(share, 0.0), 1.0), term.weight, f"{told}{when}, {between}")
