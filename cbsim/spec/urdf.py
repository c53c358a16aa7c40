"""Contents of a URDF file: links and joints of a robot.

Lengths in metres, angles in radians, everything else SI, as the format has it; numbers keep their text where a file
wrote them. What readers of URDF ignore is in `extensions`, as texts that are written back.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from cbsim.errors import Location
from cbsim.spec.brief import brief
from cbsim.spec.objects import UNIT, ZERO, Triple

__all__ = [
    "JOINT_TYPES",
    "Collision",
    "Frame",
    "Geometry",
    "Inertial",
    "Joint",
    "Limit",
    "Link",
    "LoopJoint",
    "Material",
    "Mimic",
    "Robot",
    "Visual",
]

NOWHERE = Location("")
ALONG_X = Triple(1.0, 0.0, 0.0)

JOINT_TYPES: dict[str, str] = {
    "revolute": "Revolute",
    "continuous": "Revolute",
    "prismatic": "Prismatic",
    "fixed": "Fixed",
    "floating": "Floating",
    "planar": "PlanarAxis",
    # Dojo's extensions
    "planaraxis": "PlanarAxis",
    "planarfree": "PlanarFree",
    "orbital": "Orbital",
    "ball": "Spherical",
    "fixedorientation": "FixedOrientation",
    "cylindrical": "Cylindrical",
    "cylindricalfree": "CylindricalFree",
    "spherical": "Spherical",  # Bullet's word
    # ours, so that every joint of the core can be written
    "planarslide": "Planar",
    "planarorbital": "PlanarOrbital",
    "prismaticorbital": "PrismaticOrbital",
    "freerevolute": "FreeRevolute",
    "freeorbital": "FreeOrbital",
}
"""Joint type → prototype of `cbsim.spec.mechanism.joints`."""


class Frame(NamedTuple):
    """Where a frame stands in another: translation, then R = Rz(yaw) Ry(pitch) Rx(roll).

    Attributes
    ----------
    xyz : Triple
        [m].
    rpy : Triple
        Roll, pitch, yaw [rad].
    """

    xyz: Triple = ZERO
    rpy: Triple = ZERO


HERE = Frame()


@dataclass(frozen=True, slots=True)
class Geometry:
    """A shape.

    Attributes
    ----------
    kind : str
        ``box``, ``cylinder``, ``sphere``, ``capsule``, ``pyramid`` or ``mesh``.
    size : tuple of float
        Box: edges; cylinder and capsule: radius, length (of a capsule without its caps); sphere: radius; pyramid:
        width, height [m]. Empty for a mesh.
    filename : str
        Of a mesh, as the file has it: ``package://…``, ``file://…`` or a relative path.
    scale : Triple
        Of a mesh, along its axes.
    """

    kind: str
    size: tuple[float, ...] = ()
    filename: str = ""
    scale: Triple = UNIT
    location: Location = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Material:
    """How a surface looks: a color (red, green, blue, opacity from 0 to 1), a texture, or a name of one that has."""

    name: str
    color: tuple[float, ...] | None = None
    texture: str | None = None
    location: Location = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Visual:
    """What a part of a link looks like."""

    geometry: Geometry
    origin: Frame = HERE
    material: Material | None = None
    name: str = ""
    location: Location = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Collision:
    """Collision geometry of a part of a link."""

    geometry: Geometry
    origin: Frame = HERE
    name: str = ""
    location: Location = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Inertial:
    """Mass of a link.

    Attributes
    ----------
    mass : float
        [kg].
    inertia : tuple of float
        ixx, ixy, ixz, iyy, iyz, izz about the centre of mass, in the inertial frame [kg m²].
    origin : Frame
        The inertial frame, whose origin is the centre of mass, in the link's.
    """

    mass: float
    inertia: tuple[float, ...]
    origin: Frame = HERE
    location: Location = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Link:
    """A rigid body and its frame.

    Attributes
    ----------
    broken : bool
        Whether an error in it has been reported: what follows from it is not told again.
    extensions : tuple of str
        What is not simulated, as texts of elements.
    """

    name: str
    inertial: Inertial | None = None
    visuals: tuple[Visual, ...] = ()
    collisions: tuple[Collision, ...] = ()
    extensions: tuple[str, ...] = ()
    location: Location = field(default=NOWHERE, compare=False)
    broken: bool = field(default=False, compare=False)

    @property
    def mass(self) -> float:
        """Mass [kg]; 0 without an inertial."""
        return 0.0 if self.inertial is None else self.inertial.mass


@dataclass(frozen=True, slots=True)
class Limit:
    """Bounds of a joint.

    Attributes
    ----------
    lower, upper : float or None
        [m or rad]; None where the file gives none, which is 0 by the format.
    effort, velocity : float or None
        Most force [N or N m] of a motor and most speed [m/s or rad/s].
    """

    lower: float | None = None
    upper: float | None = None
    effort: float | None = None
    velocity: float | None = None
    location: Location = field(default=NOWHERE, compare=False)


class Mimic(NamedTuple):
    """A joint that follows another: multiplier · coordinate + offset."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, slots=True)
class Joint:
    """A joint: the child's frame is the joint's, which stands at `origin` in the parent's while the joint is at zero.

    Attributes
    ----------
    type : str
        One of `JOINT_TYPES`.
    parent, child : str
        Names of links.
    axis : Triple
        In the joint's frame, of any length.
    limit : Limit or None
        Bounds.
    damping, friction : float
        [N s/m or N m s/rad], and static friction [N or N m].
    mimic : Mimic or None
        Which joint it should follow; kept, not simulated.
    """

    name: str
    type: str
    parent: str
    child: str
    origin: Frame = HERE
    axis: Triple = ALONG_X
    limit: Limit | None = None
    damping: float = 0.0
    friction: float = 0.0
    mimic: Mimic | None = None
    extensions: tuple[str, ...] = ()
    location: Location = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class LoopJoint:
    """Dojo's ``loop_joint``: a joint between two links that others carry already.

    Attributes
    ----------
    link1, link2 : str
        Names of links.
    origin1, origin2 : Frame
        The joint's frame in each of them; the rotation of the second is not used.
    """

    name: str
    type: str
    link1: str
    link2: str
    origin1: Frame = HERE
    origin2: Frame = HERE
    axis: Triple = ALONG_X
    limit: Limit | None = None
    damping: float = 0.0
    friction: float = 0.0
    extensions: tuple[str, ...] = ()
    location: Location = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class Robot:
    """A URDF file.

    Attributes
    ----------
    materials : tuple of Material
        Those that visuals may name.
    extensions : tuple of str
        Transmissions, what is meant for other simulators, and the like, as texts of elements.
    """

    name: str
    links: tuple[Link, ...] = ()
    joints: tuple[Joint, ...] = ()
    loops: tuple[LoopJoint, ...] = ()
    materials: tuple[Material, ...] = ()
    extensions: tuple[str, ...] = ()
    location: Location = field(default=NOWHERE, compare=False)

    __repr__ = brief
