"""Grammar of URDF as tables: contents of elements, and ranges of numbers.

One row is one line of the table in ``docs/formats/urdf.md``, which a test compares with it.
"""

from __future__ import annotations

from typing import NamedTuple

from cbsim.formats.values import Quantity

__all__ = ["FOREIGN_SHAPES", "GRAMMAR", "IGNORED", "KEEPERS", "QUANTITIES", "SDF", "SHAPES", "Row"]


class Row(NamedTuple):
    """What an element may hold.

    Attributes
    ----------
    attributes : tuple of str
        Its attributes.
    children : tuple of str
        Its elements.
    single : tuple of str
        Those of them that count once.
    """

    attributes: tuple[str, ...] = ()
    children: tuple[str, ...] = ()
    single: tuple[str, ...] = ()


JOINT_PARTS = ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic")
LOOP_PARTS = ("link1", "link2", "axis", "limit", "dynamics")

GRAMMAR: dict[str, Row] = {
    "robot": Row(("name", "version"), ("link", "joint", "loop_joint", "material")),
    "link": Row(("name", "type"), ("inertial", "visual", "collision"), ("inertial",)),
    "inertial": Row((), ("origin", "mass", "inertia"), ("origin", "mass", "inertia")),
    "visual": Row(("name",), ("origin", "geometry", "material"), ("origin", "geometry", "material")),
    "collision": Row(("name", "group"), ("origin", "geometry"), ("origin", "geometry")),
    "geometry": Row((), ("box", "cylinder", "sphere", "capsule", "pyramid", "mesh")),
    "origin": Row(("xyz", "rpy", "quat_xyzw")),
    "mass": Row(("value",)),
    "inertia": Row(("ixx", "ixy", "ixz", "iyy", "iyz", "izz")),
    "box": Row(("size",)),
    "cylinder": Row(("radius", "length")),
    "sphere": Row(("radius",)),
    "capsule": Row(("radius", "length")),
    "pyramid": Row(("width", "height")),
    "mesh": Row(("filename", "scale")),
    "material": Row(("name",), ("color", "texture"), ("color", "texture")),
    "color": Row(("rgba",)),
    "texture": Row(("filename",)),
    "joint": Row(("name", "type"), JOINT_PARTS, JOINT_PARTS),
    "parent": Row(("link",)),
    "child": Row(("link",)),
    "axis": Row(("xyz",)),
    "limit": Row(("lower", "upper", "effort", "velocity", "acceleration", "deceleration", "jerk")),
    "dynamics": Row(("damping", "friction")),
    "mimic": Row(("joint", "multiplier", "offset")),
    "loop_joint": Row(("name", "type"), LOOP_PARTS, LOOP_PARTS),
    "link1": Row(("link", "xyz", "rpy")),
    "link2": Row(("link", "xyz", "rpy")),
}

SHAPES: dict[str, tuple[str, ...]] = {
    "box": ("size",),
    "cylinder": ("radius", "length"),
    "sphere": ("radius",),
    "capsule": ("radius", "length"),
    "pyramid": ("width", "height"),
}
"""Kind of geometry → attributes that make up its size; a box has three numbers in one."""

FOREIGN_SHAPES: dict[str, str] = {
    "plane": "Bullet", "cdf": "Bullet", "ellipsoid": "Drake and SDF", "cone": "SDF", "convex": "Drake",
    "heightmap": "SDF", "image": "SDF", "polyline": "SDF", "empty": "SDF", "torus": "RBDyn", "superellipsoid": "RBDyn",
}  # fmt: skip
"""Kind of geometry that a dialect of URDF has → whose it is: left out with a warning."""

KEEPERS = ("robot", "link", "joint", "loop_joint")
"""Elements whose strangers are kept, and written back."""

SDF: dict[str, str] = {
    "pose": "'origin' with xyz and rpy",
    "uri": "the attribute 'filename'",
    "model": "one robot in a file, its links right in it",
    "static": "a link called 'world' that holds what stands still",
    "include": "one robot in a file",
}
"""Elements of SDF → what URDF has for them."""

IGNORED = frozenset(
    {
        "transmission", "gazebo", "sensor", "ros2_control", "safety_controller", "calibration", "contact",
        "contact_coefficients", "collision_checking", "self_collision_checking", "verbose", "frame", "mujoco", "plugin",
        "hardwareInterface", "group", "group_state", "disable_collisions", "drake", "audio_bag", "dynamic_reconfigure",
    }
)  # fmt: skip
"""Elements that other programs read: kept and told of in a remark, since nothing is wrong with them."""

QUANTITIES: dict[str, Quantity] = {
    "length": Quantity("length", "m"),
    "angle": Quantity("angle", "rad"),
    "size": Quantity("size", "m", least=0.0),
    "mass": Quantity("mass", "kg", least=0.0),
    "inertia": Quantity("inertia", "kg m²"),
    "plain": Quantity("number"),
    "share": Quantity("share", "", least=0.0, most=1.0),
    "coefficient": Quantity("coefficient", "", least=0.0),
}
