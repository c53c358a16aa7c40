"""Worlds start with the same bits on a CPU without the extensions for which NumPy and the C library have other code."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.common import ROOT, SHARED
from tests.world.start_digests import compensated, plain

CORE: Any = np._core if hasattr(np, "_core") else np.core  # the latter in NumPy 1
X86_64 = platform.machine() == "x86_64"
OLD_CPU = {
    "NPY_DISABLE_CPU_FEATURES": " ".join(CORE._multiarray_umath.__cpu_dispatch__),
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=" + ",".join(f"-{name}" for name in ("AVX2", "FMA", "FMA4", "AVX512F")),
    "OPENBLAS_CORETYPE": "Nehalem",
}
"""Settings that keep NumPy, the C library and BLAS from using extensions beyond x86-64-v2."""
PROBE = """
import math
import numpy as np
x = np.linspace(-10.0, 10.0, 4001)
print(np.arctan(x).tobytes().hex(), [math.cos(each) for each in x.tolist()])
"""
MODELS = (
    "urdf/halfcheetah/halfcheetah.urdf",
    "shift/synthetic/mbs_A02_four_bar_N2.json",
)
NETWORKS = ("stanford/VAIL_rndf_20091020.txt", "terminus/gazebo8__darpa.rndf", "utexas/swri_site_visit.rndf")


def output(*command: str, **settings: str) -> str:
    done = subprocess.run(
        [sys.executable, *command],
        env={**os.environ, **settings},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def inputs() -> list[Path]:
    """Every shipped scenario and model, and some real networks and models."""
    shipped = [*(ROOT / "scenarios").glob("*.yaml"), *(ROOT / "scenarios" / "models").iterdir()]
    real = [*(SHARED / name for name in MODELS), *(SHARED / "rndf" / name for name in NETWORKS)]
    return [*sorted(shipped), *(path for path in real if path.exists())]


@pytest.mark.slow
@pytest.mark.skipif(not X86_64, reason="the settings are for x86-64")
@pytest.mark.skipif(output("-c", PROBE) == output("-c", PROBE, **OLD_CPU), reason="this CPU has no such extensions")
def test_worlds_start_with_the_same_bits_without_extensions_of_the_cpu():
    paths = list(map(str, inputs()))
    assert len(paths) >= 15
    assert (
        output("-m", "tests.world.start_digests", *paths, **OLD_CPU).splitlines()
        == output("-m", "tests.world.start_digests", *paths).splitlines()
    )


@pytest.mark.slow
def test_worlds_start_with_the_same_bits_however_python_adds_floats():
    """`sum` of floats has compensated rounding errors since Python 3.12; `math.fsum` is exact in all versions."""
    paths = list(map(str, inputs()))
    plain = output("-m", "tests.world.start_digests", "--sum", "plain", *paths)
    assert output("-m", "tests.world.start_digests", "--sum", "compensated", *paths) == plain


def test_sums_are_those_of_python():
    values = [0.1] * 10
    old, new = plain(values), compensated(values)
    assert (old, new) == (0.9999999999999999, 1.0)
    assert sum(values) == (new if sys.version_info >= (3, 12) else old)
    assert plain([1, 2]) == compensated([1, 2]) == 3
