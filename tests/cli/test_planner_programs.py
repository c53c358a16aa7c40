"""Planners on the command line: which commands start or import them."""

from __future__ import annotations

import sys

import pytest

pytest.importorskip("zmq")
pytest.importorskip("msgpack")
SCENARIO = "add: [{name: Bot, kind: autonomous}]\nplanner:\n  Bot: "


def test_reading_and_checking_start_nothing(tmp_path, cli):
    path, mark = tmp_path / "scenario.yaml", tmp_path / "mark"
    path.write_text(SCENARIO + f"{{cmd: 'touch {mark}'}}\n")
    for command in ("check", "info"):
        assert cli(command, path).code == 0
    assert not mark.exists()
    assert cli("run", path, "--duration", "0.1").code == 1
    assert mark.exists()


MODULE = """
from pathlib import Path
from cbsim import Command

Path({mark!r}).write_text("imported")


class Planner:
    def start(self, mission, network, vehicle): ...

    def plan(self, observation):
        return Command(0.1)
"""


def test_reading_and_checking_import_nothing(tmp_path, cli, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    path, mark = tmp_path / "scenario.yaml", tmp_path / "mark"
    (tmp_path / "planner_of_this_test.py").write_text(MODULE.format(mark=str(mark)))
    path.write_text(SCENARIO + "{class: 'planner_of_this_test:Planner', rate: 10}\n")
    for command in ("check", "info"):
        assert cli(command, path).code == 0
    assert not mark.exists()
    assert "planner_of_this_test" not in sys.modules
    assert cli("run", path, "--duration", "0.1").code == 0
    assert mark.exists()
    sys.modules.pop("planner_of_this_test", None)


@pytest.mark.parametrize(
    ("text", "code", "told"),
    [
        ("{class: 'nowhere_at_all:Planner'}", "W835", "no module named 'nowhere_at_all'"),
        ("{class: 'math:sin', rate: 7}", "E805", "the nearest rate is 6.66666667"),
        ("{class: 'math:sin', latency: 3.2}", "E805", "more than 64"),
        ("{class: 'math:sin', fidelity: visable}", "E805", "did you mean 'visible'?"),
        ("{class: 'math:sin', truth: false}", "W834", "'Bot' has no gps and no ins"),
    ],
)
def test_check_tells_each_mistake_of_a_planner_at_its_line(tmp_path, cli, text, code, told):
    path = tmp_path / "scenario.yaml"
    path.write_text(SCENARIO + text + "\n")
    found = cli("check", path)
    assert found.code == (2 if code.startswith("E") else 0)
    (line,) = [line for line in (found.out + found.err).splitlines() if f"[{code}]" in line]
    assert "scenario.yaml:3: " in line
    assert told in line
