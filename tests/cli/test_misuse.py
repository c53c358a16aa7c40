"""What users get wrong: each time an exit code of 2 and words, nothing overwritten, nobody kept waiting."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys

import pytest

import cbsim
from cbsim.spec.objects import Kind

BOX = "add:\n  - name: Box\n    kind: static\n    position: [1, 2, 0]\nduration: 1\n"
LONG = "x" * 5000
TALKER = """
from cbsim import Command

print("hello from the module")


class Talker:
    def start(self, mission, network, vehicle):
        print("hello from start")

    def plan(self, observation):
        return Command(throttle=0.1)
"""


@pytest.fixture
def box(tmp_path):
    path = tmp_path / "box.yaml"
    path.write_text(BOX)
    return path


def misuse(said, pattern: str) -> None:
    assert said.code == 2, said
    assert "defect" not in said.err
    assert re.search(pattern, said.err + said.out), said


@pytest.mark.parametrize("seed", [-1, 2**63, 10**30])
def test_seed_out_of_range_is_refused(cli, tmp_path, box, seed):
    misuse(cli("run", box, "--seed", seed), "seed is")
    misuse(cli("new", "city", tmp_path / "city", "--seed", seed), "seed")
    assert not (tmp_path / "city").exists()


def test_largest_seed_runs(cli, box):
    assert cli("run", box, "--seed", 2**63 - 1).code == 0


@pytest.mark.parametrize(
    ("step", "duration", "pattern"),
    [("1e-9", "1", "step is"), ("nan", "1", "step is"), ("1e-6", "1e6", "steps"), ("0.1", "inf", "duration is")],
)
def test_endless_runs_are_refused(cli, box, step, duration, pattern):
    misuse(cli("run", box, "--step", step, "--duration", duration), pattern)


@pytest.mark.parametrize("command", ["run", "check", "info", "replay"])
def test_impossible_paths_are_refused_in_words(cli, tmp_path, command):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    misuse(cli(command, LONG), "too long|no such")
    misuse(cli(command, tmp_path / "loop"), "loop")
    misuse(cli(command, "a\0b"), "")


@pytest.mark.parametrize("command", ["check", "info", "replay", "run"])
def test_pipe_named_like_a_recording_keeps_nobody_waiting(cli, tmp_path, command):
    os.mkfifo(tmp_path / "pipe.mcap")
    misuse(cli(command, tmp_path / "pipe.mcap"), "")


def test_deleted_working_directory_is_told_in_words(cli, tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    misuse(cli("check", "a.rndf"), "a.rndf")
    misuse(cli("run", "four_way_stop", "--planner", "a:B"), "working directory is gone")
    assert cli("run", "four_way_stop", "--duration", "1").code in (0, 1)


def test_folder_that_is_a_file_or_closed_is_told(cli, tmp_path, box):
    misuse(cli("new", "city", box), re.escape(str(box)))
    misuse(cli("new", "city", box / "deeper"), re.escape(str(box)))


def test_full_disk_is_told_in_words(box, tmp_path):
    # without bytecode (-B), which CPython does not notice to be cut off
    command = [sys.executable, "-B", "-m", "cbsim", "run", str(box), "--record", str(tmp_path / "run.mcap")]

    def leave_no_room():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    done = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=leave_no_room)
    assert done.returncode == 3
    assert "defect" not in done.stderr
    assert "cannot write the recording: File too large" in done.stderr


def test_recording_onto_an_input_is_refused_before_anything_is_written(cli, tmp_path, box):
    (tmp_path / "link").symlink_to(box)
    for option in ("--record", "--json"):
        for target in (box, tmp_path / "link"):
            misuse(cli("run", box, option, target), "overwrite")
    assert box.read_text() == BOX


def test_new_city_overwrites_only_by_force(cli, tmp_path):
    (tmp_path / "city.mdf").write_text("mine")
    misuse(cli("new", "city", tmp_path), "city.mdf.*--force")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["city.mdf"]
    assert cli("new", "city", tmp_path, "--force").code == 0
    assert (tmp_path / "city.mdf").read_text() != "mine"


def test_two_planners_for_one_seat_are_refused(cli):
    misuse(cli("run", "four_way_stop", "--planner", "a:A", "--planner", "b:B"), "two planners")
    misuse(cli("run", "four_way_stop", "--planner", "x=a:A", "--planner", "x=b:B"), "two planners for 'x'")


def test_first_bot_by_its_name_and_without_is_one_seat(cli):
    world = cbsim.load("four_way_stop")
    first = next(body.name for body in world if body.kind is Kind.AUTONOMOUS)
    misuse(cli("run", "four_way_stop", "--planner", "a:A", "--planner", f"{first}=b:B"), f"two planners for '{first}'")


def test_quiet_run_tells_in_one_line_how_a_planner_crashed(cli, tmp_path, monkeypatch):
    (tmp_path / "crashing_module.py").write_text(TALKER.replace("return Command(throttle=0.1)", "return 1 / 0"))
    monkeypatch.syspath_prepend(tmp_path)
    said = cli("run", "parking", "--planner", "crashing_module:Talker", "--duration", 1, "-q")
    assert said.code == 1
    lines = [line for line in said.err.splitlines() if "planner" in line]
    assert len(lines) == 1
    assert "ZeroDivisionError" in lines[0]
    assert all(line.startswith("FAILED") for line in said.err.splitlines())


def test_result_and_recording_do_not_share_a_file(cli, tmp_path, box):
    misuse(cli("run", box, "--record", tmp_path / "x", "--json", tmp_path / "x"), "both name")


def test_units_stand_in_the_help(cli):
    assert "[s]" in cli("run", "--help").out
    assert "[m]" in cli("new", "city", "--help").out
    assert "planner-tests" in cli("new", "--help").out


def test_json_of_a_load_that_fails_says_why(cli, tmp_path):
    (tmp_path / "bad.yaml").write_text("duration: fast\n")
    said = cli("run", tmp_path / "bad.yaml", "--json", "-")
    data = json.loads(said.out)
    assert said.code == 2
    assert (data["verdict"], data["checks"]) == ("error", [])
    assert "duration" in data["message"]


def test_what_a_planner_prints_stays_out_of_the_json(cli, tmp_path, monkeypatch):
    (tmp_path / "talker_module.py").write_text(TALKER)
    monkeypatch.syspath_prepend(tmp_path)
    said = cli("run", "four_way_stop", "--planner", "talker_module:Talker", "--duration", 1, "--json", "-")
    assert json.loads(said.out)["steps"] == 20
    assert "hello from start" in said.err
    assert "hello from the module" in said.err


def test_quiet_run_still_says_which_check_failed(cli, box):
    box.write_text(BOX + "expect:\n  - travel: {object: Box, at_least: 5}\n")
    said = cli("run", box, "-q")
    assert said.code == 1
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert "travel Box" in said.err


def test_closed_or_full_standard_output_is_no_defect(box):
    command = [sys.executable, "-m", "cbsim", "run", str(box)]
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 3
    assert "No space left" in done.stderr
    assert "Exception ignored" not in done.stderr


def test_folder_or_network_in_place_of_a_scenario_is_told(cli, tmp_path):
    cli("new", "city", tmp_path / "made", "--columns", 2, "--rows", 2)
    misuse(cli("run", tmp_path / "made"), "E012")
    misuse(cli("run", tmp_path / "made" / "city.rndf"), "E002.*--rndf")


def test_damaged_head_of_a_recording_is_told_by_check_and_info(cli, tmp_path, box):
    cli("run", box, "--record", tmp_path / "run.mcap", "-q")
    (tmp_path / "cut.mcap").write_bytes((tmp_path / "run.mcap").read_bytes()[:300])
    misuse(cli("check", tmp_path / "cut.mcap"), "E030")
    said = cli("info", tmp_path / "cut.mcap", "--json")
    assert json.loads(said.out)["errors"] == 1
