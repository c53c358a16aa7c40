"""Kernel caches that tests share, in one run of pytest and among its workers: filled once, by whoever asks first."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cbsim.kernel_compiler.target import compile_target

__all__ = ["cache_for_target", "warmed_copy"]


def _shared(factory: pytest.TempPathFactory) -> Path:
    """Folder of this run of pytest; each worker has a folder of its own in it."""
    base = factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    try:
        import fcntl
    except ImportError:  # as on Windows: workers may both do the work
        yield
        return
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def warmed_copy(factory: pytest.TempPathFactory, folder: Path) -> Path:
    """Copy a cache that ``cbsim warmup`` has filled from nothing to a folder, and return that."""
    shared = _shared(factory)
    warm, done = shared / "warm", shared / "warmed"
    with _locked(shared / "warm.lock"):
        if not done.exists():
            environment = os.environ | {"CBSIM_CACHE": str(warm)}
            command = [sys.executable, "-m", "cbsim", "warmup"]
            ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
            assert ended.returncode == 0, ended.stderr
            done.touch()
    return Path(shutil.copytree(warm, folder))


def cache_for_target(factory: pytest.TempPathFactory, target: str) -> str:
    """Folder of machine code for a compile target: that of all tests, or one that tests of targets share."""
    if target == compile_target().name and "CBSIM_CPU" not in os.environ:
        return os.environ.get("CBSIM_CACHE", "")
    return str(_shared(factory) / "targets")
