"""The kernel compiler's folders: keyed by all sources, and private where they must be."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cbsim import jit


def test_folder_is_named_by_a_digest_that_any_kernel_source_changes(monkeypatch, tmp_path):
    before = jit.kernel_digest()
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "kernels.py").write_text("a = 1\n")
    monkeypatch.setattr(jit, "PACKAGE", tmp_path)
    monkeypatch.setattr(jit, "__file__", str(tmp_path / "jit.py"))
    (tmp_path / "jit.py").write_text("")
    first = jit.kernel_digest()
    (tmp_path / "room" / "kernels.py").write_text("a = 2\n")
    assert len({before, first, jit.kernel_digest()}) == 3


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="folders have owners on POSIX only")
def test_temporary_folder_that_others_can_write_is_not_used(monkeypatch, tmp_path):
    monkeypatch.setattr(jit.tempfile, "tempdir", str(tmp_path))
    open_to_all = tmp_path / f"cbsim-{os.getuid()}"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    jit._private_folder.cache_clear()
    assert jit._private_folder() != open_to_all
    open_to_all.chmod(0o700)
    jit._private_folder.cache_clear()
    assert jit._private_folder() == open_to_all
    jit._private_folder.cache_clear()


def test_cache_goes_where_the_user_says(tmp_path):
    code = "from cbsim import jit; print(jit.config.CACHE_DIR)"
    environment = {**os.environ, "CBSIM_CACHE": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert Path(done.stdout.strip()).is_relative_to(tmp_path)
