"""What all commands have in common: help that fits, options that are alike, a version, lists, completion."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest

import cbsim
from cbsim.cli.main import COMMANDS, with_default_values
from cbsim.evaluation.rules import RULES

NAMES = [name for name, *_ in COMMANDS]
BOX = "add:\n  - {name: Box, kind: static, position: [1, 2, 0]}\nduration: 0.1\n"


@pytest.fixture
def box(tmp_path):
    path = tmp_path / "box.scenario.yaml"
    path.write_text(BOX)
    return path


@pytest.fixture
def recording(cli, tmp_path, box):
    assert cli("run", box, "--record", tmp_path / "box.mcap", "-q").code == 0
    return tmp_path / "box.mcap"


@pytest.mark.parametrize("command", ["", *NAMES, "new", "new city", "new planner-tests"])
def test_help_fits_into_eighty_columns_uncut_with_one_kind_of_metavar(cli, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERMINAL_WIDTH", "80")
    said = cli(*command.split(), "--help")
    assert said.code == 0
    lines = said.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert not [line for line in lines if line.endswith("...") and "Usage" not in line]
    options = [line for line in lines if re.match(r" +(-\w, )?--[a-z-]+ ", line)]
    values = [re.split(r" {2,}", line.strip())[0].split(" ")[-1] for line in options]
    assert all(value.startswith("--") or re.fullmatch(r"[A-Zx0-9|:=\[\]-]+", value) for value in values), values


def test_summaries_of_commands_fit_into_a_line(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    listed = cli("--help").out
    for name, _, summary in COMMANDS:
        assert re.search(rf"^  {name} +{re.escape(summary)}$", listed, re.MULTILINE), name


def test_version_is_told(cli):
    assert cli("--version") == (0, f"cbsim {cbsim.__version__}\n", "")


def test_help_imports_no_compiler():
    code = "import sys, cbsim.cli.main; print(*{'numba', 'numpy', 'pygame'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == []


def test_lists_name_what_there_is(cli):
    everything = json.loads(cli("list", "--json", "-").out)
    assert list(everything) == ["scenarios", "rules", "planners", "models"]
    assert [row["name"] for row in everything["rules"]] == list(RULES)
    assert all(row["description"] for rows in everything.values() for row in rows)
    assert {"four_way_stop", "mission"} <= {row["name"] for row in everything["scenarios"]}
    assert {"name": "hexapod.irt", "description": "irit: 13 bodies, 12 joints"} in everything["models"]
    shown = cli("list", "planners")
    assert shown.out.startswith("  cbsim.planner.pilot:Pilot  A planner")
    assert cli("list", "scenario").err == (
        "error: no list of 'scenario'; there is scenarios, rules, planners, models (did you mean 'scenarios'?)\n"
    )


def test_shell_completes_commands_and_shipped_scenarios():
    def complete(words: str, count: int) -> str:
        told = {"_CBSIM_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(count)}
        code = "from cbsim.cli.main import app; app(prog_name='cbsim')"
        done = subprocess.run(
            [sys.executable, "-c", code], env=os.environ | told, capture_output=True, text=True, check=False
        )
        return done.stdout

    assert complete("cbsim re", 1).split() == ["replay", "report"]
    assert complete("cbsim run four", 2).split() == ["four_way_stop"]


def test_json_goes_to_a_file_or_to_standard_output_in_every_command(cli, tmp_path, box, recording):
    for command in (["info", box], ["check", box], ["judge", recording], ["replay", recording], ["list", "rules"]):
        target = tmp_path / f"{command[0]}.json"
        told = cli(*command, "--json", "-").out
        assert cli(*command, "--json", target).code == 0
        assert json.loads(target.read_text()) == json.loads(told)
        assert cli(*command, "--json").out == told, "standard output where nothing follows"
    assert json.loads(cli("diff", recording, recording, "--json", "-").out) == {
        "same": True, "steps": 2, "divergence": None, "unlike": [],
    }  # fmt: skip


@pytest.mark.parametrize("command", ["info", "check"])
def test_file_to_read_after_json_is_read_and_not_written(cli, tmp_path, box, command):
    said = cli(command, "--json", box)
    assert said.code == 0
    assert json.loads(said.out) == json.loads(cli(command, box, "--json").out)
    assert box.read_text() == BOX
    assert with_default_values([command, "--json", "four_way_stop"]) == [command, "--json", "-", "four_way_stop"]
    (tmp_path / "old.json").write_text('{"errors": 0}')
    assert with_default_values([command, "--json", str(tmp_path / "old.json")])[2:] == [str(tmp_path / "old.json")]


def test_recordings_with_different_steps_diverge(cli, tmp_path, box, recording):
    assert cli("run", box, "--step", 0.1, "--record", tmp_path / "other.mcap", "-q").code == 0
    said = cli("diff", recording, tmp_path / "other.mcap", "--json", "-")
    assert said.code == 1
    assert json.loads(said.out)["divergence"]["column"] == "step"


def test_results_are_named_by_the_scenario_without_its_endings(cli, tmp_path, box):
    suites, result = tmp_path / "out.xml", tmp_path / "out.json"
    for code, text in ((0, BOX), (2, "duration: fast\n")):
        box.write_text(text)
        assert cli("run", box, "--junit", suites, "--json", result, "-q").code == code
        assert json.loads(result.read_text())["scenario"] == "box"
        assert [suite.get("name") for suite in ET.parse(suites).iter("testsuite")] == ["box"]
        assert {case.get("classname") for case in ET.parse(suites).iter("testcase")} == {"cbsim.box"}


def test_shipped_files_need_no_path_in_any_command(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = cli("run", "--rndf", "loop", "--mdf", "loop.mdf", "--objects", "loop", "--duration", 0.1, "-q")
    told = [line for line in done.err.splitlines() if not line.startswith("compiling kernels")]  # once on a new machine
    assert (done.code, len(told)) == (1, 1), "a mission is judged, and its end has not been reached"
    assert told[0].startswith("FAILED  checkpoints object 1: passed 0 of 6 checkpoints")
    assert cli("view", "loop.rndf", "--screenshot", "loop.png", "-q").code == 0
    assert cli("check", "loop.mdf", "--rndf", "loop", "-q").code == 0
    assert cli("convert", "loop.xml", "loop.obj", "--rndf", "loop.rndf", "-q").code in (0, 2)
    (tmp_path / "loop").write_text("mine")
    assert "loop:1: error" in cli("run", "--rndf", "loop", "--objects", "loop.xml").err, (
        "a file that is here goes first"
    )
