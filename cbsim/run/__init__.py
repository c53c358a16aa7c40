"""Loading, stepping, recording, replay.

The package is callable: ``cbsim.run(world)`` is `cbsim.run.simulation.run`, for the public face gives the verb the
name that the room has.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _CallablePackage(ModuleType):
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run a World and return what happened; see `cbsim.run.simulation.run`."""
        from cbsim.run.simulation import run

        return run(*args, **kwargs)


sys.modules[__name__].__class__ = _CallablePackage
