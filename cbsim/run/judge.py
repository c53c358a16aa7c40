"""Verdicts: every expectation of a scenario watched over the batches of a run, live or from a recording."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from cbsim.road.roadmap import RoadMap
from cbsim.run.batch import Batch, Header
from cbsim.run.rules import RULES, Check, Rule
from cbsim.spec.scenario import Expectation

__all__ = ["Judge", "Verdict"]

Verdict = Literal["pass", "fail", "error"]


class Judge:
    """A listener of a run that decides its expectations.

    Parameters
    ----------
    expectations : tuple of Expectation
    roadmap : RoadMap or None
        To look up waypoints.
    """

    def __init__(self, expectations: tuple[Expectation, ...], roadmap: RoadMap | None) -> None:
        self._expectations = expectations
        self._roadmap = roadmap
        self._rules: list[Rule] = []
        self.faults: list[Check] = []

    def begin(self, header: Header, _snapshot: bytes, _sources: Mapping[str, bytes]) -> None:
        """Set up the rules."""
        self._rules = [RULES[e.rule](e, header, self._roadmap) for e in self._expectations]

    def take(self, batch: Batch) -> None:
        """Show the next steps to every rule."""
        for rule in self._rules:
            rule.see(batch)

    def end(self) -> None:
        """Nothing is left to do; `checks` decides when asked."""

    def fault(self, name: str, time: float, message: str) -> None:
        """Hold a failure of the driver itself against it."""
        self.faults.append(Check(name, False, time, message))

    @property
    def checks(self) -> list[Check]:
        """Results, in the order of the scenario; a driver's own failures last."""
        return [*(rule.result() for rule in self._rules), *self.faults]

    @property
    def verdict(self) -> Verdict:
        """``pass`` if every check passed, else ``fail``."""
        return "pass" if all(check.passed for check in self.checks) else "fail"
