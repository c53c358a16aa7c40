from __future__ import annotations

import io
import json
import sys

import pytest

from cbsim.cli.sweep_output import Told
from cbsim.sweep.engine import Progress
from tests.sweep.small import PLANNER, small

__all__ = ["small"]

pytest.importorskip("pyarrow")


def test_exit_codes_and_json_lines_of_a_sweep(cli, small):
    said = cli("sweep", "small.yaml", "--vary", "wall=8:9:1", "-o", "good", "-j", 0, "--json")
    lines = [json.loads(line) for line in said.out.splitlines()]
    assert said.code == 0
    assert all(set(line) == {"progress"} for line in lines[:-1])
    assert lines[-1]["result"]["verdict"] == "pass"
    assert (lines[-1]["result"]["passed"], lines[-1]["result"]["total"]) == (2, 2)
    said = cli("sweep", "small.yaml", "--vary", "wall=3,5", "-o", "bad", "-j", 0)
    assert said.code == 1
    assert "2 runs: 1 passed, 1 failed, 0 errors; pass rate 50.00 %" in said.out
    assert "row 0: fail  collision Bot: " in said.out
    said = cli("sweep", "small.yaml", "--vary", "add.Bot.parameters.mass=-5,1500", "-o", "worse", "-j", 0)
    assert (said.code, "E805" in said.err) == (2, True)  # the first point is checked before anything runs
    said = cli("sweep", "small.yaml", "--vary", "add.Bot.parameters.mass=1500,-5", "-o", "worse", "-j", 0, "-q")
    assert (said.code, "runs" in said.out) == (3, False)


def test_terminal_shows_runs_done_failing_rate_and_time_left(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", screen)
    with Told(None, quiet=False) as told:
        told.progress(Progress(done=150, total=1000, failing=3, errors=1, resumed=50, elapsed=20.0))
        assert screen.getvalue() == "\r150 of 1000 runs, 4 failing, 5.0/s, 2 min 50 s left"
    assert screen.getvalue().endswith(" \r")  # nothing is left behind
    shown = screen.getvalue()
    with Told(None, quiet=True) as told:
        told.progress(Progress(done=1, total=2))
    assert screen.getvalue() == shown


def test_replay_diff_and_resume_of_a_sweep(cli, small):
    assert cli("sweep", "small.yaml", "--vary", "wall=3,5", "-o", "a", "-j", 0, "-q").code == 1
    said = cli("sweep", "replay", "a", 1)
    assert said.code == 0
    assert "the same in every bit" in said.out
    assert "cbsim run small.yaml --set wall=5" in said.out
    (small / "small_planner.py").write_text(PLANNER.replace("0.3", "1.00"))
    sys.modules.pop("small_planner")
    assert cli("sweep", "small.yaml", "--vary", "wall=3,5", "-o", "b", "-j", 0, "-q").code == 1
    said = cli("sweep", "diff", "a", "b")
    assert "newly failing: 1" in said.out
    assert said.code == 1
    assert cli("sweep", "diff", "b", "a", "--json").code == 0
    said = cli("sweep", "resume", "a", "-j", 1)
    assert (said.code, "small_planner' has changed" in said.err) == (2, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("resum", "a"), "did you mean 'resume'?"),
        (("replay", "a", "x"), "'x' is no row"),
        (("replay", "a"), "expected SCENARIO"),
        (("small.yaml", "--vary", "wall"), "not of the form key=values"),
        (("small.yaml", "--vary", "wall=1:2"), "the grid is infinite"),
        (("small.yaml", "--vary", "wall=1,2", "--record", "maybe"), "expected failed, all or none"),
        (("small.yaml", "--vary", "wall=1,2", "--method", "sobel"), "did you mean 'sobol'?"),
        (("nothing.yaml", "--vary", "wall=1,2"), "E011"),
    ],
)
def test_misuse_is_told_in_one_line(cli, small, words, message):
    said = cli("sweep", *words)
    assert said.code == 2
    assert message in said.err
