"""Comparison of two runs by bodies of the same name."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cbsim.report.data import Run

__all__ = ["DIVERGED", "Difference", "differences"]

DIVERGED = 0.1  # [m] distance from which two runs of a body count as diverged


@dataclass(frozen=True, slots=True)
class Difference:
    """Distance between two runs of a body.

    Attributes
    ----------
    name : str
    largest, time : float
        Largest distance of its centres [m], and its time [s].
    diverged_at : float or None
        First time at which the distance exceeds `DIVERGED` [s].
    """

    name: str
    largest: float
    time: float
    diverged_at: float | None


def differences(one: Run, other: Run) -> list[Difference]:
    """Compare bodies of the same name, in the order of the first run, at its steps up to the earlier end.

    Notes
    -----
    Runs are aligned by time: if step sizes differ, positions of the other run are interpolated.
    """
    times = one.times[one.times <= other.times[-1] + 1e-9]
    rows = {body.name: row for row, body in reversed(list(enumerate(other.bodies)))}
    found = []
    for row, body in enumerate(one.bodies):
        if body.name not in rows or not len(times):
            continue
        here, there = one.motions[row], other.motions[rows[body.name]]
        count = len(times)
        own = [column if len(column) == 1 else column[:count] for column in (here.x, here.y)]
        its = [np.interp(times, other.times, np.broadcast_to(c, other.times.shape)) for c in (there.x, there.y)]
        apart = np.hypot(own[0] - its[0], own[1] - its[1])
        if not np.isfinite(apart).any():  # never there at the same time
            continue
        most, far = int(np.nanargmax(apart)), np.flatnonzero(apart > DIVERGED)
        diverged_at = float(times[far[0]]) if len(far) else None
        found.append(Difference(body.name, float(apart[most]), float(times[most]), diverged_at))
    return found
