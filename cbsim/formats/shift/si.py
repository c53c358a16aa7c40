"""Restraints in SI: what their coefficients are in depends on whether they act along a length or an angle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cbsim.formats.shift.units import Units
from cbsim.spec.shift.forces import Restraint
from cbsim.spec.shift.model import Assembly, Joint

__all__ = ["all_in_si"]

Path = tuple[str, ...]


def all_in_si(assemblies: Sequence[Assembly], units: Units) -> tuple[Assembly, ...]:
    """Convert all restraints of some assemblies."""
    joints: dict[Path, Joint] = {}
    for top in assemblies:
        for path, assembly in top.walk():
            joints |= {(*path, joint.name): joint for joint in assembly.joints}
    return tuple(_in_si(assembly, (), joints, units) for assembly in assemblies)


def _in_si(assembly: Assembly, above: Path, joints: Mapping[Path, Joint], units: Units) -> Assembly:
    path = (*above, assembly.name)
    restraints = []
    for restraint in assembly.restraints:
        joint = joints.get((*path, *restraint.joint)) or joints.get(restraint.joint)
        turning = joint is not None and joint.kind == "revolute"
        restraints.append(_converted(restraint, units, turning=turning))
    inner = tuple(_in_si(one, path, joints, units) for one in assembly.assemblies)
    return replace(assembly, restraints=tuple(restraints), assemblies=inner)


def _converted(restraint: Restraint, units: Units, *, turning: bool) -> Restraint:
    unit = units.coordinate(turning=turning) / (1.0 if restraint.kind == "spring" else units.time)
    effort = units.effort(turning=turning)
    pieces = tuple(
        tuple(c * effort / unit**power for power, c in zip(range(len(piece) - 1, -1, -1), piece, strict=True))
        for piece in restraint.pieces
    )
    return replace(restraint, knots=tuple(knot * unit for knot in restraint.knots), pieces=pieces)
