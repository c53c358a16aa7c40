"""Golden results of each kind have the same bits for every compile target."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest
from numba.core import config

from cbsim.kernel_compiler.target import X86_LEVELS, compile_target
from tests.caches import cache_for_target
from tests.common import ROOT

KINDS = (
    "scenario/four_way_stop",  # traffic, with planners and scans
    "scenario/crash_dummy",  # a model among vehicles
    "mechanism/block",  # contacts
    "model/hexapod.irt",  # colliders, and a behaviour in Python
    "sensor/scan_tail",
    "sensor/radar",
)
TARGETS = ("x86-64-v2", "native")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled"),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="the targets are of x86-64"),
]


def began(**settings: str) -> subprocess.Popen[str]:
    """Start a process that prints the digests."""
    command, pipe = [sys.executable, "-m", "tests.golden.digests", *KINDS], subprocess.PIPE
    return subprocess.Popen(command, env=os.environ | settings, cwd=ROOT, stdout=pipe, stderr=pipe, text=True)


def digests(process: subprocess.Popen[str]) -> dict[str, str]:
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert "ignored" not in err  # the CPU has the target
    return dict(line.split() for line in out.splitlines())


def test_golden_results_of_each_kind_have_the_same_bits_for_every_target(tmp_path_factory):
    if compile_target().name not in X86_LEVELS:
        pytest.skip("this CPU has no level of x86-64")
    # side by side: each compiles for a minute
    caches = {target: cache_for_target(tmp_path_factory, target) for target in TARGETS}
    others = {target: began(CBSIM_CPU=target, CBSIM_CACHE=caches[target]) for target in TARGETS}
    expected = digests(began())
    assert list(expected) == list(KINDS)
    for target, process in others.items():
        assert digests(process) == expected, target
