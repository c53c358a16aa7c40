"""Right of way: conflicts of lanelets, rules of yielding, and the junctions that conflicts form."""

from __future__ import annotations

from cbsim.road.right_of_way.areas import conflict_areas
from cbsim.road.right_of_way.circular import find_circle
from cbsim.road.right_of_way.conflicts import ByLanelet, Conflict, ConflictKind, Conflicts, find_conflicts
from cbsim.road.right_of_way.junctions import Junction, find_junctions, junction_at, stop_junctions
from cbsim.road.right_of_way.rules import Rule

__all__ = [
    "ByLanelet",
    "Conflict",
    "ConflictKind",
    "Conflicts",
    "Junction",
    "Rule",
    "conflict_areas",
    "find_circle",
    "find_conflicts",
    "find_junctions",
    "junction_at",
    "stop_junctions",
]
