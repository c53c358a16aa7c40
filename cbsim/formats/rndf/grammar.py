"""Grammar of RNDF as tables: blocks, their contents, and parsers of columns.

One row of `KINDS` per block. A new record is one line here; the reader and the order of the writer follow from it. The
grammar is not required of files: counts are advisory, order is free, and unknown records are kept as extensions.
Source: DARPA, Route Network Definition File formats of 12 May 2006, §2.3, and the RNDF 1.1 additions of AnnieWAY and
Stanford.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cbsim.formats.rndf.lexical import Parser, feet, mph, number, point_id, whole
from cbsim.formats.values import Complaint
from cbsim.spec.road import Checkpoint, Crossing, Exit, Stop

__all__ = [
    "BOUNDARIES",
    "ENDS",
    "FIELDS",
    "KEYWORDS",
    "KINDS",
    "NETWORK",
    "OPTIONS",
    "TURNS",
    "WRAPPERS",
    "Field",
    "Kind",
    "Option",
]

BOUNDARIES = ("double_yellow", "solid_yellow", "solid_white", "broken_white")
LANE_TYPES = ("car_lane", "bike_lane")
CROSSINGS = ("stop", "incoming")
TURNS = ("l", "r", "s", "u", "left", "right", "straight")  # third column of exits in turn-annotated files


@dataclass(frozen=True, slots=True)
class Field:
    """A record with a property of its block.

    Attributes
    ----------
    parse : callable
        One text per column to its value or to a Complaint.
    columns : int
        Number of values after the keyword; 0 if the rest of the line is one text.
    counts : str
        Kind of the children that the record counts, or ``points``; empty for other records.
    required : bool
        Whether DARPA's format requires it.
    choices : tuple of str
        Known values; others are kept with a warning.
    """

    parse: Parser = str
    columns: int = 1
    counts: str = ""
    required: bool = False
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Option:
    """A record that names a point by its full id, and belongs to that point's block wherever it is written.

    Attributes
    ----------
    holder : str
        Tuple of the spec that contains it.
    columns : tuple of str
        Names of the columns, for messages.
    parse : callable
        Parser of the words of the record to one value per column, None for malformed ones; the first is the point.
    make : callable
        Constructor of the spec's record from the values, the location, and an optional last column.
    last : tuple of str
        Values that an additional last column may have.
    """

    holder: str
    columns: tuple[str, ...]
    parse: Callable[[Sequence[str]], tuple[Any, ...]]
    make: Callable[..., Any]
    last: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Kind:
    """A block: ``segment … end_segment``.

    Attributes
    ----------
    name, parent : str
        Keywords that open this block and the one around it.
    parts : int
        Dotted parts of its id.
    fields : mapping
        Keyword → Field.
    options : tuple of str
        Keywords of its options.
    points : str
        Name of its points; empty if it has none.
    opaque : tuple of str
        Records of other programs, which are kept without a warning.
    loose : bool
        Whether some programs write it outside its parent.
    """

    name: str
    parent: str
    parts: int
    fields: Mapping[str, Field] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    points: str = ""
    opaque: tuple[str, ...] = ()
    loose: bool = False


def number_or_none(text: str) -> int | None:
    """Parse a whole number; None if it is not one."""
    value = whole(text)
    return None if isinstance(value, Complaint) else value


def count_of(kind: str, *, required: bool = True) -> Field:
    """Make the row of an advisory count."""
    return Field(whole, counts=kind, required=required)


TEXT = Field(columns=0)
NAME = Field(columns=0, required=True)
WIDTH = Field(feet("the width"))
DEGREES = number("a coordinate", "degrees")

OPTIONS: Mapping[str, Option] = {
    "checkpoint": Option(
        "checkpoints",
        ("the id of a point", "a checkpoint number"),
        lambda words: (point_id(words[1]), number_or_none(words[2])),
        Checkpoint,
    ),
    "stop": Option("stops", ("the id of a point",), lambda words: (point_id(words[1]),), Stop),
    "exit": Option(
        "exits",
        ("the id of the exit point", "the id of the entry point"),
        lambda words: (point_id(words[1]), point_id(words[2])),
        Exit,
        TURNS,
    ),
    "cross": Option(
        "crossings",
        ("the id of a point", "the id of a crosswalk"),
        lambda words: (point_id(words[1]), words[2]),
        lambda point, target, place, kind="": Crossing("cross", point, target, kind, place),
        CROSSINGS,
    ),
    "light": Option(
        "crossings",
        ("the id of a point", "the id of a traffic light"),
        lambda words: (point_id(words[1]), words[2]),
        lambda point, target, place: Crossing("light", point, target, "", place),
    ),
}

NETWORK = Kind(
    "network",
    "",
    0,
    {
        "RNDF_name": NAME,
        "num_segments": count_of("segment"),
        "num_zones": count_of("zone"),
        "num_intersections": count_of("intersection", required=False),
        "format_version": TEXT,
        "creation_date": TEXT,
    },
    opaque=("SRNDF", "id_string", "rndf_lib_version"),
)

KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(
            "segment",
            "network",
            1,
            {
                "num_lanes": count_of("lane"),
                "num_crosswalks": count_of("crosswalk", required=False),
                "segment_name": TEXT,
                "speed_limit": Field(mph("the speed")),
            },
            opaque=("offroad",),
        ),
        Kind(
            "lane",
            "segment",
            2,
            {
                "num_waypoints": count_of("points"),
                "lane_width": WIDTH,
                "lane_type": Field(choices=LANE_TYPES),
                "left_boundary": Field(choices=BOUNDARIES),
                "right_boundary": Field(choices=BOUNDARIES),
            },
            ("checkpoint", "stop", "exit", "cross", "light"),
            "waypoints",
            ("num_charpoints", "charpoint", "speed_limit"),
        ),
        Kind(
            "crosswalk",
            "segment",
            2,
            {
                "crosswalk_width": WIDTH,
                "crosswalk_p1": Field(DEGREES, 2),
                "crosswalk_p2": Field(DEGREES, 2),
            },
            loose=True,
        ),
        Kind(
            "zone",
            "network",
            1,
            {"num_spots": count_of("spot"), "zone_name": TEXT},
            opaque=("offroad",),
        ),
        Kind(
            "perimeter",
            "zone",
            2,
            {"num_perimeterpoints": count_of("points")},
            ("exit",),
            "perimeter points",
        ),
        Kind(
            "spot",
            "zone",
            2,
            {"spot_width": WIDTH},
            ("checkpoint",),
            "points",
        ),
        Kind(
            "intersection",
            "network",
            1,
            {"num_trafficlights": count_of("trafficlight", required=False)},
        ),
        Kind(
            "trafficlight",
            "intersection",
            2,
            {"group_id": Field(), "position": Field(number("a coordinate"), 3)},
            opaque=("orientation",),
            loose=True,
        ),
    )
}

ENDS: Mapping[str, Kind] = {f"end_{name}": kind for name, kind in KINDS.items()}
WRAPPERS = ("waypoint", "end_waypoint")  # wrappers of lane points for some parsers, without meaning
FIELDS = frozenset(keyword for kind in (NETWORK, *KINDS.values()) for keyword in kind.fields)
KEYWORDS: Mapping[str, str] = {
    keyword.lower(): keyword for keyword in (*FIELDS, *OPTIONS, *KINDS, *ENDS, *WRAPPERS, "end_file", *NETWORK.opaque)
}
