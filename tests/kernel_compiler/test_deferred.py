"""Deferred device functions: compiled when they are first called, in a kernel, and found in the cache from then on."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from numba.core import config

from tests.common import ROOT

SOURCE = """
from typing import NamedTuple
from cbsim.jit import deferred, inner, kernel
from numba import types

class Tables(NamedTuple):
    unused: object
    values: object
    out: object

@inner
def third_of(value):
    return value / 3.0

@deferred("float64")
def inmost(tables, k):
    tables.out[k] += third_of(tables.values[k])
    return tables.out[k]

@deferred(lambda tables, scale: types.Tuple((types.float64, types.int64)))
def fill(tables, scale):
    total = 0.0
    for k in range(len(tables.values)):
        total += inmost(tables, k) * scale
    return total, len(tables.values)

@deferred("none")
def refuse(values):
    if len(values) > 0:
        raise IndexError("too many")

@kernel
def work(unused, values, out, what):
    if what == 1:
        total, count = fill(Tables(unused, values, out), 2.0)
        return total + count
    if what == 2:
        refuse(values)
    return -1.0
"""
PROGRAM = """
import logging
logging.getLogger("cbsim.kernels").setLevel(logging.WARNING)
import numpy as np
from numba.core import config
import kernels
from cbsim.jit import cause_of, compile_deferred
from cbsim.kernel_compiler.times import compile_times
values, out = np.arange(1.0, 6.0), np.zeros(5)
def work(what):
    return kernels.work(np.zeros((2, 2)), values, out, what)
with compile_times() as taken:
BODY
"""
STEPS = {
    "nothing": "    print(work(0))",
    "some": "    print(work(0), work(1).hex(), *(float(each).hex() for each in out))",
    "all ahead": "    print(work(0)); compile_deferred()",
    "raised": "    try: work(2)\n    except IndexError as reason: print(reason)",
    "interrupted": """
    function = kernels.fill
    compile, function.address = function.address, lambda kinds: (_ for _ in ()).throw(KeyboardInterrupt)
    try: work(1)
    except SystemError as reason: print(type(cause_of(reason)).__name__, type(cause_of(reason)).__name__)
    function.address = compile
    print(work(1).hex(), *(float(each).hex() for each in out))
""",
}
COUNT = "\nprint(*sorted(name.removeprefix('kernels.') for name in taken))"

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")


@pytest.fixture
def run(tmp_path):
    """Run a program of `STEPS` in a process of its own; gives what it prints, and which functions it compiled."""
    (tmp_path / "kernels.py").write_text(SOURCE)
    (tmp_path / "cache").mkdir(mode=0o700)

    def run_once(name: str, **settings: str) -> tuple[str, list[str]]:
        path = os.pathsep.join([str(tmp_path), str(ROOT)])
        environment = {**os.environ, "PYTHONPATH": path, "CBSIM_CACHE": str(tmp_path / "cache"), **settings}
        command = [sys.executable, "-c", PROGRAM.replace("BODY", STEPS[name] + COUNT)]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert not done.stderr
        *printed, compiled = done.stdout.splitlines()
        return "\n".join(printed), compiled.split()

    return run_once


def test_a_deferred_function_is_compiled_when_it_is_first_called_and_then_found_in_the_cache(run, tmp_path):
    assert run("nothing") == ("-1.0", ["work"])
    bits, compiled = run("some")
    assert compiled == ["fill", "inmost"]
    assert run("some") == (bits, [])
    assert len(list(tmp_path.rglob("*.nbc"))) == 3


def test_its_bits_are_those_of_plain_numba_and_python(run):
    bits, _ = run("some")
    assert run("some", CBSIM_PLAIN_NUMBA="1")[0] == bits
    assert run("some", NUMBA_DISABLE_JIT="1")[0] == bits


def test_all_that_kernels_may_call_is_compiled_ahead_also_where_they_come_from_the_cache(run):
    assert run("nothing")[1] == ["work"]
    assert run("all ahead")[1] == ["fill", "inmost", "refuse"]
    assert run("all ahead")[1] == []
    assert run("some")[1] == []


def test_what_it_raises_reaches_the_caller_in_python(run):
    assert run("raised")[0] == "too many"


def test_an_interruption_of_its_compilation_ends_the_kernel_and_the_next_call_compiles_it(run):
    bits, _ = run("some")
    first, _, second = run("interrupted")[0].partition("\n")
    assert first == "KeyboardInterrupt SystemError"
    assert second == bits.partition(" ")[2]
