"""Network of the active bodies and joints of a Shift model, with references resolved."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats
from cbsim.errors import Location, Problems, did_you_mean
from cbsim.formats.values import quote
from cbsim.geometry.linear import times
from cbsim.spec.shift.forces import ForceModule, Restraint
from cbsim.spec.shift.model import ORIGIN, Assembly, Body, Joint, Placement, Reference, ShiftModel

__all__ = [
    "GROUND", "Link", "Network", "Place", "Scope", "Tie", "find_body", "find_frame", "find_joint", "network_of",
]  # fmt: skip

Path = tuple[str, ...]
GROUND = -1  # number of the ground


class Place(NamedTuple):
    """A frame: rotation (3, 3), columns its axes, and origin (3,) [m]."""

    rotation: Floats
    origin: Floats

    @classmethod
    def of(cls, placement: Placement) -> Place:
        """Take a placement of a file."""
        return cls(np.array(placement.rotation).reshape(3, 3), np.array(placement.translation, float))

    def __matmul__(self, inner: Place) -> Place:
        """Compose with a frame in this one."""
        return Place(times(self.rotation, inner.rotation), times(self.rotation, inner.origin) + self.origin)

    @property
    def inverse(self) -> Place:
        """The parent frame, seen from this one."""
        return Place(self.rotation.T, times(-self.rotation.T, self.origin))


HERE = Place(np.eye(3), np.zeros(3))


class Link(NamedTuple):
    """An active body."""

    path: Path
    body: Body


class Tie(NamedTuple):
    """An active joint: numbers of its bodies (`GROUND` for the ground), and its frames in them."""

    path: Path
    joint: Joint
    parent: int
    child: int
    at_parent: Place
    at_child: Place


@dataclass(frozen=True)
class Scope:
    """Scope of names: the assembly of a record."""

    network: Network
    path: Path

    def body(self, path: Path, *, rooted: bool = False) -> int | None:
        """Find a body: its number, or None if it is inactive; `LookupError` if it is missing."""
        if path == ("fixed",):
            return GROUND
        return self._look_up(path, rooted, self.network.numbers)

    def joint(self, path: Path) -> int | None:
        """Find a joint likewise."""
        return self._look_up(path, len(path) > 1, self.network.joint_numbers)

    def _look_up(self, path: Path, rooted: bool, table: dict[Path, int | None]) -> int | None:
        """Try all full paths that may be meant: a lone name is local, a path with colons begins at the root first."""
        local = (*self.path, *path)
        choices = [local] if len(path) == 1 else [path, local] if rooted else [local, path]
        for choice in choices:
            if choice in table:
                return table[choice]
            if any(choice[:end] in self.network.dormant for end in range(1, len(choice))):
                return None
        raise LookupError


@dataclass
class Network:
    """Active bodies and joints of a model.

    Attributes
    ----------
    model : ShiftModel
        What the file says.
    links : list of Link
        Active bodies in file order.
    ties : list of Tie
        Active joints in file order.
    restraints, modules : list of (Scope, record)
        Active forces, with the scopes of their names.
    numbers, joint_numbers : dict
        Full path → number, or None if inactive.
    dormant : set of paths
        Assemblies that are not active and were not read, so that anything may be in them.
    """

    model: ShiftModel
    links: list[Link]
    ties: list[Tie]
    restraints: list[tuple[Scope, Restraint]]
    modules: list[tuple[Scope, ForceModule]]
    numbers: dict[Path, int | None]
    joint_numbers: dict[Path, int | None]
    dormant: set[Path]

    def frame(self, body: int, name: str) -> Place | None:
        """Find a frame of a body."""
        if name == ORIGIN:
            return HERE
        frames = self.model.frames if body == GROUND else self.links[body].body.frames
        return next((Place.of(one.placement) for one in frames if one.name == name), None)

    def frame_names(self, body: int) -> list[str]:
        """Names of the frames of a body."""
        frames = self.model.frames if body == GROUND else self.links[body].body.frames
        return [ORIGIN, *(one.name for one in frames)]


def network_of(model: ShiftModel, problems: Problems) -> Network:
    """Find active parts, and resolve all references.

    Parameters
    ----------
    problems : Problems
        Collects an error for each reference to a missing part (E983, E984) and joints of a body to itself (E985), and a
        warning for parts that are dropped with inactive ones (W982).
    """
    network = Network(model, [], [], [], [], {}, {}, {(one.name,) for one in model.dormant})
    levels = list(_levels(model.assemblies, (), True))
    for path, assembly, active in levels:
        for body in assembly.bodies:
            there = active and body.active
            network.numbers.setdefault((*path, body.name), len(network.links) if there else None)
            if there:
                network.links.append(Link((*path, body.name), body))
        for one in assembly.dormant:
            if one.key == "assemblies":
                network.dormant.add((*path, one.name))
            else:
                (network.numbers if one.key == "bodies" else network.joint_numbers)[(*path, one.name)] = None
    for path, assembly, active in levels:
        for joint in assembly.joints:
            tie = _tie(network, Scope(network, path), joint, problems) if active and joint.active else None
            network.joint_numbers.setdefault((*path, joint.name), None if tie is None else len(network.ties))
            if tie is not None:
                network.ties.append(tie)
        scope = Scope(network, path)
        if active:
            network.restraints += [(scope, one) for one in assembly.restraints if one.active]
            network.modules += [(scope, one) for one in assembly.force_modules if one.active]
    return network


def _levels(assemblies: Iterable[Assembly], above: Path, active: bool) -> Iterable[tuple[Path, Assembly, bool]]:
    """Give every assembly with its path, and whether it and all above it are active."""
    for assembly in assemblies:
        path, there = (*above, assembly.name), active and assembly.active
        yield path, assembly, there
        yield from _levels(assembly.assemblies, path, there)


def find_body(
    scope: Scope, path: Path, what: str, place: Location, problems: Problems, *, rooted: bool = False
) -> int | None:
    """Resolve a reference to a body; None, with a problem, if it is missing."""
    try:
        number = scope.body(path, rooted=rooted)
    except LookupError:
        known = [one[-1] for one in scope.network.numbers if one[:-1] == scope.path] + ["fixed"]
        known += [":".join(one) for one in scope.network.numbers]
        name = ":".join(path)
        elsewhere = next((":".join(one) for one in scope.network.numbers if one[-1] == path[-1]), "")
        hint = f"there is {quote(elsewhere)}" if elsewhere else did_you_mean(name, known)
        problems.error("E983", f"{what} names the body {quote(name)}, which is not there", place, hint)
        return None
    if number is None:
        text = f"{what} names the body {quote(':'.join(path))}, which is not active; it falls away too"
        problems.warning("W982", text, place)
    return number


def find_frame(
    scope: Scope, reference: Reference, what: str, place: Location, problems: Problems
) -> tuple[int, Place] | None:
    """Look a frame of a body up for something."""
    network = scope.network
    body = find_body(scope, reference.path, what, place, problems, rooted=reference.rooted)
    if body is None:
        return None
    frame = network.frame(body, reference.frame)
    if frame is None:
        known = network.frame_names(body)
        hint = did_you_mean(reference.frame, known) or f"there are {', '.join(known[:8])}"
        who = f"{quote(reference.frame)} of {quote(':'.join(reference.path))}"
        problems.error("E984", f"{what} names the frame {who}, which is not there", place, hint)
        return None
    return body, frame


def find_joint(scope: Scope, path: Path, what: str, place: Location, problems: Problems) -> int | None:
    """Resolve a reference to a joint with one coordinate; None, with a problem (E991, W982), if there is none."""
    network, name = scope.network, f"the joint {quote(':'.join(path))}"
    try:
        number = scope.joint(path)
    except LookupError:
        known = [one[-1] for one in network.joint_numbers if one[:-1] == scope.path]
        hint = did_you_mean(":".join(path), [*known, *map(":".join, network.joint_numbers)])
        problems.error("E991", f"{what} names {name}, which is not there", place, hint)
        return None
    if number is None:
        problems.warning("W982", f"{what} names {name}, which is not active", place)
    elif network.ties[number].joint.freedoms != 1:
        kind = network.ties[number].joint.kind
        problems.error("E991", f"{what} names {name}, which is {kind}, expected one with a single coordinate", place)
        return None
    return number


def _tie(network: Network, scope: Scope, joint: Joint, problems: Problems) -> Tie | None:
    what = f"joint {quote(joint.name)}"
    ends = [find_frame(scope, end, what, joint.location, problems) for end in (joint.parent, joint.child)]
    one, other = ends
    if one is None or other is None:
        return None
    if one[0] == other[0]:
        whom = "the ground" if one[0] == GROUND else quote(network.links[one[0]].body.name)
        problems.error("E985", f"{what} joins {whom} to itself", joint.location)
        return None
    return Tie((*scope.path, joint.name), joint, one[0], other[0], one[1], other[1])
