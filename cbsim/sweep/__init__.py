"""Sweeps: many runs of one scenario, on all cores or a cluster, resumable, as a table.

>>> import cbsim.sweep
>>> table = cbsim.sweep.run("four_way_stop", vary={"crate": "5:8:1"}, folder="sweep")  # doctest: +SKIP
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FACE = {
    "Point": "cbsim.sweep.space",
    "Space": "cbsim.sweep.space",
    "compare": "cbsim.sweep.reports.comparison",
    "RareEvent": "cbsim.sweep.rare_events",
    "rare": "cbsim.sweep.rare_events",
    "read": "cbsim.sweep.table",
    "replay": "cbsim.sweep.again",
    "resume": "cbsim.sweep.resuming",
    "run": "cbsim.sweep.engine",
    "search": "cbsim.sweep.searching",
}

__all__ = [*_FACE]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name not in _FACE:
        raise AttributeError(f"module 'cbsim.sweep' has no attribute '{name}'")
    return getattr(importlib.import_module(_FACE[name]), name)
