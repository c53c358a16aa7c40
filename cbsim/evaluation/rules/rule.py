"""`Rule`: base class of all rules, and `Check`: their result."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.errors import FileError, Problem, Severity, UsageError, did_you_mean
from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.track import Track
from cbsim.recording.batch import Batch
from cbsim.road.roadmap import RoadMap
from cbsim.spec.profiles import profile_number
from cbsim.spec.scenario import Expectation

__all__ = ["Check", "Invariant", "Measure", "Rule"]


@dataclass(frozen=True, slots=True)
class Check:
    """Result of one expectation.

    Attributes
    ----------
    name : str
        ``reach Traffic``.
    passed : bool or None
        None where it is undecided: the run, or the recording, ends within a manoeuvre.
    time : float or None
        Time of the decision [s].
    message : str
        What was found, and what was expected.
    """

    name: str
    passed: bool | None
    time: float | None
    message: str

    @property
    def status(self) -> str:
        """``passed``, ``FAILED`` or ``undecided``."""
        if self.passed is None:
            return "undecided"
        return "passed" if self.passed else "FAILED"


class Measure(NamedTuple):
    """A number that a rule has measured.

    Attributes
    ----------
    metric : str
        ``hardest_impact``.
    value : float or None
        None where there was nothing to measure.
    unit : str
    time : float or None
        When it was so, where it is the value of a moment [s].
    """

    metric: str
    value: float | None
    unit: str = ""
    time: float | None = None


class Rule(ABC):
    """Evaluation of one expectation.

    Parameters
    ----------
    expectation : Expectation
        Rule name and arguments.
    context : Context
        Header, network and mission of the run.

    Attributes
    ----------
    decided : bool
        True once the result is final; the judge then passes no more batches.
    rows : list of int
        Watched rows: an object, a body of a model, or all bodies of a model.
    row : int
        The first of them, which represents a model in rules with one position or speed.
    is_present : bool
        Whether the object is there at the last step that was judged.
    has_appeared : bool
        Whether the object has ever been there.
    """

    needs_others = False  # whether the rule needs the motion of others near the object
    needs_standing = False  # whether the rule asks the context for the objects that stand

    def __init__(self, expectation: Expectation, context: Context) -> None:
        self.expectation = expectation
        self.context = context
        self.step = context.header.step
        self.decided = False
        self.is_present = self.has_appeared = False
        self.subject, self.rows = "", list[int]()
        self._find_subject()

    def _find_subject(self) -> None:
        """Find the rows of the object that is watched."""
        expectation, context = self.expectation, self.context
        self.subject = str(expectation["object"])
        self.rows = context.rows_of(self.subject)
        if not self.rows:
            hint = did_you_mean(self.subject, context.header.objects.examples)
            raise self.wrong(f"no object '{self.subject}' to watch" + (f" ({hint})" if hint else ""))
        unrecorded = [row for row in self.rows if not context.header.is_recorded(row)]
        if unrecorded:
            name, place = context.names[unrecorded[0]], expectation.location
            message = f"the motion of '{name}' is not recorded: the recording holds {context.header.recorded}"
            raise FileError(Problem(Severity.ERROR, "E828", message, place))
        self.row = self.rows[0]
        if self.needs_others:
            self.require_others()
        self.width, self.length = context.footprint(self.row)

    def require_others(self) -> None:
        """Refuse a recording without the others near the object (`E828`).

        Traffic ``near`` is recorded around autonomous objects, which is enough for rules about these only.
        """
        header = self.context.header
        if header.traffic == "near" and header.objects[self.row].get("type") == "autonomous":
            return
        if any(not header.is_recorded(row) for row in header.moving if row not in self.rows):
            message = f"the motion of others is needed and not recorded: the recording holds {header.recorded}"
            raise FileError(Problem(Severity.ERROR, "E828", message, self.expectation.location))

    def require_roadmap(self, who: str) -> RoadMap:
        """Return the road network, or refuse a run without: ``zones need`` one."""
        if self.context.roadmap is None:
            raise self.wrong(f"{who} a road network")
        return self.context.roadmap

    @property
    def name(self) -> str:
        """Rule and object."""
        return f"{self.expectation.rule} {self.subject}"

    def number(self, key: str, default: float = math.nan) -> float:
        """Return a numeric argument, else the number of the profile, else a default."""
        value = self.expectation[key]
        if value is not None:
            return float(value)  # type: ignore[arg-type]
        known = profile_number(self.expectation.profile, self.expectation.rule, key)
        if known is None:
            return default
        return known.value * self.length if known.lengths else known.value

    def wrong(self, message: str) -> UsageError:
        """Return an error at the line of an expectation that cannot be evaluated."""
        return UsageError(f"{self.expectation.location}: error: {message}")

    def track(self, batch: Batch) -> Track:
        """Track of the watched object in a batch, and the step before it."""
        return self.context.track(self.row, batch)

    def presence(self, batch: Batch) -> NDArray[np.bool_]:
        """Find the steps of a batch that the rule judges, shape (n,): those at which its object is there."""
        return self.context.presence(self.subject, self.row, batch)

    def check(self, passed: bool | None, time: float | None, message: str) -> Check:
        """Return a result."""
        return Check(self.name, passed, time, message)

    def measures(self) -> list[Measure]:
        """Return what the rule has measured; nothing, unless it measures."""
        return []

    @abstractmethod
    def see(self, batch: Batch) -> None:
        """Process the next steps, at all of which the object is there."""

    def see_absent(self, batch: Batch) -> None:
        """Process the next steps, at all of which the object is absent; what spans several steps begins anew."""
        if self.needs_standing:
            self.context.standing(batch)  # which follows the others in every batch
        self.forget()

    def forget(self) -> None:  # noqa: B027
        """Forget what spans several steps: the object is absent, or has been set to another place."""

    @abstractmethod
    def result(self) -> Check:
        """Return the result."""


class Invariant(Rule):
    """A rule that holds at all times: what first breaks it decides, and is its result.

    Attributes
    ----------
    time : float
        Of the last step that was judged [s].
    failure : (float, str) or None
        Time [s] and description of what broke it.
    at_least : int
        How many of what the rule is about there are in the whole run, where it has this argument.
    """

    def __init__(self, expectation: Expectation, context: Context) -> None:
        super().__init__(expectation, context)
        self.time = 0.0
        self.failure: tuple[float, str] | None = None
        self.at_least = int(self.number("at_least", 0))

    def fail(self, time: float, message: str) -> None:
        """Decide that the rule was broken at a time [s]."""
        self.failure, self.decided = (time, message), True

    def result(self) -> Check:
        """Return what broke the rule, else the result of `kept`."""
        return self.kept() if self.failure is None else self.check(False, *self.failure)

    @abstractmethod
    def kept(self) -> Check:
        """Return the result of a run in which nothing broke the rule."""

    def enough(self, count: int, told: str, kept: str, within: str = "", *, begun: bool = True) -> Check:
        """Pass if there were enough of what the rule is about.

        Parameters
        ----------
        count : int
            How many there were.
        told, kept : str
            Description of them, and of a pass.
        within : str
            In what the run ended, which leaves the result open; empty for nothing.
        begun : bool
            Whether that would count, too.
        """
        if within and count + begun >= self.at_least:
            return self.check(None, self.time, f"undecided: the run ends at {self.time:.2f} s, {within}")
        if count < self.at_least:
            return self.check(False, self.time, f"{told}, expected {self.at_least} at least")
        return self.check(True, self.time, kept)
