"""The built wheel, installed elsewhere, finds its shipped data and runs."""

from __future__ import annotations

import os
import subprocess
import sys

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
    said = call(sys.executable, "-m", "cbsim", "run", "four_way_stop", "--duration", "60", **options)
    assert "four_way_stop: pass" in said
