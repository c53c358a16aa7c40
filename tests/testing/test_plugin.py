"""The pytest plugin as a user meets it: in a folder of their own, outside the project, with a planner of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from cbsim.formats.scenario.models import ScenarioModel
from cbsim.recording.recording import Recording
from cbsim.testing.plugin import CONTENTS, KEYS, looks_like_a_scenario
from tests.common import ROOT

DRIVERS = """
from cbsim import Command


class Straight:
    made = 0

    def __init__(self):
        self.plans = 0

    def start(self, mission, network, vehicle):
        assert self.plans == 0

    def plan(self, observation):
        self.plans += 1
        return Command(throttle=0.5)


class Broken(Straight):
    def plan(self, observation):
        raise RuntimeError("lost the way")
"""
BOT = "add:\n  - {name: Bot, kind: autonomous}\nduration: 2\n"
BOX = "add:\n  - {name: Box, position: [1, 2, 0]}\nduration: 1\nexpect:\n  - rest: {object: Box}\n"
GOES = "expect:\n  - travel: {object: Bot, at_least: 2}\n"


@pytest.fixture
def yard(tmp_path):
    """A folder with two scenarios for a bot, one without, and a planner; a call of pytest in it."""
    (tmp_path / "scenarios" / "more").mkdir(parents=True)
    (tmp_path / "drivers.py").write_text(DRIVERS)
    (tmp_path / "scenarios" / "goes.yaml").write_text(BOT + GOES)
    (tmp_path / "scenarios" / "more" / "goes_too.yaml").write_text(BOT + GOES)
    (tmp_path / "scenarios" / "box.yaml").write_text(BOX)
    return tmp_path


def call(folder: Path, *arguments: object) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", "-p", "cbsim.testing.plugin", "-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": ""}
    done = subprocess.run(
        [*command, *map(str, arguments)], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
def test_a_planner_for_a_bot_that_no_scenario_has_is_an_error(yard):
    code, said = call(yard, "-q", "--planner", "Bott=drivers:Straight")
    assert code == pytest.ExitCode.USAGE_ERROR
    assert "--planner Bott=drivers:Straight: no scenario has an object 'Bott' (did you mean 'Bot'?)" in said
    code, said = call(yard, "-q", "--planner", "Bot=drivers:Straight")
    assert code == 0
    assert "no scenario has" not in said


@pytest.mark.slow
def test_every_scenario_is_a_test_and_a_bot_without_a_driver_stands(yard):
    code, said = call(yard, "-q")
    assert code == 1
    assert "2 failed, 1 passed" in said
    assert "FAILED  travel Bot: travelled 0.00 m, expected at least 2 m" in said
    assert "again: cbsim run" in said
    assert "Traceback" not in said


def test_planner_of_ones_own_drives_every_first_bot(yard):
    (yard / "scenarios" / "goes.yaml").write_text(BOT + GOES + "planner: drivers:Broken\n")
    code, said = call(yard, "scenarios", "--planner", "drivers:Straight", "--junitxml", "out.xml", "--seed", 7)
    assert code == 0, said
    assert "3 passed" in said
    assert "cbsim: planner drivers:Straight" in said
    cases = list(ET.parse(yard / "out.xml").getroot().iter("testcase"))
    assert [case.attrib["name"] for case in cases] == ["box", "goes", "goes_too"]
    for case in cases:
        told = {item.attrib["name"]: item.attrib["value"] for item in case.iter("property")}
        assert told["seed"] == "7"
        assert len(told["digest"]) == 16
        assert float(told["real_time_factor"]) > 0.0
        assert told["verdict"] == "pass"


@pytest.mark.slow
def test_named_seat_is_taken_only_where_it_is(yard):
    code, said = call(yard, "-q", "--planner", "Bot=drivers:Straight", "--planner", "Nobody=drivers:Broken")
    assert code == 4, said
    assert "3 passed" in said
    assert "no scenario has an object 'Nobody'" in said
    code, said = call(yard, "-q", "--planner", "Bot=drivers:Straight", "--planner", "drivers:Broken")
    assert code == 1
    assert "two planners for 'Bot'" in said


def test_planner_that_raises_fails_with_its_own_traceback_and_the_others_go_on(yard):
    code, said = call(yard, "--planner", "drivers:Broken", "-q", "--record", "out")
    assert code == 1
    assert "2 failed, 1 passed" in said
    assert "RuntimeError: lost the way" in said
    assert 'drivers.py", line' in said
    assert "cbsim/planner" not in said
    kept = sorted(path.name for path in (yard / "out").iterdir())
    assert kept == ["scenarios-goes.mcap", "scenarios-more-goes_too.mcap"]
    assert Recording.open(yard / "out" / kept[0]).names == ["Bot"]


@pytest.mark.slow
def test_recordings_of_all_are_kept_when_asked_for_and_the_step_is_obeyed(yard):
    options = ["--planner", "drivers:Straight", "--record", "out", "--record-all", "--step", 0.1]
    assert call(yard, *options)[0] == 0
    assert len(list((yard / "out").iterdir())) == 3
    assert Recording.open(yard / "out" / "scenarios-box.mcap").header.step == 0.1


def test_broken_scenario_fails_with_its_line_and_no_traceback(yard):
    (yard / "scenarios" / "bad.yaml").write_text("network: nowhere\nadd:\n  - {name: A, sizes: 3}\n")
    (yard / "scenarios" / "worse.yaml").write_text("network: [\n")
    code, said = call(yard, "scenarios/bad.yaml", "scenarios/worse.yaml", "-q")
    assert code == 1
    assert "bad.yaml:3: error: no key 'sizes' here [E803]" in said
    assert "worse.yaml:" in said
    assert "Traceback" not in said
    assert "2 failed" in said


@pytest.mark.slow
def test_planner_that_is_not_there_is_told_in_a_line(yard):
    code, said = call(yard, "scenarios/goes.yaml", "-q", "--planner", "drivers:Strait")
    assert code == 1
    assert "has no 'Strait' (did you mean 'Straight'?)" in said
    assert "Traceback" not in said


SWEPT = """
add:
  - {name: Bot, kind: autonomous}
  - {name: Box, position: ["${at}", 30, 0]}
duration: 2
parameters: {at: 4.0}
planner: drivers:Straight
sweep: {at: {range: [3, 8, 1]}, seed: {count: 2}}
expect:
  - travel: {object: Bot, at_least: 2}
"""


def test_points_of_a_sweep_are_tests_when_asked_for(yard):
    (yard / "scenarios" / "swept.yaml").write_text(SWEPT)
    code, said = call(yard, "scenarios/swept.yaml", "-v")
    assert (code, "1 passed" in said) == (0, True)
    code, said = call(yard, "scenarios/swept.yaml", "-v", "--cbsim-sample", 100)
    assert (code, "13 passed" in said) == (0, True)
    assert "swept[at=3-seed=2] PASSED" in said
    broken = ("--planner", "drivers:Broken", "--record", "kept")
    code, said = call(yard, "scenarios/swept.yaml", "--cbsim-sample", 3, *broken)
    assert (code, "4 failed" in said) == (1, True)
    again = re.search(r"again: cbsim run \S+ --planner drivers:Broken --seed (\d) --set at=(\d)", said)
    assert again is not None
    assert (yard / "kept" / f"scenarios-swept_at={again[2]}-seed={again[1]}.mcap").is_file()


def test_sweep_with_mistakes_is_one_failing_test(yard):
    (yard / "scenarios" / "swept.yaml").write_text(SWEPT.replace("range: [3, 8, 1]", "rnage: [3, 8, 1]"))
    code, said = call(yard, "scenarios/swept.yaml", "--cbsim-sample", 5)
    assert (code, "1 failed" in said, "E803" in said) == (1, True, True)


@pytest.mark.slow
def test_two_workers_give_the_same(yard):
    code, said = call(yard, "-n", 2, "--planner", "drivers:Straight", "--junitxml", "out.xml")
    assert code == 0, said
    cases = list(ET.parse(yard / "out.xml").getroot().iter("property"))
    assert len({case.attrib["value"] for case in cases if case.attrib["name"] == "digest"}) == 2


def test_run_about_something_else_is_not_disturbed(tmp_path):
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "molecule.yml").write_text("driver:\n  name: docker\nplatforms: []\nobjects: 1\n")
    (tmp_path / "config.yaml").write_text(BOX)
    options = "\n".join(f"    parser.addoption('{name}', default='theirs')" for name in ("--seed", "--planner"))
    (tmp_path / "conftest.py").write_text(f"def pytest_addoption(parser):\n{options}\n")
    check = "import sys\n\ndef test_it(pytestconfig):\n    assert pytestconfig.getoption('--seed') == 'theirs'\n"
    light = "    assert not {'numba', 'numpy', 'pydantic', 'shapely'} & set(sys.modules)\n"
    (tmp_path / "test_it.py").write_text(check + light)
    code, said = call(tmp_path, "-q")
    assert code == 0, said
    assert "1 passed" in said


@pytest.mark.slow
def test_scenario_named_so_or_given_by_name_is_taken_anywhere(tmp_path):
    (tmp_path / "one.scenario.yaml").write_text(BOX)
    (tmp_path / "two.yaml").write_text(BOX)
    assert "1 passed" in call(tmp_path, "-q")[1]
    assert "2 passed" in call(tmp_path, "-q", "two.yaml", "one.scenario.yaml")[1]


def test_keys_of_the_plugin_are_those_of_the_scenario():
    assert set(ScenarioModel.model_fields) == KEYS
    assert CONTENTS < KEYS


def test_shipped_scenarios_look_like_scenarios_and_the_corpus_is_left_alone():
    for path in (ROOT / "scenarios").glob("*.yaml"):
        assert looks_like_a_scenario(path), path
    code, said = call(ROOT, "tests/corpus", "-q", "--collect-only")
    assert code == 5, said


def test_scaffolded_repository_passes_as_generated(cli, tmp_path):
    said = cli("new", "planner-tests", tmp_path / "mine")
    assert said.code == 0
    assert cli("check", tmp_path / "mine" / "scenarios" / "follow_the_road.yaml").code == 0
    code, said = call(tmp_path / "mine")
    assert code == 0, said
    assert "1 passed" in said
    refused = cli("new", "planner-tests", tmp_path / "mine")
    assert refused.code == 2
    assert "--force" in refused.err
