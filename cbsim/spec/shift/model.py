"""Records of a Shift file in SI and radians, for all dialects of the format.

What the engine of the format needs and a simulation here does not (lights, pictures, loggers) is kept as it
stands, so that it can be written back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from cbsim.errors import Location
from cbsim.spec.brief import brief
from cbsim.spec.objects import ZERO, Triple
from cbsim.spec.shift.forces import ForceModule, Restraint
from cbsim.spec.shift.reference import ORIGIN, Reference

__all__ = [
    "ORIGIN",
    "UPRIGHT",
    "Assembly",
    "Body",
    "Dormant",
    "Frame",
    "Geometry",
    "Joint",
    "Kept",
    "Light",
    "Placement",
    "Reference",
    "ShiftModel",
    "Simulation",
    "Terrain",
]

NOWHERE = Location("")
Rotation = tuple[float, ...]
Kept = tuple[tuple[str, str], ...]  # key, JSON text of its value

UPRIGHT: Rotation = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


class Placement(NamedTuple):
    """Rotation (row by row, active) and translation [m]."""

    rotation: Rotation = UPRIGHT
    translation: Triple = ZERO


HERE = Placement()
ALONG_Z = Triple(0.0, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Frame:
    """A named frame of a body or of the ground, in the body's axes from its origin."""

    name: str
    placement: Placement = HERE
    location: Location = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Light:
    """A light, which is kept and not simulated; ``kind`` is point, spot or directional."""

    name: str
    kind: str
    parent: Reference | None = None
    active: bool = True
    kept: Kept = ()
    location: Location = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Terrain:
    """Ground from a picture of heights.

    Attributes
    ----------
    elevation_map : str
        File of the picture; empty for level ground.
    scale : tuple of float
        Size of a pixel along x and y [m].
    sae : bool
        Heights are along −z, the coordinate system being that of SAE (z down).
    """

    name: str
    parent: Reference | None = None
    elevation_map: str = ""
    scale: tuple[float, float] = (1.0, 1.0)
    sae: bool = False
    active: bool = True
    kept: Kept = ()
    location: Location = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Geometry:
    """A mesh that a body looks like: its file, and that of its materials."""

    filename: str
    material: str = ""
    location: Location = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Body:
    """A body.

    Attributes
    ----------
    mass : float
        [kg]; 0 with no inertia for a body that only holds joints together.
    center_of_mass : Triple
        From its origin [m].
    inertia : tuple of float
        Ixx, Iyy, Izz, Ixy, Iyz, Izx as entries of the tensor [kg m²].
    collision : str
        ``sphere``, ``ellipsoid``, ``convex_hull``, ``plane`` or empty.
    """

    name: str
    mass: float = 0.0
    center_of_mass: Triple = ZERO
    inertia: tuple[float, ...] = (0.0,) * 6
    frames: tuple[Frame, ...] = ()
    geometry: tuple[Geometry, ...] = ()
    collision: str = ""
    active: bool = True
    kept: Kept = ()
    location: Location = field(default=NOWHERE, compare=False)

    @property
    def is_massless(self) -> bool:
        """Whether it has neither mass nor inertia."""
        return not self.mass and not any(self.inertia)


@dataclass(frozen=True, slots=True)
class Joint:
    """A joint between two frames: the child's is the parent's, moved by the joint's coordinates.

    Attributes
    ----------
    kind : str
        ``revolute``, ``prismatic``, ``spherical``, ``rigid`` or ``float``.
    axis : Triple
        Of a revolute or prismatic joint, in the parent's frame, of length one.
    displacement : float
        Where it starts [rad or m].
    placement : Placement
        Where a spherical, rigid or float joint starts.
    rates : tuple of float
        With which it starts: one [rad/s or m/s], three of a spherical one about, six of a float along and about the
        axes of the parent's frame.
    stiffness, damping : tuple of float
        Coefficients of rising powers: Q = −(c0 + c1 q + …) − (d0 + d1 q̇ + …).
    """

    name: str
    kind: str
    parent: Reference
    child: Reference
    axis: Triple = ALONG_Z
    displacement: float = 0.0
    placement: Placement = HERE
    rates: tuple[float, ...] = ()
    stiffness: tuple[float, ...] = ()
    damping: tuple[float, ...] = ()
    active: bool = True
    kept: Kept = ()
    location: Location = field(default=NOWHERE, compare=False)

    @property
    def freedoms(self) -> int:
        """How many coordinates it has."""
        return {"revolute": 1, "prismatic": 1, "spherical": 3, "float": 6}.get(self.kind, 0)


class Dormant(NamedTuple):
    """A record that is not active and has errors: it is kept as written, in the units of its file.

    Attributes
    ----------
    key : str
        Of the list that it stands in.
    name : str
        Its name, or empty.
    text : str
        It, as JSON.
    """

    key: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Assembly:
    """Bodies and joints under a name; assemblies nest, and what is not active is the same as not there."""

    name: str
    bodies: tuple[Body, ...] = ()
    joints: tuple[Joint, ...] = ()
    restraints: tuple[Restraint, ...] = ()
    force_modules: tuple[ForceModule, ...] = ()
    assemblies: tuple[Assembly, ...] = ()
    active: bool = True
    dormant: tuple[Dormant, ...] = ()
    kept: Kept = ()
    location: Location = field(default=NOWHERE, compare=False)

    def walk(self, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Assembly]]:
        """Give it and all assemblies below it, each with its path."""
        path = (*above, self.name)
        yield path, self
        for inner in self.assemblies:
            yield from inner.walk(path)


@dataclass(frozen=True, slots=True)
class Simulation:
    """How the engine of the format is asked to integrate.

    Attributes
    ----------
    step : float or None
        Between two rows of its output [s].
    span : float or None
        How long [s].
    others : tuple of str
        Further integrators that the file has, as JSON; the first one counts.
    """

    step: float | None = None
    span: float | None = None
    kept: Kept = ()
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class ShiftModel:
    """A Shift file.

    Attributes
    ----------
    version : str
        As the file has it.
    gravity : Triple
        Acceleration [m/s²], in the file's axes.
    folders : tuple of str
        In which files that it names are looked for.
    frames, lights, terrain
        Of the ground.
    assemblies : tuple of Assembly
        Top assemblies.
    """

    version: str = "2.0"
    gravity: Triple = ZERO
    folders: tuple[str, ...] = ()
    simulation: Simulation = Simulation()
    frames: tuple[Frame, ...] = ()
    lights: tuple[Light, ...] = ()
    terrain: tuple[Terrain, ...] = ()
    assemblies: tuple[Assembly, ...] = ()
    dormant: tuple[Dormant, ...] = ()
    kept: Kept = ()
    location: Location = field(default=NOWHERE, compare=False)

    __repr__ = brief

    def walk(self) -> Iterator[tuple[tuple[str, ...], Assembly]]:
        """Give every assembly with its path."""
        for assembly in self.assemblies:
            yield from assembly.walk()
