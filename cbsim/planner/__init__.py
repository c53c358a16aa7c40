"""Planners at the wheel: finding them, asking them, and holding their mistakes against them."""

from cbsim.planner.driver import Driver, Planner, drivers_of, find_planner
from cbsim.planner.guard import Guard, PlannerError

__all__ = ["Driver", "Guard", "Planner", "PlannerError", "drivers_of", "find_planner"]
