"""Contents of a CajunBot object file of version 1 or 2 (docs/formats/objects.md).

Angles in radians, everything else SI; numbers keep their text where a file wrote them. Axes of sizes and offsets are
the body's: x right, y forward, z up.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import NamedTuple

from cbsim.errors import Location
from cbsim.spec.brief import brief
from cbsim.spec.road import PointId

__all__ = [
    "Controller",
    "Goal",
    "Kind",
    "MeshFile",
    "ObjectFile",
    "ScriptEntry",
    "SensorMount",
    "ShapeKind",
    "Steering",
    "TrafficObject",
    "Triple",
    "WheelType",
    "Wheels",
]


class Kind(StrEnum):
    """Type of an object; the v1 codes are 0, 1, 2, 3 in this order."""

    AUTONOMOUS = "autonomous"
    DYNAMIC = "dynamic"
    STATIC = "static"
    MESH = "mesh"


class Controller(IntEnum):
    """Who moves an object; the numbers are those of v1 files."""

    SENSOR = 0
    MANUAL = 1
    SCRIPT = 2
    WAYPOINT = 3


class ShapeKind(IntEnum):
    """Outline of an object; the numbers are those of v1 files."""

    BOX = 0
    SPHERE = 1
    CYLINDER = 2
    WHEEL = 3
    MESH = 4


class WheelType(IntEnum):
    """Skid: two levers, left and right. Conventional: a steering wheel."""

    SKID = 0
    CONVENTIONAL = 1


class Triple(NamedTuple):
    """Three numbers along the axes x, y, z."""

    x: float
    y: float
    z: float


ZERO = Triple(0.0, 0.0, 0.0)
UNIT = Triple(1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Goal:
    """A place to go to.

    Attributes
    ----------
    speed : float
        [m/s], ≥ 0; 0 never arrives.
    pause : float
        Seconds to wait after arriving.
    segment, lane : int
        The lane.
    waypoint : int or None
        None stands for every remaining waypoint of the lane (D14).
    broken : bool
        True if the file's numbers were refused, so that the reference cannot be checked.
    """

    speed: float
    pause: float
    segment: int
    lane: int
    waypoint: int | None
    location: Location = field(default=Location(""), compare=False)
    broken: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class ScriptEntry:
    """Turn to a map heading, drive, wait (D9): speed [m/s], pause [s], distance [m], angle [rad, 0 north, CCW +]."""

    speed: float
    pause: float
    distance: float
    angle: float
    location: Location = field(default=Location(""), compare=False)


@dataclass(frozen=True, slots=True)
class SensorMount:
    """A sensor of an autonomous object: its conf file, the v1 type code, free text; `broken` if it was refused."""

    conf: str
    type_code: int | None = None
    description: str | None = None
    location: Location = field(default=Location(""), compare=False)
    broken: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Wheels:
    """Wheel type, radius [m] and width [m]."""

    type: WheelType = WheelType.CONVENTIONAL
    radius: float = 0.38
    width: float = 0.20


@dataclass(frozen=True, slots=True)
class Steering:
    """Slew limits of the normalised throttle and lever [full scale per second] (D21)."""

    throttle_rate: float = 2.0
    lever_rate: float = 0.5


@dataclass(frozen=True, slots=True)
class MeshFile:
    """Reference to a vertices or indices file; `mode` is ``full`` or ``base`` (D27); `broken` if it was refused."""

    path: str
    mode: str = "base"
    location: Location = field(default=Location(""), compare=False)
    broken: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class TrafficObject:
    """One object of the file; fields that its kind does not have are None or empty.

    Attributes
    ----------
    kind : Kind
        Type.
    name : str
        Name; v1 files have none, there it is ``object <id>``, and ``mesh <k>`` for the k-th mesh.
    identifier : int or None
        v1 id, or the v2 extension attribute ``id``.
    shape : ShapeKind
        Outline; `ShapeKind.MESH` for mesh objects.
    anchor : PointId or None
        Waypoint (lane 0 for a perimeter point) whose place and lane heading the offsets are relative to; None for the
        map's origin.
    position_offset : Triple
        [m] in the anchor's frame: x to the right of the lane, y along it, z height of the bottom (D18, D19).
    orientation_offset : Triple
        [rad] about the body axes x, y, z: pitch, roll, yaw; R = Rz·Rx·Ry (D16).
    size : Triple
        [m] width, length, height (D17, D20).
    controller : Controller or None
        None for static and mesh objects.
    wheels, steering, sensors
        Of an autonomous (v1: dyn_sim) object.
    initial_pause, goals, script
        Of a moving object.
    vertices, indices, drivable
        Of a mesh; a drivable mesh is ground for wheels and lasers.
    parameters : tuple of (str, float)
        Extension attributes that override vehicle defaults, in file order.
    reactive : bool
        True for a dynamic object that drives to its goals as traffic does, instead of by their times.
    drive : str or None
        Name of the plant model in `cbsim.spec.drives.DRIVES`; None for the default of the wheels.
    extensions : tuple of str
        Elements and attributes this reader does not know, written back as they stood: ``<note/>``, ``colour="red"``,
        or of a child ``goal[2] colour="red"``.
    broken : bool
        True where the file's word for the kind or the controller was refused and a guess stands in, so that nothing
        may be concluded from it.
    """

    kind: Kind
    name: str
    identifier: int | None = None
    shape: ShapeKind = ShapeKind.BOX
    anchor: PointId | None = None
    position_offset: Triple = ZERO
    orientation_offset: Triple = ZERO
    size: Triple = UNIT
    controller: Controller | None = None
    wheels: Wheels | None = None
    steering: Steering | None = None
    sensors: tuple[SensorMount, ...] = ()
    initial_pause: float = 0.0
    goals: tuple[Goal, ...] = ()
    script: tuple[ScriptEntry, ...] = ()
    vertices: MeshFile | None = None
    indices: MeshFile | None = None
    drivable: bool = False
    parameters: tuple[tuple[str, float], ...] = ()
    drive: str | None = None
    reactive: bool = False
    extensions: tuple[str, ...] = field(default=(), compare=False)
    location: Location = field(default=Location(""), compare=False)
    anchor_location: Location = field(default=Location(""), compare=False)
    broken: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class ObjectFile:
    """A whole object file.

    `version` is 1 or 2, `name` is ``Default`` where the format has none; `broken` where objects of the file are missing
    here because of their errors.
    """

    name: str
    objects: tuple[TrafficObject, ...]
    version: int = field(default=2, compare=False)
    extensions: tuple[str, ...] = field(default=(), compare=False)
    location: Location = field(default=Location(""), compare=False)
    broken: bool = field(default=False, compare=False)

    __repr__ = brief
