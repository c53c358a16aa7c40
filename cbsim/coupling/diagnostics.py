"""Diagnostics of a run: steps solved with fallback settings, summarized per kind and bodies.

A run may have any number of such steps, so a summary keeps only their count, the first time and the last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

__all__ = ["FORMER_WORDS", "Diagnostic", "DiagnosticSummary", "Diagnostics", "describe"]

WORDS = {
    "interpenetrating": "{others} passed through {models}: no solution kept them apart",
    "refined": "{models}: solved in finer steps",
    "relaxed": "{models}: solved with relaxed tolerances",
    "locked_together": "{both} moved as one rigid body: no solution kept them apart",
    "frozen": "{both} did not move: no solution kept them apart",
}
FORMER_WORDS = {
    "interpenetrating": "passed",
    "relaxed": "loose",
    "locked_together": "joined",
    "frozen": "held",
}  # kinds that the key ``remarks`` of ``run --json`` still has, deprecated in favour of ``diagnostics``
MOST = 1000  # summaries of a run with names; further ones are merged by kind


class Diagnostic(NamedTuple):
    """A step solved with fallback settings.

    Attributes
    ----------
    what : str
        ``"refined"``: solved in finer steps. ``"relaxed"``: solved to looser tolerances. ``"interpenetrating"``:
        kinematic actors were removed from the island and passed through models. ``"locked_together"``: the island moved
        as one rigid body. ``"frozen"``: the island did not move.
    time : float
        At the beginning of the step [s].
    models, others : tuple of str
        Names of the models, and of the other bodies concerned.
    """

    what: str
    time: float
    models: tuple[str, ...]
    others: tuple[str, ...]


class DiagnosticSummary(NamedTuple):
    """All diagnostics of one kind on the same bodies.

    Attributes
    ----------
    what, models, others
        As in `Diagnostic`; without names for kinds beyond `MOST` summaries.
    steps : int
        Number of steps.
    first, last : float
        Times of the first and the last of them [s].
    """

    what: str
    models: tuple[str, ...]
    others: tuple[str, ...]
    steps: int
    first: float
    last: float


class Diagnostics:
    """Summaries of a run's diagnostics, in the order of their first occurrence."""

    def __init__(self) -> None:
        self._summaries: dict[tuple[str, tuple[str, ...], tuple[str, ...]], DiagnosticSummary] = {}

    def take(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Add diagnostics of steps later than those before."""
        for one in diagnostics:
            key = one.what, one.models, one.others
            if key not in self._summaries and len(self._summaries) >= MOST:
                key = one.what, (), ()
            known = self._summaries.get(key)
            steps, first = (0, one.time) if known is None else (known.steps, known.first)
            self._summaries[key] = DiagnosticSummary(*key, steps + 1, first, one.time)

    def __iter__(self) -> Iterator[DiagnosticSummary]:
        """Iterate over the summaries."""
        return iter(self._summaries.values())


def describe(diagnostics: Iterable[DiagnosticSummary]) -> list[str]:
    """Format diagnostics as sentences."""
    said = []
    for what, models, others, steps, first, last in diagnostics:
        groups = {"models": models, "others": others, "both": (*models, *others)}
        names = {key: ", ".join(f"'{name}'" for name in group) or "others" for key, group in groups.items()}
        when = f"at {first:.2f} s" if steps == 1 else f"from {first:.2f} to {last:.2f} s"
        said.append(f"{WORDS[what].format(**names)}: {steps} step{'s' * (steps > 1)} {when}")
    return said
