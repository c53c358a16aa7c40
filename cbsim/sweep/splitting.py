"""Adaptive multilevel splitting: the algorithm alone, for paths of any kind; see docs/theory/splitting.md."""

from __future__ import annotations

import importlib
import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from cbsim.geometry import elementary

__all__ = ["Estimate", "Mark", "Passage", "Restart", "Splitting", "combined"]


class Mark(NamedTuple):
    """A moment at which the running level of a path rose.

    Attributes
    ----------
    step : int
    level : float
        From then on, until the next mark.
    """

    step: int
    level: float


class Restart(NamedTuple):
    """A path to be run: from the start, or from a mark of another one.

    Attributes
    ----------
    parent : int or None
        Number of the path that it has its past from; None for one from the start.
    mark : int
        Which of its marks.
    """

    parent: int | None = None
    mark: int = 0


class Passage(NamedTuple):
    """A level, and how many paths passed it.

    Attributes
    ----------
    level : float
        Paths at or below it ended; of the last one, the event, those below it.
    share : float
        Of the paths, those that passed it.
    ended : int
        Paths that did not.
    """

    level: float
    share: float
    ended: int


@dataclass
class Splitting:
    """One repetition of adaptive multilevel splitting.

    It follows Bréhier, Gazeau, Goudenège, Lelièvre and Rousset (2016), Unbiasedness of some generalized adaptive
    multilevel splitting algorithms, Annals of Applied Probability 26, 3559-3601, §2 and §4.2: all paths at or below
    the level of the `kill`-th lowest one end, and are replaced by paths which leave a survivor where it rose above that
    level. The estimate is unbiased for any number of paths, any level, and with ties.

    Parameters
    ----------
    particles : int
        Paths at a time.
    kill : int
        Least number of paths that end in an iteration.
    target : float
        Level from which on the event has happened.
    seed : sequence of int
        Of the choice of survivors.
    """

    particles: int
    kill: int
    target: float
    seed: Sequence[int]
    probability: float = field(default=1.0, init=False)
    iterations: int = field(default=0, init=False)
    alive: list[int] = field(default_factory=list, init=False)
    passages: list[Passage] = field(default_factory=list, init=False)

    def paths(self) -> Generator[list[Restart], list[tuple[int, list[Mark]]], float]:
        """Ask for paths, batch by batch; send back the number and the marks of each; return the estimate.

        A path's first mark is that of its beginning, whatever its level there; its level at the end is that of the
        last mark. Numbers tell paths apart.
        """
        draw = np.random.Generator(np.random.Philox(np.random.SeedSequence(list(self.seed))))
        marks: dict[int, list[Mark]] = {}
        found = yield [Restart() for _ in range(self.particles)]
        self.alive = [number for number, _ in found]
        marks.update(found)
        while True:
            tops = np.array([marks[number][-1].level for number in self.alive])
            level = float(np.partition(tops, self.kill - 1)[self.kill - 1])
            if level >= self.target:
                reached = int(np.count_nonzero(tops >= self.target))
                self.passages.append(Passage(self.target, reached / self.particles, self.particles - reached))
                return self.probability * float(reached) / self.particles
            survives = tops > level
            count = int(np.count_nonzero(survives))
            self.probability *= count / self.particles
            self.iterations += 1
            self.passages.append(Passage(level, count / self.particles, self.particles - count))
            if not count:
                return 0.0
            survivors = [number for number, lives in zip(self.alive, survives, strict=True) if lives]
            chosen = [survivors[int(k)] for k in draw.integers(0, count, self.particles - count)]
            for number in self.alive:
                if number not in survivors:
                    marks.pop(number)
            self.alive = survivors
            restarts = [Restart(one, _first_above(marks[one], level)) for one in chosen]
            found = yield restarts
            marks.update(found)
            self.alive = [*survivors, *(number for number, _ in found)]


def _first_above(marks: Sequence[Mark], level: float) -> int:
    """Index of the first mark above a level."""
    return next(k for k, mark in enumerate(marks) if mark.level > level)


class Estimate(NamedTuple):
    """A probability with an interval at 95 %.

    Attributes
    ----------
    probability : float
    low, high : float
    repetitions : tuple of float
        Estimate of each repetition.
    method : str
        Where the interval comes from: ``repetitions`` or ``asymptotic``.
    """

    probability: float
    low: float
    high: float
    repetitions: tuple[float, ...]
    method: str


def combined(found: Sequence[float], particles: int) -> Estimate:
    """Combine independent repetitions.

    From two on, the interval is that of Student's distribution for the mean of the unbiased estimates, on a logarithmic
    scale by the delta method, since estimates are positive and skewed. Of a single one, it is the log-normal limit with
    variance -log(p) / N (Cérou and Guyader 2007, Stochastic Analysis and Applications 25, 417-443), which is that of
    an ideal level, and too narrow for others.

    Parameters
    ----------
    found : sequence of float
        Estimate of each repetition.
    particles : int
        Paths of each at a time.
    """
    values = tuple(float(one) for one in found)
    mean = math.fsum(values) / len(values)
    if mean <= 0.0:
        return Estimate(0.0, 0.0, 1.0, values, "none")
    if len(values) == 1:
        spread, method, factor = math.sqrt(-math.log(mean) / particles), "asymptotic", 1.959963984540054
    else:
        variance = math.fsum((one - mean) ** 2 for one in values) / (len(values) - 1)
        spread, method = math.sqrt(variance / len(values)) / mean, "repetitions"
        factor = float(importlib.import_module("scipy.stats").t.ppf(0.975, len(values) - 1))
    width = float(elementary.exp(factor * spread))
    return Estimate(mean, mean / width, min(1.0, mean * width), values, method)
