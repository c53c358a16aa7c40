"""``left_turn``: an object turns left across moving traffic in a large gap, at a distance, without delay."""

from __future__ import annotations

import numpy as np

from cbsim.evaluation.rules.give_way import GiveWay
from cbsim.road.right_of_way import ConflictKind, Conflicts

__all__ = ["LeftTurn"]

TURN = np.radians(30.0)  # change of heading from which an exit is a left turn, as in the right of way


class LeftTurn(GiveWay):
    """Gap, spacing and delay where the object turns left across a stream that goes first (D.4, D.5)."""

    noun = "left turn", "left turns"
    doing = "turned left by"

    @staticmethod
    def selects(conflicts: Conflicts, row: int, side: int) -> bool:
        """Whether a conflict is such a one."""
        lanelets = conflicts.lanelets
        lanelet = int(conflicts.pairs[row, side])
        headings = lanelets.headings[lanelets.samples_of(lanelet)]
        turns = not lanelets.continues[lanelet] and headings[-1] - headings[0] > TURN
        return bool(turns and conflicts.kinds[row] != ConflictKind.MERGING)
