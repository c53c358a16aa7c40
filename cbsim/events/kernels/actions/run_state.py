"""Action `run_state`: the emergency stop of a vehicle, and what it does in a step.

PAUSE brakes at the greatest deceleration, past the rate limits and dead times of the throttle, and holds the vehicle,
which is steered as before. DISABLE does so for good.
"""

from __future__ import annotations

from cbsim.jit import inlined, inner
from cbsim.vehicle.kernels.columns import DYNAMIC, HANDBRAKE, THROTTLE
from cbsim.world.events.tables import STATE, TARGET

__all__ = ["brake_stopped", "give_back", "set_run_state"]

RUN, PAUSE, DISABLE = range(3)


@inlined
def set_run_state(actions, state, a):
    """Set the run state of the vehicle of action a, unless it is disabled."""
    vehicle = actions[a, TARGET]
    if state.run_state[vehicle] != DISABLE:
        state.run_state[vehicle] = actions[a, STATE]


@inner
def brake_stopped(constants, state, kept):
    """Put full braking in place of the commands of vehicles that are not in RUN; keep theirs (vehicles, 2).

    The wheels of the drive `dynamic` brake up to what its brakes can do, those of others are locked by the handbrake,
    which has no dead time.
    """
    for v in range(state.run_state.shape[0]):
        if state.run_state[v] == RUN:
            continue
        command = state.command[v]
        kept[v, 0], kept[v, 1] = command[THROTTLE], command[HANDBRAKE]
        command[THROTTLE] = -1.0
        if constants.vehicle_drive[v] == DYNAMIC:
            state.actuator[v, THROTTLE], command[HANDBRAKE] = -1.0, 0.0
        else:
            command[HANDBRAKE] = 1.0


@inner
def give_back(state, kept):
    """Restore the commands that `brake_stopped` has replaced."""
    for v in range(state.run_state.shape[0]):
        if state.run_state[v] != RUN:
            state.command[v, THROTTLE], state.command[v, HANDBRAKE] = kept[v, 0], kept[v, 1]
