"""Plain numba gives the same bits, by choice and where an internal hook of numba is missing."""

from __future__ import annotations

import pytest
from numba.core import config

from tests.kernel_compiler.common import PROGRAM, run_program

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")


def test_plain_numba_gives_the_same_bits(tmp_path):
    bits, warnings = run_program(tmp_path)
    assert warnings == ""
    plain, warnings = run_program(tmp_path, f"{PROGRAM}print(type(mixed).__module__)", CBSIM_PLAIN_NUMBA="1")
    assert plain.split() == [bits, "numba.core.registry"]
    assert warnings == ""


@pytest.mark.parametrize(
    "break_hook",
    [
        pytest.param("import numba.core.environment as e; del e.lookup_environment\n", id="name gone"),
        pytest.param(
            "from cbsim.kernel_compiler.libraries import EntryLibrary as E\ndel E.optimise\n", id="method gone"
        ),
        pytest.param(
            "import cbsim.kernel_compiler.libraries as l; l.optimise = None\n"
            "l.VectorizedLibrary.finalize = lambda self: l.optimise(self)\n",
            id="other signature",
        ),
    ],
)
def test_missing_hook_is_reported_once_and_plain_numba_takes_over(tmp_path, break_hook):
    bits, _ = run_program(tmp_path)
    found, warnings = run_program(
        tmp_path, break_hook + PROGRAM + "mixed(values.astype('f4'), out)", CBSIM_CACHE=str(tmp_path / "other")
    )
    assert found == bits
    assert warnings.count("\n") == 1
    assert "plain numba" in warnings


def test_error_in_a_kernel_is_no_missing_hook(tmp_path):
    code = PROGRAM + "try:\n    mixed('text', out)\nexcept Exception as reason:\n    print(type(reason).__name__)\n"
    found, warnings = run_program(tmp_path, code + "print(mixed(values[:2], out[:2]) > 0.0)")
    assert found.split()[1:] == ["TypingError", "True"]
    assert warnings == ""
