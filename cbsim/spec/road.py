"""Contents of a road network file: segments, lanes, waypoints, exits, zones, spots (docs/formats/rndf.md).

Angles stay in degrees of latitude and longitude here: the local plane is chosen when a World is compiled.
Widths and heights are metres. Points of one lane or perimeter stand in columns, because the largest real networks hold
nine thousand of them. Two networks are equal when they say the same; the places of records and the advisory counts of
the file do not take part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cbsim.errors import Location
from cbsim.spec.brief import brief

__all__ = [
    "Checkpoint",
    "Crossing",
    "Crosswalk",
    "Exit",
    "Extension",
    "Intersection",
    "Lane",
    "Perimeter",
    "PointId",
    "Points",
    "RoadNetwork",
    "Segment",
    "Spot",
    "Stop",
    "TrafficLight",
    "Zone",
]


class PointId(NamedTuple):
    """Address of a waypoint, perimeter point (lane 0) or spot point; prints as ``1.2.3``."""

    segment: int
    lane: int
    point: int

    def __str__(self) -> str:
        return f"{self.segment}.{self.lane}.{self.point}"


@dataclass(frozen=True, slots=True)
class Extension:
    """A record that this reader does not know, kept and written back: its text, and where it stood."""

    text: str
    location: Location = field(default=Location(""), compare=False)


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """The points of one lane, perimeter or spot, in the order of the file.

    Attributes
    ----------
    numbers : tuple of int
        Last part of each id.
    latitude, longitude : ndarray, shape (n,)
        Degrees north and east; in a metric file the two columns as written, x and y [m].
    texts : tuple of (str, str)
        The two columns as written; empty where the points do not come from a file.
    lines : sequence of int
        1-based line of each point; empty where the points do not come from a file.
    """

    numbers: tuple[int, ...]
    latitude: NDArray[np.float64]
    longitude: NDArray[np.float64]
    texts: tuple[tuple[str, str], ...]
    lines: Sequence[int]

    @classmethod
    def of(cls, latitude: ArrayLike, longitude: ArrayLike, numbers: Sequence[int] | None = None) -> Points:
        """Make points that come from no file.

        Parameters
        ----------
        latitude, longitude : array_like, shape (n,)
            Degrees; in a metric network x and y [m].
        numbers : sequence of int, optional
            Last part of each id; 1 … n by default.
        """
        columns = np.asarray(latitude, dtype=np.float64), np.asarray(longitude, dtype=np.float64)
        return cls(tuple(numbers or range(1, len(columns[0]) + 1)), *columns, texts=(), lines=())

    def __len__(self) -> int:
        return len(self.numbers)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Points)
            and self.numbers == other.numbers
            and np.array_equal(self.latitude, other.latitude)
            and np.array_equal(self.longitude, other.longitude)
        )

    __hash__ = None  # type: ignore[assignment]

    def index(self, number: int) -> int | None:
        """Row of the first point with that number, or None."""
        if 1 <= number <= len(self.numbers) and self.numbers[number - 1] == number:
            return number - 1
        return self.numbers.index(number) if number in self.numbers else None


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A point with a checkpoint number."""

    point: PointId
    number: int
    location: Location = field(default=Location(""), compare=False)


@dataclass(frozen=True, slots=True)
class Stop:
    """A stop line through a waypoint."""

    point: PointId
    location: Location = field(default=Location(""), compare=False)


@dataclass(frozen=True, slots=True)
class Exit:
    """Permission to go from one point to another; `turn` is the third column of turn-annotated files."""

    source: PointId
    target: PointId
    location: Location = field(default=Location(""), compare=False)
    turn: str = ""


@dataclass(frozen=True, slots=True)
class Crossing:
    """RNDF 1.1 ``cross`` (crosswalk) or ``light`` (traffic light) at a waypoint; `target` is its id, ``2.1``."""

    keyword: str
    point: PointId
    target: str
    kind: str = ""
    location: Location = field(default=Location(""), compare=False)


@dataclass(frozen=True, slots=True)
class Lane:
    """One lane, its points in the direction of travel.

    Attributes
    ----------
    segment, number : int
        Address.
    points : Points
        Waypoints in file order, which is the order of travel.
    width : float or None
        Metres; None where there is no record, 0 where the file declares it unknown.
    left_boundary, right_boundary : str
        ``double_yellow``, ``solid_yellow``, ``solid_white``, ``broken_white``, or empty for unknown.
    checkpoints, stops, exits, crossings : tuple
        Options, resolved to the lane they name.
    kind : str
        RNDF 1.1 ``lane_type``; empty where not given.
    waypoint_count : int or None
        What the file claims; advisory.
    """

    segment: int
    number: int
    points: Points
    width: float | None = None
    left_boundary: str = ""
    right_boundary: str = ""
    checkpoints: tuple[Checkpoint, ...] = ()
    stops: tuple[Stop, ...] = ()
    exits: tuple[Exit, ...] = ()
    crossings: tuple[Crossing, ...] = ()
    kind: str = ""
    waypoint_count: int | None = field(default=None, compare=False)
    extensions: tuple[Extension, ...] = ()
    location: Location = field(default=Location(""), compare=False)

    def __str__(self) -> str:
        return f"{self.segment}.{self.number}"

    def ids(self) -> Iterator[PointId]:
        """Addresses of the waypoints in the direction of travel."""
        return (PointId(self.segment, self.number, n) for n in self.points.numbers)


@dataclass(frozen=True, slots=True)
class Crosswalk:
    """RNDF 1.1 crosswalk between two points given in degrees; `width` in metres."""

    segment: int
    number: int
    width: float | None
    ends: Points
    extensions: tuple[Extension, ...] = ()
    location: Location = field(default=Location(""), compare=False)


@dataclass(frozen=True, slots=True)
class Segment:
    """A road of parallel lanes.

    Attributes
    ----------
    number : int
        Id, shared with the zones.
    name : str
        ``segment_name``; empty where not given.
    lanes : tuple of Lane
        By number, ties in file order.
    speed_limit : float or None
        RNDF 1.1 limit [m/s].
    """

    number: int
    lanes: tuple[Lane, ...]
    name: str = ""
    crosswalks: tuple[Crosswalk, ...] = ()
    speed_limit: float | None = None
    lane_count: int | None = field(default=None, compare=False)
    crosswalk_count: int | None = field(default=None, compare=False)
    extensions: tuple[Extension, ...] = ()
    location: Location = field(default=Location(""), compare=False)


@dataclass(frozen=True, slots=True)
class Perimeter:
    """The boundary of a zone, points in file order (clockwise from the northernmost, if the file keeps the rule)."""

    points: Points
    exits: tuple[Exit, ...] = ()
    point_count: int | None = field(default=None, compare=False)
    extensions: tuple[Extension, ...] = ()
    location: Location = field(default=Location(""), compare=False)


@dataclass(frozen=True, slots=True)
class Spot:
    """A parking spot: point 1 at its entry, point 2 at its centre; `width` in metres, None if unknown."""

    zone: int
    number: int
    points: Points
    width: float | None = None
    checkpoints: tuple[Checkpoint, ...] = ()
    extensions: tuple[Extension, ...] = ()
    location: Location = field(default=Location(""), compare=False)


@dataclass(frozen=True, slots=True)
class Zone:
    """An open area with a perimeter and parking spots; `number` continues the segments' ids."""

    number: int
    perimeter: Perimeter | None
    spots: tuple[Spot, ...] = ()
    name: str = ""
    spot_count: int | None = field(default=None, compare=False)
    extensions: tuple[Extension, ...] = ()
    location: Location = field(default=Location(""), compare=False)


@dataclass(frozen=True, slots=True)
class TrafficLight:
    """RNDF 1.1 traffic light of an intersection; `position` = latitude, longitude [deg], height [m] as written."""

    number: int
    group: str
    position: tuple[float, ...]
    extensions: tuple[Extension, ...] = ()
    location: Location = field(default=Location(""), compare=False)


@dataclass(frozen=True, slots=True)
class Intersection:
    """RNDF 1.1 intersection: an id that continues after the zones, and its lights."""

    number: int
    lights: tuple[TrafficLight, ...]
    light_count: int | None = field(default=None, compare=False)
    extensions: tuple[Extension, ...] = ()
    location: Location = field(default=Location(""), compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class RoadNetwork:
    """A whole road network file.

    Attributes
    ----------
    name : str
        ``RNDF_name``, the rest of its line.
    segments, zones : tuple
        By number, ties in file order: some editors sort ids as text, and no reader may care.
    intersections : tuple of Intersection
        RNDF 1.1 only.
    format_version, creation_date : str
        Opaque; empty where not given.
    metric : bool
        True where the point columns are metres x, y rather than degrees.
    """

    name: str
    segments: tuple[Segment, ...] = ()
    zones: tuple[Zone, ...] = ()
    intersections: tuple[Intersection, ...] = ()
    format_version: str = ""
    creation_date: str = ""
    metric: bool = False
    segment_count: int | None = field(default=None, compare=False)
    zone_count: int | None = field(default=None, compare=False)
    intersection_count: int | None = field(default=None, compare=False)
    extensions: tuple[Extension, ...] = ()
    location: Location = field(default=Location(""), compare=False)

    __repr__ = brief

    @property
    def lanes(self) -> Iterator[Lane]:
        """All lanes by segment and number."""
        return (lane for segment in self.segments for lane in segment.lanes)
