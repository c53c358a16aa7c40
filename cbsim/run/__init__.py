"""Loading, stepping, recording, replay.

The package is callable: ``cbsim.run(world)`` is `cbsim.run.simulation.run`, for the public face gives the verb the
name that the package has. Its modules are imported when somebody asks for them: ``cbsim.run.judge.judge``.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cbsim.run.recording import Recording


class run(ModuleType):  # noqa: N801 - errors of a call name it
    """Run a World and return what happened; see `cbsim.run.simulation.run`."""

    def __call__(self, *arguments: Any, **options: Any) -> Recording:
        """Run a World and return what happened; see `cbsim.run.simulation.run`."""
        from cbsim.run import simulation

        return simulation.run(*arguments, **options)

    def __getattr__(self, name: str) -> Any:
        if name == "__signature__":
            from inspect import signature

            return signature(import_module(f"{__name__}.simulation").run)
        if name.startswith("_") or find_spec(f"{__name__}.{name}") is None:
            raise AttributeError(f"module '{__name__}' has no attribute '{name}'", name=name, obj=self)
        return import_module(f"{__name__}.{name}")


sys.modules[__name__].__class__ = run
