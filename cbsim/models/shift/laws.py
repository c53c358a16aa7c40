"""Polynomial springs and dampers along the coordinates of a Shift model's joints, grouped by joint.

The core has implicit or energy-conserving elements for some of them; the behaviour applies the rest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from cbsim.errors import Problems
from cbsim.formats.shift.names import called
from cbsim.models.shift.assembly import Assembled
from cbsim.models.shift.network import find_joint
from cbsim.spec.shift.forces import Restraint

__all__ = ["Law", "Laws", "laws_of"]


@dataclass(frozen=True, slots=True)
class Law:
    """A piecewise polynomial, with coefficients of rising powers.

    Attributes
    ----------
    knots : tuple of float
        Ends of pieces; a knot belongs to the next piece.
    pieces : tuple of tuple of float
    """

    knots: tuple[float, ...]
    pieces: tuple[tuple[float, ...], ...]

    def at(self, x: float) -> float:
        """Evaluate it."""
        piece = 0
        while piece < len(self.knots) and x >= self.knots[piece]:
            piece += 1
        value = 0.0
        for coefficient in reversed(self.pieces[piece]):
            value = value * x + coefficient
        return value

    @property
    def linear(self) -> float:
        """Its slope if it is linear without a constant; else 0."""
        if self.knots or len(self.pieces[0]) != 2 or self.pieces[0][0]:
            return 0.0
        return self.pieces[0][1]

    def steepest(self, near: float) -> float:
        """Steepest slope around some value, over all pieces that meet there."""
        spread = 1e-6 * max(1.0, abs(near))
        points = [near, *self.knots]
        return max(abs(self.at(x + spread) - self.at(x - spread)) / (2.0 * spread) for x in points)

    def parted(self) -> tuple[float, Law]:
        """Split off dry friction: its force, if the function jumps at zero from −force to force, and the rest."""
        if 0.0 not in self.knots:
            return 0.0, self
        place = self.knots.index(0.0) + 1
        below, above = (piece[0] if piece else 0.0 for piece in (self.pieces[place - 1], self.pieces[place]))
        if not 0.0 < above == -below:
            return 0.0, self
        moved = [(*(c[:1] or (0.0,)), *c[1:]) for c in self.pieces]
        rest = tuple((c[0] + (above if n < place else below), *c[1:]) for n, c in enumerate(moved))
        return above, Law(self.knots, rest)

    @property
    def is_nothing(self) -> bool:
        """Whether it is zero everywhere."""
        return not any(map(any, self.pieces))


@dataclass
class Laws:
    """Forces along one joint: springs of its coordinate and dampers of its rate; each acts with −f.

    Attributes
    ----------
    dry : float
        Dry friction [N or N m], which the core applies.
    """

    springs: list[Law] = field(default_factory=list)
    dampers: list[Law] = field(default_factory=list)
    dry: float = 0.0

    def damp(self, law: Law) -> None:
        """Add a damper."""
        dry, rest = law.parted()
        self.dry += dry
        if not rest.is_nothing:
            self.dampers.append(rest)

    @property
    def viscous(self) -> float:
        """Sum of the dampers that are linear [N s/m or N m s/rad], if it damps."""
        return max(0.0, math.fsum(law.linear for law in self.dampers))

    @property
    def rest(self) -> list[Law]:
        """Dampers that are not in `viscous`."""
        return [law for law in self.dampers if not law.linear] if self.viscous else list(self.dampers)


def laws_of(assembled: Assembled, problems: Problems) -> tuple[dict[int, Laws], list[tuple[int, Restraint]]]:
    """Collect the forces along moving joints by number, and the restraints between frames by index.

    Parameters
    ----------
    problems : Problems
        Collects an error (E991) for restraints along a joint that is missing or has several coordinates.
    """
    found: dict[int, Laws] = {}
    network = assembled.network
    for number, tie in enumerate(network.ties):
        joint = tie.joint
        if joint.stiffness or joint.damping:
            laws = found.setdefault(number, Laws())
            laws.springs += [Law((), (joint.stiffness,))] if joint.stiffness else []
            if joint.damping:
                laws.damp(Law((), (joint.damping,)))
    between: list[tuple[int, Restraint]] = []
    for place, (scope, restraint) in enumerate(network.restraints):
        if restraint.pair is not None:
            between.append((place, restraint))
            continue
        target = find_joint(scope, restraint.joint, called(restraint), restraint.location, problems)
        if target is None:
            continue
        law = Law(restraint.knots, tuple(tuple(reversed(piece)) for piece in restraint.pieces))
        laws = found.setdefault(target, Laws())
        if restraint.kind == "spring":
            laws.springs.append(law)
        else:
            laws.damp(law)
    return {number: laws for number, laws in found.items() if number not in assembled.stiff}, between
