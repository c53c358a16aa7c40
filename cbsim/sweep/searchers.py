"""Searchers: they ask for points in batches of a fixed size, and are told the rows in their order."""

from __future__ import annotations

import importlib
import math
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from cbsim.errors import UsageError, did_you_mean
from cbsim.spec.sweep import Choice, Count, Normal, Range, Value, Variation
from cbsim.sweep.constraints import Constraint
from cbsim.sweep.runs.row import OUTSIDE
from cbsim.sweep.space import from_unit, rounded, size_of, value_at

__all__ = ["Optimizer", "Searcher", "require_column"]

TAIL = 1e-4  # quantile of a normal distribution beyond which nothing is searched
MOST_REFUSED = 1000  # points in a row that violate a constraint
STORAGE = "search.log"


class Searcher(Protocol):
    """Chooses points by the rows of those before."""

    def ask(self, count: int) -> list[tuple[Value, ...]]:
        """Choose the next points."""

    def tell(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Take the rows of the points asked for last, in their order."""


def require_column(name: str, columns: Sequence[tuple[str, str]]) -> None:
    """Refuse an objective that is no column of numbers.

    Raises
    ------
    UsageError
        If it is none.
    """
    known = [column for column, kind in columns if kind == "float64" and column not in OUTSIDE]
    if name not in known:
        hint = did_you_mean(name, known) or f"there is {', '.join(known)}"
        raise UsageError(f"there is no column of numbers '{name}' to search by ({hint})")


class Optimizer:
    """A sampler of optuna (TPE), whose study is kept in the folder of the sweep.

    Parameters
    ----------
    variations : sequence of Variation
    where : sequence of str
        Constraints.
    column : str
        What is minimized or maximized.
    maximize : bool
    seed : int
        Of the sampler.
    folder : Path, optional
        Where the study is kept, as a journal that optuna's tools read.
    """

    def __init__(
        self,
        variations: Sequence[Variation],
        where: Sequence[str],
        column: str,
        *,
        maximize: bool = False,
        seed: int = 1,
        folder: Path | None = None,
    ) -> None:
        self._optuna = optuna = _optuna()
        self.variations, self.column, self.maximize = tuple(variations), column, maximize
        names = [one.key for one in variations]
        self._names, self._constraints = names, [Constraint(text, names) for text in where]
        self._distributions = {one.key: self._distribution(one) for one in variations}
        self._trials: list[Any] = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # parts of optuna are called experimental
            sampler = optuna.samplers.TPESampler(seed=seed, constant_liar=True)
            direction = "maximize" if maximize else "minimize"
            self._study = optuna.create_study(
                sampler=sampler, direction=direction, storage=self._storage(folder), study_name="sweep"
            )

    def ask(self, count: int) -> list[tuple[Value, ...]]:
        """Choose the next points.

        Raises
        ------
        UsageError
            If constraints refuse everything that the sampler chooses.
        """
        self._trials = []
        found: list[tuple[Value, ...]] = []
        refused = 0
        while len(found) < count:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                trial = self._study.ask(self._distributions)
            values = tuple(self._value(one, trial.params[one.key]) for one in self.variations)
            point = dict(zip(self._names, values, strict=True))
            if all(constraint(point) for constraint in self._constraints):
                self._trials.append(trial)
                found.append(values)
                refused = 0
                continue
            self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
            refused += 1
            if refused >= MOST_REFUSED:
                raise UsageError(f"the constraints refused {MOST_REFUSED} points in a row")
        return found

    def tell(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Take the rows of the points asked for last; a run without the value is the worst there is."""
        worst = -math.inf if self.maximize else math.inf
        for trial, row in zip(self._trials, rows, strict=True):
            if row["verdict"] == "error" and row[self.column] is None:
                self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
            else:
                self._study.tell(trial, worst if row[self.column] is None else row[self.column])

    def _storage(self, folder: Path | None) -> Any:
        """Storage of the study, begun anew: a resumed search tells it again what is known."""
        if folder is None:
            return None
        path = folder / STORAGE
        path.unlink(missing_ok=True)
        journal: Any = importlib.import_module("optuna.storages.journal")
        return self._optuna.storages.JournalStorage(journal.JournalFileBackend(str(path)))

    def _distribution(self, one: Variation) -> Any:
        kinds, values = self._optuna.distributions, one.values
        if isinstance(values, Range) and values.step is None:
            return kinds.FloatDistribution(values.first, values.last)
        if isinstance(values, Normal):
            return kinds.FloatDistribution(TAIL, 1.0 - TAIL)
        size = size_of(values) or 1
        if isinstance(values, Choice):
            return kinds.CategoricalDistribution(tuple(range(size)))
        return kinds.IntDistribution(0, size - 1)

    def _value(self, one: Variation, parameter: Any) -> Value:
        values = one.values
        if isinstance(values, Range) and values.step is None:
            return rounded(float(parameter))
        if isinstance(values, Normal):
            return from_unit(values, float(parameter))
        assert isinstance(values, Range | Choice | Count)
        return value_at(values, int(parameter))


def _optuna() -> Any:
    try:
        optuna: Any = importlib.import_module("optuna")
    except ImportError:
        raise UsageError("searches need optuna: pip install 'cbsim[sweep]'") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna
