"""Compiled drives, one file each; `step_vehicle` advances a vehicle by a substep of its drive."""

from cbsim.vehicle.kernels.actuators import hear
from cbsim.vehicle.kernels.drives import step_vehicle
from cbsim.vehicle.kernels.slope import step_on_ground

__all__ = ["hear", "step_on_ground", "step_vehicle"]
