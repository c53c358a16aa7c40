"""Action `restart`: a vehicle stands at another place, as a vehicle stands at the start of a run."""

from __future__ import annotations

from cbsim.jit import inner
from cbsim.vehicle.kernels.columns import HANDBRAKE, LEFT_LEVER, RIGHT_LEVER
from cbsim.world.events.tables import ORIENTATION, POSITION, QUEUED, QUEUED_END, TARGET

__all__ = ["restart"]

LEVERS = LEFT_LEVER, RIGHT_LEVER


@inner
def restart(tables, constants, state, a):
    """Set the vehicle of action a to its place, at rest, with its brake on, nothing commanded and nothing in flight."""
    v, values = tables.actions[a, TARGET], tables.action_values
    body, memory, delays = constants.vehicle_body[v], constants.memory, constants.delay_steps
    for k in range(3):
        state.position[body, k] = values[a, POSITION + k]
        state.velocity[body, k] = 0.0
        state.angular_velocity[body, k] = 0.0
    for k in range(4):
        state.orientation[body, k] = values[a, ORIENTATION + k]
        state.wheel[v, k] = 0.0
    for k in range(6):
        state.command[v, k] = 1.0 if k in LEVERS or k == HANDBRAKE else 0.0
        state.actuator[v, k] = 1.0 if k in LEVERS else 0.0
    # commands on their way are forgotten
    for k in range(v * delays, (v + 1) * delays):
        state.command_delay[k, 0], state.command_delay[k, 1] = 0.0, 0.0
    for k in range(int(values[a, QUEUED]), int(values[a, QUEUED_END])):  # given on the way that ends here
        flight = state.command_queue[k]
        for c in range(flight.shape[0]):
            flight[c] = 0.0
    for k in range(v * memory, (v + 1) * memory):  # sensors do not look back to the other place
        row = state.pose_history[k]
        for c in range(row.shape[0]):
            row[c] = 0.0
        for c in range(7):
            row[c] = values[a, POSITION + c]
