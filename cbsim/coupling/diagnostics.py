"""What a run is to tell of steps that could not be made as they should have been: each a `Remark`, summed in `Remarks`.

A run may have such a step at any time for as long as it lasts, so what is kept of them is how many there were of whom,
the first and the last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

__all__ = ["Remark", "Remarks", "Told", "in_words"]

WORDS = {
    "passed": "{others} passed through {models}, for which there was no room to give way",
    "loose": "{models} took steps that the solver made to looser tolerances alone",
    "joined": "{both} went on as one, for there was no way in which none would pass through another",
    "held": "{both} stood still, for there was no way in which none would pass through another",
}
MOST = 1000  # sorts of remarks of a run that are told apart: what comes after those is told without names


class Remark(NamedTuple):
    """One step of some models.

    Attributes
    ----------
    what : str
        ``"passed"``: what does as it is told was left out; ``"joined"``: all went on as one body; ``"held"``: all
        stayed where they were; ``"loose"``: models were solved to looser tolerances than usual.
    time : float
        At its beginning [s].
    models, others : tuple of str
        Names of the models, and of the others: what passed through them, went on or stood still with them.
    """

    what: str
    time: float
    models: tuple[str, ...]
    others: tuple[str, ...]


class Told(NamedTuple):
    """All remarks of a run of one sort on the same bodies.

    Attributes
    ----------
    what, models, others
        As `Remark` has them; without models, of all bodies that are not told apart any more.
    steps : int
        How many there were.
    first, last : float
        Times of the first and the last of them [s].
    """

    what: str
    models: tuple[str, ...]
    others: tuple[str, ...]
    steps: int
    first: float
    last: float


class Remarks:
    """The remarks of a run in the order of their first ones, as many as there are sorts of them."""

    def __init__(self) -> None:
        self._told: dict[tuple[str, tuple[str, ...], tuple[str, ...]], Told] = {}

    def take(self, remarks: Iterable[Remark]) -> None:
        """Add remarks on steps later than those before."""
        for one in remarks:
            key = one.what, one.models, one.others
            if key not in self._told and len(self._told) >= MOST:
                key = one.what, (), ()
            known = self._told.get(key)
            steps, first = (0, one.time) if known is None else (known.steps, known.first)
            self._told[key] = Told(*key, steps + 1, first, one.time)

    def __iter__(self) -> Iterator[Told]:
        """Give them summed up."""
        return iter(self._told.values())


def in_words(remarks: Iterable[Told]) -> list[str]:
    """Put remarks into sentences."""
    said = []
    for what, models, others, steps, first, last in remarks:
        groups = {"models": models, "others": others, "both": (*models, *others)}
        names = {key: ", ".join(f"'{name}'" for name in group) or "others" for key, group in groups.items()}
        when = f"at {first:.2f} s" if steps == 1 else f"from {first:.2f} to {last:.2f} s"
        said.append(f"{WORDS[what].format(**names)}: {steps} step{'s' * (steps > 1)} {when}")
    return said
