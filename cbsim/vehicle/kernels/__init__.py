"""Compiled drives, one file each; `step_vehicle` carries a vehicle through a substep of the one that it has."""

from cbsim.vehicle.kernels.actuators import hear
from cbsim.vehicle.kernels.drives import step_vehicle

__all__ = ["hear", "step_vehicle"]
