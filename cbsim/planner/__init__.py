"""Planners that drive objects and models of a run: import, calls, deadlines and errors."""

from cbsim.planner.driver import Driver, Planner, find_planner
from cbsim.planner.interrupts import Interrupts
from cbsim.planner.isolation import PlannerError, PlannerIsolation
from cbsim.planner.operators import Operator
from cbsim.planner.seating import drivers_of

__all__ = [
    "Driver",
    "Interrupts",
    "Operator",
    "Planner",
    "PlannerError",
    "PlannerIsolation",
    "drivers_of",
    "find_planner",
]
