"""The example planner on real networks: DARPA's sample mission driven to its end, and what each second of it shows."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cbsim
from benchmarks.missions import TASKS, judged, world_of
from cbsim.evaluation.outcome import execute
from cbsim.planner.pilot import Pilot
from cbsim.road.route import checkpoints
from cbsim.spec.profiles import PROFILES
from tests.common import shared
from tests.planner.test_pilot import BOT, EXPECT

pytestmark = pytest.mark.slow


def load(folder, rndf, mdf, start, duration, stops=0):
    (folder / "bot.xml").write_text(BOT.format(*start, wheels=1, sensor=""))
    (folder / "drive.yaml").write_text(f"objects: bot.xml\nduration: {duration}\n" + EXPECT % stops)
    return cbsim.load(folder / "drive.yaml", rndf=shared("rndf", *rndf), mdf=shared("mdf", *mdf))


class Logged(Pilot):
    """Writes down where the car is at each decision, and how far from its path."""

    def __init__(self):
        super().__init__()
        self.log = []

    def plan(self, observation):
        command = super().plan(observation)
        x, y, _ = observation.position.tolist()
        self.log.append((observation.time, x, y, observation.heading, observation.speed, *self._off(x, y, observation)))
        return command

    def _off(self, x, y, observation):
        path, row, arm = self.path, self._row, self.geometry.arm
        x, y = x + arm * math.sin(observation.heading), y - arm * math.cos(observation.heading)
        path_x, path_y, sine, cosine = path.table[row, :4].tolist()
        aside = -(x - path_x) * cosine - (y - path_y) * sine
        return aside, path.runs[self._run].reverse


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """The 12 km of DARPA's sample mission, driven once for all tests."""
    folder = tmp_path_factory.mktemp("sample")
    files = ("navguide", "Sample_RNDF.txt"), ("navguide", "Sample_MDF.txt")
    world = load(folder, *files, (4, 1, 1), 1900, stops=26)
    pilot = Logged()
    return world, pilot, execute(world, planner=pilot)


def test_the_sample_mission_is_driven_to_its_end_as_the_rules_of_the_road_ask(sample):
    _, pilot, outcome = sample
    assert [check.message for check in outcome.checks if not check.passed] == []
    assert pilot.done
    assert pilot.reason == ""


def test_the_sample_mission_takes_twelve_kilometres_and_half_an_hour(sample):
    _, pilot, _ = sample
    log = np.array(pilot.log)
    way = np.hypot(*np.diff(log[:, 1:3], axis=0).T).sum()
    assert way == pytest.approx(12_300.0, abs=150.0)
    rolling = log[log[:, 4] > 0.05]
    assert rolling[-1, 0] < 1850.0


def test_the_sample_mission_is_driven_within_a_hand_of_the_path(sample):
    _, pilot, _ = sample
    aside = np.abs(np.array(pilot.log)[:, 5])
    assert aside.max() < 0.3
    assert np.sqrt(np.mean(aside**2)) < 0.06


def test_the_sample_mission_is_driven_smoothly(sample):
    world, pilot, _ = sample
    log = np.array(pilot.log)
    step = world.step
    sideways = np.abs(np.diff(np.unwrap(log[:, 3])) / step * log[1:, 4])
    assert sideways.max() < 3.0
    gained = np.diff(log[:, 4]) / step
    assert gained.max() < 3.2
    assert gained.min() > -3.5  # the last half metre before a stop


def test_both_parking_spots_of_the_sample_are_left_backwards(sample):
    world, pilot, _ = sample
    roadmap = world.scene.roadmap
    log = np.array(pilot.log)
    places = checkpoints(roadmap)
    for number in (14, 17):
        spot = roadmap.position(places[number])
        backing = log[log[:, 6] > 0.0]
        near = np.hypot(*(backing[:, 1:3] - spot).T)
        assert near.min() < 3.0
        assert np.sum(near < 10.0) > 40  # two seconds


REAL = [
    ("nqe_c", ("cornell", "NQE-General_Files__nqe_rndf.rdf"), ("cornell", "NQE-Area_C__nqe_c_mdf.mdf"), 460),
    ("alameda", ("stanford", "alameda_rndf.txt"), ("stanford", "alameda_mdf.txt"), 700),
    ("shoreline", ("stanford", "shoreline_rndf.txt"), ("stanford", "shoreline_mdf.txt"), 700),
    ("obstacle", ("utexas", "prc_large_obstacle.rndf"), ("utexas", "prc_large_obstacle.mdf"), 340),
    ("circle", ("stanford", "shoreline_circle_rndf.txt"), ("stanford", "shoreline_circle_mdf.txt"), 330),
]


@pytest.mark.parametrize(("rndf", "mdf", "duration"), [row[1:] for row in REAL], ids=[row[0] for row in REAL])
def test_missions_of_real_teams_are_driven_to_their_end(tmp_path, rndf, mdf, duration):
    network, mission = cbsim.read(shared("rndf", *rndf)), cbsim.read(shared("mdf", *mdf))
    first = mission.checkpoints[0].number
    lane = next(lane for lane in network.lanes if any(c.number == first for c in lane.checkpoints))
    start = (lane.segment, lane.number, lane.points.numbers[0])
    world = load(tmp_path, rndf, mdf, start, duration)
    pilot = Pilot()
    outcome = execute(world, planner=pilot)
    assert [check.message for check in outcome.checks if not check.passed] == []
    assert pilot.done


def test_the_final_event_is_driven_from_its_first_checkpoint_to_its_last(tmp_path):
    files = (
        ("cornell", "UCE-Final_Event__uce_rndf_1.5.rdf"),
        ("cornell", "UCE-Final_Event__uce_mdf_B26-1.mdf"),
    )
    world = load(tmp_path, *files, (2, 1, 1), 3700, stops=40)
    pilot = Pilot()
    outcome = execute(world, planner=pilot)
    checks = {check.name.split()[0]: check for check in outcome.checks}
    assert pilot.done
    assert checks["lane"].passed
    assert checks["checkpoints"].passed
    assert checks["stop_line"].passed
    assert checks["speed"].passed


@pytest.mark.parametrize("name", TASKS)
def test_missions_of_2007_pass_every_rule_in_both_profiles(tmp_path, name):
    task, pilot = TASKS[name], Pilot()
    shared("rndf", *task.rndf.split("/"))
    world = world_of(task, tmp_path)
    recording = cbsim.run(world, planner=pilot)
    assert pilot.done
    for profile in PROFILES:
        checks = judged(recording, world, profile)
        assert [f"{rule}: {check.message}" for rule, check in checks.items() if check.passed is not True] == []
        assert len(checks) >= 20


@pytest.mark.parametrize("limits", ["1 10 20", "1 20 20"])
def test_a_minimum_speed_is_no_trap_on_a_road_of_kinks(tmp_path, limits):
    text = "checkpoints\nnum_checkpoints 3\n1\n2\n1\nend_checkpoints\nspeed_limits\nnum_speed_limits 1\n"
    (tmp_path / "two.mdf").write_text(f"MDF_name two\nRNDF Sample3\n{text}{limits}\nend_speed_limits\nend_file\n")
    (tmp_path / "bot.xml").write_text(BOT.format(1, 1, 2, wheels=1, sensor=""))
    (tmp_path / "drive.yaml").write_text("objects: bot.xml\nduration: 200\nexpect:\n  - speed: {object: CajunBot}\n")
    rndf = shared("rndf", "cornell", "arbiter-sample_roads__Sample3.rndf")
    outcome = execute(cbsim.load(tmp_path / "drive.yaml", rndf=rndf, mdf=tmp_path / "two.mdf"), planner=Pilot())
    assert outcome.verdict == "pass", outcome.checks


def test_hairpins_tighter_than_the_car_are_no_fault_of_an_honest_driver(tmp_path):
    text = (
        "objects: bot.xml\nduration: 150\nexpect:\n  - lane: {object: CajunBot}\n  - checkpoints: {object: CajunBot}\n"
    )
    (tmp_path / "drive.yaml").write_text(text)
    (tmp_path / "bot.xml").write_text(BOT.format(1, 1, 1, wheels=1, sensor=""))
    files = (shared(kind, "utexas", f"utexas_explore.{kind}") for kind in ("rndf", "mdf"))
    outcome = execute(
        cbsim.load(tmp_path / "drive.yaml", **dict(zip(("rndf", "mdf"), files, strict=True))), planner=Pilot()
    )
    assert outcome.verdict == "pass", outcome.checks
