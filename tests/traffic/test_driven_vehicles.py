"""Autonomous objects that are reactive: they follow, stop and yield as other cars do, and drive their vehicle so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import cbsim
from cbsim.errors import UsageError
from cbsim.evaluation.replay import replay
from cbsim.geometry.pose import heading
from cbsim.recording.recording import Recording
from cbsim.simulation.advance import advance
from cbsim.spec.objects import Controller, Goal, Kind, TrafficObject, Triple, Wheels, WheelType
from cbsim.spec.road import PointId
from cbsim.spec.scenario import Placement
from cbsim.spec.sensor import SensorConf
from cbsim.spec.traffic import Pool
from cbsim.world.scene import Actor
from cbsim.world.snapshot import Snapshot
from cbsim.world.traffic.tables import HIT, LANELET, PAUSING, PHASE, SPEED, STATION, STOPPED
from tests.traffic.sites import cross, put_on, run, straight, world
from tests.worlds import Triple as At
from tests.worlds import bot, prop

LENGTH = 4.5


def driven(name: str, at: str, *goals: tuple[str, float], ahead: float = 10.0, **fields: Any) -> Actor:
    """An autonomous object that is reactive."""
    point = PointId(*map(int, at.split(".")))
    listed = tuple(Goal(0.0, pause, *map(int, where.split("."))) for where, pause in goals)
    fields.setdefault("size", Triple(1.8, LENGTH, 1.5))
    controller = Controller.WAYPOINT if goals else Controller.SENSOR
    item = TrafficObject(
        Kind.AUTONOMOUS, name, controller=controller, anchor=point, goals=listed, reactive=True, **fields
    )
    return Actor(item, Placement(point, station=ahead), listed)


def place(made: Any, snapshot: Snapshot, name: str = "Ego") -> np.ndarray:
    return np.asarray(made[name].pose(snapshot).position)


def test_it_drives_along_its_lane_at_the_speed_of_others():
    made = world(straight(600.0), actors=(driven("Ego", "1.1.1", ("1.1.3", 0.0)),))
    snapshots = run(made, made.start, 30.0, 1.0)
    ways = [place(made, each)[:2] for each in snapshots]
    assert max(abs(float(x)) for x, _ in ways) < 0.05
    assert snapshots[-1].columns.travel[0, SPEED] == pytest.approx(13.0, abs=0.1)  # of 30 mph drag costs it 0.4
    assert made["Ego"].speed(snapshots[-1]) == pytest.approx(float(snapshots[-1].columns.travel[0, SPEED]), abs=0.1)
    rear = float(place(made, snapshots[-1])[1]) - 0.5 * LENGTH
    assert snapshots[-1].columns.travel[0, STATION] == pytest.approx(rear, abs=0.7)


def test_it_stops_at_its_goal_and_waits_there():
    made = world(straight(600.0), actors=(driven("Ego", "1.1.1", ("1.1.2", 5.0), ("1.1.3", 0.0)),))
    snapshots = run(made, made.start, 80.0, 0.5)
    standing = [k for k, each in enumerate(snapshots) if made["Ego"].speed(each) < 0.05 and k > 10]
    front = float(place(made, snapshots[standing[0]])[1]) + 0.5 * LENGTH
    assert front == pytest.approx(300.0, abs=1.0)
    assert 9 <= sum(1 for k in standing if k < standing[0] + 20) <= 14  # 5 s, and starting
    assert snapshots[-1].columns.intent[0, PHASE] == PAUSING


def test_it_stops_behind_what_stands_and_others_stop_behind_it():
    box = prop("Box", At(0.0, 300.0, 0.5), size=Triple(2.0, 2.0, 1.0))
    made = world(straight(600.0), Pool("p", count=1), actors=(driven("Ego", "1.1.1", ahead=100.0), box))
    snapshot = made.start
    put_on(made, snapshot, 1, 0, 20.0)
    last = run(made, snapshot, 90.0)[-1]
    front = float(place(made, last)[1]) + 0.5 * LENGTH
    assert front == pytest.approx(297.0, abs=0.6)
    assert made["Ego"].speed(last) < 0.02
    assert last.columns.travel[1, STATION] + LENGTH == pytest.approx(front - LENGTH - 2.0, abs=0.5)


@pytest.mark.parametrize("step", [0.05, 0.1])
def test_it_stops_at_its_line_before_it_crosses(step):
    made = world(cross(), actors=(driven("Ego", "1.1.1", ("3.2.2", 0.0)),), step=step)
    rested = crossed = False
    for each in run(made, made.start, 90.0, step):
        rested = rested or each.columns.intent[0, PHASE] == STOPPED
        y = float(place(made, each)[1])
        assert rested or y - 0.5 * LENGTH > 7.5  # its line is 8 m north of the middle
        crossed = crossed or y < -20.0
    assert rested
    assert crossed


def test_it_goes_first_where_it_came_first():
    """Bots without reactive cars before them are seen at lines; here both take part in the order of arrival."""
    order = []
    for near in (60.0, 200.0):
        ego = driven("Ego", "1.1.1", ("3.2.2", 0.0), ahead=300.0 - near - LENGTH)
        made = world(cross(), Pool("p", count=1, lanes=((2, 1),)), actors=(ego,))
        snapshot = made.start
        lanelet = int(snapshot.columns.intent[1, LANELET])
        put_on(made, snapshot, 1, lanelet, 150.0)
        first = None
        for each in run(made, snapshot, 60.0, 0.5):
            gone = float(place(made, each)[1]) < 4.0, int(each.columns.intent[1, LANELET]) != lanelet
            if first is None and any(gone):
                first = gone.index(True)
        order.append(first)
    assert order == [0, 1]


@pytest.mark.parametrize("wheels", [None, Wheels(type=WheelType.SKID)])
def test_it_turns_at_a_crossing_on_either_kind_of_wheels(wheels):
    made = world(cross(), actors=(driven("Ego", "1.1.1", ("2.2.2", 0.0), wheels=wheels),))
    last = run(made, made.start, 90.0)[-1]
    x, y, _ = place(made, last)
    assert x > 100.0
    assert abs(y) == pytest.approx(2.0, abs=0.5)
    assert np.cos(heading(last.columns.orientation[0]) + 0.5 * np.pi) > 0.99


def test_it_brakes_and_stands_when_it_is_hit():
    made = world(straight(600.0), Pool("p", count=1), actors=(driven("Ego", "1.1.1", ahead=100.0),))
    snapshot = made.start
    put_on(made, snapshot, 1, 0, 99.0)  # into it
    _, _, contacts = advance(made, snapshot, 400)
    assert len(contacts) >= 1
    assert (snapshot.columns.intent[:, PHASE] == HIT).all()
    assert made["Ego"].speed(snapshot) < 0.05


def test_it_is_restored_at_every_step():
    made = world(cross(), Pool("p", count=6), actors=(driven("Ego", "1.1.1", ("3.2.2", 0.0), ahead=250.0),))
    whole, _, _ = advance(made, made.start, 600)
    single = made.start
    for step in range(600):
        single = made.restore(single.to_bytes())
        hashes, _, _ = advance(made, single, 1)
        assert hashes[0] == whole[step], step


def test_a_laser_sees_it_pass_and_its_own_laser_what_stands_ahead():
    place_of, angles = At(0.0, 2.4, 0.6), {"start_angle": -0.5 * np.pi, "end_angle": 0.5 * np.pi}
    sensor = SensorConf(beams=3, max_range=60.0, position=place_of, **angles)
    watcher = bot("Watcher", sensor, position_offset=At(6.0, 60.0, 0.75), orientation_offset=At(0.0, 0.0, 0.5 * np.pi))
    box = prop("Box", At(0.0, 300.0, 0.5), size=Triple(2.0, 2.0, 1.0))
    ego = replace(driven("Ego", "1.1.1"), confs=(("front", sensor),))
    made = world(straight(600.0), actors=(ego, watcher, box))
    seen, last = [], made.start
    for each in run(made, made.start, 60.0, 0.5):
        seen.append(float(cbsim.sense(made, each)["Watcher/scan_0"].ranges[0, 1]))
        last = each
    passed = [k for k, each in enumerate(seen) if each < 8.0]
    assert passed
    assert len(passed) < 10
    scan = cbsim.sense(made, last)["Ego/front"]
    assert float(scan.ranges[0, 1]) == pytest.approx(299.0 - float(scan.pose.position[1]), abs=0.02)
    assert float(scan.pose.position[1]) == pytest.approx(float(place(made, last)[1]), abs=LENGTH)


def test_without_goals_it_stands_at_the_end_of_its_lane():
    made = world(straight(200.0), actors=(driven("Ego", "1.1.1"),))
    last = run(made, made.start, 60.0)[-1]
    assert float(place(made, last)[1]) + 0.5 * LENGTH == pytest.approx(199.5, abs=0.5)
    assert made["Ego"].speed(last) < 0.02


SCENARIO = """\
network: city
duration: 20
add:
  - {name: Ego, kind: autonomous, at: 1.1.1, reactive: true, goals: [{waypoint: 1.1.2}]}
  - {name: Wanderer, kind: autonomous, at: 2.1.1, reactive: true}
traffic:
  - {name: town, count: 4}
"""


def test_a_scenario_adds_it_and_its_recording_is_replayed(tmp_path):
    path = tmp_path / "ego.yaml"
    path.write_text(SCENARIO)
    made = cbsim.load(path)
    recording = cbsim.run(made)
    recording.save(tmp_path / "run.mcap")
    for name in ("Ego", "Wanderer"):
        assert np.linalg.norm(recording.positions(name)[-1] - recording.positions(name)[0]) > 15.0
    assert replay(Recording.open(tmp_path / "run.mcap")) is None
    with pytest.raises(UsageError, match="Ego"):
        cbsim.run(made, planner={"Ego": object()})
