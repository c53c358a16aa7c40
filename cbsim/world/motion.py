"""Motion of bodies in recordings: columns of a row of 13 numbers, and rows of a Snapshot."""

from __future__ import annotations

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.world.snapshot import Snapshot
from cbsim.world.traffic.tables import PARKED_HEIGHT

__all__ = ["ABSENT_BELOW", "ABSENT_MOTION", "MOTION", "MOTION_WIDTH", "motion_of"]

MOTION = {
    "position": slice(0, 3),
    "orientation": slice(3, 7),
    "velocity": slice(7, 10),
    "angular_velocity": slice(10, 13),
}
MOTION_WIDTH = 13
ABSENT_BELOW = -5e3
"""Height of the centre below which a body is absent, such as a car of a pool before it appears [m]."""

ABSENT_MOTION = np.array([0.0, 0.0, PARKED_HEIGHT, 1.0, *np.zeros(9)])
"""Row of motion of a body that is not there, or of which nothing is known."""
ABSENT_MOTION.flags.writeable = False


def motion_of(snapshot: Snapshot, rows: Ints) -> Floats:
    """Gather the motion (rows, 13) of some bodies at a Snapshot, in the order of `MOTION`."""
    return np.concatenate([getattr(snapshot.columns, column)[rows] for column in MOTION], axis=1)
