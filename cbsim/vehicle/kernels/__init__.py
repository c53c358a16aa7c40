"""Compiled drives, one file each; `step_vehicle` carries a vehicle through a substep of the one that it has."""

from cbsim.vehicle.kernels.actuators import hear
from cbsim.vehicle.kernels.drives import step_vehicle
from cbsim.vehicle.kernels.slope import step_on_ground

__all__ = ["hear", "step_on_ground", "step_vehicle"]
