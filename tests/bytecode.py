"""Compiled modules of one test session, shared by its workers and by the processes that tests start.

Compiling the tests, whose assertions pytest rewrites, takes longer than all else that collecting them does, and
hundreds of tests start a process that imports the simulator.
"""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def keep_in_a_temporary_folder() -> Path | None:
    """Let bytecode be written where the environment forbids it: to a folder that only this session uses.

    Returns
    -------
    The folder, in the process that made it.
    """
    made = None
    if sys.dont_write_bytecode and sys.pycache_prefix is None:
        sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = tempfile.mkdtemp(prefix="cbsim-tests-")
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        made = Path(sys.pycache_prefix)
        sys.dont_write_bytecode = False
    return made


def import_from_the_end(session: pytest.Session) -> None:
    """Import test modules last to first, so that of two workers each compiles the half that the other has not yet."""
    places = [session.config.invocation_params.dir / argument for argument in session.config.args]
    found = {file for place in places if place.is_dir() for file in place.rglob("test_*.py")}
    for file in sorted(found, reverse=True):
        if file.is_relative_to(ROOT):
            with suppress(Exception, pytest.skip.Exception):  # collecting it says what is wrong
                importlib.import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))
