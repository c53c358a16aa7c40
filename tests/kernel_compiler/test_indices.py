"""Indices that are out of range end the process where kernels are compiled with checks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from numba.core import config

from tests.common import ROOT

pytestmark = [
    pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled"),
    pytest.mark.skipif(os.name == "nt", reason="signals of POSIX"),
]

KERNELS = """
from cbsim.jit import inner, kernel

@inner
def taken(rows, k):
    return rows[k]

@kernel
def item(rows, k, c):
    return taken(rows, k)[c] + rows[k, -1]
"""


def run(folder, *place):
    (folder / "kernels.py").write_text(KERNELS)
    (folder / "cache").mkdir(mode=0o700, exist_ok=True)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)]),
        "CBSIM_CACHE": str(folder / "cache"),
        "CBSIM_CHECK_INDICES": "1",
    }
    code = f"import numpy as np\nfrom kernels import item\nprint(item(np.arange(6.0).reshape(3, 2), *{place}))"
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=folder, capture_output=True, text=True, check=False
    )


def test_indices_in_range_are_taken(tmp_path):
    done = run(tmp_path, 2, 0)
    assert (done.returncode, done.stdout) == (0, "9.0\n")


@pytest.mark.parametrize(
    ("place", "line", "message"),
    [
        pytest.param((-1, 0), 6, "index -1, expected 0 to less than 3", id="negative"),
        pytest.param((3, 0), 6, "index 3, expected 0 to less than 3", id="behind the last row"),
        pytest.param((1, 2), 10, "index 2, expected 0 to less than 2", id="behind the last column"),
    ],
)
def test_an_index_out_of_range_ends_the_process_with_its_line(tmp_path, place, line, message):
    done = run(tmp_path, *place)
    assert done.returncode == -signal.SIGABRT
    assert done.stderr.endswith(f"kernels.py:{line}: error: {message}\n")
