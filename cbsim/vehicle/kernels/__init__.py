"""Compiled drives, one file each; `step_vehicle` advances a vehicle by a substep of its drive."""

from cbsim.vehicle.kernels.actuators import hear
from cbsim.vehicle.kernels.drives import step_vehicle
from cbsim.vehicle.kernels.kinematic import ARC_ROWS, arc_numbers, sine_cosine_of, step_kinematic
from cbsim.vehicle.kernels.many import GROUP, LANES, roll_together
from cbsim.vehicle.kernels.slope import step_on_ground

__all__ = [
    "ARC_ROWS",
    "GROUP",
    "LANES",
    "arc_numbers",
    "hear",
    "roll_together",
    "sine_cosine_of",
    "step_kinematic",
    "step_on_ground",
    "step_vehicle",
]
