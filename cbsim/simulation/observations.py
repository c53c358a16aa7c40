"""Observations: input of the planner of a vehicle or the controller of a model at a Snapshot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cbsim.geometry.linear import times
from cbsim.geometry.pose import forward, heading, rotate
from cbsim.jit import wrapping
from cbsim.sensing import Reading, Scan
from cbsim.sensing.kernels.ego import ego_motion
from cbsim.simulation.newest_readings import NewestReadings
from cbsim.spec.command import NO_OBJECTS, Observation
from cbsim.spec.events import RUN_STATES
from cbsim.world.snapshot import Snapshot
from cbsim.world.world import World

if TYPE_CHECKING:
    from cbsim.world.model_instances import ModelInstance

__all__ = ["observe", "observe_row", "watch"]

NO_STATE = np.zeros((0, 13))  # of a vehicle, which is no model


def observe(world: World, snapshot: Snapshot, name: str, newest: Mapping[str, Scan | Reading]) -> Observation:
    """Make the observation of an object's planner."""
    return observe_row(world, snapshot, world[name].row, newest)


def observe_row(world: World, snapshot: Snapshot, row: int, newest: Mapping[str, Scan | Reading]) -> Observation:
    """Make the observation of the planner of the object in a row."""
    columns, time = snapshot.columns, snapshot.time
    scans, readings = newest.of_body(row) if isinstance(newest, NewestReadings) else _parted(world, row, newest)
    with wrapping():
        angle, speed, rate = ego_motion(columns.orientation, columns.velocity, columns.angular_velocity, row)
    told = Observation.of(
        time=time,
        position=columns.position[row].copy(),
        heading=angle,
        speed=speed,
        yaw_rate=rate,
        scans=scans,
        readings=readings,
        state=NO_STATE,
        controls={},
        run_state="RUN",
        alarm=0.0,
        mission_time=time,
        restarts=0,
        checkpoints=0,
        objects=NO_OBJECTS,
    )
    return replace(told, **_run_control(world, snapshot, row)) if world.has_run_control else told


def _parted(
    world: World, row: int, newest: Mapping[str, Scan | Reading]
) -> tuple[Mapping[str, Scan | Reading], Mapping[str, Scan | Reading]]:
    """Return the scans, and the other readings, of the sensors of a body."""
    found = {key: newest[key] for key in world.carried.get(row, ()) if key in newest}
    scans = {key: taken for key, taken in found.items() if isinstance(taken, Scan)}
    return scans, {key: taken for key, taken in found.items() if key not in scans}


def _run_control(world: World, snapshot: Snapshot, row: int) -> dict[str, Any]:
    """Run state, mission clock and restarts of the vehicle with a body."""
    columns, control, time = snapshot.columns, world.run_control, snapshot.time
    happened = {number: int(columns.event[number]) for number in control.events if columns.event[number] >= 0}
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
