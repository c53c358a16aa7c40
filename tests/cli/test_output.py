"""The progress bar: shown on a terminal once work takes long, even work that tells nothing on the way."""

from __future__ import annotations

import time
from collections import defaultdict

import numba
import pytest
from numba.core import event

import cbsim.lint.files
from cbsim.cli import output
from tests.cli.test_check import SCENARIO


@pytest.fixture
def terminal(monkeypatch):
    """Show standard error as if somebody watched it, and little patience."""
    monkeypatch.setattr(output, "_is_watched", lambda: True)
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setattr(output, "PROGRESS_DELAY", 0.02)
    monkeypatch.setenv("TERM", "xterm")


def shown(capsys) -> bool:
    return "working" in capsys.readouterr().err


@pytest.mark.parametrize("total", [10.0, None])
def test_long_silent_work_shows_a_bar(capsys, terminal, total):
    with output.progress("working", total):
        time.sleep(0.5)
    assert shown(capsys)


def test_bar_shows_what_is_done_before_and_after_it_appears(capsys, terminal):
    with output.progress("working", 10.0) as update:
        update(5.0)
        time.sleep(0.4)
        update(10.0)
    assert "50%" in capsys.readouterr().err


def test_short_quiet_or_unwatched_work_shows_none(capsys, terminal, monkeypatch):
    with output.progress("working", 10.0) as update:
        update(1.0)
    assert not shown(capsys)
    with output.progress("working", 10.0, quiet=True):
        time.sleep(0.1)
    assert not shown(capsys)
    monkeypatch.setattr(output, "_is_watched", lambda: False)
    with output.progress("working", 10.0):
        time.sleep(0.1)
    assert not shown(capsys)


def test_failing_work_leaves_no_bar_behind(terminal):
    bars = []

    def fail():
        with output.progress("working", 1.0) as update:
            bars.append(update.__self__)
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fail()
    bars[0].show()
    assert bars[0]._shown is None


def test_check_of_one_file_shows_the_bar(cli, terminal, monkeypatch, tmp_path):
    (tmp_path / "box.yaml").write_text(SCENARIO)
    whole = cbsim.lint.files.lint_files

    def slow(*arguments, **options):
        time.sleep(0.4)
        whole(*arguments, **options)

    monkeypatch.setattr(cbsim.lint.files, "lint_files", slow)
    said = cli("check", tmp_path / "box.yaml")
    assert said.code == 0
    assert "checking" in said.err


@pytest.fixture
def compiles(monkeypatch):
    """Compile a function that no cache has; nobody else in this process listens, and nothing was compiled before."""
    monkeypatch.setattr(event, "_registered", defaultdict(list))
    monkeypatch.setattr(output._Compilation, "has_begun", False)
    monkeypatch.setattr(output._Compilation, "is_quiet", False)
    output._listen_to_compilation.cache_clear()

    def call(amount):
        fresh = numba.njit(lambda number: number + amount)  # noqa: TID251 - no cache has it
        assert fresh(1) == 1 + amount

    return call


def test_compiling_is_told_once_when_it_happens_and_not_before(capsys, compiles):
    output.announce_compilation()
    assert "compiling" not in capsys.readouterr().err
    compiles(1)
    compiles(2)
    assert capsys.readouterr().err.count("compiling kernels") == 1
    assert output.has_compiled()


def test_quiet_command_does_not_tell_of_compiling_after_one_that_was_not_quiet(capsys, compiles):
    output.announce_compilation()
    output.announce_compilation(quiet=True)
    compiles(1)
    assert capsys.readouterr().err == ""
