"""``merge``: an object pulls into moving traffic in a large gap, at a distance, without delay."""

from __future__ import annotations

from cbsim.evaluation.rules.give_way import GiveWay
from cbsim.road.right_of_way import ConflictKind, Conflicts

__all__ = ["Merge"]


class Merge(GiveWay):
    """Gap, spacing and delay where the object's way and that of a stream that goes first become one (D.2, D.3)."""

    noun = "merge", "merges"
    doing = "merged by"

    @staticmethod
    def selects(conflicts: Conflicts, row: int, side: int) -> bool:  # noqa: ARG004 - of either
        """Whether a conflict is such a one."""
        return bool(conflicts.kinds[row] == ConflictKind.MERGING)
