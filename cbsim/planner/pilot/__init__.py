"""Example planner, which drives a mission on a network without other traffic."""

from cbsim.planner.pilot.pilot import Pilot

__all__ = ["Pilot"]
