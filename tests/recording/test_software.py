"""Recordings tell the compile target that made them, and comparisons tell where targets differ."""

from __future__ import annotations

import pytest

import cbsim
from cbsim.cli.recordings import report_divergence
from cbsim.jit import target_name
from cbsim.recording.divergence import software_differences
from cbsim.recording.header import software


def test_header_says_the_compile_target():
    recording = cbsim.run(cbsim.load("crash"), duration=0.05)
    assert recording.header.software["target"] == target_name()
    assert software_differences(recording.header.software, software()) == []


def test_targets_and_versions_that_differ_are_listed_and_cpus_only_without_targets():
    one = {"numba": "0.67", "cpu": "znver3", "target": "x86-64-v3"}
    assert software_differences(one, one | {"cpu": "skylake"}) == []
    assert software_differences(one, one | {"target": "x86-64-v2"}) == ["target x86-64-v3 and x86-64-v2"]
    old = {"numba": "0.66", "cpu": "skylake"}
    assert software_differences(one, old) == ["numba 0.67 and 0.66", "cpu znver3 and skylake"]


def test_comparison_tells_other_targets_also_where_all_bits_are_the_same(capsys):
    report_divergence(None, 1, "the same", None, quiet=False, differences=["target a and b"])
    assert capsys.readouterr().out == "the same (from the outset: target a and b)\n"


@pytest.mark.parametrize("wanted", ["x86-64-v2", "native"])
def test_no_target_is_named_like_another(wanted, monkeypatch):
    from cbsim.kernel_compiler import target

    monkeypatch.setenv("CBSIM_CPU", wanted)
    target.compile_target.cache_clear()
    found = target.compile_target().name
    monkeypatch.undo()
    target.compile_target.cache_clear()
    assert found != target_name()
