"""Two runs side by side: bodies of the same name at the same times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cbsim.report.data import Run

__all__ = ["APART", "Difference", "differences"]

APART = 0.1  # [m] from here on two runs of a body are told to have parted


@dataclass(frozen=True, slots=True)
class Difference:
    """How far two runs of a body are from each other.

    Attributes
    ----------
    name : str
    largest, time : float
        Largest distance of its centres at one time [m], and when [s].
    parted : float or None
        When they were `APART` for the first time [s].
    """

    name: str
    largest: float
    time: float
    parted: float | None


def differences(one: Run, other: Run) -> list[Difference]:
    """Compare all bodies of the same name, in the order of the first run, at its steps up to where either ends.

    Notes
    -----
    Times are aligned, not steps: where the other run has other steps, its places are interpolated.
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
        most, far = int(apart.argmax()), np.flatnonzero(apart > APART)
        parted = float(times[far[0]]) if len(far) else None
        found.append(Difference(body.name, float(apart[most]), float(times[most]), parted))
    return found
