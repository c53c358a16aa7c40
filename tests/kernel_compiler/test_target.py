"""Compile target: fixed for an architecture, chosen by `CBSIM_CPU`, never one that the CPU lacks."""

from __future__ import annotations

import pytest
from numba.core import config

from cbsim.kernel_compiler import target
from tests.kernel_compiler.common import PROGRAM, run_program

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")


@pytest.fixture
def chosen(monkeypatch):
    """Choose a target for a machine, its extensions and a value of `CBSIM_CPU`; warnings are listed beside it."""

    def choose(machine: str, extensions: tuple[str, ...], wanted: str = "") -> tuple[str, list[str]]:
        warnings: list[str] = []
        monkeypatch.setattr(target.platform, "machine", lambda: machine)
        monkeypatch.setattr(target, "_extensions", lambda: set(extensions))
        monkeypatch.setattr(target, "warn_once", warnings.append)
        monkeypatch.setenv("CBSIM_CPU", wanted)
        target.compile_target.cache_clear()
        found = target.compile_target().name
        target.compile_target.cache_clear()
        return found, warnings

    return choose


def test_x86_compiles_for_the_third_level_and_for_the_second_where_that_is_missing(chosen):
    assert chosen("x86_64", target.X86_LEVELS["x86-64-v4"]) == ("x86-64-v3", [])
    assert chosen("AMD64", target.V3) == ("x86-64-v3", [])
    assert chosen("x86_64", target.V2) == ("x86-64-v2", [])


def test_arm_compiles_for_generic_cpus(chosen):
    assert chosen("aarch64", target.ARM_EXTENSIONS) == ("armv8.2-a", [])
    assert chosen("arm64", ()) == ("armv8-a", [])


def test_a_target_that_the_cpu_lacks_or_nobody_knows_is_reported_and_not_used(chosen):
    for wanted in ("x86-64-v4", "pentium"):
        found, (warning,) = chosen("x86_64", target.V3, wanted)
        assert found == "x86-64-v3"
        assert wanted in warning
    assert chosen("x86_64", target.V3, "x86-64-v2") == ("x86-64-v2", [])


def test_cpu_older_than_any_level_compiles_for_itself_and_says_so(chosen):
    found, (warning,) = chosen("x86_64", ())
    assert found.startswith("native")
    assert "older than x86-64-v2" in warning


def test_all_targets_give_the_same_bits_and_keep_their_code_apart(tmp_path):
    found = {run_program(tmp_path, CBSIM_CPU=name) for name in ("x86-64-v2", "", "native")}
    assert len(found) == 1
    assert len(list((tmp_path / "cache" / "cbsim").iterdir())) == 3


def test_other_packages_compile_for_this_cpu(tmp_path):
    code = PROGRAM + (
        "import numba\n"
        "user = numba.njit(lambda value: value + 1.0)\n"
        "user(1.0)\n"
        "from llvmlite.binding import get_host_cpu_name\n"
        "print(user.targetctx.codegen().magic_tuple()[1] == get_host_cpu_name())\n"
        "print(mixed.targetctx.codegen().magic_tuple()[1])\n"
    )
    out, _ = run_program(tmp_path, code, CBSIM_CPU="x86-64-v2")
    assert out.split()[1:] == ["True", "x86-64-v2"]
