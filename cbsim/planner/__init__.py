"""Planners at the wheel: finding them, asking them, and holding their mistakes against them."""

from cbsim.planner.driver import Driver, Planner, drivers_of, find_planner
from cbsim.planner.guard import Guard, PlannerError
from cbsim.planner.interrupts import Interrupts
from cbsim.planner.operators import Operator

__all__ = ["Driver", "Guard", "Interrupts", "Operator", "Planner", "PlannerError", "drivers_of", "find_planner"]
