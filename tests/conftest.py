"""What holds for every test: the examples of property-based tests, and where compiled test modules are kept.

Property-based tests take the same examples in every run, so that a change is what makes one fail.
``pytest --hypothesis-profile explore`` draws new ones; what it finds belongs into a test of its own.
"""

from __future__ import annotations

import pytest
from hypothesis import settings

from tests import bytecode

settings.register_profile("repeat", deadline=None, derandomize=True)  # the machine is shared: slowness is no failure
settings.register_profile("explore", deadline=None)
settings.load_profile("repeat")

bytecode.keep_in_the_cache()


def pytest_sessionstart(session: pytest.Session) -> None:
    worker = getattr(session.config, "workerinput", None)
    if worker is not None and worker["workerid"] != "gw0":
        bytecode.import_from_the_end(session)


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        bytecode.forget_temporary_modules()
