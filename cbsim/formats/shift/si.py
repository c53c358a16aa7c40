"""Conversion of restraints and controllers to SI, as lengths or angles by the joints that they name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cbsim.formats.shift.units import Units
from cbsim.geometry.elementary import whole_power
from cbsim.spec.shift.forces import Controller, Restraint
from cbsim.spec.shift.model import Assembly, Joint

__all__ = ["all_in_si"]

Path = tuple[str, ...]


def all_in_si(assemblies: Sequence[Assembly], units: Units) -> tuple[Assembly, ...]:
    """Convert all restraints and controllers of some assemblies."""
    joints: dict[Path, Joint] = {}
    for top in assemblies:
        for path, assembly in top.walk():
            joints |= {(*path, joint.name): joint for joint in assembly.joints}
    return tuple(_in_si(assembly, (), joints, units) for assembly in assemblies)


def _in_si(assembly: Assembly, above: Path, joints: Mapping[Path, Joint], units: Units) -> Assembly:
    path = (*above, assembly.name)

    def turns(name: Path) -> bool:
        """Whether the coordinate of a named joint is an angle."""
        joint = joints.get((*path, *name)) or joints.get(name)
        return joint is not None and joint.kind == "revolute"

    restraints = (_restraint(one, units, turning=turns(one.joint)) for one in assembly.restraints)
    modules = []
    for module in assembly.force_modules:
        law = module.law
        if isinstance(law, Controller):
            watched = turns(law.joint) if law.joint else law.dof.startswith("R")
            law = _controller(law, units, watched=watched, driven=turns(law.output))
        modules.append(replace(module, law=law))
    inner = tuple(_in_si(one, path, joints, units) for one in assembly.assemblies)
    return replace(assembly, restraints=tuple(restraints), force_modules=tuple(modules), assemblies=inner)


def _restraint(restraint: Restraint, units: Units, *, turning: bool) -> Restraint:
    unit = units.coordinate(turning=turning) / (1.0 if restraint.kind == "spring" else units.time)
    effort = units.effort(turning=turning)
    pieces = tuple(
        tuple(c * effort / whole_power(unit, n) for n, c in zip(range(len(piece) - 1, -1, -1), piece, strict=True))
        for piece in restraint.pieces
    )
    return replace(restraint, knots=tuple(knot * unit for knot in restraint.knots), pieces=pieces)


def _controller(law: Controller, units: Units, *, watched: bool, driven: bool) -> Controller:
    """Convert gains, which make an effort of an error, and the target; ``watched`` and ``driven`` whether by angles."""
    unit = units.coordinate(turning=watched) / (units.time if law.watches_rate else 1.0)
    p, i, d = (gain * units.effort(turning=driven) / unit for gain in law.gains)
    return replace(law, gains=(p, i / units.time, d * units.time), target=law.target * unit)
