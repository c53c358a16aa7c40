"""Point ids of a network, and the nearest existing id to an unknown one."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from cbsim.errors import Location
from cbsim.spec.road import PointId, Points, RoadNetwork

__all__ = ["Addresses", "point_sets"]


class Addresses:
    """All point ids of a network.

    Parameters
    ----------
    ids : iterable of PointId
        May contain duplicates.
    """

    def __init__(self, ids: Iterable[PointId]) -> None:
        self._ids = frozenset(ids)

    def __contains__(self, point: object) -> bool:
        return point in self._ids

    @cached_property
    def _tree(self) -> dict[int, dict[int, dict[int, None]]]:
        """Segment → lane → point, each in increasing order."""
        tree: dict[int, dict[int, dict[int, None]]] = {}
        for segment, lane, point in sorted(self._ids):
            tree.setdefault(segment, {}).setdefault(lane, {})[point] = None
        return tree

    def nearest(self, point: PointId) -> str:
        """Text of the nearest id by segment, then lane, then point, the smaller of two; empty if there is none."""
        if not self._ids:
            return ""
        segment = _nearest_key(self._tree, point[0])
        lane = _nearest_key(self._tree[segment], point[1])
        return str(PointId(segment, lane, _nearest_key(self._tree[segment][lane], point[2])))

    def nearest_lane(self, segment: int, lane: int) -> str:
        """Text of the nearest lane, perimeter or spot; empty if there is none."""
        return self.nearest(PointId(segment, lane, 1)).rpartition(".")[0]

    def hint(self, point: PointId) -> str:
        """Suggest the nearest id: ``did you mean '7.2.2'?``, or an empty text."""
        near = self.nearest(point)
        return f"did you mean '{near}'?" if near else ""


def _nearest_key(table: Mapping[int, object], wanted: int) -> int:
    if wanted in table:
        return wanted
    keys = list(table)
    above = bisect_left(keys, wanted)
    return min(keys[max(above - 1, 0) : above + 1], key=lambda key: abs(key - wanted))


def point_sets(network: RoadNetwork) -> Iterator[tuple[tuple[int, int], Points, Location]]:
    """Iterate over all sets of points: lanes in file order, then each zone's perimeter and spots."""
    for lane in network.lanes:
        yield (lane.segment, lane.number), lane.points, lane.location
    for zone in network.zones:
        if zone.perimeter is not None:
            yield (zone.number, 0), zone.perimeter.points, zone.perimeter.location
        for spot in zone.spots:
            yield (zone.number, spot.number), spot.points, spot.location
