"""Planners at the wheel: finding them, asking them, and holding their mistakes against them."""

from cbsim.planner.driver import Driver, Planner, PlannerError, drivers_of, find_planner

__all__ = ["Driver", "Planner", "PlannerError", "drivers_of", "find_planner"]
