"""Tree of a robot's links, with links merged by fixed joints or missing mass.

A link that no body can be (it has no mass, or no inertia) is part of one to which fixed joints tie it.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats
from cbsim.formats.urdf.frames import HERE, pose_of
from cbsim.geometry.linear import eigh, eigvalsh, times
from cbsim.geometry.pose import Pose
from cbsim.spec.mechanism.shapes import matrix
from cbsim.spec.urdf import Inertial, Joint, Link, Robot

__all__ = ["FREE", "SLIGHT", "Mass", "Tree", "can_be_a_body", "mass_at", "moments_of", "sound", "tensor", "together"]

FREE = frozenset(
    {
        "floating", "planar", "planaraxis", "planarfree", "planarslide", "planarorbital", "fixedorientation",
        "freerevolute", "freeorbital", "cylindricalfree",
    }
)  # fmt: skip
"""Joint types by which a body floats: their parent is the world."""

NONE = 1e-12  # [m²] moments per mass below this are none: those of a grain of dust
SLIGHT = 0.05  # share of the largest moment by which rounded numbers may make the smallest one negative
RAISED = 1e-3  # what such a moment is raised to, as a share of the largest


def tensor(inertial: Inertial) -> Floats:
    """Inertia (3, 3) [kg m²] about the centre of mass, in the inertial frame, as the file has it."""
    xx, xy, xz, yy, yz, zz = inertial.inertia
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def moments_of(inertial: Inertial) -> Floats:
    """Principal moments (3,) [kg m²], in rising order."""
    return np.asarray(eigvalsh(tensor(inertial)))


def sound(mass: float, inertia: Floats) -> Floats | None:
    """Return an inertia (3, 3) that a body can have by itself, slightly wrong ones mended; None where there is none."""
    moments, axes = eigh(inertia)
    largest = moments[2]
    if not mass > 0.0 or largest <= NONE * mass or moments[0] < -SLIGHT * largest:
        return None
    if moments[0] > 1e-9 * largest:
        return inertia
    return np.asarray(times(times(axes, np.diag(np.maximum(moments, RAISED * largest))), axes.T))


def can_be_a_body(link: Link) -> bool:
    """Whether a link has a mass and an inertia that a body can have by itself."""
    return link.inertial is not None and sound(link.mass, tensor(link.inertial)) is not None


class Mass(NamedTuple):
    """Mass [kg], centre of mass (3,) [m] and inertia (3, 3) [kg m²] about it of something, in a frame of its own."""

    mass: float
    centre: Floats
    inertia: Floats


def mass_at(inertial: Inertial, pose: Pose) -> Mass:
    """Mass of a link in a frame in which the link's own is at a pose."""
    place = pose @ pose_of(inertial.origin)
    rotation = matrix(place.orientation)
    return Mass(float(inertial.mass), place.position, times(times(rotation, tensor(inertial)), rotation.T))


def together(parts: Sequence[Mass]) -> Mass:
    """Add masses up (Steiner's theorem)."""
    if len(parts) == 1:
        return parts[0]
    total = math.fsum(part.mass for part in parts)
    centre = np.asarray(sum(part.mass * part.centre for part in parts) / total)
    inertia = np.zeros((3, 3))
    for part in parts:
        arm = part.centre - centre
        inertia += part.inertia + part.mass * (times(arm, arm) * np.eye(3) - np.outer(arm, arm))
    return Mass(total, centre, inertia)


class Tree:
    """Tree of links by name, of a robot whose joints form one.

    Attributes
    ----------
    links : dict
        Name → link.
    carrier : dict
        Name of a link → the joint that leads to it.
    root : Link
        The one that no joint leads to.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.links = {link.name: link for link in robot.links}
        self.carrier = {joint.child: joint for joint in robot.joints}
        self.root = next(link for link in robot.links if link.name not in self.carrier)

    @cached_property
    def groups(self) -> dict[str, str]:
        """Name of a link → name of the uppermost link to which fixed joints tie it."""
        tops: dict[str, str] = {}
        for name in self.links:
            way = [name]
            while way[-1] not in tops and (joint := self.carrier.get(way[-1])) and joint.type == "fixed":
                way.append(joint.parent)
            tops |= dict.fromkeys(way, tops.get(way[-1], way[-1]))
        return tops

    @cached_property
    def members(self) -> dict[str, list[str]]:
        """Name of an uppermost link → all that fixed joints tie to it, itself first, in the order of the file."""
        members: dict[str, list[str]] = {top: [top] for top in dict.fromkeys(self.groups.values())}
        for name, top in self.groups.items():
            if name != top:
                members[top].append(name)
        return members

    @cached_property
    def poses(self) -> dict[str, Pose]:
        """Pose of every link's frame in that of its group's uppermost link."""
        poses: dict[str, Pose] = {}
        for name in self.links:
            way = [name]
            while way[-1] not in poses and self.groups[way[-1]] != way[-1]:
                way.append(self.carrier[way[-1]].parent)
            pose = poses.get(way[-1], HERE)
            poses[way[-1]] = pose
            for below in reversed(way[:-1]):
                pose = pose @ pose_of(self.carrier[below].origin)
                poses[below] = pose
        return poses

    def weight(self, top: str) -> float:
        """Mass of a group [kg]."""
        return math.fsum(self.links[name].mass for name in self.members[top])

    @cached_property
    def leavers(self) -> dict[str, list[Joint]]:
        """Name of an uppermost link → joints, other than fixed ones, that lead from its group."""
        found: dict[str, list[Joint]] = {top: [] for top in self.members}
        for joint in self.robot.joints:
            if joint.type != "fixed":
                found[self.groups[joint.parent]].append(joint)
        return found

    @property
    def is_grounded(self) -> bool:
        """Whether the root stands for the world: it is called so, has no mass but joints, or things move about in it.

        Otherwise it is a body like the others, and nothing holds it.
        """
        top = self.root.name
        if top == "world" or not self.weight(top):
            return True
        return any(joint.type in FREE for joint in self.leavers[top])

    def homes(self, top: str, wanted: set[str]) -> dict[str, str]:
        """Name of a link of a group → the nearest of the wanted ones, through fixed joints; ties go to the first."""
        near: dict[str, list[str]] = {name: [] for name in self.members[top]}
        for name in self.members[top]:
            if name != top:
                near[name].insert(0, self.carrier[name].parent)
                near[self.carrier[name].parent].append(name)
        homes = {name: name for name in self.members[top] if name in wanted}
        queue = deque(homes)
        while queue:
            name = queue.popleft()
            for other in near[name]:
                if other not in homes:
                    homes[other] = homes[name]
                    queue.append(other)
        return homes

    def between(self, name: str, home: str) -> Pose:
        """Pose of a link's frame in that of another link of its group."""
        return self.poses[home].inverse @ self.poses[name]

    def home_of(self, top: str, *, merged: bool) -> dict[str, str]:
        """Name of a link of a group → that of the link whose body it is part of.

        Parameters
        ----------
        top : str
            The group's uppermost link.
        merged : bool
            Make one body of the whole group; else as many as there are links that can be bodies.
        """
        able = {name for name in self.members[top] if can_be_a_body(self.links[name])}
        return dict.fromkeys(self.members[top], top) if merged or not able else self.homes(top, able)

    def mass_of(self, home: str, homes: dict[str, str]) -> Mass | None:
        """Mass of all links that are part of one body, in the frame of the link that it is named by; None without any.

        The inertia is as the file has it; `sound` makes it one that a body can have.
        """
        parts = [
            mass_at(inertial, self.between(name, home))
            for name, where in homes.items()
            if where == home and (inertial := self.links[name].inertial) is not None and inertial.mass > 0.0
        ]
        return together(parts) if parts else None
