"""Who meets whom in a gathering: the groups of all colliders, in the bits of one whole number.

Bodies of a model are solid to others by their looks, and to their own model and its own world by its own colliders. So
that sixty models can be one mechanism, bits are shared where that changes nothing. Most models let their bodies touch
the ground alone, and no two of them one another: their looks are one group for all, in which bodies of one model leave
each other alone by a list, and their own colliders are in a group for each ground, which models on the same one share.
A model whose bodies touch one another takes groups of its own, and one more for its looks.
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

__all__ = ["BITS", "DRIVEN", "TOLD", "Marks", "Masks", "marks_of"]

BITS = 58  # groups that the models of one mechanism have at most besides those that all share:
WORLD, LOOKS = 1 << 58, 1 << 59  # worlds of models; looks of models whose bodies leave each other alone
TOLD, DRIVEN = 1 << 60, 1 << 61  # what does as it is told; vehicles
SAME = 9  # digits to which the grounds of two models are the same


class Marks(NamedTuple):
    """Groups that a model takes.

    Attributes
    ----------
    grounds : tuple of (hashable or None)
        Of each own collider of its world what tells it from others.
    reaches : tuple of (frozenset or None)
        Of each own collider of a body the grounds that it touches; None for one that touches nothing of its own world.
    own : mapping of int → hashable
        Groups in which its bodies touch one another, and a name of each among all models.
    looks : hashable or None
        Name of the group of its looks; None for that which all share.
    """

    grounds: tuple[Hashable, ...]
    reaches: tuple[frozenset[Hashable] | None, ...]
    own: dict[int, Hashable]
    looks: Hashable | None

    @property
    def keys(self) -> frozenset[Hashable]:
        """Names of all groups that it takes of those that are counted."""
        named = {*(reach for reach in self.reaches if reach is not None), *self.own.values()}
        return frozenset(named if self.looks is None else {*named, self.looks})


def marks_of(number: int, instance: ModelInstance) -> Marks:
    """Find the groups that a model takes, identified by its number in `World.instances`."""
    solids = [one for one in instance.spec.colliders if isinstance(one.owner, Body)]
    stands = [one for one in instance.spec.colliders if not isinstance(one.owner, Body)]
    grounds = tuple(_ground(number, k, instance, one) for k, one in enumerate(stands))
    reaches = []
    for solid in solids:
        met = frozenset(key for key, one in zip(grounds, stands, strict=True) if _meet(solid, one))
        reaches.append(met or None)
    if not _touch_one_another(solids):
        return Marks(grounds, tuple(reaches), {}, None)
    own: dict[int, Hashable] = {bit: ("own", number, bit) for bit in _bits_of(solids)}
    return Marks(grounds, tuple(reaches), own, ("looks", number))


def _meet(one: Collider, other: Collider) -> bool:
    return bool(one.group & other.meets and other.group & one.meets)


def _touch_one_another(solids: Sequence[Collider]) -> bool:
    """Whether any body of a model touches another of it."""
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
    """Numbers of the groups that colliders are in, one of those that the same are in and meet."""
    found: dict[tuple[bool, ...], int] = {}
    for bit in range(64):
        members = tuple(bool(one.group >> bit & 1) for one in colliders)
        if any(members):
            found.setdefault((*members, *(bool(one.meets >> bit & 1) for one in colliders)), bit)
    return list(found.values())


def _ground(number: int, place: int, instance: ModelInstance, collider: Collider) -> Hashable:
    """Tell an own collider of a model's world from others: a half-space by what it is, all else by whose it is."""
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


class Masks:
    """The groups of everybody in a gathering.

    Parameters
    ----------
    marks : sequence of Marks
        Of the models that the solver moves, in their order.

    Attributes
    ----------
    looks : int
        Groups of the looks of all of them.
    """

    def __init__(self, marks: Sequence[Marks]) -> None:
        self._marks, names = marks, dict.fromkeys(key for one in marks for key in sorted(one.keys, key=repr))
        self._bits = {name: 1 << k for k, name in enumerate(names)}
        self._put: set[Hashable] = set()
        self.looks = LOOKS
        for one in marks:
            self.looks |= 0 if one.looks is None else self._bits[one.looks]

    def leave_alone(self, place: int) -> bool:
        """Whether the bodies of a model leave each other alone, though their looks are of one group."""
        return self._marks[place].looks is None

    def of_looks(self, place: int) -> tuple[int, int]:
        """Give the groups that the looks of a model are in, and those that they meet."""
        name = self._marks[place].looks
        if name is None:
            return LOOKS, DRIVEN | TOLD | self.looks
        return self._bits[name], DRIVEN | TOLD | self.looks & ~self._bits[name]

    def of_own(self, place: int, colliders: Iterable[Collider]) -> list[Collider]:
        """Give the own colliders of a model their groups; those that touch nothing, or stand already, are left out."""
        marks, found = self._marks[place], []
        grounds, reaches = iter(marks.grounds), iter(marks.reaches)
        for one in colliders:
            if isinstance(one.owner, Body):
                reach = next(reaches)
                ground = 0 if reach is None else self._bits[reach]
                group, meets = self._moved(marks, one.group) | ground, self._moved(marks, one.meets)
                meets |= WORLD if ground else 0
            else:
                key = next(grounds)
                stood, group = key in self._put, WORLD
                self._put.add(key)
                meets = 0 if stood else self._met_by(key)
            if group and meets:
                found.append(replace(one, group=group, meets=meets, bond=Bond()))
        return found

    def _moved(self, marks: Marks, mask: int) -> int:
        return sum(self._bits[name] for bit, name in marks.own.items() if mask >> bit & 1)

    def _met_by(self, ground: Hashable) -> int:
        """Give the groups of all that touches a ground."""
        return sum(bit for name, bit in self._bits.items() if isinstance(name, frozenset) and ground in name)
