"""The example planner: drives a mission to its end on a network with nobody else on it."""

from cbsim.planner.pilot.pilot import Pilot

__all__ = ["Pilot"]
