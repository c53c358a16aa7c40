"""A call from Python that has to compile says so once, and logging silences it."""

from __future__ import annotations

import pytest
from numba.core import config

from tests.kernel_compiler.common import run_program

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")

CALLS = """
from cbsim.world.streams import stream_key, uniforms
uniforms(stream_key(1, "a", "b"), 0, 1)
"""
QUIET = "import logging\nlogging.getLogger('cbsim.kernels').setLevel(logging.WARNING)\n"
CONFIGURED = "import logging\nlogging.basicConfig(level=logging.INFO, format='log: %(message)s')\n"


def test_first_compilation_of_a_process_is_one_line_and_loading_is_none(tmp_path):
    _, said = run_program(tmp_path, CALLS)
    assert said.count("\n") == 1
    assert said.startswith("compiling kernels for ")
    assert str(tmp_path) in said
    assert run_program(tmp_path, CALLS) == ("", "")


def test_logging_silences_the_line_or_takes_it(tmp_path):
    assert run_program(tmp_path, QUIET + CALLS, CBSIM_CPU="native") == ("", "")
    _, said = run_program(tmp_path, CONFIGURED + CALLS)
    assert said.count("compiling kernels") == 1
    assert said.startswith("log: compiling kernels")


def test_compilation_of_other_functions_is_not_reported(tmp_path):
    code = "import cbsim.jit, numba\nprint(numba.njit(lambda value: value + 1)(1))\n"
    assert run_program(tmp_path, code) == ("2", "")


def test_functions_of_no_module_compile_beside_kernels(tmp_path):
    code = "import numba, cbsim.jit, cbsim.kernel_compiler.times\nmade = {}\nexec('def half(x): return x / 2', made)\n"
    assert run_program(tmp_path, f"{code}print(numba.njit(made['half'])(3.0))") == ("1.5", "")
