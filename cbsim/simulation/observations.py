"""Observations: input of the planner of a vehicle or the controller of a model at a Snapshot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cbsim.geometry.linear import times
from cbsim.geometry.pose import forward, heading, rotate
from cbsim.sensing import Reading, Scan
from cbsim.spec.command import Observation
from cbsim.spec.events import RUN_STATES
from cbsim.world.snapshot import Snapshot
from cbsim.world.world import World

if TYPE_CHECKING:
    from cbsim.world.model_instances import ModelInstance

__all__ = ["observe", "watch"]


def observe(world: World, snapshot: Snapshot, name: str, newest: Mapping[str, Scan | Reading]) -> Observation:
    """Make the observation of an object's planner."""
    body = world[name]
    pose = body.pose(snapshot)
    rate = float(snapshot.columns.angular_velocity[body.row, 2])
    scans: dict[str, Scan] = {}
    readings: dict[str, Reading] = {}
    for key in world.carried.get(body.row, ()):
        taken = newest.get(key)
        if isinstance(taken, Scan):
            scans[key] = taken
        elif taken is not None:
            readings[key] = taken
    motion = snapshot.time, pose.position, pose.heading, body.speed(snapshot), rate
    return Observation(*motion, scans, readings, run_state=_run_state(world, snapshot, body.row))


def _run_state(world: World, snapshot: Snapshot, row: int) -> str:
    """Run state of the vehicle with a body; RUN where no event sets it."""
    states = snapshot.columns.run_state
    return RUN_STATES[int(states[world.vehicle_rows[row]])] if len(states) else RUN_STATES[0]


def watch(snapshot: Snapshot, instance: ModelInstance) -> Observation:
    """Make the observation of a model's controller: its whole state."""
    state, columns = instance.rows_of(snapshot), snapshot.columns
    q, v, w = state[0, 6:10], state[0, 3:6], state[0, 10:]
    values = {name: float(columns.controller_state[place]) for name, place in instance.controls.items()}
    speed, rate = float(times(forward(q), v)), float(rotate(q, w)[2])
    return Observation(snapshot.time, state[0, :3].copy(), float(heading(q)), speed, rate, state=state, controls=values)
