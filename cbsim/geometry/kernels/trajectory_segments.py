"""Timed trajectory segments: straight, uniform motion in closed form, so that arrival never depends on the step.

Segment k lasts from its start time to that of segment k + 1. The segments of a body are rows `first` … `last` of the
tables; the last one has no end.
"""

from __future__ import annotations

from cbsim.jit import inlined

__all__ = ["segment_at", "segment_position_into"]


@inlined
def segment_at(start_times, first, last, guess, time):
    """Row of the segment that holds at a time [s], searched from a guess; the later one where two meet."""
    # time passes in small steps: the segment is the guess, or one of the next
    row = min(max(guess, first), last)
    while row < last and time >= start_times[row + 1]:
        row += 1
    while row > first and time < start_times[row]:
        row -= 1
    return row


@inlined
def segment_position_into(start_times, origins, velocities, row, time, out):
    """Write the position (3,) [m] on a segment at a time [s]."""
    elapsed = time - start_times[row]
    out[0] = origins[row, 0] + velocities[row, 0] * elapsed
    out[1] = origins[row, 1] + velocities[row, 1] * elapsed
    out[2] = origins[row, 2] + velocities[row, 2] * elapsed
