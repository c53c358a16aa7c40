"""The sixteen joints as functions of parent, child and axis."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any, TypedDict, Unpack

from numpy.typing import ArrayLike

from cbsim.spec.mechanism.bodies import Body, Origin
from cbsim.spec.mechanism.joints import JointConstraint, freedoms_of, make_joint

__all__ = [
    "Cylindrical",
    "CylindricalFree",
    "Fixed",
    "FixedOrientation",
    "Floating",
    "FreeOrbital",
    "FreeRevolute",
    "Orbital",
    "Planar",
    "PlanarAxis",
    "PlanarFree",
    "PlanarOrbital",
    "Prismatic",
    "PrismaticOrbital",
    "Prototype",
    "Revolute",
    "Spherical",
    "nullspace_dimension",
]

Base = Body | Origin
SHARED = """

Parameters
----------
parent : Body or Origin
    Parent body, or the origin.
child : Body
    Child body.{axis}{vertices}
orientation_offset : array_like, shape (4,), optional
    The joint's frame in the parent's, a unit quaternion, scalar first.
spring, damper : float
    Stiffness and damping of every free direction.
spring_offset : array_like, shape (dof,), optional
    Coordinates at which the spring is slack, translations first.
joint_limits : (low, high), optional
    Bounds of the coordinates.
drives : Drive or sequence of Drive
    Motors and dry friction, each on one coordinate.
stop_softness : (float, float)
    ERP and CFM of the bounds; (1, 0) is rigid.
implicit_spring : bool
    Take the spring where a step ends: stable however stiff it is, of first order. Not where the joint closes a loop.
name : str
    Its name.
"""
AXIS = """
axis : array_like, shape (3,)
    Of the translations in the parent's frame, of the rotations in the joint's frame."""
VERTICES = """
parent_vertex, child_vertex : array_like, shape (3,)
    The joint's point in the parent's and the child's frame [m]."""
FREE = ("no", "one", "two", "three")


class JointOptions(TypedDict, total=False):
    """Keywords of every joint."""

    orientation_offset: ArrayLike | None
    spring: float
    damper: float
    spring_offset: ArrayLike | None
    joint_limits: Any
    drives: Any
    stop_softness: Any
    implicit_spring: bool
    name: str


class PointedOptions(JointOptions, total=False):
    """Keywords of joints that do not translate freely."""

    parent_vertex: ArrayLike
    child_vertex: ArrayLike


class _Kind:
    """A prototype by its name in the table; it has the keywords of `make_joint` that its freedoms leave a meaning."""

    def __init__(self, name: str) -> None:
        self.__name__ = self.name = name
        slides, turns = freedoms_of(name)
        head = f"{name} joint: {FREE[slides]} free translation{'s' * (slides != 1)}, {FREE[turns]} free rotation"
        has_axis = bool({slides, turns} & {1, 2})
        body = SHARED.format(axis=AXIS if has_axis else "", vertices="" if slides == 3 else VERTICES)
        self.__doc__ = head + "s" * (turns != 1) + "." + body
        unused = {"kind", *([] if has_axis else ["axis"]), *(["parent_vertex", "child_vertex"] if slides == 3 else [])}
        whole = signature(make_joint)
        self.__signature__ = whole.replace(parameters=[p for p in whole.parameters.values() if p.name not in unused])

    def __repr__(self) -> str:
        return f"<joint {self.name}>"

    def _made(self, parent: Base, child: Body, axis: ArrayLike | None, options: Mapping[str, Any]) -> JointConstraint:
        for key in options:
            if key not in self.__signature__.parameters:
                raise TypeError(f"{self.name}() got an unexpected keyword argument '{key}'")
        return make_joint(self.name, parent, child, axis, **options)


class _Axial(_Kind):
    """Joints with an axis and vertices."""

    def __call__(
        self, parent: Base, child: Body, axis: ArrayLike, **options: Unpack[PointedOptions]
    ) -> JointConstraint:
        return self._made(parent, child, axis, options)


class _Pointed(_Kind):
    """Joints with vertices, but without an axis: all rotations are free, or none."""

    def __call__(self, parent: Base, child: Body, **options: Unpack[PointedOptions]) -> JointConstraint:
        return self._made(parent, child, None, options)


class _Loose(_Kind):
    """Joints that translate freely, with an axis of rotation."""

    def __call__(self, parent: Base, child: Body, axis: ArrayLike, **options: Unpack[JointOptions]) -> JointConstraint:
        return self._made(parent, child, axis, options)


class _Free(_Kind):
    """Joints that translate freely, without an axis."""

    def __call__(self, parent: Base, child: Body, **options: Unpack[JointOptions]) -> JointConstraint:
        return self._made(parent, child, None, options)


Fixed = _Pointed("Fixed")
Prismatic = _Axial("Prismatic")
Planar = _Axial("Planar")
FixedOrientation = _Free("FixedOrientation")
Revolute = _Axial("Revolute")
Cylindrical = _Axial("Cylindrical")
PlanarAxis = _Axial("PlanarAxis")
FreeRevolute = _Loose("FreeRevolute")
Orbital = _Axial("Orbital")
PrismaticOrbital = _Axial("PrismaticOrbital")
PlanarOrbital = _Axial("PlanarOrbital")
FreeOrbital = _Loose("FreeOrbital")
Spherical = _Pointed("Spherical")
CylindricalFree = _Axial("CylindricalFree")
PlanarFree = _Axial("PlanarFree")
Floating = _Free("Floating")


def Prototype(  # noqa: N802 (the name in Dojo's API)
    type: str,  # noqa: A002
    parent: Base,
    child: Body,
    axis: ArrayLike | None = None,
    **options: Any,
) -> JointConstraint:
    """Build a joint by the name of its prototype; unused arguments (an axis, vertices) are ignored.

    >>> from cbsim.spec.mechanism.shapes import Sphere
    >>> Prototype("Revolute", Origin(), Sphere(1.0, mass=1.0).body(), (1, 0, 0)).dof
    1
    """
    if freedoms_of(type)[0] == 3:
        options = {k: v for k, v in options.items() if k not in {"parent_vertex", "child_vertex"}}
    return make_joint(type, parent, child, axis, **options)


def nullspace_dimension(type: str | JointConstraint) -> int:  # noqa: A002
    """Count the free directions of a prototype or of a joint.

    >>> nullspace_dimension("PlanarAxis")
    3
    """
    return type.dof if isinstance(type, JointConstraint) else sum(freedoms_of(type))
