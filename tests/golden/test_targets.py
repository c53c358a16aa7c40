"""Golden results are the same bits for every compile target."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from numba.core import config

from cbsim.jit import cpu_name
from tests.common import ROOT
from tests.golden.store import Golden

pytestmark = [pytest.mark.slow, pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")]


@pytest.mark.parametrize("target", ["x86-64-v2", "x86-64-v3", "native"])
def test_golden_results_have_the_same_bits_for_every_target(target, tmp_path):
    if cpu_name() != Golden.read().cpu:
        pytest.skip("the golden file is of another CPU type, on which NumPy makes other Worlds")
    environment = os.environ | {"CBSIM_CPU": target, "CBSIM_CACHE": str(tmp_path)}
    command = [sys.executable, "-m", "tests.golden"]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ignored" not in done.stderr  # the CPU has this target
