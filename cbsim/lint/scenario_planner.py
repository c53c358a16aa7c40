"""Lint rules of a scenario about planners."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from cbsim.errors import Problems
from cbsim.lint.rule import Finding
from cbsim.lint.scenario_context import ScenarioContext
from cbsim.spec.planner import seat_errors
from cbsim.spec.scenario import Scenario

__all__ = ["tell_blind_seats", "unfit_seat"]


def unfit_seat(context: ScenarioContext) -> Iterator[Finding]:
    """E805: the period of a planner is no whole number of steps, or its latency keeps too many commands in flight."""
    scenario = context.scenario
    for seat in scenario.seats:
        for error in seat_errors(seat, scenario.step):
            yield Finding(error.message, scenario.at(f"planner.{seat.name}.{error.key}"), error.hint)


def tell_blind_seats(scenario: Scenario, sensors: Mapping[str, Collection[str]], problems: Problems) -> None:
    """W834: a planner is told what its sensors know, and none of them knows where it is.

    Parameters
    ----------
    scenario : Scenario
    sensors : mapping
        Name of a bot, in their order → types of its sensors.
    problems : Problems
        Collects the warnings.
    """
    for seat in scenario.seats:
        bot = seat.name or next(iter(sensors), "")
        if seat.truth or bot not in sensors or not {"gps", "ins"}.isdisjoint(sensors[bot]):
            continue
        message = f"'{bot}' has no gps and no ins: without the truth, its position and heading are nan"
        hint = "mount one, or let the planner keep its position by speed and yaw rate of an odometry sensor"
        problems.warning("W834", message, scenario.at(f"planner.{seat.name}.truth"), hint)
