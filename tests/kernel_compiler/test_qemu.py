"""Short runs of each kind have the same bits on other CPU models, which QEMU emulates."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys

import pytest
from numba.core import config

from tests.caches import cache_for_target
from tests.common import ROOT

QEMU = shutil.which("qemu-x86_64") or shutil.which("qemu-x86_64-static")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled"),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="the models are of x86-64"),
    pytest.mark.skipif(QEMU is None, reason="qemu-user is not here"),
]


def sample(*before: str, **settings: str) -> tuple[str, str]:
    """Print the digests of `tests.kernel_compiler.sample` under a command."""
    environment = {**os.environ, **settings}
    command = [*before, sys.executable, "-m", "tests.kernel_compiler.sample"]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


@pytest.mark.parametrize(("model", "target"), [("Haswell", "x86-64-v3"), ("Nehalem", "x86-64-v2")])
def test_emulated_cpu_gives_the_bits_of_this_one(model, target, tmp_path_factory):
    folder = cache_for_target(tmp_path_factory, target)
    expected, _ = sample(CBSIM_CPU=target, CBSIM_CACHE=folder)  # machine code for both
    # OpenBLAS, of which NumPy takes a product when it is imported, chooses code for another CPU than the emulated one
    found, said = sample(str(QEMU), "-cpu", model, CBSIM_CACHE=folder, OPENBLAS_CORETYPE=model)
    assert "compiling" not in said
    assert found == expected
