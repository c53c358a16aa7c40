"""Motion of bodies within a step: movers on their trajectory segments, all others at their Snapshot poses.

Reactive cars go straight from where they were at the begin of the step to where they are at its end. Among the movers
their numbers follow those of the literal ones.
"""

from __future__ import annotations

import math

import numpy as np

from cbsim.geometry.kernels.trajectory_segments import segment_at
from cbsim.jit import inner, kernel

__all__ = ["GAP", "make_ways", "motion_into", "trajectory_of"]

PLACE, RATE, TURN = range(3)  # rows of a way: position, velocity, orientation
GAP = 2  # the way from one body to the other


@inner
def make_ways():
    """Allocate room (3, 3, 4) for position, velocity and orientation of two bodies, and what lies between them."""
    return np.zeros((3, 3, 4))


@kernel
def trajectory_of(constants, state):
    """Collect the tables that trajectories of literal movers need; passing all constants costs more per call."""
    return (
        constants.segment_start,
        constants.segment_origin,
        constants.segment_velocity,
        constants.segment_orientation,
        constants.mover_first,
        constants.mover_last,
        state.trajectory_segment,
        state.position,
        state.orientation,
        state.velocity,
        state.clock,
        constants.step,
    )


@inner
def motion_into(segments, mover, body, time, way):
    """Write position, velocity and orientation (3, 4) of a body at a time [s]; return when its segment ends.

    `mover` is its row among the movers; below 0 it stands.
    """
    starts, origins, velocities, orientations, firsts, lasts, guess, positions, turns, rates, clock, step = segments
    if mover >= firsts.shape[0]:
        elapsed = time - clock[0] * step
        for k in range(3):
            way[PLACE, k] = positions[body, k] + elapsed * rates[body, k]
            way[RATE, k], way[TURN, k] = rates[body, k], turns[body, k]
        way[TURN, 3] = turns[body, 3]
        return math.inf
    if mover < 0:
        for k in range(3):
            way[PLACE, k], way[RATE, k], way[TURN, k] = positions[body, k], 0.0, turns[body, k]
        way[TURN, 3] = turns[body, 3]
        return math.inf
    segment = segment_at(starts, firsts[mover], lasts[mover], guess[mover], time)
    elapsed = time - starts[segment]
    for k in range(3):
        way[PLACE, k] = origins[segment, k] + velocities[segment, k] * elapsed
        way[RATE, k], way[TURN, k] = velocities[segment, k], orientations[segment, k]
    way[TURN, 3] = orientations[segment, 3]
    return math.inf if segment == lasts[mover] else starts[segment + 1]
