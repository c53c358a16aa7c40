"""What the collisions of a step work on, and the pairs of bodies that may meet, kept for some steps."""

from __future__ import annotations

import numpy as np

from cbsim.collision.kernels.broad import HORIZON, find_pairs, make_desk, set_bounds
from cbsim.collision.kernels.pairs import make_bench
from cbsim.collision.kernels.touch import WIDTH, make_yard, room_for
from cbsim.collision.kernels.ways import legs_of, make_ways
from cbsim.jit import inner, kernel

__all__ = ["make_crash", "make_pairs", "near_pairs", "steps_kept"]


@kernel
def make_crash(constants, shapes, state):
    """Allocate what collisions work on, once per call of a kernel: legs, desk, yard, bench, ways."""
    desk = make_desk(constants, shapes, state)
    triangles = shapes.triangles.shape[0]
    yard = make_yard(constants.vehicle_body.shape[0], triangles)
    return legs_of(constants, state), desk, yard, make_bench(triangles), make_ways()


@kernel
def make_pairs():
    """Make empty tables of pairs without and with a vehicle, each with its count, and of points of touch."""
    return np.empty((0, 2), np.int64), 0, np.empty((0, 2), np.int64), 0, np.empty((0, WIDTH))


@inner
def steps_kept(left):
    """Count the steps that pairs are found for when so many are left."""
    return min(HORIZON, left)


@kernel
def near_pairs(constants, radii, start, legs, planar, desk, steps, pairs):
    """Find the pairs that may meet from the begin of step number `start` on, over some steps."""
    literal, _, driven, _, touches = pairs
    step, movers, vehicles = constants.step, constants.mover_body, constants.vehicle_body
    set_bounds(legs, radii, movers, vehicles, planar, start * step, step, steps, desk)
    literal, first, driven, second = find_pairs(constants.moving, desk, literal, driven)
    return literal, first, driven, second, room_for(touches, second)
