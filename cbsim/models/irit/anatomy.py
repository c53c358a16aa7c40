"""Anatomy of a walker: its parts as triangles with mass, in cbsim's axes (x right, y ahead, z up), in metres.

Checks that need measures: height, length, and the reach of legs in a step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cbsim.arrays import Floats
from cbsim.errors import Problems
from cbsim.formats.irit.splines import grid
from cbsim.formats.irit.tessellate import Piece, instances, tessellate
from cbsim.geometry import elementary as math
from cbsim.models.irit.limbs import Limbs
from cbsim.models.irit.solids import Lump, lump_of
from cbsim.spec.irit.objects import Freeform, IritFile, IritObject, Poly
from cbsim.spec.irit.walker import Leg, Walker

__all__ = ["DENSITY", "Anatomy", "Part", "measure", "turned"]

DENSITY = 300.0  # [kg/m³] of parts, which are homogeneous: that of a machine with much air inside
LOW = 0.1  # share of the height by which a foot may be off z = 0
ASIDE = 1e-3  # share of the body's length by which its centre may be off the axis


def turned(points: Floats) -> Floats:
    """Convert vectors (…, 3) from the file's axes, x ahead and y left, to cbsim's, x right and y ahead."""
    return np.stack([-points[..., 1], points[..., 0], points[..., 2]], axis=-1)


@dataclass(frozen=True, eq=False)
class Part:
    """A rigid part of a walker.

    Attributes
    ----------
    name : str
    pieces : tuple of Piece
        Its triangles at rest [m], counter-clockwise from outside.
    lump : Lump
        Mass, centre and inertia at a density of 1 kg/m³.
    low, high : ndarray, shape (3,)
        Corners of the box around it [m].
    """

    name: str
    pieces: tuple[Piece, ...]
    lump: Lump
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class Anatomy:
    """Measures of a walker.

    Attributes
    ----------
    walker : Walker
    length : float
        Of the body, along its head's direction [m].
    height : float
        Of the body's centre above the ground [m].
    body : Part
    hips, shins : tuple of Part
    limbs : Limbs
        Points of the legs in cbsim's axes, from the point on the ground below the origin of the file.
    """

    walker: Walker
    length: float
    height: float
    body: Part
    hips: tuple[Part, ...]
    shins: tuple[Part, ...]
    limbs: Limbs

    @property
    def parts(self) -> tuple[Part, ...]:
        """Body, then hip and shin of each leg."""
        return (self.body, *(part for pair in zip(self.hips, self.shins, strict=True) for part in pair))

    def stride(self, *, turning: bool) -> float:
        """Length of a step [m]."""
        share = self.walker.rotate if turning else self.walker.walk
        return self.length / self.walker.pairs * share


def measure(spec: IritFile, walker: Walker, problems: Problems) -> Anatomy | None:
    """Measure a walker; None, with problems, if it cannot take a step."""
    known, before = instances(spec.objects), len(problems.errors)
    body = _part("body", walker.body, known, problems)
    low, high = body.low, body.high
    length = float(high[1] - low[1])
    if not length > 0.0:
        problems.error("E079", "the body has no geometry: its length along x is 0", walker.body.location)
        return None
    centre = 0.5 * (low + high)
    _check_body(walker, centre, length, problems)
    points = [turned(np.array([getattr(leg, what) for leg in walker.legs])) for what in ("root", "knee", "foot")]
    limbs = Limbs(*points)
    hips = tuple(_part(f"hip {leg.name}", leg.hip, known, problems) for leg in walker.legs)
    shins = tuple(_part(f"shin {leg.name}", leg.shin, known, problems) for leg in walker.legs)
    made = Anatomy(walker, length, float(centre[2]), body, hips, shins, limbs)
    for k, leg in enumerate(walker.legs):
        _check_leg(leg, float(limbs.upper[k]), float(limbs.lower[k]), made.height, problems)
    if len(problems.errors) == before:
        _check_reach(made, problems)
    return made if len(problems.errors) == before else None


def _part(name: str, item: IritObject, known: Mapping[str, IritObject], problems: Problems) -> Part:
    pieces = tuple(
        Piece(np.ascontiguousarray(turned(piece.triangles)[:, ::-1]), piece.color)
        for piece in tessellate(item, known, problems)
    )
    points = _points(item)
    corners = np.concatenate([points, *(piece.triangles.reshape(-1, 3) for piece in pieces)])
    if not len(corners):
        corners = np.zeros((1, 3))
    lump = lump_of([piece.triangles for piece in pieces], points)
    return Part(name, pieces, lump, corners.min(axis=0), corners.max(axis=0))


def _points(item: IritObject) -> Floats:
    """Points (n, 3) of a part without triangles, in cbsim's axes."""
    found = [np.zeros((0, 3))]
    for one in item.walk():
        for part in one.items:
            if isinstance(part, Poly):
                found.append(np.array(part.points))
            elif isinstance(part, Freeform) and part.kind == "CURVE":
                found.append(grid(part, 4)[1])
    return turned(np.concatenate(found))


def _check_body(walker: Walker, centre: Floats, length: float, problems: Problems) -> None:
    place = walker.body.location
    if not centre[2] > 0.0:
        text = f"the body's centre is at z = {centre[2]:g}, expected above 0: that is its height above the ground"
        problems.error("E077", text, place)
    if max(abs(centre[0]), abs(centre[1])) > ASIDE * length:
        text = f"the body's centre is at x = {centre[1]:g}, y = {0.0 - centre[0]:g}, expected (0, 0)"
        problems.warning("W073", text, place)


def _check_leg(leg: Leg, a: float, b: float, height: float, problems: Problems) -> None:
    for length, what in ((a, "hip"), (b, "shin")):
        if not length > 1e-9 * height:
            problems.error("E076", f"the {what} of the leg '{leg.name}' has no length", leg.location)
    if leg.foot[2] > leg.root[2]:
        text = f"the foot of the leg '{leg.name}' is at z = {leg.foot[2]:g}, above its root at {leg.root[2]:g}"
        problems.error("E076", text, leg.location)
    elif height > 0.0 and abs(leg.foot[2]) > LOW * height:
        text = f"the foot of the leg '{leg.name}' is at z = {leg.foot[2]:g}, expected near 0, the ground"
        problems.warning("W072", text, leg.location)


def _check_reach(made: Anatomy, problems: Problems) -> None:
    """Report legs that do not reach half a step ahead or behind, or half a turn aside."""
    limbs, walker = made.limbs, made.walker
    low, high = limbs.reach
    ground = limbs.foot * (1.0, 1.0, 0.0)
    cases = []
    for ahead in (-0.5, 0.5):
        stride = ground + np.array([0.0, ahead * made.stride(turning=False), 0.0])
        angle = ahead * math.radians(walker.angle)
        c, s = math.cos(angle), math.sin(angle)
        turn = np.stack([c * ground[:, 0] - s * ground[:, 1], s * ground[:, 0] + c * ground[:, 1]], axis=1)
        swung = np.concatenate([turn, ground[:, 2:]], axis=1)
        swung[:, 1] += ahead * made.stride(turning=True)
        cases += [("a step", stride), ("a turn", swung)]
    for k, leg in enumerate(walker.legs):
        for what, feet in cases:
            if not limbs.reaches(feet)[k]:
                far = float(limbs.distance(feet)[k])
                text = f"the leg '{leg.name}' does not reach the end of {what}: {far:.6g} from its root, "
                text += f"and it reaches {low[k]:.6g} to {high[k]:.6g}"
                problems.error("E078", text, leg.location, "lower the coefficients, or minStepAngle")
                break
