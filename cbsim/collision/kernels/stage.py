"""Candidate pairs of a collision stage that stay valid for several steps."""

from __future__ import annotations

import numpy as np

from cbsim.collision.kernels.broad import find_pairs, set_bounds
from cbsim.collision.kernels.touch import WIDTH
from cbsim.collision.kernels.workspace import HORIZON, CandidatePairs, kept_pairs, note_pairs
from cbsim.jit import inner, kernel

__all__ = ["models_from", "near_pairs", "pairs_on"]


@inner
def models_from(constants, bodies):
    """Count the bodies before those of models, and those of them that move."""
    return constants.first_model, constants.moving.shape[0] - (bodies - constants.first_model)


@kernel
def pairs_on(workspace):
    """Load the `CandidatePairs` of a workspace."""
    return kept_pairs(workspace, np.empty((0, WIDTH)))


@kernel
def near_pairs(constants, radii, start, segments, planar, workspace, pairs):
    """Find the pairs that may touch in `HORIZON` steps from the beginning of step number `start` on."""
    step, movers, vehicles = constants.step, constants.mover_body, constants.vehicle_body
    set_bounds(segments, radii, movers, vehicles, planar, start * step, step, HORIZON, workspace)
    _, count = models_from(constants, radii.shape[0])
    literal, first, driven, second = find_pairs(constants.moving[:count], workspace, pairs.literal, pairs.driven)
    found = CandidatePairs(literal, first, driven, second, pairs.touches)
    note_pairs(workspace, start, found)
    return found
