"""Who may meet whom in the next step: models, vehicles, literal movers, and what stands, as a Snapshot has it.

Models that may touch one another, and the vehicles that may touch one of them, are one group, whatever their order;
what does as it is told ties no group together, and is in every one that it may touch.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cbsim.coupling.collision_filter import BITS, marks_of
from cbsim.geometry.linear import norm
from cbsim.geometry.pose import rotate
from cbsim.spec.mechanism.similar import can_change_size
from cbsim.spec.objects import ShapeKind
from cbsim.vehicle.kernels.columns import BODY_FRICTION, MASS, RESTITUTION, YAW_INERTIA
from cbsim.world.model_instances import ModelInstance
from cbsim.world.snapshot import Snapshot
from cbsim.world.tables import Floats, Ints
from cbsim.world.world import World

__all__ = ["SMOOTH", "Fleet", "Group", "Guest", "Thing", "fleet_of", "states_of"]

ROOM = 0.5  # [m] by which bodies may come nearer in a step than their speeds say
HASTE = 1.5  # times the way that their speeds say
SMOOTH = 0.5  # friction of what is no vehicle, for which its file says none


class Guest(NamedTuple):
    """A vehicle or a literal mover.

    Attributes
    ----------
    row : int
        In the table of bodies.
    kind, size : ShapeKind, (3,) [m]
        Its outline.
    mass, yaw_inertia : float
        [kg], [kg m²]; a mass of infinity for what does as it is told.
    friction, restitution : float
        Of its body.
    speed : float
        Largest of a mover's legs [m/s]; 0 of a vehicle.
    """

    row: int
    kind: ShapeKind
    size: Floats
    mass: float
    yaw_inertia: float
    friction: float
    restitution: float
    speed: float


@dataclass(frozen=True, eq=False)
class Thing:
    """What stands: a prop or a mesh.

    Attributes
    ----------
    row : int
        In the table of bodies.
    kind, size : ShapeKind, (3,) [m]
    position, orientation : (3,) [m], (4,)
    triangles : (n, 3, 3) [m]
        Of a mesh, in its own frame.
    is_ground : bool
        Whether vehicles drive on it.
    low, high : (3,) [m]
        Box along the axes of the World that holds it.
    """

    row: int
    kind: ShapeKind
    size: Floats
    position: Floats
    orientation: Floats
    triangles: Floats
    is_ground: bool
    low: Floats
    high: Floats

    @cached_property
    def _boxes(self) -> tuple[Floats, Floats]:
        """Boxes (n, 3) [m] that hold its triangles in the World."""
        placed = rotate(self.orientation, self.triangles) + self.position
        return placed.min(axis=1), placed.max(axis=1)

    def is_near(self, low: Floats, high: Floats) -> bool:
        """Whether it may reach into a box [m]."""
        if (low > self.high).any() or (high < self.low).any():
            return False
        if self.kind is not ShapeKind.MESH:
            return True
        lows, highs = self._boxes
        return bool(((lows <= high) & (highs >= low)).all(axis=1).any())


class Group(NamedTuple):
    """Who may touch in a step.

    Attributes
    ----------
    instances : tuple of int
        Numbers of the models that the solver moves.
    carried : tuple of int
        Numbers of models that are moved without dynamics.
    guests, things : tuple of int
        Places in the lists of the fleet.
    """

    instances: tuple[int, ...]
    carried: tuple[int, ...]
    guests: tuple[int, ...]
    things: tuple[int, ...]


class _Crowd(NamedTuple):
    """Bodies of one model that have a shape: places (n, 3), radii with the way of a step (n,) [m], and their box."""

    places: Floats
    reach: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class Fleet:
    """All that may run into models of a World, as it stands in some Snapshots.

    Attributes
    ----------
    rows : (n,) int64
        Of the guests in the table of bodies.
    guests : tuple of Guest
        Vehicles, then literal movers.
    things : tuple of Thing
    """

    rows: Ints
    guests: tuple[Guest, ...]
    things: tuple[Thing, ...]
    _marks: dict[int, frozenset[Hashable]] = field(default_factory=dict, repr=False)

    def groups(self, world: World, snapshot: Snapshot) -> list[Group]:
        """Find who may touch in the next step; models that nothing can touch are in no group.

        Who is hit may go on as fast as who hits: where that is farther than `ROOM`, all of a group reach as far as its
        fastest, until none comes to it.
        """
        instances, columns = world.instances, snapshot.columns
        own = [float(norm(columns.velocity[instance.rows], axis=1).max(initial=0.0)) for instance in instances]
        guests = norm(columns.velocity[self.rows], axis=1)
        speeds = np.concatenate([own, np.maximum(guests, [guest.speed for guest in self.guests])])
        while True:
            groups, faster = self._groups(world, snapshot, speeds), speeds.copy()
            for group in groups:
                among = [*group.instances, *group.carried, *(len(instances) + g for g in group.guests)]
                most = speeds[among].max()
                if most * world.step > ROOM:
                    faster[among] = most
            if (faster == speeds).all():
                return groups
            speeds = faster

    def _groups(self, world: World, snapshot: Snapshot, speeds: Floats) -> list[Group]:
        """Find who may touch where models, then guests, have largest speeds (n,) [m/s]."""
        instances = world.instances
        crowds = [_crowd_of(world, snapshot, instance, speeds[k]) for k, instance in enumerate(instances)]
        spots: Floats = snapshot.columns.position[self.rows]
        reach = world.shapes.radius[self.rows] + HASTE * world.step * speeds[len(instances) :] + ROOM
        near = [self._guests_near(crowd, spots, reach) for crowd in crowds]
        pairs = list(_near_pairs(crowds))
        moved = {k for k, instance in enumerate(instances) if instance.motion is None}
        driven = {g for found in near for g in found if np.isfinite(self.guests[g].mass)}
        ties = [(a, b) for a, b in pairs if {a, b} <= moved and _are_alike(instances[a], instances[b])]
        ties += [(k, len(instances) + g) for k in sorted(moved) for g in near[k] if g in driven]
        keys = dict.fromkeys([*sorted(moved), *(len(instances) + g for g in sorted(driven))], frozenset[Hashable]())
        if ties:
            keys |= {k: self._keys(k, instances[k]) for k in sorted(moved)}
        sets = _tied(keys, ties, {k: instances[k] for k in moved})
        found = []
        for members in sets:
            own = tuple(m for m in members if m < len(instances))
            cars = tuple(m - len(instances) for m in members if m >= len(instances))
            carried = {b if a in own else a for a, b in pairs if (a in own) != (b in own)} - moved
            carried |= {k for k, seen in enumerate(near) if k not in moved and set(seen) & set(cars)}
            if own or carried:
                told = {g for k in own for g in near[k]} - set(cars)
                boxes = [(crowd.low, crowd.high, True) for k in own if (crowd := crowds[k]) is not None]
                boxes += [(spots[g] - reach[g], spots[g] + reach[g], False) for g in cars]
                things = self._things_near(boxes)
                if len(own) > 1 or carried or told or cars or things:
                    found.append(Group(own, tuple(sorted(carried)), (*cars, *sorted(told)), things))
        return found

    def _keys(self, k: int, instance: ModelInstance) -> frozenset[Hashable]:
        """Names of the groups of colliders that a model takes."""
        if k not in self._marks:
            self._marks[k] = marks_of(k, instance).keys
        return self._marks[k]

    def _things_near(self, boxes: list[tuple[Floats, Floats, bool]]) -> tuple[int, ...]:
        """Places of the things that reach into boxes; ground counts only where a box says so."""
        return tuple(
            t
            for t, thing in enumerate(self.things)
            if any((grounds or not thing.is_ground) and thing.is_near(low, high) for low, high, grounds in boxes)
        )

    def _guests_near(self, crowd: _Crowd | None, spots: Floats, reach: Floats) -> list[int]:
        """Places of the guests that a model may touch."""
        if crowd is None or not len(spots):
            return []
        away = np.maximum(np.maximum(crowd.low - spots, spots - crowd.high), 0.0)
        close = np.flatnonzero((away * away).sum(axis=1) <= reach * reach)
        found = []
        for g in close.tolist():
            apart = norm(crowd.places - spots[g], axis=1)
            if (apart <= crowd.reach + reach[g]).any():
                found.append(g)
        return found


def _crowd_of(world: World, snapshot: Snapshot, instance: ModelInstance, speed: float) -> _Crowd | None:
    """Look at the bodies of a model, the fastest at a speed [m/s] at least; None where none has a shape."""
    columns, radius = snapshot.columns, world.shapes.radius[instance.rows]
    solid = instance.rows[radius > 0.0]
    if not len(solid):
        return None
    places = columns.position[solid]
    own = norm(columns.velocity[instance.rows], axis=1)
    speeds = np.where(speed > own.max(), speed, own[radius > 0.0])
    gained = world.step**2 * instance.frame.scale * float(norm(instance.spec.gravity))
    reach = radius[radius > 0.0] + HASTE * world.step * speeds + max(0.0, gained - 0.5 * ROOM)
    low, high = (places - reach[:, None]).min(axis=0) - ROOM, (places + reach[:, None]).max(axis=0) + ROOM
    return _Crowd(places, reach, low, high)


def _near_pairs(crowds: list[_Crowd | None]) -> Iterable[tuple[int, int]]:
    """Pairs of models that may touch, the lower number first."""
    present = [k for k, crowd in enumerate(crowds) if crowd is not None]
    if len(present) < 2:
        return
    found = [crowd for crowd in crowds if crowd is not None]
    lows, highs = np.array([crowd.low for crowd in found]), np.array([crowd.high for crowd in found])
    for i, a in enumerate(found):
        for j in np.flatnonzero(((lows[i + 1 :] <= a.high) & (highs[i + 1 :] >= a.low)).all(axis=1)).tolist():
            b = found[i + 1 + j]
            apart = norm(a.places[:, None] - b.places, axis=2)
            if (apart <= a.reach[:, None] + b.reach + ROOM).any():
                yield present[i], present[i + 1 + j]


def _tied(
    keys: dict[int, frozenset[Hashable]], ties: list[tuple[int, int]], models: dict[int, ModelInstance]
) -> list[list[int]]:
    """Find the sets of numbers that ties hold together, each in order, by their first.

    None takes more groups than `BITS`, and in none are two models that cannot be one mechanism.
    """
    label = {k: k for k in keys}
    kept = {k: [models[k]] if k in models else [] for k in keys}

    def root(k: int) -> int:
        while label[k] != k:
            k = label[k]
        return k

    taken = dict(keys)
    for a, b in ties:
        one, other = sorted((root(a), root(b)))
        if one == other or len(taken[one] | taken[other]) > BITS:
            continue
        if all(_are_alike(a, b) for a in kept[one] for b in kept[other]):
            label[other], taken[one] = one, taken[one] | taken[other]
            kept[one] += kept[other]
    groups: dict[int, list[int]] = {}
    for k in keys:
        groups.setdefault(root(k), []).append(k)
    return list(groups.values())


def _are_alike(one: ModelInstance, other: ModelInstance) -> bool:
    """Whether two models can be one mechanism: of one size, or such that either can take the other's."""
    return one.frame.scale == other.frame.scale or (can_change_size(one.spec) and can_change_size(other.spec))


def states_of(snapshot: Snapshot, rows: Ints) -> Floats:
    """Gather states (n, 13) of bodies: position, velocity, orientation, angular velocity."""
    columns = snapshot.columns
    parts = (columns.position, columns.velocity, columns.orientation, columns.angular_velocity)
    return np.concatenate([part[rows] for part in parts], axis=1)


# --- making one -------------------------------------------------------------------------------------------------------
def fleet_of(world: World, snapshot: Snapshot) -> Fleet:
    """Look up the fleet of a Snapshot, or make it: one for all Snapshots in which the same stands in the same place."""
    kept = world.static_caches.of(snapshot).kept
    found = kept.get("fleet")
    if not isinstance(found, Fleet):
        found = kept["fleet"] = _fleet(world, snapshot)
    return found


def _fleet(world: World, snapshot: Snapshot) -> Fleet:
    constants, shapes = world.constants, world.shapes
    guests: list[Guest] = []
    for row, given in zip(constants.vehicle_body.tolist(), constants.vehicle_parameters, strict=True):
        mass, inertia, friction, bounce = (float(given[k]) for k in (MASS, YAW_INERTIA, BODY_FRICTION, RESTITUTION))
        kind = ShapeKind(int(shapes.kind[row]))
        guests.append(Guest(row, kind, shapes.size[row], mass, inertia, friction, bounce, 0.0))
    for m, row in enumerate(constants.mover_body.tolist()):
        legs = constants.segment_velocity[constants.mover_first[m] : constants.mover_last[m] + 1]
        speed = float(norm(legs, axis=1).max(initial=0.0))
        kind = ShapeKind(int(shapes.kind[row]))
        guests.append(Guest(row, kind, shapes.size[row], np.inf, np.inf, SMOOTH, 0.0, speed))
    rows = np.array([guest.row for guest in guests], np.int64)
    things = [thing for row in world.static_caches.rows.tolist() if (thing := _thing(world, snapshot, row)) is not None]
    return Fleet(rows, tuple(guests), tuple(things))


def _thing(world: World, snapshot: Snapshot, row: int) -> Thing | None:
    """Describe a body that stands; None where it has no extent."""
    shapes, columns = world.shapes, snapshot.columns
    kind, size = ShapeKind(int(shapes.kind[row])), shapes.size[row]
    triangles = shapes.triangles[shapes.first[row] : shapes.last[row]]
    if kind is ShapeKind.MESH and not len(triangles):
        return None
    position, orientation = columns.position[row].copy(), columns.orientation[row].copy()
    half = 0.5 * np.abs(rotate(orientation, np.diag(size))).sum(axis=0)
    is_ground = not shapes.solid[row]
    return Thing(row, kind, size, position, orientation, triangles, is_ground, position - half, position + half)
