"""Critical gaps: how far away whoever goes first must be for a vehicle that yields, by its movement.

Values are those of the Highway Capacity Manual: HCM 2000, exhibit 17-5, for a major street of two lanes, and HCM 6,
equation 22-18, for the entry to a circle of one lane. Follow-up headways, at which vehicles of a queue use one gap
behind each other, come of themselves when each moves up to the line and looks anew.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.road.lanelets import Lanelets
from cbsim.road.right_of_way.conflicts import Conflicts
from cbsim.road.right_of_way.rules import Rule

__all__ = [
    "ENTRY",
    "LEFT_FROM_MAJOR",
    "LEFT_FROM_MINOR",
    "RIGHT_FROM_MINOR",
    "THROUGH_FROM_MINOR",
    "Gap",
    "critical_gaps",
]

TURN = np.radians(30.0)  # change of heading from which a lanelet turns


class Gap(NamedTuple):
    """A critical gap and the follow-up headway of a queue [s]."""

    critical: float
    follow_up: float


LEFT_FROM_MAJOR = Gap(4.1, 2.2)
RIGHT_FROM_MINOR = Gap(6.2, 3.3)
THROUGH_FROM_MINOR = Gap(6.5, 4.0)
LEFT_FROM_MINOR = Gap(7.1, 3.5)
ENTRY = Gap(4.98, 2.61)
"""Of the entry to a circle; it is taken for ramps and for crossings without signs too."""


def critical_gaps(lanelets: Lanelets, conflicts: Conflicts) -> NDArray[np.float64]:
    """Critical gap of either side of each conflict where it yields, 0 where the order of arrival decides.

    Returns
    -------
    ndarray, shape (p, 2)
        [s]
    """
    turned = (lanelets.headings[lanelets.offsets[1:] - 1] - lanelets.headings[lanelets.offsets[:-1]])[conflicts.pairs]
    minor = np.select(
        [turned > TURN, turned < -TURN],
        [LEFT_FROM_MINOR.critical, RIGHT_FROM_MINOR.critical],
        THROUGH_FROM_MINOR.critical,
    )
    rules = conflicts.rules[:, None]
    return np.select(
        [rules == Rule.ARRIVAL, (rules == Rule.STOP) | (rules == Rule.SUBORDINATE), rules == Rule.LEFT_TURN],
        [np.zeros_like(turned), minor, np.full_like(turned, LEFT_FROM_MAJOR.critical)],
        ENTRY.critical,
    )
