"""Vehicles, literal movers, props and meshes near models: who they are, what comes of a step, what is noted of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from cbsim.collision.kernels.pairs import TOUCHING, make_bench, pair_distance
from cbsim.errors import StepError
from cbsim.geometry.pose import heading, heading_quaternion, multiply, rotate
from cbsim.jit import wrapping
from cbsim.run.batch import NO_CONTACTS
from cbsim.run.kernels import note_models
from cbsim.spec.objects import ShapeKind
from cbsim.vehicle.kernels.columns import BODY_FRICTION, MASS, RESTITUTION, YAW_INERTIA
from cbsim.world.company import Company, Guest, Met, company_of
from cbsim.world.islands import Island
from cbsim.world.snapshot import Snapshot
from cbsim.world.tables import Floats, Ints
from cbsim.world.watch import Encounter
from cbsim.world.world import World

__all__ = ["Fleet", "Party", "encounters", "fleet_of", "note_touches"]

Traffic = Callable[[World, Snapshot, int, Ints], tuple[NDArray[np.uint64], Floats, Floats]]
Ways = tuple[Floats, Floats]
"""States (n, bodies of models, 13) and minds (n, m) after each step."""

ROOM = 0.5  # [m] by which bodies may come nearer in a step than their speeds say
HASTE = 1.5  # times the way that their speeds say
KEPT = 8  # companies of a World that are kept: those of the newest steps
DEEP = 0.1  # [m] what is in a model by more is not pushed out, for that would take a blow
SMOOTH = 0.5  # friction of what is no vehicle, for which its file says none


class Party(NamedTuple):
    """What came of a step of one model.

    Attributes
    ----------
    island : Island
    state, mind : (bodies, 13), (m,)
        After it.
    rows : list of int
        Of the guests.
    touches : list of Encounter
        With them.
    passing : list of int
        Rows of those that are not kept out: what was put into the model, or does as it is told and ran into what cannot
        give way.
    """

    island: Island
    state: Floats
    mind: Floats
    rows: list[int]
    touches: list[Encounter]
    passing: list[int]


@dataclass(frozen=True, eq=False)
class Fleet:
    """All that may run into models of a World.

    Attributes
    ----------
    rows : (n,) int64
        In the table of bodies: vehicles, then literal movers, then what stands and is no ground.
    guests : list of Guest
        One each.
    halves, speeds : (n, 3) [m], (n,) [m/s]
        Half sizes of boxes along the axes of the World that hold them; largest speed of a mover's legs, 0 for others.
    """

    rows: Ints
    guests: list[Guest]
    halves: Floats
    speeds: Floats
    _companies: dict[tuple[int, tuple[int, ...]], Company] = field(default_factory=dict, repr=False)

    def near(self, world: World, snapshot: Snapshot) -> dict[int, list[int]]:
        """Find who may touch which models in the next step: number of an island → places in `rows`."""
        columns, step, found = snapshot.columns, world.step, dict[int, list[int]]()
        if not len(self.rows):
            return found
        speeds = np.maximum(self.speeds, np.linalg.norm(columns.velocity[self.rows], axis=1))
        spots, reach = columns.position[self.rows], HASTE * step * speeds + ROOM
        for k, island in enumerate(world.islands):
            radius = world.shapes.radius[island.rows]
            places, rates = columns.position[island.rows][radius > 0.0], columns.velocity[island.rows][radius > 0.0]
            if not len(places):
                continue
            margin = radius[radius > 0.0] + HASTE * step * np.linalg.norm(rates, axis=1)
            low, high = (places - margin[:, None]).min(axis=0), (places + margin[:, None]).max(axis=0)
            away = np.maximum(np.maximum(low - spots, spots - high) - self.halves, 0.0)
            near = np.flatnonzero((away * away).sum(axis=1) <= reach * reach)
            if len(near):
                found[k] = near.tolist()
        return found

    def company(self, world: World, number: int, near: Sequence[int]) -> Company:
        """Look up the company of an island and some of the fleet, or make it."""
        key = number, tuple(near)
        found = self._companies.pop(key, None)
        if found is None:
            found = company_of(world.islands[number], [self.guests[k] for k in near])
        self._companies[key] = found
        while len(self._companies) > KEPT:
            self._companies.pop(next(iter(self._companies)))
        return found


_fleets: WeakKeyDictionary[World, Fleet] = WeakKeyDictionary()


def fleet_of(world: World) -> Fleet:
    """Look up the fleet of a World, or make it."""
    found = _fleets.get(world)
    if found is None:
        found = _fleets[world] = _fleet(world)
    return found


def _fleet(world: World) -> Fleet:
    constants, shapes = world.constants, world.shapes
    level = not len(constants.ground_triangles)
    start, guests, speeds = world.first.columns, list[Guest](), list[float]()
    for v, row in enumerate(constants.vehicle_body.tolist()):
        given = constants.vehicle_parameters[v]
        upright = level and not start.orientation[row, 1:3].any()
        height = float(start.position[row, 2]) if upright else None
        mass, inertia, friction, bounce = (float(given[k]) for k in (MASS, YAW_INERTIA, BODY_FRICTION, RESTITUTION))
        kind = ShapeKind(int(shapes.kind[row]))
        guests.append(Guest(row, kind, shapes.size[row], mass, inertia, friction, bounce, height, None))
        speeds.append(0.0)
    for m, row in enumerate(constants.mover_body.tolist()):
        legs = constants.leg_velocity[constants.mover_first[m] : constants.mover_last[m] + 1]
        guests.append(_immovable(world, row))
        speeds.append(float(np.linalg.norm(legs, axis=1).max(initial=0.0)))
    halves = [np.full(3, shapes.radius[guest.row]) for guest in guests]
    for row in world.standings.rows.tolist():
        if shapes.solid[row]:
            guests.append(_immovable(world, row))
            speeds.append(0.0)
            halves.append(0.5 * np.abs(rotate(start.orientation[row], np.diag(shapes.size[row]))).sum(axis=0))
    rows = np.array([guest.row for guest in guests], np.int64)
    return Fleet(rows, guests, np.array(halves).reshape(-1, 3), np.array(speeds))


def _immovable(world: World, row: int) -> Guest:
    """Describe what does as it is told: a literal mover, a prop, a mesh."""
    shapes = world.shapes
    kind, triangles = ShapeKind(int(shapes.kind[row])), None
    if kind is ShapeKind.MESH:
        triangles = shapes.triangles[shapes.first[row] : shapes.last[row]]
    return Guest(row, kind, shapes.size[row], np.inf, np.inf, SMOOTH, 0.0, None, triangles)


def encounters(
    world: World, snapshot: Snapshot, rows: Ints, traffic: Traffic
) -> tuple[Floats, Ways, list[Party]] | None:
    """Run one step of everything in which somebody is near a model; None, and nothing done, where nobody is.

    Parameters
    ----------
    world, snapshot, rows, traffic
        As `cbsim.run.models.advance_models`. Rows of models are left as they are.

    Returns
    -------
    contacts : ndarray, shape (n, 12)
        Of everything but models.
    ways : (ndarray, ndarray)
        Of all models, one step.
    parties : list of Party

    Raises
    ------
    StepError
        If a model cannot go on even by itself; the Snapshot is then as it was.
    """
    fleet = fleet_of(world)
    near = fleet.near(world, snapshot)
    if not near:
        return None
    kept = [block.copy() for block in snapshot.blocks]
    before, step = states_of(snapshot, fleet.rows), snapshot.step
    contacts = traffic(world, snapshot, 1, rows)[2]
    parties: list[Party] = []
    states, minds = [], []
    try:
        for k in range(len(world.islands)):
            party = _meet(world, snapshot, k, near.get(k, []), before, step)
            parties.append(party)
            states.append(party.state)
            minds.append(party.mind)
    except StepError:
        for block, old in zip(snapshot.blocks, kept, strict=True):
            block[:] = old
        raise
    return contacts, (np.concatenate(states)[None], np.concatenate(minds)[None]), parties


def _meet(world: World, snapshot: Snapshot, number: int, near: list[int], before: Floats, step: int) -> Party:
    """Take a model through a step with all who are near, else with vehicles alone, else by itself."""
    fleet, island = fleet_of(world), world.islands[number]
    state, mind = island.rows_of(snapshot), island.mind_of(snapshot)
    apart = [k for k in near if not _is_inside(world, fleet.guests[k].row, before[k], island, state)]
    driven = [k for k in apart if np.isfinite(fleet.guests[k].mass)]
    for chosen in (apart, driven if driven != apart else []):
        if chosen:
            company, after = fleet.company(world, number, chosen), states_of(snapshot, fleet.rows[chosen])
            try:
                met = company.meet(state, mind, before[chosen], after, step)
            except StepError:
                continue
            take_back(world, snapshot, company, met)
            rows, left = fleet.rows[chosen].tolist(), fleet.rows[[k for k in near if k not in chosen]].tolist()
            return Party(island, met.state, met.mind, rows, met.touches, left)
    path, thoughts = island.follow(state, mind, step, 1)
    return Party(island, path[0], thoughts[0], [], [], fleet.rows[near].tolist())


def _is_inside(world: World, row: int, guest: Floats, island: Island, state: Floats) -> bool:
    """Tell whether a guest (13,) is deep in a body of a model (bodies, 13): only one that was put there can be."""
    radii, out = world.shapes.radius, np.zeros(10)
    away = np.linalg.norm(state[:, :3] - guest[:3], axis=1)
    for k in np.flatnonzero(away < radii[island.rows] + radii[row] - DEEP).tolist():
        bench, body = make_bench(len(world.shapes.triangles)), int(island.rows[k])
        places = guest[:3], guest[6:10], body, state[k, :3], state[k, 6:10]
        pair_distance(world.shapes, row, *places, np.inf, bench, out)
        if out[0] < -DEEP:
            return True
    return False


def states_of(snapshot: Snapshot, rows: Ints) -> Floats:
    """Gather states (n, 13) of bodies: position, velocity, orientation, angular velocity."""
    columns = snapshot.columns
    parts = (columns.position, columns.velocity, columns.orientation, columns.angular_velocity)
    return np.concatenate([part[rows] for part in parts], axis=1)


def take_back(world: World, snapshot: Snapshot, company: Company, met: Met) -> None:
    """Write what became of vehicles that were touched: on their ground, upright or leaning as that wants it."""
    columns, constants = snapshot.columns, world.constants
    vehicles = {int(row): v for v, row in enumerate(constants.vehicle_body)}
    for guest, moved, state in zip(company.guests, met.moved, met.guests, strict=True):
        v = vehicles.get(guest.row)
        if not moved or v is None:
            continue
        row, attitude = guest.row, columns.orientation[guest.row].copy()
        turn = float(heading(state[6:10]) - heading(attitude))
        columns.orientation[row] = multiply(heading_quaternion(turn), attitude)
        up = rotate(columns.orientation[row], np.array([0.0, 0.0, 1.0]))
        columns.position[row, 2] -= up[:2] @ (state[:2] - columns.position[row, :2]) / up[2]
        columns.position[row, :2] = state[:2]
        columns.velocity[row] = state[3:6] - (state[3:6] @ up) * up
        columns.angular_velocity[row, 2] = state[12]
        if constants.memory:
            past = columns.past[v * constants.memory + snapshot.step % constants.memory]
            past[:3], past[3:7] = columns.position[row], columns.orientation[row]
            past[7:10], past[10] = columns.velocity[row], state[12]


def note_touches(world: World, snapshot: Snapshot, ways: Ways, parties: Sequence[Party]) -> Floats:
    """Note who touches whom once models have gone their way; rows (n, 12) of touches that begin."""
    models = len(world.constants.tracked_body) - world.layout.vehicles
    first, partner = world.layout.bodies - models, snapshot.columns.partner
    known = (partner >= first).any() or (partner[-models:] >= 0).any()
    if not known and not any(party.touches or party.passing for party in parties):
        return NO_CONTACTS
    columns, end = snapshot.columns, ways[0][0]
    columns.position[first:], columns.orientation[first:] = end[:, :3], end[:, 6:10]
    rows = [
        (one.time, party.rows[one.guest], party.island.rows[one.body], *one.place, *one.normal, *one[5:])
        for party in parties
        for one in party.touches
    ]
    for party in parties:
        rows += _overlaps(world, snapshot, party)
    table = np.array(rows, float).reshape(-1, NO_CONTACTS.shape[1])
    pairs: NDArray[np.int64] = table[:, 1:3].astype(np.int64)
    fresh = np.zeros(len(pairs), np.bool_)
    with wrapping():
        note_models(world.pack, world.layout.sizes, *snapshot.blocks, pairs, fresh)
    return table[fresh]


def _overlaps(world: World, snapshot: Snapshot, party: Party) -> list[tuple[float, ...]]:
    """Rows of contacts of those that passed through a model: where they are in it at the end of the step."""
    columns, found = snapshot.columns, list[tuple[float, ...]]()
    for row in party.passing:
        bench, out = make_bench(len(world.shapes.triangles)), np.zeros(10)
        for body in party.island.rows.tolist():
            poses = (columns.position[row], columns.orientation[row], columns.position[body], columns.orientation[body])
            pair_distance(world.shapes, row, *poses[:2], body, *poses[2:], np.inf, bench, out)
            if out[0] <= TOUCHING:
                closing = float((columns.velocity[row] - party.state[body - party.island.rows[0], 3:6]) @ out[1:4])
                place = 0.5 * (out[4:7] + out[7:10])
                found.append((snapshot.time, row, body, *place, *out[1:4], closing, 0.0, max(0.0, -out[0])))
    return found
