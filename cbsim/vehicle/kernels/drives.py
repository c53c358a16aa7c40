"""Dispatch to the drives; a new drive is a file, a code in `columns` and a branch here."""

from __future__ import annotations

from cbsim.jit import kernel
from cbsim.vehicle.kernels.columns import DELAYED, DYNAMIC, KINEMATIC, SKID
from cbsim.vehicle.kernels.dynamic import step_dynamic
from cbsim.vehicle.kernels.kinematic import step_delayed, step_kinematic
from cbsim.vehicle.kernels.skid import step_skid
from cbsim.vehicle.kernels.skid_kinematic import step_skid_kinematic

__all__ = ["step_vehicle"]


@kernel
def step_vehicle(drive, planar, wheel, actuator, command, parameters, pull, dt):
    """Carry a vehicle through one substep of its drive, in place.

    Parameters
    ----------
    drive : int
        Which model, in the order of `cbsim.spec.drives.DRIVES`.
    planar : (6,) or (12,)
        x, y [m] of the body's centre, heading [rad], forward and leftward velocity of the centre [m/s], yaw rate
        [rad/s]. Any motion is accepted: the kinematic drives keep the forward velocity only. A
        row may have room for more (`columns.PLANAR`).
    wheel : (4,)
        Forward acceleration [m/s²] in the last substep, wheel speeds [rad/s] front and rear, or left and right, and
        yaw acceleration [rad/s²] in the last substep.
    actuator : (6,)
        Throttle, steering, left and right lever after their slew rates; throttle and steering that come out of their
        dead times (`hear`), which only the drive `delayed` reads.
    command : (6,)
        As `Command.row`.
    parameters : (p,)
        As `cbsim.vehicle.parameters.PARAMETERS`.
    pull : tuple of float
        Gravity [m/s²] forward and leftward along the ground, and onto it: (0, 0, 9.81) where it is level. Drives
        without slip know no forces, and no slope.
    dt : float
        [s], at most 5 ms.
    """
    if drive == DYNAMIC:
        step_dynamic(planar, wheel, actuator, command, parameters, pull, dt)
    elif drive == SKID:
        step_skid(planar, wheel, actuator, command, parameters, pull, dt)
    elif drive == KINEMATIC:
        step_kinematic(planar, wheel, actuator, command, parameters, dt, True)
    elif drive == DELAYED:
        step_delayed(planar, wheel, actuator, command, parameters, dt)
    else:
        step_skid_kinematic(planar, wheel, actuator, command, parameters, dt)
