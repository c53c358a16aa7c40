"""Ends of runs: their number of steps, and the end of a mission with a clock before that."""

from __future__ import annotations

import math

import numpy as np

from cbsim.errors import UsageError
from cbsim.spec.events import RUN_STATES
from cbsim.world.snapshot import Snapshot
from cbsim.world.world import World

__all__ = ["is_over", "step_count"]

DISABLED, AT_REST = RUN_STATES.index("DISABLE"), 0.01  # run state; [m/s]


def is_over(world: World, snapshot: Snapshot) -> bool:
    """Whether a mission with a clock has ended: all of its vehicles are disabled, and at rest."""
    if not world.may_end:
        return False
    bodies, columns = world.constants.vehicle_body, snapshot.columns
    rows = {one.row for one in world.run_control.states} & set(world.vehicle_rows)
    own = np.isin(bodies, sorted(rows))
    speeds = np.abs(columns.velocity[bodies[own]]).max(axis=1)
    return bool((columns.run_state[own] == DISABLED).all() and (speeds < AT_REST).all())


def step_count(duration: float, step_length: float) -> int:
    """Count the steps of a duration [s]: n = ceil(duration / step − 1e-9), at least one."""
    if not (math.isfinite(duration) and duration >= 0.0):
        raise UsageError(f"duration is {duration!r} s, expected a finite number ≥ 0")
    return max(1, math.ceil(duration / step_length - 1e-9))
