"""Where bodies are at any time of a step: movers on their legs, the rest where it stands."""

from __future__ import annotations

import math

import numpy as np

from cbsim.geometry.kernels.legs import leg_at
from cbsim.jit import inner, kernel

__all__ = ["GAP", "legs_of", "make_ways", "motion_into"]

PLACE, RATE, TURN = range(3)  # rows of a way: position, velocity, orientation
GAP = 2  # the way from one body to the other


@inner
def make_ways():
    """Allocate room (3, 3, 4) for position, velocity and orientation of two bodies, and what lies between them."""
    return np.zeros((3, 3, 4))


@kernel
def legs_of(constants, state):
    """Gather what says where literal movers are: less than all constants, for calls are dear by what they carry."""
    return (
        constants.leg_start,
        constants.leg_origin,
        constants.leg_velocity,
        constants.leg_orientation,
        constants.mover_first,
        constants.mover_last,
        state.leg,
        state.position,
        state.orientation,
    )


@inner
def motion_into(legs, mover, body, time, way):
    """Write position, velocity and orientation (3, 4) of a body at a time [s]; return when its leg ends.

    `mover` is its row among the movers; below 0 it stands.
    """
    starts, origins, velocities, orientations, firsts, lasts, guess, positions, turns = legs
    if mover < 0:
        for k in range(3):
            way[PLACE, k], way[RATE, k], way[TURN, k] = positions[body, k], 0.0, turns[body, k]
        way[TURN, 3] = turns[body, 3]
        return math.inf
    leg = leg_at(starts, firsts[mover], lasts[mover], guess[mover], time)
    elapsed = time - starts[leg]
    for k in range(3):
        way[PLACE, k] = origins[leg, k] + velocities[leg, k] * elapsed
        way[RATE, k], way[TURN, k] = velocities[leg, k], orientations[leg, k]
    way[TURN, 3] = orientations[leg, 3]
    return math.inf if leg == lasts[mover] else starts[leg + 1]
