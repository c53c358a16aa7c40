"""Contents of a Juice file: bodies, joints and behaviours.

Lengths, masses and times are SI as written (a Juice unit of length is a metre). Angles are degrees here, as in the
file, because behaviours mix them with lengths and pure numbers; `cbsim.models.juice.build` turns them into radians.
Numbers keep their text where a file wrote them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import NamedTuple

from cbsim.errors import Location
from cbsim.spec.brief import brief
from cbsim.spec.objects import UNIT, ZERO, Triple

__all__ = [
    "FUNCTIONS",
    "Attitude",
    "BodyShape",
    "Clockwork",
    "ClockworkMotor",
    "Edge",
    "FunctionNode",
    "JointKind",
    "JuiceBody",
    "JuiceJoint",
    "JuiceModel",
    "Motion",
    "MotorNode",
    "MotorType",
    "Network",
    "Source",
    "SourceNode",
]

NOWHERE = Location("")


class BodyShape(IntEnum):
    """Shape of a body; the numbers are the file's."""

    BOX = 1
    CAPSULE = 2
    SPHERE = 3
    CYLINDER = 4


class JointKind(StrEnum):
    """Kind of a joint; the values are the file's elements."""

    HINGE = "RevoluteJoint"
    SLIDER = "PrismaticJoint"
    BALL = "SphericalJoint"


class Source(IntEnum):
    """Source of a behaviour; the numbers are the file's."""

    NONE = 0
    ENGINE = 1
    JOYSTICK1_X = 2
    JOYSTICK1_Y = 3
    JOYSTICK1_Z = 4
    JOYSTICK1_R = 5
    YAW = 6
    PITCH = 7
    ROLL = 8
    HINGE = 9  # never used by Juice: always zero
    JOYSTICK2_X = 10
    JOYSTICK2_Y = 11
    JOYSTICK2_Z = 12
    JOYSTICK2_R = 13
    KEY_UP_DOWN = 14
    KEY_LEFT_RIGHT = 15


class Motion(IntEnum):
    """How a clockwork motor follows the main engine; the numbers are the file's."""

    NONE = 0
    SINE = 1
    DOUBLE_SINE = 2
    STEP = 3
    CONTINUOUS = 4


class MotorType(IntEnum):
    """Request of a network to a joint; the numbers are the file's."""

    POSITION = 1
    VELOCITY = 2


FUNCTIONS: dict[str, tuple[tuple[str, float], ...]] = {
    "ArithmeticNode": (("Add", 0.0), ("Multiply", 1.0), ("AddFirst", 0.0)),
    "WaveNode": (("DutyCycle", 100.0), ("OutputRange", 45.0), ("OutputOffset", 0.0)),
    "ConstantNode": (("Value", 0.0),),
    "LimitNode": (("Minimum", -1.0), ("Maximum", 1.0)),
    "AbsoluteValueNode": (),
    "MultiplyNode": (),
}
"""Kind of a function node → its numbers with their defaults."""


class Attitude(NamedTuple):
    """Rotation of a part at design time [degrees]: R = Rz(yaw) Rx(pitch) Ry(roll)."""

    yaw: float = 0.0
    pitch: float = 0.0
    roll: float = 0.0


LEVEL = Attitude()


@dataclass(frozen=True, slots=True)
class JuiceBody:
    """A rigid body.

    Attributes
    ----------
    id : int
        Unique among the bodies of a file, 1 to 2³² − 1.
    name : str
        Any; several may share one.
    position : Triple
        Centre of mass and of the shape [m].
    attitude : Attitude
        [degrees].
    twin : int
        Body that is its mirror image in the plane x = 0; 0 for none.
    box : Triple
        Edges, of a box [m].
    tube_length, tube_diameter : float
        Of a capsule (without its caps) or a cylinder, along z [m].
    ball_diameter : float
        Of a sphere [m].
    shape : BodyShape
    mass : float
        [kg].
    """

    id: int
    name: str = ""
    position: Triple = ZERO
    attitude: Attitude = LEVEL
    twin: int = 0
    box: Triple = UNIT
    tube_length: float = 1.0
    tube_diameter: float = 1.0
    ball_diameter: float = 1.0
    shape: BodyShape = BodyShape.BOX
    mass: float = 1.0
    location: Location = field(default=NOWHERE, compare=False)

    @property
    def size(self) -> tuple[float, ...]:
        """Sizes of its shape [m]."""
        if self.shape == BodyShape.BOX:
            return tuple(self.box)
        if self.shape == BodyShape.SPHERE:
            return (self.ball_diameter,)
        return (self.tube_length, self.tube_diameter)


@dataclass(frozen=True, slots=True)
class JuiceJoint:
    """A joint between two bodies.

    Attributes
    ----------
    kind : JointKind
    id, name, position, attitude, twin
        As `JuiceBody` has them; the joint's axis is its z.
    body1, body2 : int
        Bodies that it joins; its coordinate is that of the first against the second.
    gain : float
        Of its servo: a tenth of it times the error [degrees or m] is the velocity asked for [rad/s or m/s].
    max_force : float
        Of its motor [N m or N].
    low, high : float
        Stops [degrees or m].
    has_low, has_high : bool
        Whether they count.
    length, diameter : float
        Size of its drawing [m]: a cylinder along its axis, or the ball of a ball joint.
    """

    kind: JointKind
    id: int
    name: str = ""
    position: Triple = ZERO
    attitude: Attitude = LEVEL
    twin: int = 0
    body1: int = 0
    body2: int = 0
    gain: float = 10.0
    max_force: float = 100.0
    low: float = 0.0
    high: float = 0.0
    has_low: bool = False
    has_high: bool = False
    length: float = 1.0
    diameter: float = 0.25
    location: Location = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class ClockworkMotor:
    """A joint driven by a clockwork.

    Attributes
    ----------
    joint : int
    enabled : bool
    offset : float
        [degrees or m].
    motion : int
        One of `Motion`; kept unchanged if it has no effect.
    phase : float
        [degrees].
    amplitude : float
        [degrees or m].
    """

    joint: int
    enabled: bool = True
    offset: float = 0.0
    motion: int = Motion.NONE
    phase: float = 0.0
    amplitude: float = 0.0
    location: Location = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Clockwork:
    """A behaviour by which one source moves several joints.

    Attributes
    ----------
    gain : float
        Factor of all amplitudes [%].
    source, amplitude_source : int
        One of `Source`; of the latter 0 or 1 to 4, the axes of the first joystick.
    absolute : bool
        Ignored, as in Juice.
    feedback : int
        Body whose attitude is the source; 0 for none.
    """

    name: str = ""
    enabled: bool = True
    gain: float = 100.0
    motors: tuple[ClockworkMotor, ...] = ()
    source: int = Source.ENGINE
    amplitude_source: int = 0
    absolute: bool = False
    feedback: int = 0
    location: Location = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class MotorNode:
    """Output of a network to a joint: a position [degrees or m], or a velocity [rad/s] of a hinge."""

    id: int
    name: str = ""
    x: float = 0.0
    y: float = 0.0
    joint: int = 0
    type: int = MotorType.POSITION
    location: Location = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class FunctionNode:
    """A function in a network: ``kind`` is one of `FUNCTIONS`, ``numbers`` are in its order."""

    kind: str
    id: int
    name: str = ""
    x: float = 0.0
    y: float = 0.0
    numbers: tuple[float, ...] = ()
    location: Location = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class SourceNode:
    """Input of a network; ``amplitude_source`` is kept but unused, as in Juice."""

    id: int
    name: str = ""
    x: float = 0.0
    y: float = 0.0
    source: int = Source.NONE
    amplitude_source: int = 0
    feedback: int = 0
    location: Location = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Edge:
    """From a node to a node, with a factor."""

    source: int
    destination: int
    factor: float = 1.0
    location: Location = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Network:
    """A behaviour of nodes and edges; its gain is kept but unused, as in Juice."""

    name: str = ""
    enabled: bool = True
    gain: float = 100.0
    motors: tuple[MotorNode, ...] = ()
    functions: tuple[FunctionNode, ...] = ()
    sources: tuple[SourceNode, ...] = ()
    edges: tuple[Edge, ...] = ()
    location: Location = field(default=NOWHERE, compare=False)

    @property
    def nodes(self) -> tuple[SourceNode | FunctionNode | MotorNode, ...]:
        """All nodes: sources, functions, motors."""
        return (*self.sources, *self.functions, *self.motors)


@dataclass(frozen=True, slots=True, repr=False)
class JuiceModel:
    """A Juice file.

    Attributes
    ----------
    gravity : float
        Downwards [m/s²].
    friction : float
        Largest friction of a contact along each of two tangents [N].
    erp, cfm : float
        Share of an error that a step corrects; compliance [m/(N s) or rad/(N m s)].
    standard_speed : float
        Of the main engine [turns per minute].
    speed_factor : float
        Factor of the user's slider, −2 to 2.
    pose_delay : float
        Waiting time of the engine [s].
    pose_phase : float
        Phase while it waits [degrees; see ``pose_phase_units``].
    bodies, joints, behaviours : tuple
        Joints are sorted by kind, as a file has them.
    bounce : float
        Restitution of contacts, 0 to 1; a file of the third dialect says it.
    dialect : str
        Dialect of the file: ``1``, ``early``, ``pre-1`` or ``3``.
    """

    gravity: float = 9.81
    friction: float = 10.0
    erp: float = 0.5
    cfm: float = 0.01
    standard_speed: float = 15.0
    speed_factor: float = 1.0
    pose_delay: float = 1.0
    pose_phase: float = 0.0
    bodies: tuple[JuiceBody, ...] = ()
    joints: tuple[JuiceJoint, ...] = ()
    behaviours: tuple[Clockwork | Network, ...] = ()
    bounce: float = 0.0
    dialect: str = field(default="1", compare=False)
    location: Location = field(default=NOWHERE, compare=False)

    __repr__ = brief

    def __post_init__(self) -> None:
        order = list(JointKind)
        object.__setattr__(self, "joints", tuple(sorted(self.joints, key=lambda joint: order.index(joint.kind))))

    def sound_joints(self) -> tuple[JuiceJoint, ...]:
        """Joints between two different existing bodies; the others are left out of the mechanism."""
        known = {body.id for body in self.bodies}
        return tuple(j for j in self.joints if {j.body1, j.body2} <= known and j.body1 != j.body2)
