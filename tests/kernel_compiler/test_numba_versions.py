"""The oldest and the newest numba that `pyproject.toml` allows give the bits of the one that is installed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import numba
import pytest
from numba.core import config

from tests.common import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")]

SAMPLE = ["-m", "tests.kernel_compiler.sample", "crash", "pendulum"]


def bounds() -> tuple[str, str]:
    """Return the lower bound of numba, and the first version that is too new."""
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    (found,) = (re.fullmatch(r"numba>=([0-9.]+),<([0-9.]+)", each) for each in dependencies if each.startswith("numba"))
    assert found is not None
    return found[1], found[2]


def python_with(requirement: str, folder: Path) -> str:
    """Make an environment with a version of numba in front of the packages of this one; skip without an index."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = str(folder / ("Scripts" if os.name == "nt" else "bin") / "python")
    done = subprocess.run([python, "-m", "pip", "install", "-q", requirement], capture_output=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"{requirement} cannot be installed: no package index within reach")
    code = "import site; print(site.getsitepackages()[0])"
    packages = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    Path(packages, "others.pth").write_text(f"{ROOT}\n{sysconfig.get_path('purelib')}\n")
    return python


def sample(python: str, **settings: str) -> tuple[str, str]:
    """Run a traffic scenario and a mechanism; return their digests and what was said."""
    environment = os.environ | {"PYTHONPATH": ""} | settings
    done = subprocess.run([python, *SAMPLE], env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


@pytest.mark.parametrize("end", ["oldest", "newest"])
def test_both_ends_of_the_range_give_the_same_bits_by_their_internal_hooks(end, tmp_path):
    oldest, too_new = bounds()
    requirement = f"numba=={oldest}.*" if end == "oldest" else f"numba<{too_new}"
    python = python_with(requirement, tmp_path / "venv")
    version = [python, "-c", "import numba; print(numba.__version__)"]
    found = subprocess.run(version, capture_output=True, text=True, check=True).stdout.strip()
    if found == numba.__version__:
        pytest.skip(f"numba {found} is the one that all other tests run with")
    assert found.startswith(oldest) or end == "newest"
    other, said = sample(python, CBSIM_CACHE=str(tmp_path / "other"))  # an empty one: every hook is called
    assert "plain numba" not in said
    assert other == sample(sys.executable)[0]  # on the cache of all tests
