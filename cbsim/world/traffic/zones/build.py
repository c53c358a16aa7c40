"""Zones that reactive cars come to: their gates and aprons, and the tables of their ways."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.geometry import elementary as math
from cbsim.road.lanelets import LaneletKind, Lanelets
from cbsim.spec.road import PointId
from cbsim.world.traffic.zones.ground import CarShape, Ground, ground_of
from cbsim.world.traffic.zones.laying import Pose, Way, lay_in, lay_out, tree_of

__all__ = ["Apron", "Gate", "ZonePlan", "covered", "extended", "plan_zones", "squares"]

APRON_SPARE = 1.0  # [m] of an apron that are longer than the longest car
APRON_SPEED = 3.0  # [m/s]
FORWARD, REVERSE = 4.5, 1.5  # [m/s] in a zone
LATERAL, BRAKING = 2.2, 1.5  # [m/s²] in bends, and before them
CELL = 0.35  # [m] of the grid by which cars keep apart
KEPT = 0.05  # [m] around a car that it covers, besides half of a cell


class Gate(NamedTuple):
    """A way into a zone, or out of it.

    Attributes
    ----------
    mouth : int
        Lanelet.
    points : ndarray, shape (n, 2)
        Of the mouth [m].
    pose : tuple of float
        Of the rear axle where ways begin or end.
    apron : ndarray, shape (2, 2)
        Its ends [m].
    """

    mouth: int
    points: Floats
    pose: Pose
    apron: Floats


class Apron(NamedTuple):
    """A straight lanelet inside a zone that begins where a mouth ends, or ends where it begins."""

    points: Floats
    source: int
    target: int
    limit: float


@dataclass(eq=False)
class ZonePlan:
    """One zone that reactive cars come to.

    Attributes
    ----------
    index, number : int
        Place in the network, and id.
    shape : CarShape
        The largest car.
    least_nose : float
        Distance of the front bumper ahead of the rear axle of the shortest car [m].
    spots : list of int
        Numbers of the spots.
    parked : list of tuple of float
        Pose of the rear axle of the largest car in each.
    depths : list of float
        Straight into each [m].
    entries, exits : list of Gate
    """

    lanelets: Lanelets
    index: int
    number: int
    shape: CarShape
    least_nose: float
    spots: list[int] = field(default_factory=list)
    parked: list[Pose] = field(default_factory=list)
    depths: list[float] = field(default_factory=list)
    entries: list[Gate] = field(default_factory=list)
    exits: list[Gate] = field(default_factory=list)

    @property
    def apron_length(self) -> float:
        """Length of its aprons [m]."""
        return min(self.shape.length, self.longest) + APRON_SPARE

    @property
    def longest(self) -> float:
        """Length above which a car certainly has no ways in the zone [m]: twice its extent."""
        west, south, east, north = self.lanelets.roadmap.zone_areas[self.index].bounds
        return 2.0 * math.hypot(east - west, north - south)

    def ways_in(self, gate: int) -> list[Way | None]:
        """Ways from a gate to each spot."""
        return _ways(self, gate, is_in=True)

    def ways_out(self, gate: int) -> list[Way | None]:
        """Ways from each spot to a gate."""
        return _ways(self, gate, is_in=False)

    @property
    def _key(self) -> tuple[Any, ...]:
        """What its ways depend on; lanelets are those of one network."""
        return id(self.lanelets), self.index, self.shape

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ZonePlan) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def aprons(self) -> list[Apron]:
        """Aprons of all gates, those of entries first."""
        return [
            *(Apron(_dense(gate.apron), gate.mouth, -1, APRON_SPEED) for gate in self.entries),
            *(Apron(_dense(gate.apron), -1, gate.mouth, APRON_SPEED) for gate in self.exits),
        ]


def _dense(ends: Floats) -> Floats:
    """Points of a straight, at most half a metre apart."""
    gap = ends[1] - ends[0]
    count = max(2, int(math.ceil(2.0 * math.hypot(float(gap[0]), float(gap[1])))))
    return np.asarray(ends[0] + np.linspace(0.0, 1.0, count + 1)[:, None] * gap)


def plan_zones(lanelets: Lanelets, users: Iterable[tuple[int, float, float, float]]) -> list[ZonePlan]:
    """Find gates and spots of zones.

    Parameters
    ----------
    lanelets : Lanelets
    users : iterable of (int, float, float, float)
        Number of a zone; width and length of a car that comes there, distance of its rear axle from its rear bumper
        [m].
    """
    sizes: dict[int, list[tuple[float, float, float]]] = {}
    for number, *size in users:
        sizes.setdefault(number, []).append((size[0], size[1], size[2]))
    found = []
    for index, zone in enumerate(lanelets.roadmap.network.zones):
        if zone.number not in sizes or lanelets.roadmap.zone_areas[index].is_empty:
            continue
        cars = sizes.pop(zone.number)
        length, tail = max(each[1] for each in cars), max(each[2] for each in cars)
        nose = max(each[1] - each[2] for each in cars)
        shape = CarShape(max(each[0] for each in cars), nose + tail, nose, tail, length)
        plan = ZonePlan(lanelets, index, zone.number, shape, min(each[1] - each[2] for each in cars))
        _find_spots(plan)
        _find_gates(plan)
        if plan.spots:
            found.append(plan)
    return found


def _find_spots(plan: ZonePlan) -> None:
    roadmap = plan.lanelets.roadmap
    for spot in roadmap.network.zones[plan.index].spots:
        entry, place = (PointId(plan.number, spot.number, number) for number in (1, 2))
        if not (roadmap.has(entry) and roadmap.has(place)) or spot.number in plan.spots:
            continue
        heading = float(roadmap.heading(place))
        if not math.isfinite(heading):
            continue
        (x, y), (u, w) = roadmap.position(place).tolist(), roadmap.position(entry).tolist()
        nose = plan.shape.nose
        plan.spots.append(spot.number)
        plan.parked.append((x + nose * math.sin(heading), y - nose * math.cos(heading), heading))
        plan.depths.append(max(1.0, math.hypot(x - u, y - w) - nose + 0.5))


def _find_gates(plan: ZonePlan) -> None:
    lanelets, roadmap = plan.lanelets, plan.lanelets.roadmap
    for row in np.flatnonzero(lanelets.kinds == LaneletKind.ZONE_MOUTH).tolist():
        source, target = (roadmap.ids[point] for point in lanelets.ends[row].tolist())
        samples = lanelets.samples_of(row)
        points, headings = lanelets.points[samples], lanelets.headings[samples]
        if target.segment == plan.number and target.lane == 0:
            heading, (x, y) = float(headings[-1]), points[-1].tolist()
            ahead = np.array([-math.sin(heading), math.cos(heading)])
            apron = np.array([points[-1], points[-1] + plan.apron_length * ahead])
            tail = plan.shape.tail
            pose = (x + tail * float(ahead[0]), y + tail * float(ahead[1]), heading)
            plan.entries.append(Gate(row, points, pose, apron))
        if source.segment == plan.number and source.lane == 0:
            heading, (x, y) = float(headings[0]), points[0].tolist()
            ahead = np.array([-math.sin(heading), math.cos(heading)])
            apron = np.array([points[0] - plan.apron_length * ahead, points[0]])
            back = plan.apron_length - plan.shape.tail
            pose = (x - back * float(ahead[0]), y - back * float(ahead[1]), heading)
            plan.exits.append(Gate(row, points, pose, apron))


@lru_cache(maxsize=8)
def _ground(plan: ZonePlan) -> tuple[Ground, list[Floats], Floats]:
    """Raster of a zone, and distances with each spot free, and with none."""
    ways = [np.concatenate([gate.points, gate.apron[1:]]) for gate in plan.entries]
    ways += [np.concatenate([gate.apron[:1], gate.points]) for gate in plan.exits]
    ground = ground_of(plan.lanelets.roadmap.zone_areas[plan.index], ways, plan.parked, plan.shape)
    return ground, [ground.field(number) for number in range(len(plan.spots))], ground.field()


@lru_cache(maxsize=64)
def _ways(plan: ZonePlan, gate: int, *, is_in: bool) -> list[Way | None]:
    """Lay all ways of a gate; cached.

    A car that is too long has none, and no raster, which would be as large as the car.
    """
    if plan.shape.length > plan.longest:
        return [None] * len(plan.spots)
    ground, fields, full = _ground(plan)
    own = (plan.entries if is_in else plan.exits)[gate]
    tree = tree_of(ground, full, own.pose, 1.0 if is_in else -1.0, plan.shape)
    lay = lay_in if is_in else lay_out
    spots = zip(fields, plan.parked, plan.depths, strict=True)
    return [lay(ground, field, tree, parked, depth, plan.shape) for field, parked, depth in spots]


def extended(way: Way, more: float, *, is_in: bool) -> Way:
    """Lengthen a way straight into its spot, for shorter cars."""
    if more <= 0.0:
        return way
    x, y, heading = (way.poses[-1] if is_in else way.poses[0]).tolist()
    deep = np.array([[x - more * math.sin(heading), y + more * math.cos(heading), heading]])
    if is_in:
        poses, stations = np.concatenate([way.poses, deep]), np.append(way.stations, way.stations[-1] + more)
        return Way(poses, stations, np.append(way.bends, 0.0), way.back)
    poses, stations = np.concatenate([deep, way.poses]), np.concatenate([[0.0], way.stations + more])
    bends = np.concatenate([[0.0], way.bends])
    return Way(poses, stations, bends, way.back + more)


def squares(way: Way, limit: float) -> Floats:
    """Square of the speed that is allowed at each sample, with comfortable braking for the bends ahead [m²/s²]."""
    fast = min(limit, FORWARD)
    reverse = way.stations <= way.back + 1e-9
    bend = np.abs(way.bends)
    bend[:-1] = np.maximum(bend[:-1], np.abs(way.bends[1:]))
    allowed = np.minimum(
        np.where(reverse & (way.back > 0.0), REVERSE * REVERSE, fast * fast), LATERAL / np.maximum(bend, 1e-6)
    )
    reached = allowed + 2.0 * BRAKING * way.stations
    reached = np.minimum.accumulate(reached[::-1])[::-1]
    return np.asarray(reached - 2.0 * BRAKING * way.stations)


def covered(
    poses: Floats, stations: Floats, shape: CarShape, frame: tuple[float, float, float, int]
) -> tuple[Ints, Floats]:
    """Cells of a grid that a car covers on its way.

    Parameters
    ----------
    frame : tuple
        West, south, size of a cell [m], and columns.

    Returns
    -------
    cells : ndarray of int, shape (k,)
        In the order in which it comes to them.
    spans : ndarray, shape (k, 2)
        Stations between which it covers each [m].
    """
    west, south, cell, columns = frame
    more = KEPT + cell * 0.7072
    reach = math.hypot(max(shape.nose, shape.tail) + more, 0.5 * shape.width + more)
    box = np.arange(-int(math.ceil(reach / cell)) - 1, int(math.ceil(reach / cell)) + 2)
    u, w = (grid.ravel() for grid in np.meshgrid(box, box, indexing="ij"))
    found: list[tuple[Ints, Floats]] = []
    for first in range(0, len(poses), 64):
        x, y, heading = poses[first : first + 64].T[:, :, None]
        column, row = np.floor((x - west) / cell + 0.5), np.floor((y - south) / cell + 0.5)
        dx, dy = west + cell * (column + u) - x, south + cell * (row + w) - y
        sine, cosine = math.sin(heading), math.cos(heading)
        along, aside = dy * cosine - dx * sine, dx * cosine + dy * sine
        inside = (
            (along <= shape.nose + more) & (along >= -shape.tail - more) & (np.abs(aside) <= 0.5 * shape.width + more)
        )
        which, where = np.nonzero(inside)
        cells = (row[which, 0].astype(np.int64) + w[where]) * columns + column[which, 0].astype(np.int64) + u[where]
        found.append((cells, stations[first + which]))
    cells, at = np.concatenate([each[0] for each in found]), np.concatenate([each[1] for each in found])
    order = np.lexsort((at, cells))
    cells, at = cells[order], at[order]
    begins = np.flatnonzero(np.diff(cells, prepend=-1))
    ends = np.append(begins[1:], len(cells)) - 1
    gap = float(np.max(np.diff(stations), initial=0.0))
    spans = np.stack([at[begins] - gap, at[ends] + gap], axis=1)
    order = np.lexsort((cells[begins], spans[:, 0]))
    return cells[begins][order], spans[order]
