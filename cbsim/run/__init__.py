"""Loading, stepping, recording, replay.

The package is callable: ``cbsim.run(world)`` is `cbsim.run.simulation.run`, for the public face gives the verb the
name that the room has.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cbsim.run.recording import Recording
    from cbsim.world.snapshot import Snapshot
    from cbsim.world.world import World


class _CallablePackage(ModuleType):
    def __call__(
        self,
        world: World,
        duration: float | None = None,
        planner: object = None,
        seed: int | None = None,
        snapshot: Snapshot | None = None,
    ) -> Recording:
        """Run a World and return what happened; see `cbsim.run.simulation.run`."""
        from cbsim.run.simulation import run

        return run(world, duration, planner, seed, snapshot)


sys.modules[__name__].__class__ = _CallablePackage
