"""Forces of a Shift model bound to the parts of its mechanism: joints' laws, restraints, controllers, tyres."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from cbsim.arrays import Floats
from cbsim.errors import Location, Problems
from cbsim.formats.shift.bodies import tensor_of
from cbsim.formats.shift.names import called
from cbsim.formats.shift.tyre_file import read_tyre
from cbsim.formats.values import quote
from cbsim.geometry.linear import norm, times
from cbsim.models.shift.assembly import Assembled
from cbsim.models.shift.behaviour import Driver, Grip, JointForces, Line
from cbsim.models.shift.build import Built, build, is_linear
from cbsim.models.shift.fiala import FialaTyre
from cbsim.models.shift.laws import Law, Laws, laws_of
from cbsim.models.shift.meshes import find
from cbsim.models.shift.network import GROUND, Network, Place, Scope, find_body, find_frame, find_joint
from cbsim.models.shift.pid import Pid, Watch
from cbsim.models.shift.restraints import FrameForce
from cbsim.paths import Files
from cbsim.spec.shift.forces import Controller, ForceModule, Restraint, Tyre
from cbsim.spec.shift.model import Reference, ShiftModel
from cbsim.spec.shift.tyres import TyreNumbers

__all__ = ["Binder", "check_forces", "needed_by", "tyre_files"]

POSITIVE = ("unloaded_radius", "vertical_stiffness", "cslip", "calpha")  # numbers of a tyre that must be positive
NO_INPUT = -1  # of a joint that is only read, without an input


def check_forces(assembled: Assembled, problems: Problems) -> None:
    """Report forces on missing or unsuitable parts; the files that they name are not read."""
    laws, between = laws_of(assembled, problems)
    built = build(assembled, np.eye(3), laws, {}, needed_by(assembled.network))
    Binder(assembled, built, np.eye(3), problems, lambda *_: TyreNumbers()).drivers(laws, between)


def tyre_files(
    model: ShiftModel, folder: Path, files: Files, problems: Problems
) -> Callable[[str, Location, str], TyreNumbers]:
    """Return a reader of the tyre files of a model in a folder."""

    def read(name: str, place: Location, what: str) -> TyreNumbers:
        path, reason = find(name, model, folder, files)
        if path is not None:
            return read_tyre(path, files, place, problems)
        text = f"{what}: the file {quote(name)} {reason}; the tyre has the numbers of a passenger car's"
        problems.warning("W994", text, place)
        return TyreNumbers()

    return read


def needed_by(network: Network) -> tuple[set[int], set[int]]:
    """Find bodies and joints that forces name."""
    bodies: set[int] = set()
    joints: set[int] = set()
    named: list[tuple[Scope, Restraint | Controller | Tyre | None]] = [*network.restraints]
    named += [(scope, module.law) for scope, module in network.modules]
    for scope, law in named:
        ends: list[Reference] = []
        if isinstance(law, Restraint):
            ends += law.pair or ()
        elif isinstance(law, Controller):
            ends += [law.frame] if law.frame is not None else []
            joints |= {n for path in (law.joint, law.output) if path and (n := _found(scope.joint, path)) is not None}
        elif isinstance(law, Tyre):
            ends.append(Reference(law.wheel, rooted=len(law.wheel) > 1))
        for end in ends:
            number = _found(partial(scope.body, rooted=end.rooted), end.path)
            bodies |= {number} if number is not None else set()
    return bodies, joints


def _found(look_up: Callable[[tuple[str, ...]], int | None], path: tuple[str, ...]) -> int | None:
    try:
        return look_up(path)
    except LookupError:
        return None


class Binder:
    """Builds the drivers of a model.

    Parameters
    ----------
    assembled, built
        The model and its mechanism.
    turn : ndarray, shape (3, 3)
        From the file's axes to the world's.
    problems : Problems
        Collects problems of forces that cannot be bound.
    tyres : callable
        Reads the file of a tyre, given its name, where it is named, and by whom.
    """

    def __init__(
        self,
        assembled: Assembled,
        built: Built,
        turn: Floats,
        problems: Problems,
        tyres: Callable[[str, Location, str], TyreNumbers],
    ) -> None:
        self.assembled, self.built, self.turn, self.problems = assembled, built, turn, problems
        self.tyres = tyres
        self.rows = {number: row for row, number in enumerate(built.bodies)}

    def drivers(self, laws: Mapping[int, Laws], between: list[tuple[int, Restraint]]) -> list[Driver]:
        """Build all drivers; those of joints are combined."""
        lines = [line for number, law in laws.items() if (line := self._line(number, law)) is not None]
        found: list[Driver] = [JointForces(lines)] if lines else []
        network = self.assembled.network
        for place, restraint in between:
            found += self._restraint(network.restraints[place][0], restraint)
        for scope, module in network.modules:
            found += self._module(scope, module)
        return found

    # --- frames and joints --------------------------------------------------------------------------------------------
    def grip(self, body: int, frame: Place) -> Grip:
        """Convert a frame of a body of the file to the mechanism's."""
        if body == GROUND:
            return Grip(-1, times(self.turn, frame.rotation), times(self.turn, frame.origin))
        return Grip(self.rows[body], frame.rotation, frame.origin - self.built.centers[body])

    def line(self, number: int, laws: Laws, viscous: float = 0.0) -> Line:
        """Describe a joint for `JointForces`."""
        assembled = self.assembled
        tie, first = assembled.tree.ties[number], assembled.chain.first[number]
        return Line(
            self.grip(tie.parent, tie.at_parent), self.grip(tie.child, tie.at_child), assembled.chain.axes[number],
            tie.joint.kind == "revolute", self.built.inputs.get(number, NO_INPUT), laws.springs, laws.rest, viscous,
            float(assembled.posture.numbers[number]), float(assembled.rates[first]),
        )  # fmt: skip

    def _line(self, number: int, laws: Laws) -> Line | None:
        """Describe a joint without the forces that the core has elements for."""
        tie = self.assembled.tree.ties[number]
        if tie.joint.kind == "prismatic" and is_linear(laws):
            laws = replace(laws, springs=[])
        viscous = (1.0 - self.built.shares.get(number, 0.5)) * laws.viscous
        return self.line(number, laws, viscous) if laws.springs or laws.rest or viscous else None

    # --- restraints ---------------------------------------------------------------------------------------------------
    def _restraint(self, scope: Scope, restraint: Restraint) -> list[Driver]:
        what = called(restraint)
        assert restraint.pair is not None
        ends = [find_frame(scope, end, what, restraint.location, self.problems) for end in restraint.pair]
        one, other = ends
        if one is None or other is None or not self._held(what, restraint, one[0], other[0]):
            return []
        if one[0] == other[0]:
            text = (
                f"{what} acts between two frames of {'the ground' if one[0] == GROUND else 'one body'}: it does nothing"
            )
            self.problems.warning("W993", text, restraint.location)
            return []
        law = Law(restraint.knots, tuple(tuple(reversed(piece)) for piece in restraint.pieces))
        parent, child = self.grip(*one), self.grip(*other)
        rated = restraint.kind != "spring"
        made = FrameForce(parent, child, restraint.along, law, (one[1], other[1]), rated=rated)
        if not restraint.along and self._apart(one, other) < 1e-9:
            text = f"{what} acts between two points that are one: its direction is undefined, its force 0"
            self.problems.warning("W993", text, restraint.location)
        return [made]

    def _held(self, what: str, record: Restraint | ForceModule, *bodies: int) -> bool:
        """Whether bodies are part of the mechanism; unconnected ones are not."""
        for body in bodies:
            if body != GROUND and body not in self.rows:
                text = f"{what} acts on a body that no joint holds; it falls away"
                self.problems.warning("W982", text, record.location)
                return False
        return True

    def _apart(self, one: tuple[int, Place], other: tuple[int, Place]) -> float:
        points = [(self.assembled.poses[body] @ frame).origin for body, frame in (one, other)]
        return float(norm(points[1] - points[0]))

    # --- modules ------------------------------------------------------------------------------------------------------
    def _module(self, scope: Scope, module: ForceModule) -> list[Driver]:
        if isinstance(module.law, Controller):
            return self._controller(scope, module, module.law)
        if isinstance(module.law, Tyre):
            return self._tyre(scope, module, module.law)
        return []

    def _controller(self, scope: Scope, module: ForceModule, law: Controller) -> list[Driver]:
        what = called(module)
        driven = find_joint(scope, law.output, f"the output of {what}", module.location, self.problems)
        if driven in self.assembled.stiff:
            text = f"{what} drives joint {quote(':'.join(law.output))}, which loops hold fast; it does nothing"
            self.problems.warning("W982", text, module.location)
            return []
        joint, frame = None, None
        if law.joint:
            watched = find_joint(scope, law.joint, f"the input of {what}", module.location, self.problems)
            if watched is None:
                return []
            joint = JointForces([self.line(watched, Laws())])
        elif law.frame is not None:
            place = find_frame(scope, law.frame, what, module.location, self.problems)
            if place is None or not self._held(what, module, place[0]):
                return []
            frame = self.grip(*place)
        if driven is None:
            return []
        dof = ("Tx", "Ty", "Tz", "Rx", "Ry", "Rz").index(law.dof) if law.dof else 0
        watch = Watch(joint, frame, dof, law.local, law.watches_rate, self.turn)
        return [Pid(law.gains, law.target, watch, self.built.inputs[driven])]

    def _tyre(self, scope: Scope, module: ForceModule, law: Tyre) -> list[Driver]:
        what = called(module)
        wheel = find_body(scope, law.wheel, what, module.location, self.problems, rooted=len(law.wheel) > 1)
        if wheel is None or not self._held(what, module, wheel):
            return []
        body = self.assembled.network.links[wheel].body
        if wheel == GROUND or body.mass <= 0.0 or tensor_of(body.inertia)[1, 1] <= 0.0:
            text = f"{what} is on a wheel without mass, or without inertia about its y axis"
            self.problems.error("E991", text, module.location)
            return []
        numbers = TyreNumbers()
        if law.definition:
            numbers = self.tyres(law.definition, module.location, what)
        numbers = replace(numbers, **dict(law.numbers))
        if not _check_tyre(numbers, what, module.location, self.problems):
            return []
        up = -times(self.turn, np.array(self.assembled.network.model.gravity, float))
        size = float(norm(up))
        up = up / size if size else times(self.turn, np.array([0.0, 0.0, 1.0]))
        frame = Place(np.eye(3), np.zeros(3))
        return [FialaTyre(self.grip(wheel, frame), numbers, body.mass, float(tensor_of(body.inertia)[1, 1]), up)]


def _check_tyre(numbers: TyreNumbers, what: str, place: Location, problems: Problems) -> bool:
    """Whether a tyre has numbers that one can have; each that is none is reported."""
    good = True
    for key in ("unloaded_radius", "vertical_stiffness", "cslip", "calpha", "vertical_damping", "umin", "umax"):
        value, least = getattr(numbers, key), "more than 0" if key in POSITIVE else "at least 0"
        if value < 0.0 or (value == 0.0 and key in POSITIVE):
            problems.error("E991", f"{what}: {key} is {value:g}, expected {least}", place)
            good = False
    if good and numbers.umin > numbers.umax:
        text = f"{what}: umin, {numbers.umin:g}, is above umax, {numbers.umax:g}: it has most friction when it slips"
        problems.warning("W991", text, place)
    return good
