"""Observations: input of the planner of a vehicle or the controller of a model at a Snapshot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

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
    told = Observation(*motion, scans, readings, mission_time=snapshot.time)
    return replace(told, **_run_control(world, snapshot, body.row)) if world.run_control else told


def _run_control(world: World, snapshot: Snapshot, row: int) -> dict[str, Any]:
    """Run state, mission clock and restarts of the vehicle with a body."""
    columns, control, time = snapshot.columns, world.run_control, snapshot.time
    happened = {number: step for number, step in enumerate(columns.event.tolist()) if step >= 0}
    timeline = control.timeline(row, happened, world.step)
    return {
        "run_state": RUN_STATES[int(columns.run_state[world.vehicle_rows[row]])] if len(columns.run_state) else "RUN",
        "alarm": timeline.alarm(time),
        "mission_time": timeline.mission_time(time),
        "restarts": sum(one.row == row and one.event in happened for one in control.restarts),
    }


def watch(snapshot: Snapshot, instance: ModelInstance) -> Observation:
    """Make the observation of a model's controller: its whole state."""
    state, columns = instance.rows_of(snapshot), snapshot.columns
    q, v, w = state[0, 6:10], state[0, 3:6], state[0, 10:]
    values = {name: float(columns.controller_state[place]) for name, place in instance.controls.items()}
    speed, rate = float(times(forward(q), v)), float(rotate(q, w)[2])
    return Observation(snapshot.time, state[0, :3].copy(), float(heading(q)), speed, rate, state=state, controls=values)
