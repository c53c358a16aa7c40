"""`compare`: what newly fails and passes between two sweeps, and which metrics moved, with significance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cbsim.errors import UsageError
from cbsim.sweep.folder import Folder
from cbsim.sweep.runs.row import parameter_column
from cbsim.sweep.statistics import adjusted, mcnemar, paired, wilson
from cbsim.sweep.table import read

__all__ = ["Changed", "Comparison", "Moved", "compare"]

LEVEL = 0.05


class Changed(NamedTuple):
    """A run whose verdict changed: its row in both sweeps, and its parameters."""

    before: int
    after: int
    point: dict[str, Any]
    verdicts: tuple[str, str]


class Moved(NamedTuple):
    """A metric of which the runs of both sweeps differ.

    Attributes
    ----------
    metric : str
    before, after : float
        Means over the runs in which both have it.
    pairs : int
        Number of those runs.
    p : float
        Of the Wilcoxon signed-rank test, adjusted for the number of metrics.
    """

    metric: str
    before: float
    after: float
    pairs: int
    p: float

    @property
    def is_significant(self) -> bool:
        """Whether the difference is not one of chance, at 5 %."""
        return self.p < LEVEL


@dataclass(frozen=True)
class Comparison:
    """Two sweeps of the same points, run by run.

    Attributes
    ----------
    pairs : int
        Points that both have.
    only_before, only_after : int
        Points that one of them has.
    passed : tuple of (int, int)
        Of the common points, runs that passed.
    newly_failing, newly_passing : list of Changed
    p : float
        Of McNemar's test of the verdicts.
    moved : list of Moved
        Metrics that differ anywhere, by significance.
    equal_digests : int
        Runs that are the same in every bit.
    """

    pairs: int
    only_before: int
    only_after: int
    passed: tuple[int, int]
    newly_failing: list[Changed]
    newly_passing: list[Changed]
    p: float
    moved: list[Moved]
    equal_digests: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        changed = {"newly_failing": self.newly_failing, "newly_passing": self.newly_passing}
        return {
            "pairs": self.pairs, "only_before": self.only_before, "only_after": self.only_after,
            "passed": list(self.passed), "p": self.p, "equal_digests": self.equal_digests,
            **{name: [one._asdict() for one in runs] for name, runs in changed.items()},
            "moved": [one._asdict() | {"significant": one.is_significant} for one in self.moved],
        }  # fmt: skip

    def lines(self) -> list[str]:
        """Describe it for people."""
        rates = [_rate(passed, self.pairs) for passed in self.passed]
        found = [f"{self.pairs} runs in both, {self.equal_digests} of them the same in every bit"]
        if self.only_before or self.only_after:
            found.append(f"{self.only_before} runs only in the first, {self.only_after} only in the second")
        found.append(f"passed: {rates[0]} before, {rates[1]} after (McNemar p = {self.p:.3g})")
        for what, runs in (("newly failing", self.newly_failing), ("newly passing", self.newly_passing)):
            found.append(f"{what}: {len(runs)}")
            for one in runs[:10]:
                told = ", ".join(f"{key}={value}" for key, value in one.point.items())
                found.append(f"  rows {one.before} and {one.after}: {told}   {one.verdicts[0]} -> {one.verdicts[1]}")
            if len(runs) > 10:
                found.append(f"  … and {len(runs) - 10} more")
        for moved in self.moved:
            mark = "moved" if moved.is_significant else "no significant change"
            means = f"{moved.before:.4g} -> {moved.after:.4g} in {moved.pairs} runs"
            found.append(f"{moved.metric}: {means}, p = {moved.p:.3g} ({mark})")
        return found


def _rate(passed: int, total: int) -> str:
    low, high = wilson(passed, total)
    return f"{100.0 * passed / max(1, total):.2f} % [{100.0 * low:.2f}, {100.0 * high:.2f}]"


def compare(before: str | Path, after: str | Path) -> Comparison:
    """Compare two sweeps that vary the same keys, point by point; paths of rare events are the same by seed and forks.

    Raises
    ------
    UsageError
        If they vary different keys, have no point in common, or only one of them is of a rare event.
    """
    folders = Folder.opened(before), Folder.opened(after)
    rare = [folder.plan.search.get("kind") == "rare" for folder in folders]
    if rare[0] != rare[1]:
        forked, plain = (before, after) if rare[0] else (after, before)
        raise UsageError(f"'{forked}' has the paths of a rare event, and '{plain}' plain runs: they cannot be compared")
    keys = [sorted(one.key for one in folder.plan.variations) for folder in folders]
    if keys[0] != keys[1]:
        raise UsageError(f"'{before}' varies {', '.join(keys[0])}, and '{after}' {', '.join(keys[1])}")
    names = [parameter_column(key) for key in keys[0]]
    names += [] if "seed" in names else ["seed"]
    names += ["forks"] if all(rare) else []
    kinds = [dict(folder.columns) for folder in folders]
    metrics = [
        name for name, kind in kinds[0].items()
        if kind == "float64" and name in kinds[1] and name not in {*names, "time", "wall_time", "cost"}
    ]  # fmt: skip
    tables = [read(path, [*names, "verdict", "digest", *metrics]) for path in (before, after)]
    keyed = [_by_point(table, names) for table in tables]
    common = [point for point in keyed[0] if point in keyed[1]]
    if not common:
        raise UsageError(f"'{before}' and '{after}' have no point in common")
    places = [np.array([one[point] for point in common]) for one in keyed]
    verdicts = [np.array(table["verdict"].to_pylist(), object)[k] for table, k in zip(tables, places, strict=True)]
    digests = [np.array(table["digest"].to_pylist(), object)[k] for table, k in zip(tables, places, strict=True)]
    good = [each == "pass" for each in verdicts]
    rows = [table["row"].to_numpy()[k] for table, k in zip(tables, places, strict=True)]

    def changed(which: np.ndarray) -> list[Changed]:
        return [
            Changed(
                int(rows[0][k]), int(rows[1][k]), dict(zip(names, common[k], strict=True)),
                (verdicts[0][k], verdicts[1][k]),
            )
            for k in np.flatnonzero(which).tolist()
        ]  # fmt: skip

    failing, passing = changed(good[0] & ~good[1]), changed(~good[0] & good[1])
    return Comparison(
        len(common), len(keyed[0]) - len(common), len(keyed[1]) - len(common),
        (int(good[0].sum()), int(good[1].sum())),
        failing, passing, mcnemar(len(failing), len(passing)), _moved(tables, places, metrics),
        int((digests[0] == digests[1]).sum()),
    )  # fmt: skip


def _by_point(table: Any, names: Sequence[str]) -> dict[tuple[Any, ...], int]:
    columns = [table[name].to_pylist() for name in names]
    return {point: place for place, point in enumerate(zip(*columns, strict=True))}


def _moved(tables: Sequence[Any], places: Sequence[np.ndarray], metrics: Sequence[str]) -> list[Moved]:
    found: list[Moved] = []
    for name in metrics:
        values = [
            table[name].to_numpy(zero_copy_only=False).astype(float)[k] for table, k in zip(tables, places, strict=True)
        ]
        both = np.isfinite(values[0]) & np.isfinite(values[1])
        one, other = values[0][both], values[1][both]
        if np.any(one != other):
            found.append(Moved(name, float(one.mean()), float(other.mean()), int(both.sum()), paired(one, other)))
    ps = adjusted([one.p for one in found])
    return sorted((one._replace(p=p) for one, p in zip(found, ps, strict=True)), key=lambda one: (one.p, one.metric))
