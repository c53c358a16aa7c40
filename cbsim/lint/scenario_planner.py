"""Lint rules of a scenario about planners."""

from __future__ import annotations

from collections.abc import Iterator

from cbsim.lint.rule import Finding
from cbsim.lint.scenario_context import ScenarioContext
from cbsim.spec.planner import seat_errors

__all__ = ["unfit_seat"]


def unfit_seat(context: ScenarioContext) -> Iterator[Finding]:
    """E805: the period of a planner is no whole number of steps, or its latency keeps too many commands in flight."""
    scenario = context.scenario
    for seat in scenario.seats:
        for error in seat_errors(seat, scenario.step):
            yield Finding(error.message, scenario.at(f"planner.{seat.name}.{error.key}"), error.hint)
