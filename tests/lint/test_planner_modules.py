"""Planners that a scenario names are looked for without being imported."""

from __future__ import annotations

import sys

import pytest

from cbsim.errors import Problems
from cbsim.lint.files import lint_files

SCENARIO = "add: [{name: Bot, kind: autonomous}]\nplanner:\n  Bot:\n    "
MODULE = """
from pathlib import Path
import sys as system
Path("imported").write_text("")
class Planner: ...
def make(): ...
Alias = Planner
"""


@pytest.fixture
def told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_one.py").write_text(MODULE)
    (tmp_path / "open_one.py").write_text("from somewhere import *\n")
    (tmp_path / "lazy_one.py").write_text("def __getattr__(name): ...\n")
    (tmp_path / "broken_one.py").write_text("class Planner(:\n")
    (tmp_path / "parts_one").mkdir()
    (tmp_path / "parts_one" / "__init__.py").write_text("raise RuntimeError")
    (tmp_path / "parts_one" / "inner.py").write_text(MODULE)

    def check(text):
        path, problems = tmp_path / "scenario.yaml", Problems()
        path.write_text(SCENARIO + text + "\n")
        lint_files([path], None, problems, strict=False)
        assert not (tmp_path / "imported").exists()
        assert not {"own_one", "parts_one", "parts_one.inner"} & set(sys.modules)
        assert all(problem.location.line == 4 for problem in problems if problem.code == "W835")
        return [f"{problem.code} {problem.message} {problem.hint}" for problem in problems]

    return check


@pytest.mark.parametrize(
    "text",
    [
        "class: own_one:Planner",
        "class: own_one:make",
        "class: own_one:Alias",
        "class: own_one:Path",
        "class: parts_one.inner:Planner",
        "class: open_one:Whatever",
        "class: lazy_one:Whatever",
        "class: broken_one:Planner",
        "class: math:sin",
        "class: cbsim.planner.pilot:Pilot",
        "class: tcp://127.0.0.1:5555",
        "cmd: ls -l",
    ],
)
def test_what_is_there_or_may_be_is_silent(told, text):
    assert told(text) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("class: nowhere_at_all:Planner", "no module named 'nowhere_at_all' in the working directory"),
        ("class: parts_one.outer:Planner", "no module named 'parts_one.outer'"),
        ("class: own_one.inner:Planner", "no module named 'own_one.inner'"),
        ("class: own_one:Planer", "'own_one' has no 'Planer' did you mean 'Planner'?"),
        ("class: math.inner:sin", "no module named 'math.inner'"),
        ("cmd: ./no_such_program -l", "there is no program './no_such_program' here"),
        ('cmd: "\'"', "No closing quotation"),
    ],
)
def test_what_is_not_there_is_told(told, text, message):
    (found,) = told(text)
    assert found.startswith("W835 planner '")
    assert message in found
