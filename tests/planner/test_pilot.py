"""The example planner on the shipped networks: to the end of each mission, judged by the rules of the road."""

from __future__ import annotations

import ast
import math
import re

import numpy as np
import pytest

import cbsim
from cbsim.evaluation.outcome import execute
from cbsim.planner.pilot import Pilot
from cbsim.road.route import checkpoints
from cbsim.spec.drawing import Text
from cbsim.spec.mission import Mission, MissionCheckpoint
from cbsim.spec.road import PointId
from tests.common import ROOT

EXPECT = """\
expect:
  - collision: {object: CajunBot}
  - lane: {object: CajunBot}
  - speed: {object: CajunBot}
  - stop_line: {object: CajunBot, at_least: %d}
  - checkpoints: {object: CajunBot}
"""

BOT = """\
<object_file><name>Default</name><object type="autonomous" shape="box"><name>CajunBot</name>
<start_position segment="{0}" lane="{1}" waypoint="{2}"/>
<position_offset x="0" y="0" z="0"/><orientation_offset x="0" y="0" z="0"/>
<size x="1.7" y="3.68" z="2.16"/><wheels type="{wheels}" radius="0.38" width="0.20"/>
<steering throttle_rate="2" lever_rate="0.5"/>{sensor}</object></object_file>
"""

LASER = '<sensor conf="onboard/scan_gp_driver_0.conf" description=""/>'

CONVENTIONAL, SKID = 1, 0


def scenario(folder, network, start, *, wheels=CONVENTIONAL, stops=0, duration=60.0, sensor="", extra=""):
    """A World with a bot and a mission on a network, and everything expected of its driver."""
    (folder / "bot.xml").write_text(BOT.format(*start, wheels=wheels, sensor=sensor))
    text = f"network: {network}\nmission: {network}\nobjects: bot.xml\nduration: {duration}\n{extra}"
    (folder / "drive.yaml").write_text(text + EXPECT % stops)
    return cbsim.load(folder / "drive.yaml")


def drive(world, pilot=None):
    pilot = pilot or Pilot()
    outcome = execute(world, planner=pilot)
    assert not [check.message for check in outcome.checks if not check.passed]
    assert pilot.done
    assert pilot.reason == ""
    return outcome


@pytest.mark.parametrize("wheels", [CONVENTIONAL, SKID])
def test_it_drives_a_mission_with_stops_and_u_turns_on_either_kind_of_wheels(tmp_path, wheels):
    drive(scenario(tmp_path, "four_way_stop", (3, 2, 1), wheels=wheels, stops=3, duration=230))


@pytest.mark.slow
@pytest.mark.parametrize("wheels", [CONVENTIONAL, SKID])
@pytest.mark.parametrize(
    ("network", "start", "stops", "duration"),
    [
        ("loop", (1, 2, 10), 2, 400),  # a dead-end road with a U-turn, a change of lanes
        ("roundabout", (4, 2, 1), 0, 480),
        ("merge", (4, 1, 1), 1, 320),  # ramps, a lane that begins and one that ends
        ("parking", (1, 1, 1), 2, 450),  # a lot with straight and slanted spots
        ("city", (8, 1, 1), 25, 960),
    ],
)
def test_it_drives_the_missions_of_the_shipped_networks(tmp_path, network, start, stops, duration, wheels):
    drive(scenario(tmp_path, network, start, wheels=wheels, stops=stops, duration=duration))


@pytest.mark.parametrize("model", ["kinematic", "delayed"])
def test_it_drives_other_plant_models(tmp_path, model):
    world = scenario(tmp_path, "four_way_stop", (3, 2, 1), stops=1, duration=75)
    text = (tmp_path / "bot.xml").read_text().replace('type="autonomous"', f'type="autonomous" drive="{model}"')
    (tmp_path / "bot.xml").write_text(text)
    world = cbsim.load(tmp_path / "drive.yaml")
    outcome = execute(world, planner=Pilot())
    failed = [check.message for check in outcome.checks if not check.passed]
    assert [message[:6] for message in failed] == ["passed"]  # the mission is longer than the run


@pytest.mark.slow
@pytest.mark.parametrize("start", [(31, 3, 1), (31, 3, 2), (2, 2, 3)], ids=["at a spot", "in a spot", "in mid lane"])
def test_it_starts_wherever_it_stands(tmp_path, start):
    drive(scenario(tmp_path, "city", start, stops=25, duration=980))


@pytest.mark.slow
@pytest.mark.parametrize(("network", "start", "duration"), [("city", (8, 1, 1), 990), ("parking", (1, 1, 1), 450)])
def test_a_long_car_stays_within_the_lot(tmp_path, network, start, duration):
    scenario(tmp_path, network, start, duration=duration)
    text = (tmp_path / "bot.xml").read_text().replace('x="1.7" y="3.68"', 'x="2.0" y="5.2"')
    (tmp_path / "bot.xml").write_text(text)
    drive(cbsim.load(tmp_path / "drive.yaml"))


MDF = "MDF_name m\nRNDF n\ncheckpoints\nnum_checkpoints {}\n{}\nend_checkpoints\nend_file\n"


def mission_of(folder, *numbers):
    (folder / "mission.mdf").write_text(MDF.format(len(numbers), "\n".join(map(str, numbers))))
    text = (folder / "drive.yaml").read_text()
    (folder / "drive.yaml").write_text(re.sub("mission: .*", "mission: mission.mdf", text))
    return cbsim.load(folder / "drive.yaml")


def test_mission_may_end_in_a_parking_spot(tmp_path):
    scenario(tmp_path, "parking", (1, 2, 1), duration=120)
    world = mission_of(tmp_path, 3, 7)
    outcome = drive(world)
    front = world["CajunBot"].pose(outcome.snapshot).apply(np.array([0.0, 0.5 * 3.68, 0.0]))[:2]
    spot = world.scene.roadmap.position(checkpoints(world.scene.roadmap)[7])
    assert math.dist(front, spot) < 0.5


def test_way_through_a_zone_that_is_not_found_ends_the_path_before_the_zone_and_is_told(tmp_path, monkeypatch):
    scenario(tmp_path, "parking", (1, 2, 1), duration=80)
    monkeypatch.setattr("cbsim.planner.pilot.itinerary.cross_zone", lambda *_, **__: None)
    world, pilot = mission_of(tmp_path, 3, 7), Pilot()
    outcome = execute(world, planner=pilot)
    size = "a car 1.70 m wide and 3.68 m long"
    assert pilot.reason == f"found no way for {size} through zone 4 from 4.0.6 to 4.3.2"
    assert pilot.done
    place = world["CajunBot"].pose(outcome.snapshot).position[:2]
    assert math.dist(place, world.scene.roadmap.position(PointId(2, 2, 4))) < 6.0


@pytest.mark.parametrize("step", [0.01, 0.2])
def test_it_drives_at_other_steps(tmp_path, step):
    scenario(tmp_path, "four_way_stop", (3, 2, 1), stops=3, duration=230)
    drive(cbsim.load(tmp_path / "drive.yaml", step=step))


def test_two_runs_are_the_same_to_the_bit(tmp_path):
    world = scenario(tmp_path, "four_way_stop", (3, 2, 1), duration=30)
    assert execute(world, planner=Pilot()).digest == execute(world, planner=Pilot()).digest


def test_it_goes_on_after_pauses_wherever_they_fall(tmp_path):
    world = scenario(tmp_path, "four_way_stop", (3, 2, 1), stops=3, duration=300)
    pauses = [{"at": 3.0 + 7.0 * k, "for": 2.0} for k in range(25)]
    text = (tmp_path / "drive.yaml").read_text()
    clock = f"mission: {{file: four_way_stop, delay: 0.0, pauses: {pauses}}}\n"
    (tmp_path / "drive.yaml").write_text(text.replace("mission: four_way_stop\n", clock))
    world = cbsim.load(tmp_path / "drive.yaml")
    drive(world)


def test_it_stops_for_a_box_in_its_lane(tmp_path):
    box = "add:\n  - {name: Box, kind: static, size: [1.2, 1.2, 1.5], at: {waypoint: 3.2.2, station: 10}}\n"
    world = scenario(tmp_path, "four_way_stop", (3, 2, 1), duration=40, sensor=LASER, extra=box)
    pilot = Pilot()
    outcome = execute(world, planner=pilot)
    checks = {check.name.split()[0]: check for check in outcome.checks}
    assert checks["collision"].passed
    assert not pilot.done
    car, box = world["CajunBot"], world["Box"]
    assert car.speed(outcome.snapshot) == 0.0
    gap = math.dist(car.pose(outcome.snapshot).position[:2], box.pose(outcome.snapshot).position[:2])
    assert 1.0 < gap - 0.5 * (3.68 + 1.2) < 4.0


@pytest.mark.parametrize("conf", ["onboard/scan_gp_driver_0.conf", "onboard/of_another_bot.conf"])
def test_it_stops_behind_a_parked_car_even_with_the_laser_that_takes_the_place_of_an_unknown_conf(tmp_path, conf):
    parked = "{name: Parked, kind: static, size: [1.8, 4.5, 1.5], at: {waypoint: 3.2.2, station: 30}}"
    sensor = LASER.replace("onboard/scan_gp_driver_0.conf", conf)
    world = scenario(tmp_path, "four_way_stop", (3, 2, 1), duration=20, sensor=sensor, extra=f"add:\n  - {parked}\n")
    (one,) = world.sensors
    conf_of = one.conf
    assert conf_of.position[2] == (0.6 if "another" in conf else 0.55)
    outcome = execute(world, planner=Pilot())
    checks = {check.name.split()[0]: check for check in outcome.checks}
    assert checks["collision"].message == "touched nothing"
    car, box = world["CajunBot"], world["Parked"]
    gap = math.dist(car.pose(outcome.snapshot).position[:2], box.pose(outcome.snapshot).position[:2])
    assert 1.0 < gap - 0.5 * (3.68 + 4.5) < 4.0


def test_it_can_be_told_not_to_look(tmp_path):
    box = "add:\n  - {name: Box, kind: static, size: [1.2, 1.2, 1.5], at: {waypoint: 3.2.2, station: 10}}\n"
    world = scenario(tmp_path, "four_way_stop", (3, 2, 1), duration=40, sensor=LASER, extra=box)
    outcome = execute(world, planner=Pilot(look_out=False))
    touched = not next(check for check in outcome.checks if check.name.startswith("collision")).passed
    car, box = world["CajunBot"].pose(outcome.snapshot), world["Box"].pose(outcome.snapshot)
    assert touched or math.dist(car.position[:2], box.position[:2]) > 10.0  # through it, as long as nothing is solid


def test_without_a_mission_it_follows_its_lane_to_the_end(tmp_path):
    (tmp_path / "bot.xml").write_text(BOT.format(3, 2, 1, wheels=CONVENTIONAL, sensor=""))
    world = cbsim.load(rndf=ROOT / "rndf" / "four_way_stop.rndf", objects=tmp_path / "bot.xml", duration=60)
    pilot = Pilot()
    outcome = execute(world, planner=pilot)
    lane = world.scene.roadmap.lane(3, 2)
    x, y, _ = world["CajunBot"].pose(outcome.snapshot).position
    assert pilot.done
    assert math.dist((x, y), lane.samples[-1]) < 3.0


def test_without_a_network_it_stays_where_it_is(tmp_path):
    text = "add:\n  - {name: CajunBot, kind: autonomous, size: [1.7, 3.68, 2.16], position: [1, 2, 0]}\nduration: 3\n"
    (tmp_path / "alone.yaml").write_text(text)
    world = cbsim.load(tmp_path / "alone.yaml")
    pilot = Pilot()
    outcome = execute(world, planner=pilot)
    assert world["CajunBot"].pose(outcome.snapshot).position[:2].tolist() == [1.0, 2.0]
    assert pilot.reason == "there is no road network"


def test_it_says_where_the_mission_cannot_be_driven_on(tmp_path):
    world = scenario(tmp_path, "four_way_stop", (3, 2, 1))
    mission = Mission("impossible", "", (MissionCheckpoint(5), MissionCheckpoint(99)))
    pilot = Pilot()
    pilot.start(mission, world.scene.roadmap, Vehicles.of(world))
    pilot.plan(Vehicles.seen(world))
    assert "the network has no checkpoint '99'" in pilot.reason


def test_where_it_can_drive_no_further_it_shows_why(tmp_path):
    point = "1.1.{0} 30.000000 {1:.6f}\n".format
    points = point(1, -90.0) + point(2, -89.9999) + point(3, -89.9998)
    (tmp_path / "site.rndf").write_text(
        "RNDF_name site\nnum_segments 1\nnum_zones 0\nsegment 1\nnum_lanes 1\nlane 1.1\nnum_waypoints 3\n"
        f"checkpoint 1.1.1 4\n{points}end_lane\nend_segment\nend_file\n"
    )
    bot = "{name: CajunBot, kind: autonomous, size: [1.7, 3.68, 2.16], at: 1.1.2}"
    (tmp_path / "ahead.yaml").write_text(f"network: site.rndf\nduration: 20\nadd:\n  - {bot}\n")
    world, pilot = cbsim.load(tmp_path / "ahead.yaml"), Pilot()
    pilot.start(Mission("behind", "", (MissionCheckpoint(4),)), world.scene.roadmap, Vehicles.of(world))
    pilot.plan(Vehicles.seen(world))
    (shown,) = [one.text for one in pilot.draw() if isinstance(one, Text)]
    assert shown.startswith("halt in ")
    assert shown.endswith(" m: no route from lane 1.1 to the checkpoint at 1.1.1")


class Vehicles:
    """What a driver would be told, without one."""

    @staticmethod
    def of(world):
        from cbsim.planner.driver import vehicle_of

        return vehicle_of(world, "CajunBot")

    @staticmethod
    def seen(world):
        from cbsim.simulation.observations import observe

        return observe(world, world.start, "CajunBot", {})


def test_it_uses_no_kernels_but_its_own_and_nothing_of_the_simulator_that_another_planner_would_not():
    files = sorted((ROOT / "cbsim" / "planner" / "pilot").glob("*.py"))
    assert files
    for path in files:
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            own = (
                "cbsim.planner.pilot.kernels",
                "cbsim.geometry.kernels.arc_paths",
            )  # Dubins paths, for cars in zones too
            names = [name for name in names if not name.startswith(own)]
            assert not [name for name in names if "numba" in name or "kernels" in name or name.startswith("cbsim.jit")]
            rooms = ("world", "simulation", "coupling", "loading", "sensing", "collision", "traffic", "vehicle")
            assert not [name for name in names if name.split(".")[:2] in [["cbsim", room] for room in rooms]]
