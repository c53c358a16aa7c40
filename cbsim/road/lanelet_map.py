"""`LaneletMap`: a network as lanelets for planners: matching, connections, right of way, routes.

Each part is computed on first use.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from cbsim.errors import ModelError, did_you_mean
from cbsim.road.lanelets import Lanelet, Lanelets, build_lanelets
from cbsim.road.lanelets.crosswalks import Crosswalks, find_crosswalks
from cbsim.road.lanelets.limits import UNKNOWN_LIMIT
from cbsim.road.lanelets.neighbours import Neighbours, find_neighbours
from cbsim.road.lanelets.routes import LaneletRoute, route_lanelets
from cbsim.road.matching import LaneIndex, Match
from cbsim.road.right_of_way import Conflicts, Junction, find_conflicts, find_junctions
from cbsim.road.roadmap import RoadMap
from cbsim.road.route import mission_legs, route
from cbsim.spec.mission import Mission
from cbsim.spec.road import PointId

__all__ = ["LaneletMap", "point_id"]


class LaneletMap:
    """A road network as lanelets.

    Parameters
    ----------
    roadmap : RoadMap
        The network on its local plane.
    mission : Mission, optional
        Its speed limits apply, and `mission_route` follows it.
    limit : float, optional
        Speed limit where neither mission nor network has one [m/s].

    Examples
    --------
    >>> import cbsim
    >>> road = cbsim.load("four_way_stop").road
    >>> lanelet, station, offset = road.at((2.8, -40.0), 3.1)
    >>> lanelet.stop, round(station), round(lanelet.limit, 1)
    (True, 40, 11.2)
    >>> [other.name for other in lanelet.successors]
    ['1.1.6-3.1.1', '1.1.6-4.1.1', '1.1.6-2.2.1']
    """

    def __init__(self, roadmap: RoadMap, mission: Mission | None = None, limit: float = UNKNOWN_LIMIT) -> None:
        self.roadmap = roadmap
        self.mission = mission
        self._limit = limit

    def __repr__(self) -> str:
        return f"<LaneletMap {self.roadmap.name!r}>"

    @cached_property
    def lanelets(self) -> Lanelets:
        """All lanelets, in columns; `lanelets[row]` is one of them."""
        return build_lanelets(self.roadmap, self.mission, self._limit)

    @cached_property
    def conflicts(self) -> Conflicts:
        """Conflicts of lanelets, and who yields."""
        return find_conflicts(self.lanelets)

    @cached_property
    def junctions(self) -> tuple[Junction, ...]:
        """Groups of conflicts, with their stop lines."""
        return find_junctions(self.conflicts)

    @cached_property
    def neighbours(self) -> Neighbours:
        """Lanelets side by side, and permission to change over."""
        return find_neighbours(self.lanelets)

    @cached_property
    def crosswalks(self) -> Crosswalks:
        """Crosswalks on lanelets."""
        return find_crosswalks(self.lanelets)

    @cached_property
    def index(self) -> LaneIndex:
        """Spatial index of the lanelets."""
        return LaneIndex([*self.lanelets])

    def lanelet(self, name: str) -> Lanelet:
        """Find a lanelet by its first and last point, ``1.1.3-2.1.1``.

        Raises
        ------
        ModelError
            If there is none.
        """
        row = self.lanelets.rows.get(name)
        if row is None:
            hint = did_you_mean(name, self.lanelets.names)
            raise ModelError(f"the road network '{self.roadmap.name}' has no lanelet '{name}'{hint and f' ({hint})'}")
        return self.lanelets[row]

    def match(self, positions: ArrayLike, headings: ArrayLike | None = None) -> Match:
        """Match positions to lanelets.

        Parameters
        ----------
        positions : array_like, shape (n, 2)
            [m]
        headings : array_like, shape (n,), optional
            [rad]

        Returns
        -------
        Match
            Columns `lane` (here the row of a lanelet, -1 on none), `station`, `offset`, `heading_error`. Among
            several: least heading difference in quarter turns, then least distance from the centreline.
        """
        return self.index.match(positions, headings)

    def at(self, position: ArrayLike, heading: float | None = None) -> tuple[Lanelet, float, float] | None:
        """Find the lanelet at a pose.

        Parameters
        ----------
        position : array_like, shape (2,)
            [m]
        heading : float, optional
            [rad], 0 = north, counter-clockwise positive.

        Returns
        -------
        (Lanelet, float, float) or None
            With the station along it and the offset to the left of its centreline [m]; None off the road.
        """
        match = self.match([np.asarray(position, float)[:2]], None if heading is None else [heading])
        if match.lane[0] < 0:
            return None
        return self.lanelets[int(match.lane[0])], float(match.station[0]), float(match.offset[0])

    def route(self, start: PointId | str, goal: PointId | str) -> LaneletRoute | None:
        """Find the shortest route from one point to another; None if there is none.

        Raises
        ------
        ModelError
            If the network has no such point.
        """
        way = route(self.roadmap, point_id(start), point_id(goal))
        return None if way is None else route_lanelets(self.lanelets, way)

    def mission_route(self) -> list[LaneletRoute | None]:
        """Find the route from each checkpoint of the mission to the next; None where there is none."""
        if self.mission is None:
            return []
        legs = mission_legs(self.roadmap, self.mission)
        return [None if leg.route is None else route_lanelets(self.lanelets, leg.route) for leg in legs]


def point_id(text: PointId | str) -> PointId:
    """Parse the id of a point, ``1.2.3``.

    Raises
    ------
    ModelError
        If it is not one.
    """
    if not isinstance(text, str):
        return PointId(*text)
    parts = text.split(".")
    if len(parts) != 3 or not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
        raise ModelError(f"'{text}' is not a point id; expected segment.lane.waypoint, such as '1.2.3'")
    return PointId(*map(int, parts))
