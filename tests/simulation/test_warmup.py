"""What `cbsim warmup` compiles is all that the shipped scenarios need."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core import config

from cbsim.paths import shipped_names
from tests.caches import warmed_copy

pytestmark = [pytest.mark.slow, pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")]

LIBRARY = (
    *("sin", "cos", "sincos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "exp2", "expm1"),
    *("log", "log2", "log10", "log1p", "pow", "hypot", "cbrt", "fma"),
)


def machine_code(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*.nbc")}


def functions_of_the_library(folder: Path) -> set[str]:
    """Names of functions whose bits depend on the C library, among the symbols of machine code."""
    codes = [path.read_bytes() for path in folder.rglob("*.nbc")]
    return {name for name in LIBRARY if any(b"\0" + name.encode() + b"\0" in code for code in codes)}


def program(folder: Path, *arguments: str) -> None:
    environment = os.environ | {"CBSIM_CACHE": str(folder)}
    command = [sys.executable, "-m", "cbsim", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr  # a check may fail in so short a run


def test_no_scenario_compiles_anything_after_warmup(tmp_path, tmp_path_factory):
    kept, recording = warmed_copy(tmp_path_factory, tmp_path / "kept"), str(tmp_path / "run.mcap")
    before = machine_code(kept)
    assert all(any(kernel in name for name in before) for kernel in ("advance_into", "lean_into"))
    assert functions_of_the_library(kept) == set()
    for scenario in shipped_names("scenarios", (".yaml",)):
        program(kept, "run", scenario, "--duration", "5", "--quiet", "--record", recording)
        assert machine_code(kept) == before, scenario
    program(kept, "replay", recording)
    program(kept, "judge", recording)
    program(kept, "run", "mission", "--duration", "2", "--quiet", "--planner", "cbsim.planner.pilot:Pilot")
    assert machine_code(kept) == before
