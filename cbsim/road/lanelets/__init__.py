"""Lanelets: a road network as drivable pieces, in columns, with their connections."""

from __future__ import annotations

from cbsim.road.lanelets.build import build_lanelets
from cbsim.road.lanelets.table import Graph, Lanelet, LaneletKind, Lanelets

__all__ = ["Graph", "Lanelet", "LaneletKind", "Lanelets", "build_lanelets"]
