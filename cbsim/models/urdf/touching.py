"""Colliders of a robot, and pairs of links that do not collide.

Links leave each other alone that a joint ties, fixed joints counting as none; and those that stand in one another where
the robot starts: there the geometry is rough, and would push apart what the joints hold together. That is what other
programs do with a robot of which nothing else is known.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from cbsim.arrays import Floats
from cbsim.formats.urdf.frames import HERE, pose_of
from cbsim.formats.urdf.tree import FREE, Tree
from cbsim.geometry import elementary as math
from cbsim.geometry.linear import norm, times
from cbsim.geometry.pose import Pose
from cbsim.models.polytopes import approach
from cbsim.models.urdf.solids import MeshData, points_around, solid_of
from cbsim.spec.mechanism.shapes import Shape
from cbsim.spec.urdf import Collision, Joint

__all__ = ["FIXTURE", "GROUND", "Solid", "at_start", "motion", "overlaps", "solids_of", "things", "tied"]

GROUND, FIXTURE, FIRST = 1, 2, 4  # groups of colliders: the ground, links that are part of the world, the first thing
THINGS = 48  # that have groups of their own; others share them
CLOSE = 1e-3  # of the search for nearest points: how exact it is, as a share of the distance
NEAR = 1e-3  # [m] what starts nearer to one another counts as one in the other


class Solid:
    """A piece of collision geometry.

    Attributes
    ----------
    link : str
        Whose it is.
    shape : Shape
        In the link's frame.
    points : ndarray, shape (n, 3)
        Corners around which it is, in the link's frame.
    margin : float
        How far it reaches around them [m].
    """

    def __init__(self, link: str, shape: Shape, points: Floats, margin: float) -> None:
        self.link, self.shape, self.points, self.margin = link, shape, points, margin


def solids_of(tree: Tree, meshes: Mapping[str, MeshData]) -> Iterator[tuple[Collision, Solid | None]]:
    """Yield all collision geometry of a robot; None for what encloses nothing or cannot be had."""
    for link in tree.robot.links:
        for collision in link.collisions:
            shape = solid_of(collision.geometry, pose_of(collision.origin), meshes)
            if shape is None:
                yield collision, None
                continue
            points, margin = points_around(shape)
            yield collision, Solid(link.name, shape, points, margin)


def motion(joint: Joint, value: float) -> Pose:
    """Pose of a revolute or prismatic joint at a coordinate, in the joint's frame; of others where they are zero."""
    axis = np.asarray(joint.axis, float)
    along = axis / norm(axis)
    if joint.type == "prismatic":
        return Pose(value * along, np.array([1.0, 0.0, 0.0, 0.0]))
    return Pose(np.zeros(3), np.concatenate([[math.cos(0.5 * value)], math.sin(0.5 * value) * along]))


def at_start(tree: Tree, start: Mapping[str, float]) -> dict[str, Pose]:
    """Pose of every link's frame in the root's, joints at their first coordinates; loops are not closed."""
    poses = {tree.root.name: HERE}
    for name in tree.links:
        way = [name]
        while way[-1] not in poses:
            way.append(tree.carrier[way[-1]].parent)
        pose = poses[way.pop()]
        for below in reversed(way):
            joint = tree.carrier[below]
            value = start.get(joint.name, 0.0)
            pose = pose @ pose_of(joint.origin)
            pose = pose if value == 0.0 else pose @ motion(joint, value)
            poses[below] = pose
    return poses


def things(tree: Tree) -> dict[str, int]:
    """Name of a link → group of all that joints hold together: what moves about in the world is a thing by itself."""
    top = tree.groups[tree.root.name]
    number: dict[str, int] = {tree.root.name: 0}
    count = 0
    for name in tree.links:
        way = [name]
        while way[-1] not in number:
            joint = tree.carrier[way[-1]]
            if joint.type in FREE and tree.groups[joint.parent] == top and tree.is_grounded:
                count += 1
                number[way[-1]] = count
                break
            way.append(joint.parent)
        number |= dict.fromkeys(way, number[way[-1]])
    return {name: FIRST << (k % THINGS) for name, k in number.items()}


def tied(tree: Tree) -> set[frozenset[str]]:
    """Pairs of uppermost links of groups that a joint ties."""
    joints: list[Any] = [(joint.parent, joint.child) for joint in tree.robot.joints]
    joints += [(loop.link1, loop.link2) for loop in tree.robot.loops]
    return {frozenset((tree.groups[one], tree.groups[other])) for one, other in joints}


def overlaps(tree: Tree, solids: list[Solid], start: Mapping[str, float]) -> set[frozenset[str]]:
    """Pairs of links that stand in one another where the robot starts."""
    poses = at_start(tree, start)
    apart = tied(tree)
    placed = [(poses[solid.link].apply(solid.points), solid) for solid in solids]
    middles = [points.mean(axis=0) for points, _ in placed]
    reaches = [
        float(norm(points - middle, axis=1).max()) + solid.margin
        for (points, solid), middle in zip(placed, middles, strict=True)
    ]
    found: set[frozenset[str]] = set()
    for i, j in itertools.combinations(range(len(placed)), 2):
        (one, a), (other, b) = placed[i], placed[j]
        pair = frozenset((a.link, b.link))
        tops = frozenset((tree.groups[a.link], tree.groups[b.link]))
        if len(tops) < 2 or pair in found or tops in apart:
            continue
        if norm(middles[i] - middles[j]) > reaches[i] + reaches[j] + NEAR:
            continue
        if _distance(one, other) < a.margin + b.margin + NEAR:
            found.add(pair)
    return found


def _distance(one: Floats, other: Floats) -> float:
    """Distance of two convex hulls [m], 0 where they overlap: the nearest point to the origin of their difference."""

    def farthest(direction: Floats) -> Floats:
        return np.asarray(one[np.argmax(times(one, direction))] - other[np.argmin(times(other, direction))])

    size = 0.0
    for nearest, new in approach(farthest, one[0] - other[0]):
        size = float(times(nearest, nearest))
        if size < 1e-18 or size - float(times(nearest, new)) <= CLOSE * size:
            break
    return math.sqrt(size)
