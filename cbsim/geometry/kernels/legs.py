"""Motion along timed legs: straight, uniform, each known in closed form, so that arrival never depends on a step.

Leg k holds from its start time until the start time of leg k + 1. A body's legs stand in rows `first` … `last` of
the tables; the last has no end.
"""

from __future__ import annotations

from cbsim.jit import inlined

__all__ = ["leg_at", "leg_position_into"]


@inlined
def leg_at(start_times, first, last, guess, time):
    """Row of the leg that holds at a time [s], searched from a guess; the later one where two meet."""
    row = min(max(guess, first), last)
    while row < last and time >= start_times[row + 1]:
        row += 1
    while row > first and time < start_times[row]:
        row -= 1
    return row


@inlined
def leg_position_into(start_times, origins, velocities, row, time, out):
    """Write the position (3,) [m] on a leg at a time [s]."""
    elapsed = time - start_times[row]
    out[0] = origins[row, 0] + velocities[row, 0] * elapsed
    out[1] = origins[row, 1] + velocities[row, 1] * elapsed
    out[2] = origins[row, 2] + velocities[row, 2] * elapsed
