"""What the collisions of a step work on, and the pairs of bodies that may meet, kept for some steps."""

from __future__ import annotations

import numpy as np

from cbsim.collision.kernels.broad import HORIZON, find_pairs, make_desk, set_bounds
from cbsim.collision.kernels.literal import make_ways
from cbsim.collision.kernels.pairs import make_bench
from cbsim.collision.kernels.touch import WIDTH, make_yard, room_for
from cbsim.jit import kernel

__all__ = ["make_crash", "make_pairs", "near_pairs", "steps_kept"]


@kernel
def make_crash(constants, shapes, state):
    """Allocate what collisions work on, once per call of a kernel: desk, yard, bench, ways."""
    return make_desk(constants, shapes, state), make_yard(constants), make_bench(), make_ways()


@kernel
def make_pairs():
    """Make empty tables of pairs without and with a vehicle, each with its count, and of points of touch."""
    return np.empty((0, 2), np.int64), 0, np.empty((0, 2), np.int64), 0, np.empty((0, WIDTH))


@kernel
def steps_kept(left):
    """Count the steps that pairs are found for when so many are left."""
    return min(HORIZON, left)


@kernel
def near_pairs(constants, shapes, state, planar, crash, steps, pairs):
    """Find the pairs that may meet from the begin of the step that `clock` counts on, over some steps."""
    literal, _, driven, _, touches = pairs
    since = (state.clock[0] - 1) * constants.step
    set_bounds(constants, shapes, state, planar, since, steps, crash[0])
    literal, first, driven, second = find_pairs(constants, crash[0], literal, driven)
    return literal, first, driven, second, room_for(touches, second)
