"""Run states of autonomous objects: PAUSE brakes as hard as it can and holds, RUN goes on, DISABLE is for good."""

from __future__ import annotations

import numpy as np
import pytest

import cbsim
from cbsim.simulation.advance import advance
from cbsim.spec.command import Command
from cbsim.spec.events import Event
from cbsim.spec.objects import Wheels, WheelType
from cbsim.vehicle.kernels.columns import MAX_DECELERATION
from tests.events.scenes import check_restores, do, when, world
from tests.worlds import bot, mover

PAUSE, RUN, DISABLE = (do("run_state", object="CajunBot", state=state) for state in ("PAUSE", "RUN", "DISABLE"))
GO = Command(throttle=1.0, levers=(1.0, 1.0))
SKID = Wheels(WheelType.SKID)


def at(time: float, *actions, name: str = "") -> Event:
    return Event(name or f"at {time}", when("time", at=time), actions)


def driven(made, duration: float, command: Command = GO):
    """Snapshots of a run with one command, given before the first step."""
    snapshots = [made.start]
    for step in range(round(duration / made.step)):
        snapshots.append(cbsim.step(made, snapshots[-1], {"CajunBot": command} if step == 0 else None))
    return snapshots


@pytest.mark.parametrize(
    ("drive", "fields"),
    [(drive, {}) for drive in ("kinematic", "delayed", "dynamic")]
    + [(drive, {"wheels": SKID}) for drive in ("skid", "skid-kinematic")],
)
def test_pause_stops_at_the_greatest_deceleration_and_holds(drive, fields):
    made = world(bot(drive=drive, **fields), events=(at(6.0, PAUSE), at(14.0, RUN)))
    snapshots = driven(made, 18.0)
    body = made["CajunBot"]
    speeds = np.array([body.speed(snapshot) for snapshot in snapshots])
    begin, most = round(6.0 / made.step), float(made.constants.vehicle_parameters[0, MAX_DECELERATION])
    way = np.hypot(*(body.pose(snapshots[round(14.0 / made.step)]).position - body.pose(snapshots[begin]).position)[:2])
    assert speeds[begin] > 5.0
    assert way < speeds[begin] ** 2 / (2.0 * most) * 1.1 + 0.1
    stopped = begin + int(np.argmax(speeds[begin:] < 0.01))
    assert (stopped - begin) * made.step < speeds[begin] / most * 1.1 + 0.1
    held = [body.pose(snapshot).position for snapshot in snapshots[stopped + 1 : round(14.0 / made.step)]]
    assert np.abs(np.array(held) - held[0]).max() < 1e-3
    assert speeds[-1] > 2.0  # it goes on by the command that it was given
    assert all(np.array_equal(snapshot.columns.command[0], GO.row()) for snapshot in snapshots[1:])


def test_twenty_miles_an_hour_to_rest_within_twenty_metres():
    made = world(bot(), events=(Event("stop", when("speed", object="CajunBot", above=8.94), (PAUSE,)),))
    snapshots = driven(made, 15.0)
    begin = int(snapshots[-1].columns.event[0])
    way = made["CajunBot"].pose(snapshots[-1]).position - made["CajunBot"].pose(snapshots[begin]).position
    assert made["CajunBot"].speed(snapshots[-1]) == 0.0
    assert np.hypot(*way[:2]) < 20.0


def test_paused_vehicle_is_steered():
    made = world(bot(), events=(at(6.0, PAUSE),))
    snapshots = driven(made, 9.0, Command(throttle=1.0, steering=0.2))
    headings = [made["CajunBot"].pose(snapshot).heading for snapshot in snapshots]
    assert headings[-1] > headings[round(6.0 / made.step)] + 0.05


def test_disabled_vehicle_never_runs_again():
    made = world(bot(), events=(at(4.0, DISABLE), at(8.0, RUN)))
    snapshots = driven(made, 14.0)
    assert snapshots[-1].columns.run_state[0] == 2
    assert made["CajunBot"].speed(snapshots[-1]) == 0.0


def test_follower_of_goals_pauses_and_catches_up():
    item = mover("CajunBot", (8.0, 0.0, 120.0, 0.0)).item
    from dataclasses import replace

    from cbsim.spec.objects import Kind
    from cbsim.world.scene import Actor

    made = world(Actor(replace(item, kind=Kind.AUTONOMOUS)), events=(at(4.0, PAUSE), at(7.0, RUN)))
    snapshot = made.start
    advance(made, snapshot, round(6.5 / made.step))
    assert made["CajunBot"].speed(snapshot) == 0.0
    advance(made, snapshot, round(15.0 / made.step))
    assert made["CajunBot"].pose(snapshot).position[1] > 110.0
    check_restores(made, 12.0)


def test_pause_on_a_restored_snapshot_has_the_same_bits():
    made = world(bot(), events=(at(2.0, PAUSE), at(4.0, RUN), at(5.0, DISABLE)))
    snapshot = cbsim.step(made, made.start, {"CajunBot": GO})
    single = [snapshot]
    for _ in range(130):
        single.append(cbsim.step(made, single[-1]))
    for step in (38, 39, 40, 41, 79, 80, 99, 100, 101):
        again = made.restore(single[step].to_bytes())
        hashes, _, _ = advance(made, again, 130 - step)
        assert [snapshot.hash for snapshot in single[step + 1 :]] == hashes.tolist()


def test_world_without_run_states_has_no_column_for_them():
    assert world(bot(), events=(at(2.0),)).start.columns.run_state.shape == (0,)


def test_planner_is_told_its_run_state():
    told: list[tuple[float, str]] = []

    class Listens:
        def start(self, mission, network, vehicle) -> None: ...

        def plan(self, observation):
            told.append((round(observation.time, 3), observation.run_state))
            return GO

    cbsim.run(world(bot(), events=(at(0.5, PAUSE), at(1.0, RUN), at(1.5, DISABLE))), duration=2.0, planner=Listens())
    changes = [one for one, before in zip(told[1:], told, strict=False) if one[1] != before[1]]
    assert changes == [(0.55, "PAUSE"), (1.05, "RUN"), (1.55, "DISABLE")]
