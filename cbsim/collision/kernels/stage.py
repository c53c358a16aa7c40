"""What the collisions of a step work on, and the pairs of bodies that may meet, kept for some steps."""

from __future__ import annotations

import numpy as np

from cbsim.collision.kernels.broad import find_pairs, set_bounds
from cbsim.collision.kernels.desk import HORIZON, desk_of, kept_pairs, note_pairs
from cbsim.collision.kernels.pairs import make_bench
from cbsim.collision.kernels.touch import WIDTH, make_yard
from cbsim.collision.kernels.ways import legs_of, make_ways
from cbsim.jit import inner, kernel

__all__ = ["make_crash", "models_from", "near_pairs", "pairs_on"]


@inner
def models_from(constants, bodies):
    """Count the bodies before those of models, and those of them that move."""
    models = constants.tracked_body.shape[0] - constants.vehicle_body.shape[0]
    return bodies - models, constants.moving.shape[0] - models


@kernel
def make_crash(constants, shapes, state, floats, ints):
    """Gather what collisions work on, once per call of a kernel: legs, desk, yard, bench, ways.

    `floats` and `ints` are the blocks of a desk, filled for what stands in the state.
    """
    vehicles, triangles = constants.vehicle_body.shape[0], shapes.triangles.shape[0]
    desk, yard = desk_of(shapes.kind.shape[0], vehicles, floats, ints), make_yard(vehicles, triangles)
    return legs_of(constants, state), desk, yard, make_bench(triangles), make_ways()


@kernel
def pairs_on(desk):
    """Take up the tables of pairs without and with a vehicle, each with its count, and one of points of touch."""
    return kept_pairs(desk, np.empty((0, WIDTH)))


@kernel
def near_pairs(constants, radii, start, legs, planar, desk, pairs):
    """Find the pairs that may meet in `HORIZON` steps from the begin of step number `start` on."""
    literal, _, driven, _, touches = pairs
    step, movers, vehicles = constants.step, constants.mover_body, constants.vehicle_body
    set_bounds(legs, radii, movers, vehicles, planar, start * step, step, HORIZON, desk)
    _, count = models_from(constants, radii.shape[0])
    literal, first, driven, second = find_pairs(constants.moving[:count], desk, literal, driven)
    found = literal, first, driven, second, touches
    note_pairs(desk, start, found)
    return found
