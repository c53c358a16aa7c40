"""The built wheel, installed elsewhere, finds its shipped data and runs."""

from __future__ import annotations

import os
import subprocess
import sys
from zipfile import ZipFile

import pytest

from tests.common import ROOT


@pytest.mark.slow
def test_wheel_installed_elsewhere_runs_a_shipped_scenario(tmp_path):
    def call(*command, **options):
        done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    call(*pip, "wheel", ROOT, "--no-deps", "--no-build-isolation", "-w", tmp_path / "wheels", "-q")
    (wheel,) = (tmp_path / "wheels").glob("*.whl")
    call(*pip, "install", "--no-deps", "--target", tmp_path / "site", wheel, "-q")
    (tmp_path / "empty").mkdir()
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    options = {"cwd": tmp_path / "empty", "env": environment}
    where = call(sys.executable, "-c", "import cbsim; print(cbsim.__file__)", **options)
    assert str(tmp_path / "site") in where
    page = "from cbsim.multibody import export_html, gallery; export_html(gallery.build('block'), None, 'block.html')"
    call(sys.executable, "-c", page, **options)
    assert (tmp_path / "empty" / "block.html").stat().st_size > 30_000
    said = call(sys.executable, "-m", "cbsim", "run", "four_way_stop", **options)
    assert "four_way_stop: pass" in said


RUNS = """
import glob, os
import cbsim
from cbsim.multibody import gallery, get_minimal_gradients, get_minimal_state

assert cbsim.run(cbsim.load("four_way_stop"), duration=5.0).hashes.size == 101
block = gallery.build("block")
get_minimal_gradients(block, get_minimal_state(block))
cbsim.run(cbsim.load("cart.jm"), duration=0.1)
print(len(glob.glob(os.environ["CBSIM_CACHE"] + "/**/*.nbc", recursive=True)))
"""


@pytest.mark.slow
def test_wheel_with_machine_code_compiles_nothing(tmp_path):
    environment = {**os.environ, "CBSIM_BUILD_KERNELS": "1"}
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "wheels")]
    done = subprocess.run(build, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = (tmp_path / "wheels").glob("*.whl")
    assert not wheel.name.endswith("-none-any.whl")
    assert wheel.stat().st_size < 25 * 2**20
    with ZipFile(wheel) as packed:
        packed.extractall(tmp_path / "site")
    (tmp_path / "cache").mkdir(mode=0o700)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site"), "CBSIM_CACHE": str(tmp_path / "cache")}
    environment.pop("CBSIM_CPU", None)
    command = [sys.executable, "-c", RUNS]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", "")
