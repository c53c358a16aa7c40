"""Compiled modules, kept for later sessions, other workers and the processes that tests start.

Compiling the tests, whose assertions pytest rewrites, takes longer than all else that collecting them does, and
hundreds of tests start a process that imports the simulator.
"""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def keep_in_the_cache() -> None:
    """Let bytecode be written where the environment forbids it in the tree: to the user's cache."""
    if sys.dont_write_bytecode and sys.pycache_prefix is None:
        folder = os.environ.get("CBSIM_CACHE") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = str(Path(folder).absolute() / "cbsim-tests")
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        sys.dont_write_bytecode = False


def forget_temporary_modules() -> None:
    """Remove bytecode of modules that tests wrote."""
    if sys.pycache_prefix is not None:
        shutil.rmtree(sys.pycache_prefix + tempfile.gettempdir(), ignore_errors=True)


def import_from_the_end(session: pytest.Session) -> None:
    """Import test modules last to first, so that of two workers each compiles the half that the other has not yet."""
    places = [session.config.invocation_params.dir / argument for argument in session.config.args]
    found = {file for place in places if place.is_dir() for file in place.rglob("test_*.py")}
    for file in sorted(found, reverse=True):
        if file.is_relative_to(ROOT):
            with suppress(Exception, pytest.skip.Exception):  # collecting it says what is wrong
                importlib.import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))
