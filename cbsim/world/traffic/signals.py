"""Traffic lights as reactive cars need them: which stand at the end of each lanelet, and their programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbsim.road.lanelets import Lanelets
from cbsim.road.signals import signals_of
from cbsim.spec.traffic import LightProgram

__all__ = ["signal_columns"]


def signal_columns(
    lanelets: Lanelets, programs: Sequence[LightProgram], graph: list[list[int]], pairs: NDArray[np.int64]
) -> dict[str, Any]:
    """Columns of `Crossings` that tell of lights.

    Parameters
    ----------
    lanelets : Lanelets
    programs : sequence of LightProgram
    graph : list of list of int
        Lanelets that follow each.
    pairs : ndarray of int, shape (p, 2)
        Lanelets of each conflict.
    """
    signals = signals_of(lanelets, programs)
    lists = [lanelets.lights[row].tolist() if row < len(lanelets) else [] for row in range(len(graph))]
    has_signal = np.zeros(len(graph), np.int64)
    for row, lights in enumerate(lists):
        if lights:
            has_signal[graph[row]] = 1
    return {
        "signal_offsets": np.concatenate([[0], np.cumsum([len(each) for each in lists])]).astype(np.int64),
        "signal_lights": np.array([light for each in lists for light in each], np.int64),
        "signal_programs": signals.offsets,
        "signal_phases": np.column_stack([signals.ends, signals.states]).reshape(-1, 2).astype(float),
        "signalled": has_signal[pairs],
    }
