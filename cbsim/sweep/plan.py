"""`Plan`: what a sweep runs and how it is cut into chunks, as kept in its folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from cbsim.spec.sweep import Choice, Count, Distribution, Normal, Range, Variation
from cbsim.sweep.space import Space

__all__ = ["RECORDED", "Plan", "chunk_size"]

RECORDED = ("failed", "all", "none")
KINDS: dict[str, type[Range | Choice | Normal | Count]] = {
    "range": Range, "choice": Choice, "normal": Normal, "count": Count,
}  # fmt: skip
LARGEST_CHUNK, USUAL_CHUNK, CHUNKS = 1000, 8, 1000


def chunk_size(rows: int, jobs: int) -> int:
    """Rows of a chunk: many enough that short runs are not drowned, few enough that all workers have some.

    >>> chunk_size(10, 2), chunk_size(100, 2), chunk_size(10_000, 2), chunk_size(1_000_000, 2)
    (1, 8, 10, 1000)
    """
    usual = min(USUAL_CHUNK, max(1, rows // (4 * max(1, jobs))))
    return max(1, min(LARGEST_CHUNK, max(-(-rows // CHUNKS), usual)))


@dataclass(frozen=True)
class Plan:
    """What a sweep runs; the same plan gives the same rows.

    Attributes
    ----------
    scenario : str
        Name or path.
    planner : mapping
        Object name (empty for the first bot) → planner, in place of the scenario's.
    settings : mapping
        Texts of `--set` that all runs have.
    seed, step, duration, deadline : optional
        In place of the scenario's; all but the seed in seconds.
    variations : tuple of Variation
    where : tuple of str
        Constraints.
    method : str
    sample : int or None
    sample_seed : int
        Seed of the draw of points.
    metrics : tuple of str or None
        Rules whose metrics are columns; None for all.
    search : mapping
        Settings of a search in place of a list of points; empty for none.
    chunk : int
        Rows of a chunk.
    folder : str
        Working directory: where the planner's module and relative paths are looked for.
    """

    scenario: str
    planner: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    seed: int | None = None
    step: float | None = None
    duration: float | None = None
    deadline: float | None = None
    variations: tuple[Variation, ...] = ()
    where: tuple[str, ...] = ()
    method: str = ""
    sample: int | None = None
    sample_seed: int = 1
    metrics: tuple[str, ...] | None = None
    search: Mapping[str, Any] = field(default_factory=dict)
    chunk: int = 1
    folder: str = ""

    def space(self) -> Space:
        """Make the points."""
        return Space(self.variations, self.where, self.method, self.sample, self.sample_seed)

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self) | {"variations": [[one.key, _told(one.values)] for one in self.variations]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Plan:
        """Read `to_json` back."""
        variations = tuple(Variation(key, _read(values)) for key, values in data["variations"])
        metrics = data["metrics"]
        rest = {"where": tuple(data["where"]), "metrics": None if metrics is None else tuple(metrics)}
        return cls(**{**data, "variations": variations, **rest})

    @property
    def text(self) -> str:
        """JSON text, equal for equal plans."""
        return json.dumps(self.to_json(), sort_keys=True)


def _told(values: Distribution) -> dict[str, Any]:
    kind = next(name for name, made in KINDS.items() if isinstance(values, made))
    return {"kind": kind, "fields": [list(one) if isinstance(one, tuple) else one for one in values]}


def _read(data: Mapping[str, Any]) -> Distribution:
    fields = data["fields"]
    return Choice(tuple(fields[0])) if data["kind"] == "choice" else KINDS[data["kind"]](*fields)
