"""`Lanelets`: columns of drivable pieces of road, and `Lanelet`, a read-only row of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

import numpy as np

from cbsim.arrays import Bools, Floats, Ints
from cbsim.road.lanelets.border import borders
from cbsim.road.roadmap import RoadMap
from cbsim.spec.road import PointId

__all__ = ["Graph", "Lanelet", "LaneletKind", "Lanelets"]


class LaneletKind(IntEnum):
    """Origin of a lanelet: lane or exit."""

    LANE = 0
    CONNECTOR = 1
    U_TURN = 2
    ZONE_MOUTH = 3


@dataclass(frozen=True, eq=False)
class Graph:
    """Lists of numbers, one for each row, in compressed sparse rows.

    Attributes
    ----------
    offsets : ndarray of int, shape (n + 1,)
        First entry of each row, and the number of entries.
    items : ndarray of int, shape (m,)
        Entries, increasing within each row.
    """

    offsets: Ints
    items: Ints

    def __getitem__(self, row: int) -> Ints:
        return np.asarray(self.items[self.offsets[row] : self.offsets[row + 1]])

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @classmethod
    def of(cls, rows: Ints, items: Ints, size: int) -> Graph:
        """Sort pairs of row and entry into lists; equal pairs count once."""
        pairs = np.unique(np.stack([rows, items], axis=1), axis=0).reshape(-1, 2)
        return cls(np.searchsorted(pairs[:, 0], np.arange(size + 1)), pairs[:, 1])


@dataclass(frozen=True, eq=False)
class Lanelets:
    """A road network as drivable pieces.

    Lanes are cut where exits leave or enter, and at stop lines, lights and crosswalks, so that these are at ends of
    lanelets. Each exit is a lanelet of its own. Lanelets of lanes come first, in file order, then those of
    exits.

    Attributes
    ----------
    roadmap : RoadMap
        The network.
    kinds : ndarray of int, shape (n,)
        `LaneletKind` of each.
    lanes : ndarray of int, shape (n,)
        Index into `RoadMap.lanes`; -1 for lanelets of exits.
    begins : ndarray, shape (n,)
        Station at which a piece of a lane begins on its `LaneCurve`, else 0 [m].
    ends : ndarray of int, shape (n, 2)
        Rows of the first and last point in `RoadMap.ids`. Lanelets meet where these are equal.
    nodes : ndarray of int, shape (points,)
        Row of `RoadMap.ids` that represents each point in `ends`: the first of coincident points of a lane.
    continues : ndarray of bool, shape (n,)
        True for lanelets that continue their lane: pieces of lanes, and an exit from a lane's last waypoint to its
        own first.
    offsets : ndarray of int, shape (n + 1,)
        First sample of each lanelet.
    points : ndarray, shape (m, 2)
        Samples of the centrelines, at most 1 m apart [m].
    headings : ndarray, shape (m,)
        Tangent at each sample, continuous along a lanelet [rad].
    curvatures : ndarray, shape (m,)
        Of the curve at each sample, positive to the left. Where cubics join within a lanelet, as at waypoints, it is
        the mean of both sides, at its ends that of the lanelet [1/m].
    stations : ndarray, shape (m,)
        Arc length from the start of the lanelet [m].
    widths, lengths : ndarray, shape (n,)
        [m]
    limits : ndarray, shape (n,)
        Speed limit: the mission's, else that of the segment in the file, else the default [m/s]. An exit has the lower
        one of both ends.
    stops : ndarray of bool, shape (n,)
        True with a stop line at the end.
    successors, predecessors : Graph
        Connections. The entries and exits of a zone are not connected.
    light_names : tuple of str
        Traffic lights at ends of lanelets, ``12.3`` for light 3 of intersection 12.
    lights : Graph
        Rows of `light_names` for the end of each lanelet.
    """

    roadmap: RoadMap
    kinds: Ints
    lanes: Ints
    begins: Floats
    ends: Ints
    nodes: Ints
    continues: Bools
    offsets: Ints
    points: Floats
    headings: Floats
    curvatures: Floats
    stations: Floats
    widths: Floats
    lengths: Floats
    limits: Floats
    stops: Bools
    successors: Graph
    predecessors: Graph
    light_names: tuple[str, ...]
    lights: Graph

    def __len__(self) -> int:
        return len(self.kinds)

    def __getitem__(self, row: int) -> Lanelet:
        return Lanelet(self, range(len(self))[row])

    def __iter__(self) -> Iterator[Lanelet]:
        return (Lanelet(self, row) for row in range(len(self)))

    @cached_property
    def owners(self) -> Ints:
        """Lanelet of each sample, shape (m,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    @cached_property
    def _borders(self) -> tuple[Floats, Floats]:
        return borders(self)

    @property
    def left(self) -> Floats:
        """Left border, row i beside sample i, shape (m, 2) [m]."""
        return self._borders[0]

    @property
    def right(self) -> Floats:
        """Right border, row i beside sample i, shape (m, 2) [m]."""
        return self._borders[1]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """First and last point of each: ``1.1.3-2.1.1``."""
        ids = self.roadmap.ids
        return tuple(f"{ids[source]}-{ids[target]}" for source, target in self.ends.tolist())

    @cached_property
    def rows(self) -> dict[str, int]:
        """Row of each name; the first of duplicates."""
        return {name: row for row, name in reversed(list(enumerate(self.names)))}

    @cached_property
    def by_ends(self) -> dict[tuple[int, int], int]:
        """Row of each pair of first and last point, as in `ends`; the first of duplicates."""
        return {pair: row for row, pair in reversed(list(enumerate(map(tuple, self.ends.tolist()))))}

    def samples_of(self, row: int) -> slice:
        """Slice of the samples of a lanelet in `points`, `headings`, `stations`, `left` and `right`."""
        return slice(int(self.offsets[row]), int(self.offsets[row + 1]))


@dataclass(frozen=True, slots=True)
class Lanelet:
    """A read-only row of `Lanelets`.

    Attributes
    ----------
    table : Lanelets
    row : int
    """

    table: Lanelets
    row: int

    def __repr__(self) -> str:
        return f"<Lanelet {self.name} {self.kind.name.lower()} length={self.length:.1f} m>"

    @property
    def name(self) -> str:
        """First and last point: ``1.1.3-2.1.1``."""
        return self.table.names[self.row]

    @property
    def kind(self) -> LaneletKind:
        """Whether it is a piece of a lane or an exit."""
        return LaneletKind(self.table.kinds[self.row])

    @property
    def source(self) -> PointId:
        """First point."""
        return self.table.roadmap.ids[int(self.table.ends[self.row, 0])]

    @property
    def target(self) -> PointId:
        """Last point."""
        return self.table.roadmap.ids[int(self.table.ends[self.row, 1])]

    @property
    def samples(self) -> Floats:
        """Centreline, shape (m, 2) [m]."""
        return self.table.points[self.table.samples_of(self.row)]

    @property
    def headings(self) -> Floats:
        """Tangent at each sample, shape (m,) [rad]."""
        return self.table.headings[self.table.samples_of(self.row)]

    @property
    def stations(self) -> Floats:
        """Arc length at each sample, shape (m,) [m]."""
        return self.table.stations[self.table.samples_of(self.row)]

    @property
    def curvatures(self) -> Floats:
        """Curvature at each sample, positive to the left, shape (m,) [1/m]."""
        return self.table.curvatures[self.table.samples_of(self.row)]

    @property
    def left(self) -> Floats:
        """Left border, shape (m, 2) [m]."""
        return self.table.left[self.table.samples_of(self.row)]

    @property
    def right(self) -> Floats:
        """Right border, shape (m, 2) [m]."""
        return self.table.right[self.table.samples_of(self.row)]

    @property
    def width(self) -> float:
        """From border to border [m]."""
        return float(self.table.widths[self.row])

    @property
    def length(self) -> float:
        """Arc length [m]."""
        return float(self.table.lengths[self.row])

    @property
    def limit(self) -> float:
        """Speed limit [m/s]."""
        return float(self.table.limits[self.row])

    @property
    def stop(self) -> bool:
        """True if there is a stop line at the end."""
        return bool(self.table.stops[self.row])

    @property
    def lights(self) -> tuple[str, ...]:
        """Names of the traffic lights at the end."""
        return tuple(self.table.light_names[light] for light in self.table.lights[self.row])

    @property
    def successors(self) -> tuple[Lanelet, ...]:
        """Lanelets that continue it."""
        return tuple(Lanelet(self.table, int(row)) for row in self.table.successors[self.row])

    @property
    def predecessors(self) -> tuple[Lanelet, ...]:
        """Lanelets that lead to it."""
        return tuple(Lanelet(self.table, int(row)) for row in self.table.predecessors[self.row])
