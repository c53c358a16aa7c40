"""Joints: a translation and a rotation, each free in some directions; sixteen prototypes from one table."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cbsim.arrays import Floats
from cbsim.errors import ModelError, did_you_mean
from cbsim.spec.mechanism.axes import Masks, masks_of
from cbsim.spec.mechanism.bodies import Body, Node, Origin
from cbsim.spec.mechanism.drives import drives_of, softness_of
from cbsim.spec.mechanism.values import number, quaternion, unit, vector

__all__ = ["PROTOTYPES", "Joint", "JointConstraint", "Rotational", "Translational", "freedoms_of", "make_joint"]

PROTOTYPES = {  # name: (free translations, free rotations)
    "Fixed": (0, 0),
    "Revolute": (0, 1),
    "Orbital": (0, 2),
    "Spherical": (0, 3),
    "Prismatic": (1, 0),
    "Cylindrical": (1, 1),
    "PrismaticOrbital": (1, 2),
    "CylindricalFree": (1, 3),
    "Planar": (2, 0),
    "PlanarAxis": (2, 1),
    "PlanarOrbital": (2, 2),
    "PlanarFree": (2, 3),
    "FixedOrientation": (3, 0),
    "FreeRevolute": (3, 1),
    "FreeOrbital": (3, 2),
    "Floating": (3, 3),
}


@dataclass(frozen=True, eq=False)
class Joint:
    """One half of a joint: a vector of three coordinates, of which some are free.

    Parameters
    ----------
    free : int
        Number of free directions, 0 to 3.
    axis : array_like, shape (3,), optional
        The direction that the masks follow (`cbsim.spec.mechanism.axes`); scaled to length one.
    spring, damper : float
        Stiffness [N/m or N m/rad] and damping [N s/m or N m s/rad] of every free direction.
    spring_offset : array_like, shape (free,), optional
        Coordinates at which the spring is slack [m or rad].
    joint_limits : (low, high), optional
        Bounds of the coordinates, each a number or one per free direction; ±inf is none.
    spring_type : str
        ``"linear"``.
    subject : str
        Name of the joint, for problems.
    """

    free: int
    axis: Any = None
    spring: float = field(default=0.0, kw_only=True)
    damper: float = field(default=0.0, kw_only=True)
    spring_offset: Any = field(default=None, kw_only=True)
    joint_limits: Any = field(default=None, kw_only=True)
    spring_type: str = field(default="linear", kw_only=True)
    subject: str = field(default="", kw_only=True, repr=False)

    def __post_init__(self) -> None:
        who = self.subject
        if isinstance(self.free, bool) or not isinstance(self.free, (int, np.integer)) or not 0 <= self.free <= 3:
            raise ModelError(f"has {self.free!r} free directions, expected 0, 1, 2 or 3", subject=who)
        if not (isinstance(self.spring_type, str) and self.spring_type == "linear"):
            hint = "sinusoidal springs were never defined" if repr(self.spring_type) == "'sinusoidal'" else ""
            raise ModelError(f"spring_type is {self.spring_type!r}, expected 'linear'. {hint}".rstrip(), subject=who)
        self._settle("axis", None if self.axis is None else unit(self.axis, who, "axis"))
        self._settle("spring", number(self.spring, who, "spring", least=0.0))
        self._settle("damper", number(self.damper, who, "damper", least=0.0))
        self._settle("spring_offset", vector(self.spring_offset, who, "spring_offset", self.free))
        self._settle("joint_limits", _limits(self.joint_limits, self.free, who))

    def _settle(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @cached_property
    def masks(self) -> Masks:
        """Free and constrained directions."""
        return masks_of(self.axis, self.free, self.subject)

    @property
    def input(self) -> Floats:
        """Impulse (3,) that this half's inputs, as held, give the child in a step; the parent gets the opposite.

        Of a translation a force impulse [N s] in the parent's frame at the child's joint point, of a rotation a torque
        impulse [N m s] in the joint's frame. What is the target velocity of a motor gives none.
        """
        whole: JointConstraint | None = self.__dict__.get("whole")
        if whole is None:
            raise ModelError("belongs to no joint yet", subject=self.subject or type(self).__name__)
        slide, turn = whole.owner.half_inputs(whole.bond.place)
        return slide if isinstance(self, Translational) else turn  # type: ignore[no-any-return]

    @property
    def axis_mask1(self) -> Floats:
        """V1 (3,), normal to the axis."""
        return np.asarray(self.masks.frame[0])

    @property
    def axis_mask2(self) -> Floats:
        """V2 (3,), normal to the axis and to V1."""
        return np.asarray(self.masks.frame[1])

    @property
    def axis_mask3(self) -> Floats:
        """V3 (3,), the axis."""
        return np.asarray(self.masks.frame[2])


@dataclass(frozen=True, eq=False)
class Translational(Joint):
    """Where the child's joint point is from the parent's, in the parent's frame [m].

    Attributes
    ----------
    vertices : (ndarray, ndarray)
        The points, in the parent's and the child's frame [m].
    """

    vertices: Any = field(default=(None, None), kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            parent, child = self.vertices
        except (TypeError, ValueError):
            raise ModelError("vertices are two points, the parent's and the child's", subject=self.subject) from None
        who = self.subject
        self._settle("vertices", (vector(parent, who, "parent_vertex"), vector(child, who, "child_vertex")))


@dataclass(frozen=True, eq=False)
class Rotational(Joint):
    """Rotation of the child against the joint's frame, in which the axes stand, and which is turned in the parent's.

    Attributes
    ----------
    orientation_offset : ndarray, shape (4,)
        The joint's frame in the parent's, a unit quaternion, scalar first.
    """

    orientation_offset: Any = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._settle("orientation_offset", quaternion(self.orientation_offset, self.subject, "orientation_offset"))


def _limits(value: Any, free: int, who: str) -> tuple[Floats, Floats] | None:
    """Two vectors of bounds, or None if no coordinate is bounded."""
    if value is None:
        return None
    try:
        low, high = (np.array(np.broadcast_to(np.asarray(bound, float), (free,))) for bound in value)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(
            f"joint_limits are {value!r}, expected (low, high), each a number or {free} numbers", subject=who
        ) from None
    if np.isnan(low).any() or np.isnan(high).any():
        raise ModelError("joint_limits hold a number that is none", subject=who)
    for one, other in zip(low, high, strict=True):
        if one >= other:
            raise ModelError(f"joint_limits: the low bound {one:g} is not below the high one {other:g}", subject=who)
    low.flags.writeable = high.flags.writeable = False
    return None if not np.isfinite([low, high]).any() else (low, high)


@dataclass(frozen=True, eq=False)
class JointConstraint(Node):
    """A joint between two bodies, or a body and the origin; directions that are not free are constrained.

    Attributes
    ----------
    parent, child : Body or Origin
        Bodies that it connects; the child is not the origin. The tree of a mechanism leads from parents to children.
    translational, rotational : Translational, Rotational
        Its halves.
    drives : sequence of Drive
        Motors and dry friction of its coordinates.
    stop_softness : (float, float)
        ERP and CFM of its bounds, as ODE has them: the share of what a coordinate is beyond a bound that a step takes
        away, more than 0 and at most 1, and compliance [m/(N s) or rad/(N m s)], at least 0. (1, 0) is rigid.
    implicit_spring : bool
        Evaluate the spring where a step ends, not where it begins: unconditionally stable, of first order.
    """

    parent: Body | Origin
    child: Body
    translational: Translational
    rotational: Rotational
    drives: Any = ()
    stop_softness: Any = (1.0, 0.0)
    implicit_spring: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        who = f"joint '{self.name}'" if self.name else "joint"
        for role, part in (("parent", self.parent), ("child", self.child)):
            if not isinstance(part, (Body, Origin)):
                raise ModelError(f"its {role} is {part!r}, expected a body", subject=who)
        if self.parent is self.child:
            raise ModelError(f"joins '{self.child.name}' to itself", subject=who)
        if not isinstance(self.child, Body):
            raise ModelError("its child is the origin: make the origin its parent", subject=who)
        halves = (self.translational, self.rotational)
        if not isinstance(halves[0], Translational) or not isinstance(halves[1], Rotational):
            raise ModelError("needs a Translational and a Rotational", subject=who)
        for name in ("translational", "rotational"):  # each half knows its joint; one that has another is copied
            half = getattr(self, name)
            half = copy(half) if "whole" in half.__dict__ else half
            half._settle("whole", self)
            object.__setattr__(self, name, half)
        drives = drives_of(self.drives, self.translational.free, self.rotational.free, who)
        object.__setattr__(self, "drives", drives)
        object.__setattr__(self, "stop_softness", softness_of(self.stop_softness, who, "stop_softness"))
        if not isinstance(self.implicit_spring, (bool, np.bool_)):
            raise ModelError(f"implicit_spring is {self.implicit_spring!r}, expected True or False", subject=who)

    @property
    def prototype(self) -> str:
        """Name of the prototype with as many free directions."""
        free = (self.translational.free, self.rotational.free)
        return next(name for name, kinds in PROTOTYPES.items() if kinds == free)

    @property
    def dof(self) -> int:
        """Number of free directions."""
        return self.translational.free + self.rotational.free

    @property
    def nullspace_dimension(self) -> int:
        """Number of free directions, as `cbsim.multibody.nullspace_dimension` counts them."""
        return self.dof

    @property
    def spring(self) -> bool:
        """Whether the joint has a spring."""
        return max(self.translational.spring, self.rotational.spring) > 0.0

    @property
    def damper(self) -> bool:
        """Whether the joint has a damper."""
        return max(self.translational.damper, self.rotational.damper) > 0.0

    @property
    def parent_id(self) -> int:
        """Number of the parent, 0 for the origin."""
        return self.parent.id

    @property
    def child_id(self) -> int:
        """Number of the child."""
        return self.child.id

    @property
    def minimal_index(self) -> tuple[slice, slice]:
        """Where the joint's coordinates and velocities are in a minimal state."""
        return self.owner.minimal_index(self.bond.place)  # type: ignore[no-any-return]

    @property
    def input(self) -> Floats:
        """Input of the joint (dof,) that the mechanism holds, translations first [N, N m; of motors m/s, rad/s]."""
        return self.owner.joint_input(self.bond.place)  # type: ignore[no-any-return]

    @property
    def impulses(self) -> Floats:
        """Impulses (constrained directions,) of the last solve that keep the constraint: translations, then rotations.

        Translations [N s] along the constrained directions in the parent's frame; rotations conjugate to the vector
        part of the relative quaternion, twice a torque [N m s] (docs/theory/joints_and_loops.md §9).
        """
        return self.owner.joint_impulses(self.bond.place)  # type: ignore[no-any-return]

    @property
    def drive_impulses(self) -> Floats:
        """Impulses (drives,) of the last solve that its drives gave [N s or N m s]."""
        return self.owner.drive_impulses(self.bond.place)  # type: ignore[no-any-return]

    @property
    def owner(self) -> Any:
        """The mechanism constructed last from the joint."""
        if self.bond.owner is None:
            raise ModelError("belongs to no mechanism yet", subject=f"joint '{self.name}'")
        return self.bond.owner


def freedoms_of(kind: str) -> tuple[int, int]:
    """Count the free translations and rotations of a prototype.

    Raises
    ------
    ModelError
        If there is none of the name; with the nearest one.
    """
    if not isinstance(kind, str) or kind not in PROTOTYPES:
        known = ", ".join(PROTOTYPES)
        raise ModelError(f"there is no joint {kind!r} {did_you_mean(str(kind), PROTOTYPES)} (there are {known})")
    return PROTOTYPES[kind]


def make_joint(  # noqa: PLR0913 (what a joint has)
    kind: str,
    parent: Body | Origin,
    child: Body,
    axis: ArrayLike | None,
    *,
    parent_vertex: ArrayLike = 0.0,
    child_vertex: ArrayLike = 0.0,
    orientation_offset: ArrayLike | None = None,
    spring: float = 0.0,
    damper: float = 0.0,
    spring_offset: ArrayLike | None = None,
    joint_limits: Any = None,
    drives: Any = (),
    stop_softness: Any = (1.0, 0.0),
    implicit_spring: bool = False,
    name: str = "",
) -> JointConstraint:
    """Make a joint of a prototype; offsets and limits have one number per free direction, translations first."""
    slides, turns = freedoms_of(kind)
    who = f"joint '{name}'" if name else kind
    offset = vector(spring_offset, who, "spring_offset", slides + turns)
    limits = _limits(joint_limits, slides + turns, who)
    low, high = limits if limits is not None else (np.full(slides + turns, -np.inf), np.full(slides + turns, np.inf))
    shared: dict[str, Any] = {"spring": spring, "damper": damper, "subject": who}
    return JointConstraint(
        parent,
        child,
        Translational(
            slides, axis, vertices=(parent_vertex, child_vertex), spring_offset=offset[:slides],
            joint_limits=(low[:slides], high[:slides]), **shared,
        ),
        Rotational(
            turns, axis, orientation_offset=orientation_offset, spring_offset=offset[slides:],
            joint_limits=(low[slides:], high[slides:]), **shared,
        ),
        drives,
        stop_softness,
        implicit_spring=implicit_spring,
        name=name,
    )  # fmt: skip
