"""What every rule is made of: `Check`, its result, and `Rule`, its shape."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from cbsim.errors import UsageError, did_you_mean
from cbsim.road.roadmap import RoadMap
from cbsim.run.batch import Batch, Header
from cbsim.spec.scenario import Expectation
from cbsim.world.tables import Floats

__all__ = ["Check", "Rule"]


@dataclass(frozen=True, slots=True)
class Check:
    """Result of one expectation.

    Attributes
    ----------
    name : str
        ``reach Traffic``.
    passed : bool
    time : float or None
        When it was decided [s].
    message : str
        What was seen against what was expected.
    """

    name: str
    passed: bool
    time: float | None
    message: str


class Rule(ABC):
    """One expectation under watch.

    Parameters
    ----------
    expectation : Expectation
        Rule name and arguments.
    header : Header
        Of the run.
    roadmap : RoadMap or None
        To look up waypoints.
    """

    def __init__(self, expectation: Expectation, header: Header, roadmap: RoadMap | None) -> None:
        self.expectation = expectation
        self.step = header.step
        self.roadmap = roadmap
        self.subject = str(expectation["object"])
        names = [item["name"] for item in header.objects]
        if self.subject not in names:
            hint = did_you_mean(self.subject, names)
            raise UsageError(f"{expectation.location}: error: no object '{self.subject}' to watch ({hint})")
        row = names.index(self.subject)
        self._column = header.moving.index(row) if row in header.moving else None
        self._still = header.objects[row]["position"]

    @property
    def name(self) -> str:
        """Rule and object."""
        return f"{self.expectation.rule} {self.subject}"

    def positions(self, batch: Batch) -> Floats:
        """Positions (steps, 3) of the watched object [m]."""
        if self._column is None:
            return np.tile(np.asarray(self._still, float), (len(batch.hashes), 1))
        return batch.motion[:, self._column, 0:3]

    def speeds(self, batch: Batch) -> Floats:
        """Magnitudes (steps,) of the watched object's velocity [m/s]."""
        if self._column is None:
            return np.zeros(len(batch.hashes))
        return np.asarray(np.linalg.norm(batch.motion[:, self._column, 7:10], axis=1))

    def check(self, passed: bool, time: float | None, message: str) -> Check:
        """Make the result."""
        return Check(self.name, passed, time, message)

    @abstractmethod
    def see(self, batch: Batch) -> None:
        """Look at the next steps."""

    @abstractmethod
    def result(self) -> Check:
        """Decide."""
