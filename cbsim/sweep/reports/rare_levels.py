"""Levels that an estimate of a rare event has passed, found again from its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from cbsim.arrays import Floats
from cbsim.sweep.plan import Plan
from cbsim.sweep.runs.paths import marks_of
from cbsim.sweep.splitting import Passage, Splitting

__all__ = ["Repetition", "mean_curve", "repetitions_of", "way_of"]


class Repetition(NamedTuple):
    """What is known of a repetition.

    Attributes
    ----------
    passages : list of Passage
        Levels in their order, the last of which is the event where some paths reached it.
    estimate : float or None
        Of the probability; None while it is running.
    rows : list of dict
        Its paths.
    """

    passages: list[Passage]
    estimate: float | None
    rows: list[dict[str, Any]]

    @property
    def probabilities(self) -> list[float]:
        """Estimated probability that a run passes each level."""
        return [float(one) for one in np.cumprod([one.share for one in self.passages])]


def repetitions_of(plan: Plan, rows: Sequence[dict[str, Any]]) -> list[Repetition]:
    """Repeat the choices of an estimate with the rows that there are, up to the first that is missing.

    Parameters
    ----------
    plan : Plan
    rows : sequence of dict
        With `row` and `marks`.
    """
    how, known = plan.search, {row["row"]: row for row in rows}
    found: list[Repetition] = []
    first = 0
    for number in range(how["repeats"]):
        splitting = Splitting(how["particles"], how["kill"], how["target"], (plan.sample_seed, number))
        asking, own, estimate = splitting.paths(), list[dict[str, Any]](), None
        wanted = next(asking)
        while all(row in known for row in range(first, first + len(wanted))):
            new = [known[row] for row in range(first, first + len(wanted))]
            own, first = own + new, first + len(new)
            try:
                wanted = asking.send([(row["row"], marks_of(row)) for row in new])
            except StopIteration as ended:
                estimate = float(ended.value)
                break
        if own:
            found.append(Repetition(splitting.passages, estimate, own))
        if estimate is None:
            break
    return found


def mean_curve(repetitions: Sequence[Repetition]) -> tuple[Floats, Floats]:
    """Levels of all repetitions, and the mean of their probabilities that a run passes each.

    Returns
    -------
    levels, probabilities : ndarray, shape (n,)
    """
    levels = np.unique([one.level for each in repetitions for one in each.passages])
    curves = []
    for one in repetitions:
        own = np.array([passage.level for passage in one.passages])
        steps = np.concatenate([[1.0], one.probabilities])
        curves.append(steps[np.searchsorted(own, levels, side="right")])
    return levels, np.mean(curves, axis=0) if curves else np.zeros(0)


def way_of(row: Mapping[str, Any], known: Mapping[int, Mapping[str, Any]]) -> list[tuple[int, float]]:
    """List the steps at which the level of a path rose, and the levels, also before its forks.

    Parameters
    ----------
    row : mapping
    known : mapping
        Rows by their numbers, with the ancestors of the path.
    """
    found: list[tuple[int, float]] = []
    one: Mapping[str, Any] | None = row
    while one is not None:
        before = found[0][0] if found else None
        marks = [(mark.step, mark.level) for mark in marks_of(one)]
        found = [mark for mark in marks if before is None or mark[0] < before] + found
        one = known.get(one["parent"])
    return found
