"""``cbsim run`` as a user meets it: exit codes, JSON keys, recordings, errors in one line."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from cbsim.recording.recording import Recording
from cbsim.testing.scaffold import write_planner_tests
from tests.common import shared

KEYS = {"scenario", "verdict", "checks", "steps", "time", "digest", "real_time_factor", "objects"}


@pytest.fixture
def main_job(tmp_path):
    network = shared("rndf", "terminus", "gazebo8__darpa.rndf")
    return ["--rndf", network, "--objects", shared("cajunbot", "Objects.xml"), "--record", tmp_path / "run.mcap"]


def test_main_job_on_the_darpa_network(cli, main_job, tmp_path):
    said = cli("run", *main_job, "--duration", 60, "--json", "-")
    assert said.code == 0, said.err
    data = json.loads(said.out)
    assert set(data) >= KEYS
    assert (data["verdict"], data["steps"], data["time"]) == ("pass", 1200, 60.0)
    assert [item["name"] for item in data["objects"]] == ["CajunBot", "Traffic", "Box"]
    assert [item["type"] for item in data["objects"]] == ["autonomous", "dynamic", "static"]
    assert data["objects"][0]["position"] == pytest.approx([0.0, 0.0, 1.08])
    recording = Recording.open(tmp_path / "run.mcap")
    assert len(recording.times) == 1201
    path = recording.positions("Traffic")
    assert path[-1].tolist() == data["objects"][1]["position"]
    gone = np.linalg.norm(np.diff(path, axis=0), axis=1).sum()
    assert gone == pytest.approx(2.0 * 60.0)  # 3.1.2 is further than two minutes at 2 m/s
    for key in ("CajunBot/scan_gp_driver_0", "CajunBot/scan_gp_driver_2"):
        assert len(recording.scans(key)) > 60 * 10


def test_recording_replays_and_equals_another_run(cli, main_job, tmp_path):
    assert cli("run", *main_job, "--duration", 3, "-q").code == 0
    (tmp_path / "run.mcap").rename(tmp_path / "first.mcap")
    assert cli("run", *main_job, "--duration", 3, "-q").code == 0
    same = cli("diff", tmp_path / "first.mcap", tmp_path / "run.mcap")
    assert same.code == 0
    assert same.out.startswith("60 steps: "), "row 0 is no step"
    said = cli("replay", tmp_path / "run.mcap")
    assert said.code == 0
    assert "every hash is the same" in said.out
    assert said.out.startswith("60 steps of ")


def test_another_step_gives_another_recording_and_diff_says_so(cli, main_job, tmp_path):
    cli("run", *main_job, "--duration", 3, "-q")
    (tmp_path / "run.mcap").rename(tmp_path / "first.mcap")
    cli("run", *main_job, "--duration", 3, "-q", "--step", 0.1)
    said = cli("diff", tmp_path / "first.mcap", tmp_path / "run.mcap")
    assert said.code == 1
    assert "diverged: the recordings have different steps (from the outset: step 0.05 s and 0.1 s, " in said.out


def test_diff_tells_what_two_runs_have_unlike_from_the_outset(cli, tmp_path):
    one, other, more = (tmp_path / name for name in ("one.mcap", "other.mcap", "more.mcap"))
    box = "  - {name: Box, position: [0, 0, 0]}\n"
    (tmp_path / "box.yaml").write_text(f"duration: 0.2\nadd:\n{box}")
    (tmp_path / "boxes.yaml").write_text(f"duration: 0.2\nadd:\n{box}{box.replace('Box', 'Crate')}")
    assert cli("run", tmp_path / "box.yaml", "--record", one, "-q").code == 0
    assert cli("run", tmp_path / "box.yaml", "--record", other, "--seed", 3, "-q").code == 0
    assert cli("run", tmp_path / "boxes.yaml", "--record", more, "-q").code == 0
    said = cli("diff", one, other)
    assert (said.code, said.out) == (
        1,
        "diverged: first at step 0 (t=0.000 s): hidden state (from the outset: seed 1 and 3)\n",
    )
    said = cli("diff", one, more)
    assert (said.code, "the recordings have different objects: 'Crate' is in the second alone" in said.err) == (2, True)


def test_failed_expectation_is_exit_1_with_its_reason(cli, tmp_path):
    scenario = tmp_path / "late.yaml"
    scenario.write_text(
        "add:\n  - name: Box\n    kind: static\n    position: [1, 2, 0]\n"
        "expect:\n  - travel: {object: Box, at_least: 5}\nduration: 1\n"
    )
    said = cli("run", scenario)
    assert said.code == 1
    assert re.search(r"FAILED\s+travel Box: travelled 0.00 m, expected at least 5 m", said.out)


@pytest.mark.parametrize(
    ("arguments", "pattern"),
    [
        (["run"], "nothing to load"),
        (["run", "four_way_stpo"], "did you mean 'four_way_stop'"),
        (["run", "hexapod"], "did you mean 'hexapod.irt'"),
        (["run", "crsh.yaml"], "did you mean 'crash'"),
        (["run", "four_way_stop", "--duration", "-1"], "duration"),
        (["run", "four_way_stop", "--step", "0"], "step"),
        (["run", "four_way_stop", "--planner", "nowhere"], "module:Class"),
        (["run", "four_way_stop", "--planner", "nowhere:Nothing"], "cannot be found"),
        (["run", "four_way_stop", "--set", "seed"], "key=value"),
        (["run", "four_way_stop", "--record", "no/such/folder/x.mcap"], "cannot write"),
        (["check", "no_such.rndf"], "no such file"),
        (["replay", "no_such.mcap"], "no such file"),
        (["convert", "no_such.xml", "x.obj"], "no such file"),
        (["convert", "x.xml", "x.bmp"], "--to"),
        (["info", "no_such.rndf"], ""),
    ],
)
def test_misuse_is_exit_2_in_words(cli, arguments, pattern):
    said = cli(*arguments)
    assert said.code == 2
    assert re.search(pattern, said.err + said.out)


SLEEPER = """
from cbsim import Command


class Sleeper:
    def start(self, mission, network, vehicle):
        pass

    def plan(self, observation):
        if observation.time > 0.5:
            raise RuntimeError("fell asleep")
        return Command(throttle=0.2)
"""


def test_planner_that_raises_fails_its_run_with_its_traceback(cli, tmp_path, monkeypatch):
    (tmp_path / "sleepy.py").write_text(SLEEPER)
    monkeypatch.syspath_prepend(tmp_path)
    result = tmp_path / "result.json"
    said = cli("run", "four_way_stop", "--planner", "sleepy:Sleeper", "--json", result)
    assert said.code == 1
    fault = json.loads(result.read_text())["checks"][-1]
    assert not fault["passed"]
    assert fault["time"] == pytest.approx(0.55)
    assert "fell asleep" in fault["message"]
    assert "sleepy.py" in fault["message"]


def test_network_with_errors_brings_no_complaint_that_there_is_none(cli, tmp_path):
    (tmp_path / "bad.rndf").write_text("RNDF_name x\nnum_segments 1\nnum_zones 0\nsegment one\nend_segment\nend_file\n")
    parts = '<size x="2" y="4" z="1"/><goal speed="1" pause="0" segment="1" lane="1" waypoint="2"/>'
    thing = f'<object type="dynamic" shape="box"><name>T</name>{parts}</object>'
    (tmp_path / "one.xml").write_text(f"<object_file><name>n</name>{thing}</object_file>")
    objects = ["--objects", tmp_path / "one.xml"]
    said = cli("run", "--rndf", tmp_path / "bad.rndf", *objects)
    assert said.code == 2
    assert re.search(r"bad\.rndf:4: error: .*\[E007\]", said.err)
    assert "E630" not in said.err
    said = cli("run", *objects)
    assert said.code == 2
    assert re.search(r"one\.xml:1: error: object 'T' has goals, but there is no road network \[E630\]", said.err)


def test_junit_and_json_tell_of_a_failed_check(cli, tmp_path):
    box = "  - name: Box\n    kind: static\n    position: [1, 2, 0]\n"
    scenario = tmp_path / "late.yaml"
    scenario.write_text(f"add:\n{box}expect:\n  - travel: {{object: Box, at_least: 5}}\nduration: 1\n")
    said = cli("run", scenario, "--junit", tmp_path / "out.xml", "--json", tmp_path / "out.json", "-q")
    assert said.code == 1
    (suite,) = ET.parse(tmp_path / "out.xml").getroot()
    assert (suite.attrib["name"], suite.attrib["failures"], suite.attrib["errors"]) == ("late", "1", "0")
    assert json.loads((tmp_path / "out.json").read_text())["verdict"] == "fail"


@pytest.mark.parametrize("broken", ["network: nowhere\n", "expect:\n  - lane: {object: Box}\n", "a: [\n"])
def test_unacceptable_file_is_an_error_in_every_report(cli, tmp_path, broken):
    scenario = tmp_path / "broken.yaml"
    scenario.write_text(broken)
    said = cli("run", scenario, "--junit", tmp_path / "out.xml", "--json", tmp_path / "out.json")
    assert said.code == 2
    assert re.search(r"broken\.yaml:\d+: error: ", said.err)
    (suite,) = ET.parse(tmp_path / "out.xml").getroot()
    assert (suite.attrib["failures"], suite.attrib["errors"]) == ("0", "1")
    told = json.loads((tmp_path / "out.json").read_text())
    assert (told["verdict"], told["checks"]) == ("error", [])
    assert "error:" in told["message"]


SLOW = """
class Slow:
    def start(self, mission, network, vehicle):
        pass

    def plan(self, observation):
        while True:
            pass
"""


def test_deadline_of_the_command_line_ends_a_planner_that_hangs(cli, tmp_path, monkeypatch):
    (tmp_path / "slow_one.py").write_text(SLOW)
    monkeypatch.chdir(tmp_path)
    said = cli("run", "four_way_stop", "--planner", "slow_one:Slow", "--deadline", 0.2, "--duration", 1)
    assert said.code == 1
    assert "plan() took longer than its deadline of 0.2 s" in said.out
    assert "slow_one.py" in said.out
    assert cli("run", "four_way_stop", "--deadline", 0).code == 2


FOLLOWER = """
network: loop
duration: 20
planner: my_planner:Planner
add:
  - {name: Car, kind: autonomous, at: 1.1.1}
expect:
  - lane: {object: Car}
  - collision: {object: Car}
  - speed: {object: Car, at_most: 5}
  - stop_line: {object: Car, at_least: 1}
  - travel: {object: Car, at_least: 90}
"""


def test_recording_is_judged_as_the_run_was(cli, tmp_path, monkeypatch):
    write_planner_tests(tmp_path)
    (tmp_path / "s.yaml").write_text(FOLLOWER)
    monkeypatch.chdir(tmp_path)
    assert cli("run", "s.yaml", "--record", "s.mcap", "--json", "live.json").code == 1
    said = cli("judge", "s.mcap", "--json", "again.json")
    assert said.code == 1
    live, again = (json.loads((tmp_path / name).read_text()) for name in ("live.json", "again.json"))
    assert [check["passed"] for check in live["checks"]] == [True, True, False, False, True]
    for key in ("scenario", "verdict", "checks", "steps", "time"):
        assert again[key] == live[key]
    assert re.search(r"FAILED  speed Car: drove 5\.\d+ m/s", said.out)
    said = cli("judge", "s.mcap", "-q")
    assert (said.code, said.out) == (1, "")
    assert said.err.count("FAILED") == 2
    assert cli("judge", "s.yaml").code == 2
