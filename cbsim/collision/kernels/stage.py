"""Workspaces of a collision stage, and candidate pairs that stay valid for several steps."""

from __future__ import annotations

import numpy as np

from cbsim.collision.kernels.body_paths import make_paths, trajectory_of
from cbsim.collision.kernels.broad import find_pairs, set_bounds
from cbsim.collision.kernels.pairs import make_pair_workspace
from cbsim.collision.kernels.touch import WIDTH, make_touch_workspace
from cbsim.collision.kernels.workspace import HORIZON, CandidatePairs, kept_pairs, note_pairs, workspace_of
from cbsim.jit import inner, kernel

__all__ = ["make_workspaces", "models_from", "near_pairs", "pairs_on"]


@inner
def models_from(constants, bodies):
    """Count the bodies before those of models, and those of them that move."""
    return constants.first_model, constants.moving.shape[0] - (bodies - constants.first_model)


@kernel
def make_workspaces(constants, shapes, state, floats, ints, path):
    """Make the workspaces of collisions, once per kernel call: trajectories, broad phase, contact points, pairs, paths.

    `floats` and `ints` are the blocks of a workspace, filled for the static bodies of the state; `path` is that of
    `TrajectoryTables`.
    """
    vehicles, triangles = constants.vehicle_body.shape[0], shapes.triangles.shape[0]
    workspace, touch_workspace = (
        workspace_of(shapes.kind.shape[0], vehicles, floats, ints),
        make_touch_workspace(vehicles, triangles),
    )
    segments, pair_workspace = trajectory_of(constants, state, path), make_pair_workspace(triangles)
    return segments, workspace, touch_workspace, pair_workspace, make_paths()


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
