"""`cbsim warmup` compiles everything, also where the process beside it is stopped."""

from __future__ import annotations

import gc
from importlib.util import find_spec
from types import SimpleNamespace

import pytest

from cbsim.cli import warmup as command


@pytest.fixture(autouse=True)
def thawed():
    """Let the collector look again at what a warm-up took from it for the rest of a process."""
    yield
    gc.unfreeze()


@pytest.mark.parametrize("exitcode", [0, -9])
def test_what_a_stopped_process_left_is_compiled_here(monkeypatch, exitcode):
    left = ["world", *(["environments"] if find_spec("gymnasium") else [])]
    here = ["mechanisms", *(left if exitcode else [])]
    beside = SimpleNamespace(start=lambda: None, join=lambda: None, exitcode=exitcode)
    monkeypatch.setattr(command, "get_context", lambda _: SimpleNamespace(Process=lambda **_: beside))
    compiled = []
    monkeypatch.setattr(command, "_compile", lambda stages, _: compiled.append(next(iter(stages))[0]))
    command.warmup(quiet=True)
    assert compiled == here


@pytest.mark.parametrize("collects", [True, False])
def test_garbage_is_left_while_kernels_compile_and_collected_again_after_it(monkeypatch, collects):
    seen = []
    monkeypatch.setattr(command, "_compile_everything", lambda _: seen.append(gc.isenabled()))
    was = gc.isenabled()
    try:
        (gc.enable if collects else gc.disable)()
        command.warmup(quiet=True)
        assert (seen, gc.isenabled()) == ([False], collects)
    finally:
        (gc.enable if was else gc.disable)()
