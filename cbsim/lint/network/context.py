"""Context of the rules for networks: network, locations of its records, and map, computed when first used."""

from __future__ import annotations

from functools import cached_property

from cbsim.errors import Location, ModelError
from cbsim.road.address import Addresses, point_sets
from cbsim.road.graph import RouteGraph, graph
from cbsim.road.lanelets import build_lanelets
from cbsim.road.right_of_way import Conflicts, find_conflicts
from cbsim.road.roadmap import RoadMap, build
from cbsim.spec.road import Checkpoint, Exit, PointId, RoadNetwork

__all__ = ["NetworkContext"]


class NetworkContext:
    """A network and what rules derive from it.

    Parameters
    ----------
    network : RoadNetwork
        The network as read, errors included.
    """

    def __init__(self, network: RoadNetwork) -> None:
        self.network = network

    @cached_property
    def addresses(self) -> Addresses:
        """Ids of the points."""
        sets = point_sets(self.network)
        return Addresses(PointId(*key, number) for key, points, _ in sets for number in points.numbers)

    @cached_property
    def map(self) -> RoadMap | None:
        """The network on the local plane; None if its coordinates are not on earth (E301)."""
        try:
            return build(self.network)
        except ModelError:
            return None

    @property
    def roadmap(self) -> RoadMap:
        """The map, for rules that require it."""
        if self.map is None:
            raise ModelError(f"the road network '{self.network.name}' has no map")
        return self.map

    @cached_property
    def graph(self) -> RouteGraph:
        """Graph of the moves that the network allows."""
        return graph(self.roadmap)

    @cached_property
    def conflicts(self) -> Conflicts | None:
        """Where its lanelets conflict; None where there is too much to look at."""
        try:
            return find_conflicts(build_lanelets(self.roadmap))
        except ModelError:
            return None

    @cached_property
    def exits(self) -> tuple[Exit, ...]:
        """All exits, those of lanes first, including dangling ones."""
        of_lanes = [e for lane in self.network.lanes for e in lane.exits]
        of_zones = [e for zone in self.network.zones if zone.perimeter is not None for e in zone.perimeter.exits]
        return (*of_lanes, *of_zones)

    @cached_property
    def checkpoints(self) -> tuple[Checkpoint, ...]:
        """All checkpoints, those on lanes first."""
        on_lanes = [c for lane in self.network.lanes for c in lane.checkpoints]
        return (*on_lanes, *(c for zone in self.network.zones for spot in zone.spots for c in spot.checkpoints))

    @cached_property
    def numbers(self) -> dict[int, Checkpoint]:
        """Checkpoint id → its record; the first in the order of `checkpoints` if an id is used twice (E204)."""
        table: dict[int, Checkpoint] = {}
        for checkpoint in self.checkpoints:
            table.setdefault(checkpoint.number, checkpoint)
        return table

    @cached_property
    def _lines(self) -> dict[PointId, int]:
        lines: dict[PointId, int] = {}
        for key, points, _ in point_sets(self.network):
            for number, line in zip(points.numbers, points.lines, strict=False):
                lines.setdefault(PointId(*key, number), line)
        return lines

    def at(self, point: PointId) -> Location:
        """Location of a point."""
        return Location(self.network.location.path, self._lines.get(point), None, str(point))
