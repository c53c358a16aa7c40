"""`cbsim warmup` compiles everything, also where the process beside it is stopped."""

from __future__ import annotations

from importlib.util import find_spec
from types import SimpleNamespace

import pytest

from cbsim.cli import warmup as command


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
