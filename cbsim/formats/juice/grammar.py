"""Grammar of Juice files as tables: what every element holds, in Juice's own order, with defaults and ranges.

Reading and writing follow these rows, and a test compares them with the table of ``docs/formats/juice.md``.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from cbsim.spec.juice import FUNCTIONS, Attitude
from cbsim.spec.objects import UNIT, ZERO

__all__ = [
    "ANY",
    "ATTRIBUTES",
    "CONSTANTS",
    "ELEMENTS",
    "GATHERED",
    "IGNORED",
    "LISTS",
    "MOST",
    "Item",
    "Range",
]

MOST = 1e12  # larger values are uninitialised memory


class Range(NamedTuple):
    """Range of an item: closed bounds, except an open lower one."""

    least: float = -MOST
    above: float = -math.inf
    most: float = MOST

    @property
    def words(self) -> str:
        """The range in words."""
        low = f"more than {self.above:g}" if self.above > -MOST else f"at least {self.least:g}"
        parts = [] if max(self.least, self.above) <= -MOST else [low]
        return " and ".join([*parts, *([f"at most {self.most:g}"] if self.most < MOST or not parts else [])])


ANY, POSITIVE, NATURAL = Range(), Range(above=0.0), Range(least=0.0)


class Item(NamedTuple):
    """An element inside another.

    Attributes
    ----------
    tag : str
        Its name in a file.
    field : str
        Field in `cbsim.spec.juice`.
    kind : str
        ``number``, ``id``, ``reference``, ``text``, ``flag``, ``choice``, ``triple`` or ``attitude``.
    default : object
        Default value; None if it is required.
    note : str
        Support of the item.
    range : Range
        Of a number, or of each of three.
    old : tuple of str
        Names in older files.
    """

    tag: str
    field: str
    kind: str
    default: Any
    note: str
    range: Range = ANY
    old: tuple[str, ...] = ()


COMPONENT = (
    Item("ID", "id", "id", None, "unique among bodies, and among joints"),
    Item("Name", "name", "text", "", "part of the name in the mechanism"),
    Item("Position", "position", "triple", ZERO, "`X` `Y` `Z` [m]"),
    Item(
        "Rotation", "attitude", "attitude", Attitude(), "`Y` `P` `R`: yaw, pitch, roll [degrees]", old=("Orientation",)
    ),
    Item("Twin", "twin", "reference", 0, "symmetric editing; checked"),
)
BODY = (
    *COMPONENT,
    Item("BoxDimensions", "box", "triple", UNIT, "`X` `Y` `Z` of a box [m]", old=("Dimensions",)),
    Item("TubeLength", "tube_length", "number", 1.0, "of a capsule without its caps, or a cylinder [m]"),
    Item("TubeDiameter", "tube_diameter", "number", 1.0, "of a capsule or cylinder [m]"),
    Item("BallDiameter", "ball_diameter", "number", 1.0, "of a sphere [m]"),
    Item("Shape", "shape", "choice", 1, "1 box, 2 capsule, 3 sphere, 4 cylinder: looks, inertia and what touches"),
    Item("Mass", "mass", "number", 1.0, "[kg]", POSITIVE),
)
JOINT = (
    *COMPONENT,
    Item("Body1", "body1", "reference", 0, "whose motion against the second counts"),
    Item("Body2", "body2", "reference", 0, ""),
    Item("Gain", "gain", "number", 10.0, "of the servo; none on a ball", NATURAL),
    Item("MaxForce", "max_force", "number", 100.0, "of the motor [N m or N]; none on a ball", NATURAL),
    Item("LoStopValue", "low", "number", 0.0, "[degrees or m]; none on a ball"),
    Item("HiStopValue", "high", "number", 0.0, "[degrees or m]; none on a ball"),
    Item("LoStopFlag", "has_low", "flag", False, "whether it counts"),
    Item("HiStopFlag", "has_high", "flag", False, "whether it counts"),
)
LENGTH = Item("Length", "length", "number", 1.0, "of what is drawn [m]")
DIAMETER = Item("Diameter", "diameter", "number", 0.25, "of what is drawn [m]")
NODE = (
    Item("ID", "id", "id", None, "unique in the network"),
    Item("Name", "name", "text", "", "kept"),
    Item("X", "x", "number", 0.0, "of the drawing; kept"),
    Item("Y", "y", "number", 0.0, "of the drawing; kept"),
)
HEAD = (
    Item("Name", "name", "text", "", "kept"),
    Item("Enabled", "enabled", "flag", True, "whether it acts"),
)

CONSTANTS = (
    Item("Gravity", "gravity", "number", 9.81, "downwards [m/s²]"),
    Item("Friction", "friction", "number", 10.0, "largest friction of a contact along each tangent [N]", NATURAL),
    Item("ERP", "erp", "number", 0.5, "of contacts, stops and the points of joints", Range(above=0.0, most=1.0)),
    Item("CFM", "cfm", "number", 0.01, "of contacts, stops, motors and the points of joints", NATURAL),
)
"""What a ``DynamicsConstants`` block of the third dialect holds too."""

ENGINE = (
    Item("StandardSpeed", "standard_speed", "number", 15.0, "of the main engine [turns per minute]"),
    Item("SpeedFactor", "speed_factor", "number", 1.0, "`speed_factor`"),
    Item("PoseDelay", "pose_delay", "number", 1.0, "how long the engine waits [s]", NATURAL),
    Item("PosePhase", "pose_phase", "number", 0.0, "where it waits [degrees]"),
)
BOUNCE = Item("Bounce", "bounce", "number", 0.0, "restitution of contacts", Range(least=0.0, most=1.0))

ELEMENTS: dict[str, tuple[Item, ...]] = {
    "Model": (*CONSTANTS, *ENGINE),
    "ODE.Standard": (*CONSTANTS, BOUNCE),
    "Body": BODY,
    "RevoluteJoint": (*JOINT, LENGTH, DIAMETER),
    "PrismaticJoint": (*JOINT, LENGTH, DIAMETER),
    "SphericalJoint": (*(item._replace(range=ANY) for item in JOINT), DIAMETER),  # its motor has no effect
    "Clockwork": (
        *HEAD,
        Item("Gain", "gain", "number", 100.0, "factor of all amplitudes [%]"),
        Item("MotionSource", "source", "choice", 1, "1 main engine … 15 keys, below"),
        Item("AmpModSource", "amplitude_source", "choice", 0, "0 none, 1–4 `joystick1.x` … `r`: another factor"),
        Item("AbsoluteValue", "absolute", "flag", False, "ignored, as in Juice"),
        Item("FeedbackSource", "feedback", "reference", 0, "body of sources 6–8"),
    ),
    "ClockworkMotor": (
        Item("JointID", "joint", "reference", 0, ""),
        Item("Enabled", "enabled", "flag", True, "whether it acts"),
        Item("Offset", "offset", "number", 0.0, "[degrees or m]"),
        Item("MotionType", "motion", "choice", 0, "0 none, 1 sine, 2 double sine, 3 step, 4 continuous (sliders)"),
        Item("Phase", "phase", "number", 0.0, "[degrees]"),
        Item("Amplitude", "amplitude", "number", 0.0, "[degrees or m]"),
    ),
    "MotionLink": (
        Item("Gain", "gain", "number", 0.0, "of the joint, before it stood there", old=("GainP",)),
        Item("MaxForce", "max_force", "number", 0.0, "of the joint, before it stood there"),
    ),
    "NetworkBehavior": (*HEAD, Item("Gain", "gain", "number", 100.0, "ignored, as in Juice")),
    "MotorNode": (
        *NODE,
        Item("JointID", "joint", "reference", 0, "", old=("MotorID",)),
        Item("MotorType", "type", "choice", 1, "1 position [degrees or m], 2 velocity [rad/s] (hinges alone)"),
    ),
    **{
        kind: (*NODE, *(Item(tag, tag, "flag" if tag == "AddFirst" else "number", default, "")
                        for tag, default in numbers))
        for kind, numbers in FUNCTIONS.items()
    },
    "MotionSourceNode": (
        *NODE,
        Item("MotionSource", "source", "choice", 0, "as of a `Clockwork`"),
        Item("AmpModSource", "amplitude_source", "choice", 0, "ignored, as in Juice"),
        Item("BodyFeedbackSource", "feedback", "reference", 0, "body of sources 6–8"),
    ),
    "Edge": (
        Item("Source", "source", "reference", 0, "node"),
        Item("Destination", "destination", "reference", 0, "node"),
        Item("Factor", "factor", "number", 1.0, ""),
    ),
}  # fmt: skip
"""Element → what it holds, in the order in which Juice writes it."""

LISTS: dict[str, tuple[str, ...]] = {
    "JuiceFile": ("DynamicsConstants", "Model"),
    "Model": ("Bodies", "RevoluteJoints", "PrismaticJoints", "SphericalJoints", "Behaviors"),
    "Bodies": ("Body",),
    "RevoluteJoints": ("RevoluteJoint",),
    "PrismaticJoints": ("PrismaticJoint",),
    "SphericalJoints": ("SphericalJoint",),
    "Behaviors": ("Clockwork", "Behavior", "NetworkBehavior"),
    "Clockwork": ("ClockworkMotors", "MotionLinks", "MotionLink"),
    "ClockworkMotors": ("ClockworkMotor", "MotionLink"),
    "NetworkBehavior": ("MotorNodes", "FunctionNodes", "MotionSourceNodes", "Edges"),
    "MotorNodes": ("MotorNode",),
    "FunctionNodes": tuple(FUNCTIONS),
    "MotionSourceNodes": ("MotionSourceNode",),
    "Edges": ("Edge",),
    "DynamicsConstants": ("ODE.Standard",),
}
"""Element → elements that it lists."""

GATHERED = frozenset((
    "Bodies", *(f"{kind}s" for kind in ("RevoluteJoint", "PrismaticJoint", "SphericalJoint")), "Behaviors",
    "ClockworkMotors", "MotionLinks", "MotorNodes", "FunctionNodes", "MotionSourceNodes", "Edges",
))  # fmt: skip
"""Lists of which there should be one; of several, all that they hold counts."""

ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "Model": ("FileVersion",),
    "JuiceFile": ("FileVersion", "SerializationVersion"),
}
"""Element → attributes that it may have; all other elements have none."""

IGNORED: dict[str, tuple[str, ...]] = {
    "*": ("SerializationID",),
    "RevoluteJoint": ("RestAngle", "GainP", "GainI", "GainD"),
    "PrismaticJoint": ("RestAngle", "GainP", "GainI", "GainD"),
    "SphericalJoint": ("Length",),
    "ClockworkMotor": ("Gain", "MaxForce", "GainP", "GainI", "GainD"),
    "MotionLink": ("GainI", "GainD"),
    "NetworkBehavior": ("MotionLinks",),
    "DynamicsConstants": ("ODE.Iterative", "Novodex"),
}
"""Elements of older and later files that say nothing here, or that are read elsewhere."""
