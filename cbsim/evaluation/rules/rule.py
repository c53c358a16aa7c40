"""What every rule is made of: `Check`, its result, and `Rule`, its shape."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from cbsim.errors import UsageError, did_you_mean
from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.track import Track
from cbsim.recording.batch import Batch
from cbsim.spec.scenario import Expectation

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
    context : Context
        What the run is about: its header, its network, its mission.

    Attributes
    ----------
    decided : bool
        True once nothing that follows can change the result: the judge shows it no more batches.
    rows : list of int
        What is watched: an object, a body of a model, or all bodies of a model.
    row : int
        The first of them, which stands for a model where there is one place or one speed.
    """

    def __init__(self, expectation: Expectation, context: Context) -> None:
        self.expectation = expectation
        self.context = context
        self.step = context.header.step
        self.subject = str(expectation["object"])
        self.decided = False
        self.rows = context.rows_of(self.subject)
        if not self.rows:
            hint = did_you_mean(self.subject, context.names)
            raise self.wrong(f"no object '{self.subject}' to watch" + (f" ({hint})" if hint else ""))
        self.row = self.rows[0]
        self.width, self.length = context.footprint(self.row)

    @property
    def name(self) -> str:
        """Rule and object."""
        return f"{self.expectation.rule} {self.subject}"

    def number(self, key: str, default: float) -> float:
        """Give a numeric argument, or what holds where it is not given."""
        value = self.expectation[key]
        return default if value is None else float(value)  # type: ignore[arg-type]

    def wrong(self, message: str) -> UsageError:
        """Make the error of an expectation that cannot be watched, at its line."""
        return UsageError(f"{self.expectation.location}: error: {message}")

    def track(self, batch: Batch) -> Track:
        """Where the watched object is in a batch, and in the step before it."""
        return self.context.track(self.row, batch)

    def check(self, passed: bool, time: float | None, message: str) -> Check:
        """Make the result."""
        return Check(self.name, passed, time, message)

    @abstractmethod
    def see(self, batch: Batch) -> None:
        """Look at the next steps."""

    @abstractmethod
    def result(self) -> Check:
        """Decide."""
