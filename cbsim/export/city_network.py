"""Road network of a generated city: numbering, markings, exits, stop lines, checkpoints, zones, degrees."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from cbsim.arrays import Floats
from cbsim.errors import Location
from cbsim.export.crossings import LaneKey, Turn, dead_end_turns, node_turns, stopping_lanes
from cbsim.export.parking import SPOT_WIDTH, Lot, lay_out_lot
from cbsim.export.streets import LANE_WIDTH, Grid, LaneLine, Street
from cbsim.geometry.geodesy import LocalPlane
from cbsim.spec.road import Checkpoint, Exit, Lane, Perimeter, PointId, Points, RoadNetwork, Segment, Spot, Stop, Zone

__all__ = ["city_network"]

NOWHERE = Location("")


def city_network(grid: Grid, plane: LocalPlane, name: str, random: np.random.Generator) -> RoadNetwork:
    """Build the network of a grid: number its lanes, connect them, and project them onto the earth.

    Parameters
    ----------
    grid : Grid
        Streets and nodes [m].
    plane : LocalPlane
        Where the grid's axes touch the earth.
    name : str
        ``RNDF_name``.
    random : Generator
        Chooses the crossings with stop lines on all sides.
    """
    turns = [turn for key in grid.nodes for turn in node_turns(grid, key)]
    turns += [turn for number in range(len(grid.streets)) for turn in dead_end_turns(grid, number)]
    stops = {lane for key in grid.nodes for lane in stopping_lanes(grid, key, random)}
    builder = _Builder(grid, plane, turns, stops)
    segments = tuple(builder.segment(number) for number in range(len(grid.streets)))
    parked = [number for number, street in enumerate(grid.streets) if street.parking]
    zones = tuple(builder.zone(number, len(segments) + k, random) for k, number in enumerate(parked, 1))
    segments = tuple(builder.with_entries(segment) for segment in segments)
    return RoadNetwork(name, segments, zones, format_version="1.0")


class _Builder:
    """Turns streets into segments and lots into zones, and counts checkpoints."""

    def __init__(self, grid: Grid, plane: LocalPlane, turns: Iterable[Turn], stops: set[LaneKey]) -> None:
        self.grid = grid
        self.plane = plane
        self.stops = stops
        self.targets: defaultdict[LaneKey, list[LaneKey]] = defaultdict(list)
        for turn in turns:
            self.targets[turn.source].append(turn.target)
        self.entries: dict[tuple[int, int], PointId] = {}  # lane → perimeter point of the lot that it leads into
        self.checkpoints = 0

    def points(self, places: Floats) -> Points:
        """Round places to the six decimals of the format."""
        latitude, longitude = self.plane.to_geodetic(places)
        texts = tuple((f"{a:.6f}", f"{b:.6f}") for a, b in zip(latitude, longitude, strict=True))
        rounded = np.array([(float(a), float(b)) for a, b in texts])
        count = len(texts)
        numbers = tuple(range(1, count + 1))
        return Points(numbers, rounded[:, 0].copy(), rounded[:, 1].copy(), texts, ())

    def segment(self, index: int) -> Segment:
        street = self.grid.streets[index]
        marked = index % len(street.lanes)  # one lane of each street has a checkpoint in its middle
        lanes = tuple(self.lane(index, line, checkpoint=k == marked) for k, line in enumerate(street.lanes))
        return Segment(index + 1, lanes, street.name)

    def lane(self, index: int, line: LaneLine, *, checkpoint: bool) -> Lane:
        street = self.grid.streets[index]
        number, key = index + 1, LaneKey(index, line.number)
        count = len(line.points)
        end = PointId(number, line.number, count)
        left, right = _marks(street, line)
        return Lane(
            number,
            line.number,
            self.points(line.points),
            LANE_WIDTH,
            left,
            right,
            (self._checkpoint(PointId(number, line.number, count // 2 + 1)),) if checkpoint else (),
            (Stop(end, NOWHERE),) if key in self.stops else (),
            tuple(Exit(end, PointId(to.street + 1, to.lane, 1), NOWHERE) for to in self.targets[key]),
        )

    def _checkpoint(self, point: PointId) -> Checkpoint:
        self.checkpoints += 1
        return Checkpoint(point, self.checkpoints, NOWHERE)

    def zone(self, index: int, number: int, random: np.random.Generator) -> Zone:
        """Make the zone at the end of a street, and note where its lanes enter."""
        lot = lay_out_lot(self.grid.streets[index], random)
        for lane, row in lot.entries.items():
            self.entries[index + 1, lane] = PointId(number, 0, row + 1)
        exits = tuple(
            Exit(PointId(number, 0, row + 1), PointId(index + 1, lane, 1), NOWHERE) for lane, row in lot.exits.items()
        )
        perimeter = Perimeter(self.points(lot.perimeter), exits)
        return Zone(number, perimeter, tuple(self._spots(lot, number)), f"Parking_{number}")

    def _spots(self, lot: Lot, zone: int) -> Iterable[Spot]:
        for number, places in enumerate(lot.spots, 1):
            mark = self._checkpoint(PointId(zone, number, 2))
            yield Spot(zone, number, self.points(places), SPOT_WIDTH, (mark,))

    def with_entries(self, segment: Segment) -> Segment:
        """Let the lanes that lead to a lot exit into it."""
        if not any((segment.number, lane.number) in self.entries for lane in segment.lanes):
            return segment
        return replace(segment, lanes=tuple(self._with_entry(lane) for lane in segment.lanes))

    def _with_entry(self, lane: Lane) -> Lane:
        target = self.entries.get((lane.segment, lane.number))
        if target is None:
            return lane
        end = PointId(lane.segment, lane.number, len(lane.points))
        return replace(lane, exits=(*lane.exits, Exit(end, target, NOWHERE)))


def _marks(street: Street, line: LaneLine) -> tuple[str, str]:
    """Boundaries of a lane: yellow towards the other direction, broken between lanes, solid at the kerb."""
    side_by_side = sum(one.forward == line.forward for one in street.lanes)
    inner = "double_yellow" if street.two_way else "solid_yellow"
    left = inner if line.rank == 0 else "broken_white"
    right = "solid_white" if line.rank == side_by_side - 1 else "broken_white"
    return left, right
