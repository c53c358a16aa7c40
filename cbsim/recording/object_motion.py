"""Data of one object in a recording: its motion, and the mistakes of a car of traffic; events of the scenario."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry.pose import heading, rotate
from cbsim.world.motion import MOTION

__all__ = ["ObjectMotion", "TrafficEvent", "forward_speeds"]


class TrafficEvent(NamedTuple):
    """What a car of traffic did, or an event of the scenario that came true.

    Attributes
    ----------
    time : float
        [s]
    kind : str
        ``appeared``, ``left``, or a mistake of its driver: ``runs_stops``, ``ignores_right_of_way``, ``tailgates``,
        ``brakes_hard``; ``event`` for one that came true, ``overruled`` for one of which an action was overruled by a
        later line of the scenario in the same step.
    object : str
        Name of the car, or of the event.
    """

    time: float
    kind: str
    object: str


@dataclass(frozen=True, eq=False)
class ObjectMotion:
    """Recorded motion of one object at the steps at which it is there.

    Attributes
    ----------
    name : str
    times : ndarray, shape (n,)
        [s]
    motion : ndarray, shape (n, 13)
        Position, orientation, velocity, angular velocity.
    """

    name: str
    times: Floats
    motion: Floats

    @property
    def positions(self) -> Floats:
        """Positions (n, 3) of the centre [m]."""
        return self.motion[:, MOTION["position"]]

    @property
    def headings(self) -> Floats:
        """Headings (n,) [rad], 0 = north, counter-clockwise positive."""
        return np.asarray(heading(self.motion[:, MOTION["orientation"]])).reshape(-1)

    @property
    def speeds(self) -> Floats:
        """Speeds (n,) along the forward axis [m/s]."""
        return forward_speeds(self.motion)

    def __len__(self) -> int:
        return len(self.times)


def forward_speeds(motion: Floats) -> Floats:
    """Speeds (n,) along the forward axis [m/s] of motion (n, 13)."""
    forward = rotate(motion[:, MOTION["orientation"]], np.array([0.0, 1.0, 0.0]))
    return np.asarray((forward * motion[:, MOTION["velocity"]]).sum(axis=1))
