"""Collision filter of an island: group and mask bits of all colliders in one integer.

Bodies of a model collide with others by their visual shapes, and with their own model and its world by its own
colliders. Sixty models have to fit into one mechanism, so bits are shared where that changes nothing. In most models
bodies touch only the ground, never each other: their visual shapes share one group, in which bodies of one model are
excluded pairwise, and their own colliders get a group per ground, shared by the models on it. A model with
self-collision takes groups of its own, and one more for its visual shapes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cbsim.geometry.linear import times
from cbsim.geometry.pose import rotate
from cbsim.spec.mechanism.bodies import Body, Bond
from cbsim.spec.mechanism.colliders import Collider, HalfSpace
from cbsim.world.model_instances import ModelInstance

__all__ = ["BITS", "KINEMATIC", "VEHICLES", "CollisionFilter", "FilterGroups", "filter_groups_of"]

BITS = 58  # groups available to the models of one mechanism, besides the shared ones:
WORLD, SHARED_SHAPES = 1 << 58, 1 << 59  # worlds of models; visual shapes of models without self-collision
KINEMATIC, VEHICLES = 1 << 60, 1 << 61  # kinematic actors; vehicles
SAME = 9  # digits to which the grounds of two models have to agree


class FilterGroups(NamedTuple):
    """Collision groups of a model.

    Attributes
    ----------
    grounds : tuple of (hashable or None)
        Identity of each static collider in the model's own world.
    reaches : tuple of (frozenset or None)
        Per own collider of a body: the grounds that it collides with; None for none.
    own : mapping of int → hashable
        Self-collision groups, and a name of each that is unique among all models.
    looks : hashable or None
        Name of the group of the visual shapes; None for the shared one.
    """

    grounds: tuple[Hashable, ...]
    reaches: tuple[frozenset[Hashable] | None, ...]
    own: dict[int, Hashable]
    looks: Hashable | None

    @property
    def keys(self) -> frozenset[Hashable]:
        """Names of the model's groups that count towards `BITS`."""
        named = {*(reach for reach in self.reaches if reach is not None), *self.own.values()}
        return frozenset(named if self.looks is None else {*named, self.looks})


def filter_groups_of(number: int, instance: ModelInstance) -> FilterGroups:
    """Find the collision groups of a model, identified by its number in `World.instances`."""
    solids = [one for one in instance.spec.colliders if isinstance(one.owner, Body)]
    stands = [one for one in instance.spec.colliders if not isinstance(one.owner, Body)]
    grounds = tuple(_ground(number, k, instance, one) for k, one in enumerate(stands))
    reaches = []
    for solid in solids:
        met = frozenset(key for key, one in zip(grounds, stands, strict=True) if _meet(solid, one))
        reaches.append(met or None)
    if not _touch_one_another(solids):
        return FilterGroups(grounds, tuple(reaches), {}, None)
    own: dict[int, Hashable] = {bit: ("own", number, bit) for bit in _bits_of(solids)}
    return FilterGroups(grounds, tuple(reaches), own, ("looks", number))


def _meet(one: Collider, other: Collider) -> bool:
    return bool(one.group & other.meets and other.group & one.meets)


def _touch_one_another(solids: Sequence[Collider]) -> bool:
    """Whether bodies of a model collide with each other."""
    kinds: dict[tuple[int, int], tuple[Collider, set[int]]] = {}
    for one in solids:
        kinds.setdefault((one.group, one.meets), (one, set()))[1].add(id(one.owner))
    found = list(kinds.values())
    return any(
        _meet(one, other) and len(bodies | others) > 1
        for k, (one, bodies) in enumerate(found)
        for other, others in found[k:]
    )


def _bits_of(colliders: Sequence[Collider]) -> list[int]:
    """Numbers of the distinct groups of colliders: one of those with equal members and equal masks."""
    found: dict[tuple[bool, ...], int] = {}
    for bit in range(64):
        members = tuple(bool(one.group >> bit & 1) for one in colliders)
        if any(members):
            found.setdefault((*members, *(bool(one.meets >> bit & 1) for one in colliders)), bit)
    return list(found.values())


def _ground(number: int, place: int, instance: ModelInstance, collider: Collider) -> Hashable:
    """Identify a static collider of a model's world: a half-space by its geometry and law, others by their owner."""
    shape, frame = collider.shape, instance.frame
    if not isinstance(shape, HalfSpace):
        return number, place
    normal = rotate(frame.orientation, rotate(shape.orientation_offset, shape.normal))
    point = frame.position + frame.scale * rotate(frame.orientation, shape.position_offset)
    laws = collider.friction_coefficient, collider.restitution, collider.friction_force, *collider.softness
    numbers = (
        *np.round([*normal, times(normal, point)], SAME).tolist(),
        frame.scale,
        frame.weight,
        instance.spec.timestep,
    )
    return *numbers, *laws


class CollisionFilter:
    """Collision groups of everything in an island.

    Parameters
    ----------
    filter_groups : sequence of FilterGroups
        Of the dynamic models, in their order.

    Attributes
    ----------
    shape_groups : int
        Groups of the visual shapes of all models.
    """

    def __init__(self, filter_groups: Sequence[FilterGroups]) -> None:
        self._filter_groups, names = (
            filter_groups,
            dict.fromkeys(key for one in filter_groups for key in sorted(one.keys, key=repr)),
        )
        self._bits = {name: 1 << k for k, name in enumerate(names)}
        self._put: set[Hashable] = set()
        self.shape_groups = SHARED_SHAPES
        for one in filter_groups:
            self.shape_groups |= 0 if one.looks is None else self._bits[one.looks]

    def ignores_itself(self, place: int) -> bool:
        """Whether bodies of a model never collide with each other, though their visual shapes share a group."""
        return self._filter_groups[place].looks is None

    def of_shapes(self, place: int) -> tuple[int, int]:
        """Return group and mask of a model's visual shapes."""
        name = self._filter_groups[place].looks
        if name is None:
            return SHARED_SHAPES, VEHICLES | KINEMATIC | self.shape_groups
        return self._bits[name], VEHICLES | KINEMATIC | self.shape_groups & ~self._bits[name]

    def of_own(self, place: int, colliders: Iterable[Collider]) -> list[Collider]:
        """Assign groups to the own colliders of a model; omit those without contacts, and duplicate grounds."""
        filter_groups, found = self._filter_groups[place], []
        grounds, reaches = iter(filter_groups.grounds), iter(filter_groups.reaches)
        for one in colliders:
            if isinstance(one.owner, Body):
                reach = next(reaches)
                ground = 0 if reach is None else self._bits[reach]
                group, meets = self._moved(filter_groups, one.group) | ground, self._moved(filter_groups, one.meets)
                meets |= WORLD if ground else 0
            else:
                key = next(grounds)
                stood, group = key in self._put, WORLD
                self._put.add(key)
                meets = 0 if stood else self._met_by(key)
            if group and meets:
                found.append(replace(one, group=group, meets=meets, bond=Bond()))
        return found

    def _moved(self, filter_groups: FilterGroups, mask: int) -> int:
        return sum(self._bits[name] for bit, name in filter_groups.own.items() if mask >> bit & 1)

    def _met_by(self, ground: Hashable) -> int:
        """Return the groups of everything that collides with a ground."""
        return sum(bit for name, bit in self._bits.items() if isinstance(name, frozenset) and ground in name)
