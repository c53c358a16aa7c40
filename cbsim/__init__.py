"""cbsim: a simulator for robot cars. Public names are imported when they are first used.

>>> import cbsim
>>> world = cbsim.load("four_way_stop")
>>> recording = cbsim.run(world, duration=1.0)
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # `typing` takes 10 ms to import, in which an interrupt would give a traceback
if TYPE_CHECKING:
    from typing import Any

__version__ = "0.1.0"

_FACE = {
    "errors": "cbsim.errors",
    "execute": "cbsim.evaluation.outcome",
    "judge": "cbsim.evaluation.judge",
    "fork": "cbsim.world.forks",
    "load": "cbsim.loading.load",
    "metrics": "cbsim.evaluation.metrics",
    "multibody": "cbsim.multibody",
    "read": "cbsim.models",
    "replay": "cbsim.evaluation.replay",
    "run": "cbsim.simulation.loop",
    "sense": "cbsim.sensing",
    "steer": "cbsim.simulation.steering",
    "step": "cbsim.simulation.loop",
    "write": "cbsim.formats",
    "Command": "cbsim.spec.command",
    "Observation": "cbsim.spec.command",
    "Recording": "cbsim.recording.recording",
    "Snapshot": "cbsim.world.snapshot",
    "World": "cbsim.world.world",
}

__all__ = [*_FACE]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name not in _FACE:
        raise AttributeError(f"module 'cbsim' has no attribute '{name}'")
    module = importlib.import_module(_FACE[name])
    return module if _FACE[name] == f"cbsim.{name}" else getattr(module, name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
