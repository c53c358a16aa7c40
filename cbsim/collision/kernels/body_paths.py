"""Paths of bodies within a step: movers on their trajectory segments, all others at their Snapshot poses.

Reactive cars move in a straight line from their pose at the beginning of the step, or of its part of at most 0.1 s, to
that at its end. Among the movers they are numbered after the literal ones. So do
guided bodies, which are numbered last, in all of a step.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.geometry.kernels.trajectory_segments import segment_at
from cbsim.jit import inner, kernel

__all__ = ["RELATIVE", "TrajectoryTables", "make_paths", "motion_into", "trajectory_of"]

POSITION, VELOCITY, ORIENTATION = range(3)  # rows of a path
RELATIVE = 2  # path of the second body relative to the first


class TrajectoryTables(NamedTuple):
    """Trajectories of literal movers, from `Constants` and `State`, with the poses of all bodies.

    `path` has the poses of reactive cars within a step that is divided (`cbsim.traffic.kernels.workspace.path_of`).
    """

    starts: NDArray[np.float64]
    origins: NDArray[np.float64]
    velocities: NDArray[np.float64]
    orientations: NDArray[np.float64]
    firsts: NDArray[np.int64]
    lasts: NDArray[np.int64]
    guess: NDArray[np.int64]
    positions: NDArray[np.float64]
    turns: NDArray[np.float64]
    rates: NDArray[np.float64]
    clock: NDArray[np.int64]
    step: float
    path: NDArray[np.float64]


def make_paths() -> NDArray[np.float64]:
    """Allocate the paths (3, 3, 4) of two bodies, and their relative path: position, velocity, orientation."""
    return np.zeros((3, 3, 4))


@kernel
def trajectory_of(constants, state, path):
    """Collect `TrajectoryTables`; passing all constants costs more per call."""
    return TrajectoryTables(
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
        path,
    )


@inner
def part_into(segments, car, body, time, path):
    """Write position, velocity and orientation of a reactive car in its part of a divided step; return when that ends.

    In a part it moves in a straight line, with the orientation at its end.
    """
    row, parts = segments.path[car], segments.path.shape[1] - 1
    begin, dt = (segments.clock[0] - 1) * segments.step, segments.step / parts
    part = min(max(int((time - begin) / dt + 1e-9), 0), parts - 1)  # at the end of a part rounding may miss it
    since = time - (begin + part * dt)
    for k in range(2):
        path[VELOCITY, k] = (row[part + 1, k] - row[part, k]) / dt
        path[POSITION, k] = row[part, k] + since * path[VELOCITY, k]
        path[ORIENTATION, 1 + k] = 0.0
    path[POSITION, 2], path[VELOCITY, 2] = segments.positions[body, 2], 0.0
    path[ORIENTATION, 0], path[ORIENTATION, 3] = row[part + 1, 2], row[part + 1, 3]
    return begin + (part + 1) * dt if part < parts - 1 else math.inf


@inner
def motion_into(segments, mover, body, time, path):
    """Write position, velocity and orientation (3, 4) of a body at a time [s]; return when its segment ends.

    `mover` is its row among the movers; negative for static bodies.
    """
    positions, turns = segments.positions, segments.turns
    # numbered behind the literal movers: reactive cars, whose divided step is in `path`; then all that move straight
    if mover >= segments.firsts.shape[0]:
        if mover - segments.firsts.shape[0] < segments.path.shape[0]:
            return part_into(segments, mover - segments.firsts.shape[0], body, time, path)
        # backwards from the pose at the end of the step, where `positions` are already
        elapsed = time - segments.clock[0] * segments.step
        for k in range(3):
            path[POSITION, k] = positions[body, k] + elapsed * segments.rates[body, k]
            path[VELOCITY, k], path[ORIENTATION, k] = segments.rates[body, k], turns[body, k]
        path[ORIENTATION, 3] = turns[body, 3]
        return math.inf
    if mover < 0:
        for k in range(3):
            path[POSITION, k], path[VELOCITY, k], path[ORIENTATION, k] = positions[body, k], 0.0, turns[body, k]
        path[ORIENTATION, 3] = turns[body, 3]
        return math.inf
    starts, origins, velocities = segments.starts, segments.origins, segments.velocities
    orientations, last = segments.orientations, segments.lasts[mover]
    segment = segment_at(starts, segments.firsts[mover], last, segments.guess[mover], time)
    elapsed = time - starts[segment]
    for k in range(3):
        path[POSITION, k] = origins[segment, k] + velocities[segment, k] * elapsed
        path[VELOCITY, k], path[ORIENTATION, k] = velocities[segment, k], orientations[segment, k]
    path[ORIENTATION, 3] = orientations[segment, 3]
    return math.inf if segment == last else starts[segment + 1]
