"""`Request`: arguments of a load, kept in recordings so that a replay can load the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["Request"]


@dataclass(frozen=True, slots=True)
class Request:
    """Arguments of `cbsim.load`.

    Attributes
    ----------
    scenario, rndf, objects, mdf : str or None
        Names and paths.
    step, duration : float or None
        In place of the scenario's [s].
    seed : int or None
        In place of the scenario's.
    planner : mapping
        Object name (empty for the first bot) → ``module:Class``, in place of the scenario's.
    settings : mapping
        Scenario parameters, as of `--set`.
    strict : bool
        Treat missing sensor confs as errors.
    deadline : float or None
        In place of the scenario's: wall-clock time that a planner may take for one decision [s].
    environment : mapping
        ``CBCONF`` and ``CBBOTNAME``, where set.
    forks : int
        How many forks a chain of them may have; 0 for a World that is not to be forked.
    """

    scenario: str | None = None
    rndf: str | None = None
    objects: str | None = None
    mdf: str | None = None
    step: float | None = None
    seed: int | None = None
    duration: float | None = None
    planner: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    strict: bool = False
    deadline: float | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    forks: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for a header."""
        return asdict(self)
