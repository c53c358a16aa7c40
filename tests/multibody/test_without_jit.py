"""Kernels mean the same to Python as to the compiler: without it, mechanisms do what they do with it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import defaultdict

import numpy as np
import pytest
from numba.core import config

from tests.common import ROOT
from tests.multibody.plain import MECHANISMS, numbers, path

pytestmark = [pytest.mark.slow, pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")]


@pytest.fixture(scope="module")
def interpreted():
    """What another process finds that does not compile, and in which warnings are errors."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.multibody.plain"], capture_output=True, text=True, check=False,
        cwd=ROOT, env=os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = defaultdict(list)
    for line in done.stdout.splitlines():
        what, name, number = line.split("\t")
        found[what, name].append(float.fromhex(number))
    return found


@pytest.mark.parametrize("name", MECHANISMS)
def test_without_the_compiler_everything_comes_out_the_same(name, interpreted):
    compiled, plain = numbers(name), interpreted["numbers", name]
    np.testing.assert_allclose(plain, compiled, rtol=0.0, atol=1e-9 * max(1.0, np.abs(compiled).max()))
    compiled, plain = path(name), interpreted["path", name]
    np.testing.assert_allclose(plain, compiled, rtol=0.0, atol=1e-3 * max(1.0, np.abs(compiled).max()))
