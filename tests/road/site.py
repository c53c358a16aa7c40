"""Small road networks for tests, given in metres, and a city as large as the largest network known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from cbsim.errors import Location
from cbsim.geometry.geodesy import LocalPlane
from cbsim.spec.road import (
    Checkpoint,
    Exit,
    Lane,
    Perimeter,
    PointId,
    Points,
    RoadNetwork,
    Segment,
    Spot,
    Stop,
    Zone,
)

ORIGIN = LocalPlane(38.875, -77.205)
FILE = "site.rndf"
Place = tuple[float, float]


def point(text: str) -> PointId:
    """Read ``1.2.3``."""
    return PointId(*map(int, text.split(".")))


def points(places: Iterable[Place], line: int, *, metric: bool, numbers: Sequence[int] | None = None) -> Points:
    """Make points from places in metres; the first stands on `line`."""
    xy = np.array(list(places), float).reshape(-1, 2)
    columns = (xy[:, 0], xy[:, 1]) if metric else ORIGIN.to_geodetic(xy)
    lines = tuple(range(line, line + len(xy)))
    return Points(tuple(numbers or range(1, len(xy) + 1)), *columns, texts=(), lines=lines)


class Site:
    """Collects lanes and zones; each gets a hundred lines of an imagined file: options from +1, points from +50."""

    def __init__(self, *, metric: bool = False, name: str = "site") -> None:
        self.metric = metric
        self.name = name
        self.lanes: list[Lane] = []
        self.zones: list[Zone] = []

    def _line(self) -> int:
        return 100 * (1 + len(self.lanes) + len(self.zones))

    def lane(
        self,
        address: str,
        places: Iterable[Place],
        *,
        exits: Sequence[tuple[str, str]] = (),
        stops: Sequence[str] = (),
        checkpoints: Sequence[tuple[str, int]] = (),
        width: float | None = 3.6576,
        left: str = "",
        right: str = "",
        numbers: Sequence[int] | None = None,
    ) -> Site:
        """Add a lane."""
        line = self._line()
        places_of = iter(Location(FILE, n) for n in range(line + 1, line + 50))
        segment, number = map(int, address.split("."))
        self.lanes.append(
            Lane(
                segment,
                number,
                points(places, line + 50, metric=self.metric, numbers=numbers),
                width=width,
                left_boundary=left,
                right_boundary=right,
                exits=tuple(Exit(point(a), point(b), next(places_of)) for a, b in exits),
                stops=tuple(Stop(point(a), next(places_of)) for a in stops),
                checkpoints=tuple(Checkpoint(point(a), n, next(places_of)) for a, n in checkpoints),
                location=Location(FILE, line),
            )
        )
        return self

    def zone(
        self,
        number: int,
        corners: Iterable[Place] | None,
        *,
        exits: Sequence[tuple[str, str]] = (),
        spots: Sequence[tuple[Place, Place]] = (),
        checkpoints: Sequence[tuple[str, int]] = (),
        spot_width: float | None = 3.0,
    ) -> Site:
        """Add a zone."""
        line = self._line()
        ways = tuple(Exit(point(a), point(b), Location(FILE, line + 1 + k)) for k, (a, b) in enumerate(exits))
        perimeter = None
        if corners is not None:
            ring = points(corners, line + 50, metric=self.metric)
            perimeter = Perimeter(ring, ways, location=Location(FILE, line))
        made = []
        for k, ends in enumerate(spots, 1):
            own = [(point(a), n) for a, n in checkpoints if point(a).lane == k]
            marks = tuple(Checkpoint(a, n, Location(FILE, line + 10 + k)) for a, n in own)
            place = Location(FILE, line + 70 + 2 * k)
            made.append(
                Spot(
                    number,
                    k,
                    points(ends, line + 70 + 2 * k, metric=self.metric),
                    width=spot_width,
                    checkpoints=marks,
                    location=place,
                )
            )
        self.zones.append(Zone(number, perimeter, tuple(made), location=Location(FILE, line)))
        return self

    def network(self) -> RoadNetwork:
        """Put the lanes into segments."""
        numbers = dict.fromkeys(lane.segment for lane in self.lanes)
        segments = tuple(
            Segment(n, tuple(lane for lane in self.lanes if lane.segment == n), location=Location(FILE, 1))
            for n in numbers
        )
        return RoadNetwork(self.name, segments, tuple(self.zones), metric=self.metric, location=Location(FILE, 1))


def straight(length: float, count: int = 5, *, x: float = 0.0, y: float = 0.0, back: bool = False) -> list[Place]:
    """List places on a line northwards from (x, y), or southwards back to it."""
    line = [(x, y + float(s)) for s in np.linspace(0.0, length, count)]
    return line[::-1] if back else line


def city(size: int = 18, block: float = 345.0, waypoints: int = 7) -> RoadNetwork:
    """Lay out a grid of streets, one lane each way: 1224 lanes, 9000 waypoints and 390 lane-km by default."""
    site = Site(name="city")
    rng = np.random.default_rng(7)
    ends: dict[tuple[int, int], list[tuple[str, str, tuple[int, int]]]] = {}
    drafts = []
    segment = 0
    for i in range(size):
        for j in range(size):
            for k, (di, dj) in enumerate(((0, 1), (1, 0))):
                if i + di >= size or j + dj >= size:
                    continue
                segment += 1
                start, along = np.array([i, j]) * block, np.array([di, dj], float)
                side = np.array([dj, -di], float)
                s = np.linspace(14.0, block - 14.0, waypoints + (segment % 2))
                bend = 6.0 * np.sin(np.pi * (s - 14.0) / (block - 28.0)) * rng.uniform(-1, 1)
                there = start + s[:, None] * along + (1.83 + bend)[:, None] * side
                back = (start + s[:, None] * along + (-1.83 + bend)[:, None] * side)[::-1]
                for number, places, a, b in ((1, there, (i, j), (i + di, j + dj)), (2, back, (i + di, j + dj), (i, j))):
                    name = f"{segment}.{number}"
                    drafts.append((name, places, b))
                    ends.setdefault(a, []).append((f"{name}.1", name, b))
                    assert k >= 0
    for name, places, b in drafts:
        last = f"{name}.{len(places)}"
        ways = [(last, first) for first, other, _ in ends[b] if other.split(".")[0] != name.split(".")[0]]
        site.lane(name, [tuple(p) for p in places], exits=ways, stops=[last] if len(ways) > 1 else [])
    return site.network()
