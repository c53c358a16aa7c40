"""A small kernel that a test runs in processes of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.common import ROOT

SOURCE = """
import math
from cbsim.jit import inlined, inner, kernel, wide

@inner
def third_of(values, k):
    return values[k] / 3.0

@inlined
def squared(value):
    return value * value + 0.1 * value

@wide
def add_into(out, values):
    for k in range(out.shape[0]):
        out[k] += 1.1 * values[k] - 0.3

@kernel
def mixed(values, out):
    add_into(out, values)
    total = 0.0
    for k in range(values.shape[0]):
        total += squared(third_of(values, k)) * math.sqrt(values[k])
    return total
"""
PROGRAM = """
import hashlib
import numpy as np
from kernels import mixed
values, out = np.random.default_rng(1).uniform(size=1001), np.zeros(1001)
total = mixed(values, out)
print(hashlib.blake2b(out.tobytes() + np.float64(total).tobytes(), digest_size=8).hexdigest())
"""


def run_program(folder: Path, code: str = PROGRAM, **settings: str) -> tuple[str, str]:
    """Run a program beside the kernels of `SOURCE`, on a cache of its own; return what it prints."""
    (folder / "kernels.py").write_text(SOURCE)
    (folder / "cache").mkdir(mode=0o700, exist_ok=True)
    path = os.pathsep.join([str(folder), str(ROOT)])
    environment = {**os.environ, "PYTHONPATH": path, "CBSIM_CACHE": str(folder / "cache"), **settings}
    command = [sys.executable, "-c", code]  # which looks for modules in the working directory first
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr
