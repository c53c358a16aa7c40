"""`Remark`: what a run is to tell of a step that could not be made as it should have been."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Remark", "in_words"]

WORDS = {
    "passed": "{others} passed through {models}, for which there was no room to give way",
    "loose": "{models} took steps that the solver made to looser tolerances alone",
    "held": "{both} stood still, for there was no way in which none would pass through another",
}


class Remark(NamedTuple):
    """One step of some models.

    Attributes
    ----------
    what : str
        ``"passed"``: what does as it is told was left out; ``"held"``: all stayed where they were; ``"loose"``: models
        were solved to looser tolerances than usual.
    time : float
        At its beginning [s].
    models, others : tuple of str
        Names of the models, and of the others: what passed through them, or stood still with them.
    """

    what: str
    time: float
    models: tuple[str, ...]
    others: tuple[str, ...]


def in_words(remarks: Sequence[Remark]) -> list[str]:
    """Sum remarks up, those on the same bodies in one sentence."""
    counts = Counter((one.what, one.models, one.others) for one in remarks)
    first = {}
    for one in reversed(remarks):
        first[one.what, one.models, one.others] = one.time
    said = []
    for (what, models, others), count in counts.items():
        names = [
            ", ".join(f"'{name}'" for name in group) or "what stands" for group in (others, models, (*models, *others))
        ]
        text = WORDS[what].format(others=names[0], models=names[1], both=names[2])
        said.append(f"{text}: {count} step{'s' * (count > 1)} from {first[what, models, others]:.2f} s on")
    return said
