"""A mission's clock in runs: RUN after a delay, an alarm, pauses, an end, and restarts where legs are apart."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import cbsim
from cbsim.evaluation.judge import judge
from cbsim.evaluation.outcome import execute
from cbsim.evaluation.replay import replay
from cbsim.planner.pilot import Pilot
from cbsim.recording.header import Header, header_of
from cbsim.recording.recording import Recording
from cbsim.road.roadmap import build
from cbsim.simulation.advance import advance
from cbsim.spec.command import Command
from cbsim.spec.events import Condition, Event, Place
from cbsim.spec.mission import Mission, MissionCheckpoint, SpeedLimit
from cbsim.spec.mission_clock import MissionClock, Pause
from cbsim.spec.objects import Kind, Triple, Wheels, WheelType
from cbsim.spec.planner import Seat
from cbsim.spec.road import PointId
from cbsim.spec.scenario import Placement
from cbsim.spec.traffic import Spread
from cbsim.world.compile import compile_world
from cbsim.world.scene import Scene, Settings
from cbsim.world.world import World
from tests.evaluation.drives import expect
from tests.events.scenes import do, when
from tests.road.site import Site, straight
from tests.worlds import bot, mover

LANES = 3
STOP = do("run_state", object="CajunBot", state="DISABLE")


def course(
    clock: MissionClock | None,
    events: tuple[Event, ...] = (),
    step: float = 0.05,
    seats: tuple[Seat, ...] = (),
    **fields: object,
) -> World:
    """The E-stop course of the NQE: lanes of 66 m that no way connects, each with a checkpoint."""
    site = Site()
    for k in range(LANES):
        site.lane(f"{k + 1}.1", straight(66.0, x=20.0 * k), checkpoints=[(f"{k + 1}.1.4", k + 1)])
    car = replace(bot(**fields), placement=Placement(PointId(1, 1, 1)))
    mission = Mission(
        "estop",
        "site",
        tuple(MissionCheckpoint(k + 1) for k in range(LANES)),
        tuple(SpeedLimit(k + 1, 0.0, 20.0 * 0.44704) for k in range(LANES)),
    )
    rules = [expect(name, object="CajunBot") for name in ("preparation", "start", "checkpoints", "collision")]
    rules += [expect("estop", object="CajunBot", profile="darpa2006", at_least=1)]
    rules += [expect("travel", object="CajunBot", at_least=130.0, at_most=160.0)]
    settings = Settings(step=step, duration=75.0, seats=seats)
    roadmap = build(site.network())
    scene = Scene("course", (car,), roadmap, mission, settings, tuple(rules), events=events, clock=clock)
    return compile_world(scene)


def at(time: float, duration: float | None) -> Pause:
    return Pause(when("time", at=time), duration)


def near(distance: float) -> Condition:
    """The car is near the end of the first lane, beyond its checkpoint."""
    return when("distance", object="CajunBot", place=Place(PointId(1, 1, 5)), below=distance)


class Listens(Pilot):
    """The pilot, and what it is told."""

    def start(self, *task):
        super().start(*task)
        self.told = []

    def plan(self, observation):
        self.told.append(observation)
        return super().plan(observation)


CLOCK = MissionClock(4.0, (at(14.0, 5.0),), restart=True)


@pytest.mark.parametrize("step", [0.01, 0.05, 0.1])
def test_pilot_obeys_the_clock_and_drives_a_course_whose_legs_are_apart(tmp_path, step):
    pilot, world = Listens(), course(CLOCK, step=step)
    outcome = execute(world, planner=pilot, record=tmp_path / "run.mcap")
    assert [check.message for check in outcome.checks if not check.passed] == []
    assert outcome.checks[0].message == "stood until 9.00 s, 5 s after RUN"
    recording = Recording.open(tmp_path / "run.mcap")
    assert judge(recording, world.scene).checks == outcome.checks
    assert replay(recording, world) is None
    told = {round(one.time, 6): one for one in pilot.told}
    assert [told[t].run_state for t in (0.0, 4.0, 4.2, 14.2, 19.2)] == ["PAUSE", "PAUSE", "RUN", "PAUSE", "RUN"]
    assert told[5.0].alarm == pytest.approx(4.0)
    assert told[9.0].alarm == 0.0
    assert told[12.0].mission_time == pytest.approx(3.0)
    assert told[17.0].mission_time == pytest.approx(5.0)
    assert told[25.0].mission_time == pytest.approx(11.0)
    assert [one.restarts for one in (told[0.0], pilot.told[-1])] == [0, LANES - 1]
    x = recording.positions("CajunBot")[:, 0]
    assert np.flatnonzero(np.abs(np.diff(x)) > 10.0).size == LANES - 1
    assert x[-1] == pytest.approx(20.0 * (LANES - 1), abs=0.5)


def test_mission_goes_on_with_the_same_bits_from_every_step():
    """Commands are held, so that the car passes a checkpoint, rests in a pause, and begins anew."""
    clock = MissionClock(1.0, (Pause(near(3.0), 4.0),), restart=True)
    world = course(clock)
    go = Command(throttle=0.4)
    single = [cbsim.step(world, world.start, {"CajunBot": go})]
    for _ in range(360):
        single.append(cbsim.step(world, single[-1]))
    events = dict(zip(world.events.names, single[-1].columns.event.tolist(), strict=True))
    assert min(events["mission RUN"], events["mission PAUSE 1"], events["mission restart 1"]) > 0
    begin = events["mission restart 1"]
    assert begin < 350
    pose = world["CajunBot"].pose(single[begin])  # after the step with that number
    assert pose.position[:2] == pytest.approx([20.0, 0.0], abs=1e-3)
    assert world["CajunBot"].speed(single[begin]) == 0.0
    for step in range(len(single)):
        again = world.restore(single[step].to_bytes())
        hashes, _, _ = advance(world, again, 361 - single[step].step)
        assert [one.hash for one in single[step + 1 :]] == hashes.tolist(), step


@pytest.mark.parametrize("drive", ["kinematic", "delayed", "dynamic", "skid", "skid-kinematic"])
def test_restarted_car_stands_as_at_the_start(drive):
    wheels = {"wheels": Wheels(WheelType.SKID)} if drive.startswith("skid") else {}
    clock = MissionClock(0.0, (Pause(near(4.0)),), restart=True)
    world = course(clock, drive=drive, **wheels)
    snapshot = cbsim.step(world, world.start, {"CajunBot": Command(throttle=0.6, levers=(0.6, 0.6))})
    name = world.events.names.index("mission restart 1")
    while snapshot.columns.event[name] < 0 and snapshot.time < 120.0:
        snapshot = cbsim.step(world, snapshot)
    assert snapshot.columns.event[name] >= 0
    fresh = cbsim.step(world, world.start)
    for column in ("velocity", "angular_velocity", "command", "wheel"):
        assert np.array_equal(getattr(snapshot.columns, column), getattr(fresh.columns, column)), column
    assert world["CajunBot"].pose(snapshot).heading == pytest.approx(0.0, abs=1e-9)
    offset = snapshot.columns.position[0] - fresh.columns.position[0]
    assert offset.tolist() == pytest.approx([20.0, 0.0, 0.0], abs=1e-3)


def test_restart_drops_the_commands_in_flight_of_its_own_vehicle():
    """A command that was given on the part before would drive the car on the next one."""
    other = replace(bot(), item=replace(bot().item, name="Other"), placement=Placement(position=(-20.0, 0.0, 0.0)))
    late = Spread(0.8)
    base = course(MissionClock(0.0, (Pause(near(4.0)),), restart=True), seats=(Seat("CajunBot", latency=late),))
    settings = replace(base.scene.settings, seats=(Seat("Other", latency=late), Seat("CajunBot", latency=late)))
    world = compile_world(replace(base.scene, actors=(*base.scene.actors, other), settings=settings))
    go, snapshot = Command(throttle=0.6), world.start
    name = world.events.names.index("mission restart 1")
    while snapshot.columns.event[name] < 0 and snapshot.time < 120.0:
        snapshot = cbsim.step(world, snapshot, {"CajunBot": go, "Other": go})
    assert snapshot.columns.event[name] >= 0
    in_flight = {world.bodies[int(world.constants.vehicle_body[one.vehicle])].name: one for one in world.queues}
    rows = {who: snapshot.columns.command_queue[one.first : one.last] for who, one in in_flight.items()}
    assert not rows["CajunBot"].any()
    assert rows["Other"][:16, 0].tolist() == [1.0] * 16
    parked = cbsim.step(world, world.start).columns.command[0].tolist()
    for _ in range(40):
        snapshot = cbsim.step(world, snapshot)
        assert snapshot.columns.command[0].tolist() == parked


def test_disabled_mission_ends_when_the_car_rests():
    events = (Event("enough", when("time", at=15.0), (STOP,)),)
    world = course(MissionClock(4.0), events)
    recording = cbsim.run(world, planner=Pilot())
    assert 15.0 < recording.times[-1] < 20.0
    assert np.linalg.norm(np.diff(recording.positions("CajunBot")[-2:], axis=0)) < 0.01  # the end of braking
    quiet = cbsim.run(world)  # nobody drives
    assert quiet.times[-1] == pytest.approx(15.05)
    assert cbsim.run(course(None, events), duration=20.0).times[-1] == 20.0  # without a clock, runs go on


def test_clock_is_that_of_bots_not_of_scripted_objects():
    events = (Event("later", when("time", at=50.0), (do("run_state", object="Shuttle", state="PAUSE"),)),)
    world = course(MissionClock(4.0))
    script = mover("Shuttle", (5.0, 0.0, 100.0, 0.0), at=Triple(-20.0, 0.0, 0.0))
    shuttle = replace(script, item=replace(script.item, kind=Kind.AUTONOMOUS))
    made = compile_world(replace(world.scene, actors=(*world.scene.actors, shuttle), events=events))
    snapshot = made.start
    advance(made, snapshot, 60)
    assert snapshot.columns.run_state.tolist() == [1, 0]
    assert made["CajunBot"].speed(snapshot) == 0.0
    assert made["Shuttle"].speed(snapshot) > 4.0
    assert made.run_control.timeline(made["Shuttle"].row, {}, made.step).mission_time(3.0) == 3.0
    assert made.run_control.timeline(made["CajunBot"].row, {}, made.step).mission_time(3.0) == 0.0


def test_world_without_a_clock_is_as_it_was():
    assert course(None).start.columns.run_state.shape == (0,)
    assert not course(None).run_control
    assert course(None).events.names == ()
    told = Listens()
    cbsim.run(course(None), duration=1.0, planner=told)
    assert {(one.run_state, one.alarm, one.restarts) for one in told.told} == {("RUN", 0.0, 0)}
    assert [one.mission_time for one in told.told] == [one.time for one in told.told]


def test_pause_by_a_condition_waits_for_run_and_an_event_of_the_scenario_may_end_it():
    go_on = Event("go on", when("time", at=12.0), (do("run_state", object="CajunBot", state="RUN"),))
    world = course(MissionClock(6.0, (Pause(when("speed", object="CajunBot", below=1.0)),)), (go_on,))
    snapshot = world.start
    advance(world, snapshot, 300)
    happened = dict(zip(world.events.names, (snapshot.columns.event * 0.05).tolist(), strict=True))
    assert happened == {"mission RUN": 6.0, "mission PAUSE 1": 6.0, "go on": 12.0}
    assert snapshot.columns.run_state[0] == 0


@pytest.mark.parametrize("where", [{"position": (8.0, -12.0, 0.0), "heading": 0.9}, {"waypoint": PointId(1, 1, 2)}])
def test_mission_begins_at_any_pose(where):
    world = course(MissionClock(1.0))
    scene = world.scene
    car = replace(scene.actors[0], placement=Placement(**where))
    made = compile_world(replace(scene, actors=(car,)))
    recording = cbsim.run(made, planner=Pilot(), duration=40.0)
    y = recording.positions("CajunBot")[-1, 1]
    assert 46.0 < y < 50.0  # at the checkpoint at 49.5 m


def test_header_keeps_run_states_and_recordings_without_them_are_read():
    header = header_of(course(CLOCK), 1)
    again = Header.from_json(header.to_json())
    assert again.run_control == header.run_control
    assert again.run_control.held == (0,)
    data = json.loads(header.to_json())
    data.pop("run_control")
    assert not Header.from_json(json.dumps(data | {"version": 5})).run_control
    for broken in ([], {"held": []}, {**header.run_control.to_dict(), "states": [[0, 0, "GO"]]}):
        with pytest.raises((ValueError, TypeError, KeyError)):
            Header.from_json(json.dumps(data | {"run_control": broken or "none"}))
