"""Grammar of Shift files: all keys of both dialects, with types and support.

The models check types and shapes of one record each; the JSON Schema for editors and the table in the documentation are
generated from them. Values are interpreted in `cbsim.formats.shift.reader`.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

__all__ = [
    "LIMIT",
    "RECORDS",
    "AssemblyRecord",
    "BodyRecord",
    "FileRecord",
    "FixedRecord",
    "ForceModuleRecord",
    "FrameRecord",
    "InertiaRecord",
    "InputRecord",
    "JointRecord",
    "LightRecord",
    "MeshRecord",
    "OutputRecord",
    "ParametersRecord",
    "PlacementRecord",
    "Record",
    "RestraintRecord",
    "SimulationRecord",
    "TerrainRecord",
    "UnitsRecord",
]

LIMIT = 1e12  # of any number of a file
MATRIX, TRIPLE, LISTED = "three lists of three numbers", "three numbers", "a list of numbers"  # for messages
NUMBER = {"type": "number"}
VECTOR = {"type": "array", "items": NUMBER, "minItems": 3, "maxItems": 3}

Number = Annotated[float, Field(allow_inf_nan=False, ge=-LIMIT, le=LIMIT)]
Vector = Annotated[list[Number], Field(min_length=3, max_length=3)]
Matrix = Annotated[list[Vector], Field(min_length=3, max_length=3)]
Name = Annotated[str, Field(min_length=1, max_length=1000)]
Numbers = list[Number]
Pair = Annotated[
    Any,
    WithJsonSchema({"description": "[body, frame], [[assembly, …, body], frame] or 'assembly:body:frame'"}),
]
Pairs = Annotated[Any, WithJsonSchema({"type": "array", "minItems": 2, "maxItems": 2})]
Coordinate = Annotated[Any, WithJsonSchema({"anyOf": [NUMBER, {"type": "object"}, {"type": "array", "items": NUMBER}]})]
Rates = Annotated[Any, WithJsonSchema({"anyOf": [NUMBER, {"type": "array", "items": NUMBER}]})]
Axis = Annotated[Any, WithJsonSchema({"anyOf": [{"enum": ["x", "y", "z"]}, VECTOR]})]
Texts = Annotated[Any, WithJsonSchema({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "string"}]})]
Loose = Annotated[Any, WithJsonSchema({})]


def key(text: str, status: str = "read", *, needed: bool = False, shape: str = "") -> Any:
    """Describe a key: meaning, support, and contents of lists."""
    extra = {"status": status} | ({"shape": shape} if shape else {})
    return Field(... if needed else None, description=text, json_schema_extra=dict(extra))


class Record(BaseModel):
    """Base class of all records: strict about types and keys; null equals a missing key."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    kept: ClassVar[tuple[str, ...]] = ()  # keys that are written back unchanged

    comment: Loose = key("anything", "left out")


class Noted(Record):
    """A record whose comment is written back."""

    kept: ClassVar[tuple[str, ...]] = ("comment",)

    comment: Loose = key("anything", "kept")


class Switched(Noted):
    """A record that can be inactive."""

    active: bool | None = key("false: it is not there, nor is what refers to it")


class FrameRecord(Record):
    """A frame of a body or of the ground."""

    name: Name = key("its name, unique on its body; `origin` is every body's own", needed=True)
    R: Matrix | None = key(
        "rotation, rows of an active matrix whose columns are the frame's axes; none without", shape=MATRIX
    )
    T: Vector | None = key("translation from the body's origin; none without", shape=TRIPLE)


class PlacementRecord(Record):
    """Start pose of a spherical, rigid or float joint."""

    R: Matrix | None = key("rotation of the child's frame in the parent's", shape=MATRIX)
    T: Vector | None = key("translation of the child's frame in the parent's", shape=TRIPLE)


class LightRecord(Switched):
    """A light."""

    name: str | None = key("its name", "kept")
    type: str | None = key("`point`, `spot` or `directional`")
    parent: Pair = key("the frame it shines from, along −z; the ground's origin without")
    Ka: Loose = key("ambient color")
    Kd: Loose = key("diffuse color")
    Ks: Loose = key("specular color", "kept")
    kept: ClassVar[tuple[str, ...]] = ("Ka", "Kd", "Ks", "comment")


class TerrainRecord(Switched):
    """Ground from a picture of heights."""

    name: str | None = key("its name")
    parent: Pair = key("the frame in which it stands")
    elevation_map: str | None = key("file of the picture", "simulated where the picture is there")
    scale: Annotated[Numbers, Field(min_length=2, max_length=3)] | None = key(
        "size of a pixel along x and y", shape="two numbers, or three"
    )
    coordinate_type: str | None = key("`sae`: z is down")
    interpolation_type: str | None = key("`bicubic`, `bilinear`: heights between pixels are those of triangles", "kept")
    texture_scale: Loose = key("of the pictures that are laid on it", "kept")
    diffuse_map: Loose = key("a picture", "kept")
    specular_map: Loose = key("a picture", "kept")
    normal_map: Loose = key("a picture", "kept")
    bump_map: Loose = key("a picture", "kept")
    property_map: Loose = key("a picture", "kept")
    kept: ClassVar[tuple[str, ...]] = (
        "interpolation_type", "texture_scale", "diffuse_map", "specular_map", "normal_map", "bump_map",
        "property_map", "comment",
    )  # fmt: skip


class InertiaRecord(Record):
    """Moments about the centre of mass in the body's axes, off-diagonal ones as entries of the tensor."""

    mass: Number | None = key("mass, where the body has none of its own")
    Ixx: Number | None = key("moment about x; 1 without")
    Iyy: Number | None = key("moment about y; 1 without")
    Izz: Number | None = key("moment about z; 1 without")
    Ixy: Number | None = key("entry of the tensor; 0 without")
    Iyz: Number | None = key("entry of the tensor; 0 without")
    Izx: Number | None = key("entry of the tensor; 0 without")
    Ixz: Number | None = key("another spelling of Izx")
    Iyx: Number | None = key("another spelling of Ixy")
    Izy: Number | None = key("another spelling of Iyz")


class MeshRecord(Record):
    """Visual geometry of a body."""

    type: str | None = key("`mesh`")
    filename: Texts = key("the mesh, then its materials", "drawn; shape of what collides")


class BodyRecord(Switched):
    """A body; one without mass and inertia only connects joints."""

    name: Name = key("its name, unique in its assembly", needed=True)
    mass: Number | None = key("mass; 1 where only inertia is given")
    center_of_mass: Vector | None = key("from its origin", shape=TRIPLE)
    moment_of_inertia: Loose = key("see moment_of_inertia")
    inertia: Loose = key("see moment_of_inertia")
    frames: Loose = key("list of frames")
    definition: Texts = key("the mesh, then its materials", "drawn; shape of what collides")
    geometry: Loose = key("a geometry or a list of them", "drawn; shape of what collides")
    collision_geometry: str | None = key("`sphere`, `ellipsoid`, `convex_hull` or `plane`: it touches others")


class JointRecord(Switched):
    """A joint."""

    name: Name | None = key("its name, unique in its assembly")
    type: str = key("see the table of joints", needed=True)
    axis: Axis = key("of a revolute or prismatic joint: a direction, or `x`, `y`, `z`")
    body_frame_pairs: Pairs = key("the parent's frame and the child's")
    body_frame_pair: Pairs = key("another spelling of body_frame_pairs")
    parent: Pair = key("the parent's frame")
    child: Pair = key("the child's frame")
    initial_displacement: Coordinate = key("coordinate at the start; {R, T} of spherical, rigid and float joints")
    initial_velocity: Rates = key("rate at the start; of a float joint six, along and about the parent's axes")
    stiffness: Numbers | None = key("c0, c1, …: Q = −(c0 + c1 q + …)", shape=LISTED)
    stiffness_coefficients: Numbers | None = key("another spelling of stiffness", shape=LISTED)
    damping: Numbers | None = key("d0, d1, …: Q = −(d0 + d1 q̇ + …)", shape=LISTED)
    damping_coefficients: Numbers | None = key("another spelling of damping", shape=LISTED)


class RestraintRecord(Switched):
    """A spring, a damper or friction, along a joint or between two frames."""

    name: str | None = key("its name")
    type: str = key("`spring`, `damper` or `friction`", needed=True)
    joint: Texts = key("the joint along whose coordinate it acts")
    body_frame_pair: Pairs = key("the frames between which it acts")
    body_frame_pairs: Pairs = key("another spelling of body_frame_pair")
    distance_type: str | None = key(
        "`Tx`, `Ty`, `Tz`: along an axis of the parent's frame, else along the line between"
    )
    knot_points: Numbers | None = key("where a piece ends; a knot belongs to the next piece", shape=LISTED)
    coefficients: Loose = key("one list of a polynomial's coefficients per piece, highest power first")


class InputRecord(Record):
    """Measured quantity of a controller."""

    type: Literal["joint", "frame"] | None = key("`joint` or `frame`")
    joint: Texts = key("the joint")
    body_frame_pair: Pair = key("the frame")
    dof: str | None = key("`Tx` to `Rz` of the frame")
    coordinate_system: Literal["local", "global"] | None = key("whose axes: the frame's or the ground's")
    target_type: Literal["position", "velocity"] | None = key("which it is; velocity of frames, position of joints")


class OutputRecord(Record):
    """Driven quantity of a controller."""

    type: Literal["joint"] | None = key("`joint`")
    joint: Texts = key("the joint")


class ForceModuleRecord(Switched):
    """A force that is built into the format's engine."""

    type: str = key("`pid` or `tire`; others are refused unless they are not active", needed=True)
    name: str | None = key("its name")
    p: Number | None = key("gain of a controller on the error")
    i: Number | None = key("gain on its integral")
    d: Number | None = key("gain on its rate")
    target: Number | None = key("what the controller wants")
    input: Loose = key("what the controller watches")
    output: Loose = key("what it drives")
    tire_type: str | None = key("`fiala`; `pac2002` and others are refused by name")
    wheel_body: Texts = key("the body that the tyre is on, which turns about its y axis")
    definition: str | None = key("file of the tyre's numbers, in the .tir format of property files")
    use_transient_slip: bool | None = key("relaxation of slip", "kept")
    unloaded_radius: Number | None = key("of the tyre", "an extension of ours")
    vertical_stiffness: Number | None = key("of the tyre", "an extension of ours")
    vertical_damping: Number | None = key("of the tyre", "an extension of ours")
    rolling_resistance: Number | None = key("lever arm of the normal force", "an extension of ours")
    cslip: Number | None = key("longitudinal force by slip", "an extension of ours")
    calpha: Number | None = key("lateral force by slip angle", "an extension of ours")
    umin: Number | None = key("friction at full slip", "an extension of ours")
    umax: Number | None = key("friction without slip", "an extension of ours")
    width: Number | None = key("of the tyre", "an extension of ours")
    kept: ClassVar[tuple[str, ...]] = ("use_transient_slip", "comment")


class AssemblyRecord(Switched):
    """Bodies and joints under a name."""

    name: Name = key("its name, unique among its neighbours", needed=True)
    bodies: Loose = key("list of bodies")
    joints: Loose = key("list of joints")
    restraints: Loose = key("list of restraints, or one")
    restraint: Loose = key("another spelling of restraints")
    force_modules: Loose = key("list of force modules")
    assemblies: Loose = key("list of assemblies")


class FixedRecord(Record):
    """The ground."""

    frames: Loose = key("list of frames")
    lights: Loose = key("list of lights")
    terrain: Loose = key("list of terrains")


class UnitsRecord(Record):
    """Names of units."""

    angle: str | None = key("radians without")
    length: str | None = key("meters without")
    mass: str | None = key("kilograms without")
    time: str | None = key("seconds without")


class SimulationRecord(Noted):
    """Settings of integration, with the same keys in `simulation`, `integrator` and entries of `integrators`."""

    integration_type: str | None = key("the engine's integrator", "kept")
    type: str | None = key("the engine's integrator", "kept")
    time_span: Number | None = key("default duration of a run")
    time_step: Number | None = key("default step of a run; the model divides it into shorter ones")
    relative_error: Number | None = key("tolerance of the engine's integrator", "kept")
    absolute_error: Number | None = key("tolerance of the engine's integrator", "kept")
    omega_n: Number | None = key("frequency of the engine's stabilisation; loops stay closed here", "kept")
    infinity_norm_multiplier: Number | None = key("of the engine's solver", "kept")
    out_file: str | None = key("where the engine writes", "kept")
    contact_detection: bool | None = key("false: bodies with collision_geometry pass through each other")


class ParametersRecord(Noted):
    """Settings of the model."""

    version: Loose = key("of the format; keys decide, not this", "kept")
    units: Loose = key("names of units")
    gravity: Loose = key("acceleration in the file's axes; 0 without, with a warning")
    include_dir: Loose = key("folders of the files that it names")
    include_directories: Loose = key("another spelling of include_dir")
    simulation: Loose = key("see simulation")
    integrator: Loose = key("another spelling of simulation: an entry or a list")
    integrators: Loose = key("another spelling of simulation: a list")
    solver: Loose = key("of the engine", "kept")
    solvers: Loose = key("of the engine", "kept")
    logger: Loose = key("of the engine", "kept")
    loggers: Loose = key("of the engine", "kept")
    kept: ClassVar[tuple[str, ...]] = ("solver", "solvers", "logger", "loggers", "comment")


class FileRecord(Record):
    """The whole file."""

    model_parameters: Loose = key("settings")
    fixed: Loose = key("the ground")
    frames: Loose = key("frames of the ground, as in `fixed`")
    lights: Loose = key("lights, as in `fixed`")
    terrain: Loose = key("terrain, as in `fixed`")
    assemblies: Loose = key("list of assemblies", needed=True)


RECORDS: dict[str, type[Record]] = {
    "file": FileRecord,
    "model_parameters": ParametersRecord,
    "units": UnitsRecord,
    "simulation": SimulationRecord,
    "fixed": FixedRecord,
    "frame": FrameRecord,
    "light": LightRecord,
    "terrain": TerrainRecord,
    "assembly": AssemblyRecord,
    "body": BodyRecord,
    "geometry": MeshRecord,
    "moment_of_inertia": InertiaRecord,
    "joint": JointRecord,
    "initial_displacement": PlacementRecord,
    "restraint": RestraintRecord,
    "force_module": ForceModuleRecord,
    "input": InputRecord,
    "output": OutputRecord,
}
"""Where a record stands → its keys."""
