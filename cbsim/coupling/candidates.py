"""Candidates of contact islands: models, vehicles, literal movers and static obstacles that may touch in the next step.

Models that may touch one another, and vehicles that may touch one of them, form one group, whatever their order.
Kinematic actors don't connect groups; each belongs to every group that it may touch.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.coupling.collision_filter import BITS, filter_groups_of
from cbsim.geometry.elementary import square
from cbsim.geometry.linear import norm
from cbsim.geometry.pose import rotate
from cbsim.spec.mechanism.similar import can_change_size
from cbsim.spec.objects import ShapeKind
from cbsim.vehicle.kernels.columns import BODY_FRICTION, MASS, RESTITUTION, YAW_INERTIA
from cbsim.world.model_instances import ModelInstance
from cbsim.world.snapshot import Snapshot
from cbsim.world.traffic.tables import BODY, VEHICLE
from cbsim.world.world import World

__all__ = ["SMOOTH", "ActorProxy", "Group", "InteractionCandidates", "StaticObstacle", "candidates_of", "states_of"]

MARGIN = 0.5  # [m] by which bodies may approach in a step beyond their speeds
SPEED_FACTOR = 1.5  # times the distance that their speeds give
SMOOTH = 0.5  # friction of bodies other than vehicles, where their file gives none


class ActorProxy(NamedTuple):
    """Collision proxy of a vehicle, a literal mover or a reactive car.

    Attributes
    ----------
    row : int
        In the table of bodies.
    kind, size : ShapeKind, (3,) [m]
        Its outline.
    mass, yaw_inertia : float
        [kg], [kg m²]; infinite for kinematic actors.
    friction, restitution : float
        Of its body.
    speed : float
        Largest speed of a mover's trajectory [m/s]; 0 for vehicles and reactive cars.
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
class StaticObstacle:
    """A prop or a mesh.

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
        Axis-aligned bounding box in the World.
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
        """Axis-aligned bounding boxes (n, 3) [m] of its triangles in the World."""
        placed = rotate(self.orientation, self.triangles) + self.position
        return placed.min(axis=1), placed.max(axis=1)

    def is_near(self, low: Floats, high: Floats) -> bool:
        """Whether it may intersect a box [m]."""
        if (low > self.high).any() or (high < self.low).any():
            return False
        if self.kind is not ShapeKind.MESH:
            return True
        lows, highs = self._boxes
        return bool(((lows <= high) & (highs >= low)).all(axis=1).any())


class Group(NamedTuple):
    """Everything that may touch in a step.

    Attributes
    ----------
    instances : tuple of int
        Numbers of dynamic models.
    kinematic_models : tuple of int
        Numbers of kinematic models.
    actors, obstacles : tuple of int
        Indices in `InteractionCandidates`.
    """

    instances: tuple[int, ...]
    kinematic_models: tuple[int, ...]
    actors: tuple[int, ...]
    obstacles: tuple[int, ...]


class _ModelBounds(NamedTuple):
    """Bodies of a model with a shape: centres (n, 3) and swept radii (n,) [m], and their bounding box."""

    places: Floats
    reach: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class InteractionCandidates:
    """Everything that may touch models of a World, for Snapshots with the same static bodies.

    Attributes
    ----------
    rows : (n,) int64
        Of the actors in the table of bodies.
    actors : tuple of ActorProxy
        Vehicles, literal movers, then reactive cars.
    obstacles : tuple of StaticObstacle
    """

    rows: Ints
    actors: tuple[ActorProxy, ...]
    obstacles: tuple[StaticObstacle, ...]
    _filter_groups: dict[int, frozenset[Hashable]] = field(default_factory=dict, repr=False)

    def groups(self, world: World, snapshot: Snapshot) -> list[Group]:
        """Find the groups that may touch in the next step; models without candidates are in none.

        A body that is hit may move on as fast as the one that hits it. Where that exceeds `MARGIN`, all of a group get
        the reach of its fastest member; repeated until no group grows.
        """
        instances, columns = world.instances, snapshot.columns
        own = [float(norm(columns.velocity[instance.rows], axis=1).max(initial=0.0)) for instance in instances]
        actors = norm(columns.velocity[self.rows], axis=1)
        speeds = np.concatenate([own, np.maximum(actors, [actor.speed for actor in self.actors])])
        while True:
            groups, faster = self._groups(world, snapshot, speeds), speeds.copy()
            for group in groups:
                among = [*group.instances, *group.kinematic_models, *(len(instances) + g for g in group.actors)]
                most = speeds[among].max()
                if most * world.step > MARGIN:
                    faster[among] = most
            if (faster == speeds).all():
                return groups
            speeds = faster

    def _groups(self, world: World, snapshot: Snapshot, speeds: Floats) -> list[Group]:
        """Find the groups for upper speeds (n,) [m/s] of models, then actors."""
        instances = world.instances
        bounds = [_bounds_of(world, snapshot, instance, speeds[k]) for k, instance in enumerate(instances)]
        spots: Floats = snapshot.columns.position[self.rows]
        reach = world.shapes.radius[self.rows] + SPEED_FACTOR * world.step * speeds[len(instances) :] + MARGIN
        near = [self._actors_near(crowd, spots, reach) for crowd in bounds]
        pairs = list(_near_pairs(bounds))
        moved = {k for k, instance in enumerate(instances) if instance.motion is None}
        driven = {g for found in near for g in found if np.isfinite(self.actors[g].mass)}
        ties = [(a, b) for a, b in pairs if {a, b} <= moved and _are_alike(instances[a], instances[b])]
        ties += [(k, len(instances) + g) for k in sorted(moved) for g in near[k] if g in driven]
        keys = dict.fromkeys([*sorted(moved), *(len(instances) + g for g in sorted(driven))], frozenset[Hashable]())
        if ties:
            keys |= {k: self._keys(k, instances[k]) for k in sorted(moved)}
        sets = _tied(keys, ties, {k: instances[k] for k in moved})
        found = []
        for members in sets:
            own = tuple(m for m in members if m < len(instances))
            actor_rows = tuple(m - len(instances) for m in members if m >= len(instances))
            kinematic_models = {b if a in own else a for a, b in pairs if (a in own) != (b in own)} - moved
            kinematic_models |= {k for k, seen in enumerate(near) if k not in moved and set(seen) & set(actor_rows)}
            if own or kinematic_models:
                told = {g for k in own for g in near[k]} - set(actor_rows)
                boxes = [(crowd.low, crowd.high, True) for k in own if (crowd := bounds[k]) is not None]
                boxes += [(spots[g] - reach[g], spots[g] + reach[g], False) for g in actor_rows]
                obstacles = self._obstacles_near(boxes)
                if len(own) > 1 or kinematic_models or told or actor_rows or obstacles:
                    found.append(Group(own, tuple(sorted(kinematic_models)), (*actor_rows, *sorted(told)), obstacles))
        return found

    def _keys(self, k: int, instance: ModelInstance) -> frozenset[Hashable]:
        """Names of a model's collision groups."""
        if k not in self._filter_groups:
            self._filter_groups[k] = filter_groups_of(k, instance).keys
        return self._filter_groups[k]

    def _obstacles_near(self, boxes: list[tuple[Floats, Floats, bool]]) -> tuple[int, ...]:
        """Find indices of obstacles that intersect boxes; ground counts only for boxes that say so."""
        return tuple(
            t
            for t, obstacle in enumerate(self.obstacles)
            if any((grounds or not obstacle.is_ground) and obstacle.is_near(low, high) for low, high, grounds in boxes)
        )

    def _actors_near(self, crowd: _ModelBounds | None, spots: Floats, reach: Floats) -> list[int]:
        """Find indices of actors that a model may touch."""
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


def _bounds_of(world: World, snapshot: Snapshot, instance: ModelInstance, speed: float) -> _ModelBounds | None:
    """Bound the bodies of a model, with at least a speed [m/s] for the fastest; None if none has a shape."""
    columns, radius = snapshot.columns, world.shapes.radius[instance.rows]
    solid = instance.rows[radius > 0.0]
    if not len(solid):
        return None
    places = columns.position[solid]
    own = norm(columns.velocity[instance.rows], axis=1)
    speeds = np.where(speed > own.max(), speed, own[radius > 0.0])
    gained = square(world.step) * instance.frame.scale * float(norm(instance.spec.gravity))
    reach = radius[radius > 0.0] + SPEED_FACTOR * world.step * speeds + max(0.0, gained - 0.5 * MARGIN)
    low, high = (places - reach[:, None]).min(axis=0) - MARGIN, (places + reach[:, None]).max(axis=0) + MARGIN
    return _ModelBounds(places, reach, low, high)


def _near_pairs(bounds: list[_ModelBounds | None]) -> Iterable[tuple[int, int]]:
    """Pairs of models that may touch, the lower number first."""
    present = [k for k, crowd in enumerate(bounds) if crowd is not None]
    if len(present) < 2:
        return
    found = [crowd for crowd in bounds if crowd is not None]
    lows, highs = np.array([crowd.low for crowd in found]), np.array([crowd.high for crowd in found])
    for i, a in enumerate(found):
        for j in np.flatnonzero(((lows[i + 1 :] <= a.high) & (highs[i + 1 :] >= a.low)).all(axis=1)).tolist():
            b = found[i + 1 + j]
            apart = norm(a.places[:, None] - b.places, axis=2)
            if (apart <= a.reach[:, None] + b.reach + MARGIN).any():
                yield present[i], present[i + 1 + j]


def _tied(
    keys: dict[int, frozenset[Hashable]], ties: list[tuple[int, int]], models: dict[int, ModelInstance]
) -> list[list[int]]:
    """Find connected components of numbers, each sorted, ordered by their first.

    No component takes more groups than `BITS`, or has two models that can't be in one mechanism.
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
    """Whether two models can be in one mechanism: they have equal scales, or both can be rescaled."""
    return one.frame.scale == other.frame.scale or (can_change_size(one.spec) and can_change_size(other.spec))


def states_of(snapshot: Snapshot, rows: Ints) -> Floats:
    """Gather states (n, 13) of bodies: position, velocity, orientation, angular velocity."""
    columns = snapshot.columns
    parts = (columns.position, columns.velocity, columns.orientation, columns.angular_velocity)
    return np.concatenate([part[rows] for part in parts], axis=1)


# --- making one -------------------------------------------------------------------------------------------------------
def candidates_of(world: World, snapshot: Snapshot) -> InteractionCandidates:
    """Find or make the candidates of a Snapshot, shared by Snapshots with the same static bodies."""
    kept = world.static_caches.of(snapshot).kept
    found = kept.get("candidates")
    if not isinstance(found, InteractionCandidates):
        found = kept["candidates"] = _make_candidates(world, snapshot)
    return found


def _make_candidates(world: World, snapshot: Snapshot) -> InteractionCandidates:
    constants, shapes = world.constants, world.shapes
    actors: list[ActorProxy] = []
    for row, given in zip(constants.vehicle_body.tolist(), constants.vehicle_parameters, strict=True):
        mass, inertia, friction, bounce = (float(given[k]) for k in (MASS, YAW_INERTIA, BODY_FRICTION, RESTITUTION))
        kind = ShapeKind(int(shapes.kind[row]))
        actors.append(ActorProxy(row, kind, shapes.size[row], mass, inertia, friction, bounce, 0.0))
    for m, row in enumerate(constants.mover_body.tolist()):
        legs = constants.segment_velocity[constants.mover_first[m] : constants.mover_last[m] + 1]
        speed = float(norm(legs, axis=1).max(initial=0.0))
        kind = ShapeKind(int(shapes.kind[row]))
        actors.append(ActorProxy(row, kind, shapes.size[row], np.inf, np.inf, SMOOTH, 0.0, speed))
    cars = world.traffic.road.car_rows
    for row in (*cars[cars[:, VEHICLE] < 0, BODY].tolist(), *constants.guided_body.tolist()):
        kind = ShapeKind(int(shapes.kind[row]))
        actors.append(ActorProxy(row, kind, shapes.size[row], np.inf, np.inf, SMOOTH, 0.0, 0.0))
    rows = np.array([actor.row for actor in actors], np.int64)
    obstacles = [
        obstacle
        for row in world.static_caches.rows.tolist()
        if (obstacle := _obstacle(world, snapshot, row)) is not None
    ]
    return InteractionCandidates(rows, tuple(actors), tuple(obstacles))


def _obstacle(world: World, snapshot: Snapshot, row: int) -> StaticObstacle | None:
    """Describe a static body; None if it has no extent."""
    shapes, columns = world.shapes, snapshot.columns
    kind, size = ShapeKind(int(shapes.kind[row])), shapes.size[row]
    triangles = shapes.triangles[shapes.first[row] : shapes.last[row]]
    if kind is ShapeKind.MESH and not len(triangles):
        return None
    position, orientation = columns.position[row].copy(), columns.orientation[row].copy()
    half = 0.5 * np.abs(rotate(orientation, np.diag(size))).sum(axis=0)
    is_ground = not shapes.solid[row]
    return StaticObstacle(
        row, kind, size, position, orientation, triangles, is_ground, position - half, position + half
    )
