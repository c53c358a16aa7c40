"""Shared device functions: one machine code that entry points call by name, in this process and from the cache."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core import config

from tests.common import ROOT

SOURCE = """
import math
from typing import NamedTuple
from cbsim.jit import inner, kernel, narrow, shared

class Tables(NamedTuple):
    unused: object
    values: object
    out: object

@inner
def half_of(value):
    return value / 2.0

@shared
def inmost(tables, k):
    tables.out[k] += half_of(tables.values[k])

@shared
def fill(tables, scale):
    total = 0.0
    for k in range(len(tables.values)):
        inmost(tables, k)
        tables.out[k] *= scale
        total += math.sqrt(tables.out[k])
    return total, len(tables.values)

@shared
def third_of(values, k):
    if k >= len(values):
        raise IndexError("no such value")
    return values[k] / 3.0

@inner
def between(unused, values, out, scale):
    return fill(Tables(unused, values, out), scale)

@kernel
def one(unused, values, out):
    return between(unused, values, out, 2.0)[0]

@narrow
def other(unused, values, out):
    total, count = fill(Tables(unused, values, out), 3.0)
    inmost(Tables(unused, values, out), 0)
    return total + count + third_of(values, 1)
"""
PROGRAM = """
import logging
logging.getLogger("cbsim.kernels").setLevel(logging.WARNING)
import numpy as np
import kernels
from cbsim.kernel_compiler.times import compile_times
values, out = np.arange(1.0, 6.0), np.zeros(5)
tables = np.zeros((2, 2)), values, out
with compile_times() as taken:
    found = [getattr(kernels, name)(*tables) for name in NAMES]
print(*(float(each).hex() for each in (*found, *out)))
print(len(taken))
"""
ALL = "one", "other"

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")


@pytest.fixture
def run(tmp_path):
    """Run kernels of `SOURCE` in a process of its own; gives the bits of what they return and how many it compiled."""
    (tmp_path / "kernels.py").write_text(SOURCE)
    (tmp_path / "cache").mkdir(mode=0o700)

    def run_once(*names: str, **settings: str) -> tuple[str, int]:
        path = os.pathsep.join([str(tmp_path), str(ROOT)])
        environment = {**os.environ, "PYTHONPATH": path, "CBSIM_CACHE": str(tmp_path / "cache"), **settings}
        command = [sys.executable, "-c", PROGRAM.replace("NAMES", repr(names))]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        bits, compiled = done.stdout.splitlines()
        return bits, int(compiled)

    return run_once


def entry(folder: Path, name: str) -> Path:
    return next(folder.rglob(f"kernels.{name}-*.nbc"))


def test_callers_have_the_bits_that_plain_numba_and_python_give(run):
    bits, _ = run(*ALL)
    assert run(*ALL, CBSIM_PLAIN_NUMBA="1")[0] == bits
    assert run(*ALL, NUMBA_DISABLE_JIT="1")[0] == bits


def test_a_shared_function_is_compiled_once_and_found_in_the_cache_by_another_process(run, tmp_path):
    assert run("one")[1] == 1
    kept = entry(tmp_path, "fill"), entry(tmp_path, "inmost")
    before = [path.stat().st_mtime_ns for path in kept]
    bits, compiled = run(*ALL)
    assert compiled == 1
    assert [path.stat().st_mtime_ns for path in kept] == before
    assert len(list(tmp_path.rglob("*.nbc"))) == 5
    assert run(*ALL) == (bits, 0)
    assert run(*ALL[::-1])[1] == 0


@pytest.mark.parametrize("name", ["fill", "inmost"])
@pytest.mark.parametrize("content", [None, b"damaged"])
def test_a_caller_is_compiled_again_where_a_shared_function_is_missing(run, tmp_path, name, content):
    bits, _ = run(*ALL)
    path = entry(tmp_path, name)
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    assert run(*ALL) == (bits, 1)  # after the first caller, what the second needs is there
    assert run(*ALL) == (bits, 0)


def test_callers_work_in_a_cache_that_cannot_be_written(run, tmp_path):
    bits, _ = run(*ALL)
    for path in tmp_path.rglob("*.nbc"):
        path.unlink()
    (tmp_path / "cache").chmod(0o777)  # others can write to it: it is not used
    assert run(*ALL, TMPDIR=str(tmp_path))[0] == bits
