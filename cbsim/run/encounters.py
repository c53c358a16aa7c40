"""Vehicles and literal movers near models: who they are, what comes of a step together, and what is noted of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from cbsim.errors import StepError
from cbsim.geometry.pose import heading, heading_quaternion, multiply, rotate
from cbsim.jit import wrapping
from cbsim.run.batch import NO_CONTACTS
from cbsim.run.kernels import note_models
from cbsim.spec.objects import ShapeKind
from cbsim.vehicle.kernels.columns import BODY_FRICTION, MASS, RESTITUTION, YAW_INERTIA
from cbsim.world.company import Company, Guest, Met, company_of
from cbsim.world.snapshot import Snapshot
from cbsim.world.tables import Floats, Ints
from cbsim.world.world import World

__all__ = ["Fleet", "Party", "encounters", "fleet_of", "note_touches"]

Traffic = Callable[[World, Snapshot, int, Ints], tuple[NDArray[np.uint64], Floats, Floats]]
Party = tuple[Company, Met]
Ways = tuple[Floats, Floats]
"""States (n, bodies of models, 13) and minds (n, m) after each step."""

ROOM = 0.5  # [m] by which bodies may come nearer in a step than their speeds say
HASTE = 1.5  # times the way that their speeds say
KEPT = 8  # companies of a World that are kept: those of the newest steps
SMOOTH = 0.5  # friction of a literal mover, for which its file says none


@dataclass(frozen=True, eq=False)
class Fleet:
    """All that may run into models of a World.

    Attributes
    ----------
    rows : (n,) int64
        In the table of bodies: vehicles, then literal movers.
    guests : list of Guest
        One each.
    radii, speeds : (n,) [m], [m/s]
        Of the spheres that hold them; largest speed of a mover's legs, 0 for a vehicle.
    """

    rows: Ints
    guests: list[Guest]
    radii: Floats
    speeds: Floats
    _companies: dict[tuple[int, tuple[int, ...]], Company] = field(default_factory=dict, repr=False)

    def near(self, world: World, snapshot: Snapshot) -> dict[int, list[int]]:
        """Find who may touch which models in the next step: number of an island → places in `rows`."""
        columns, step, found = snapshot.columns, world.step, dict[int, list[int]]()
        if not len(self.rows):
            return found
        speeds = np.maximum(self.speeds, np.linalg.norm(columns.velocity[self.rows], axis=1))
        spots, reach = columns.position[self.rows], self.radii + HASTE * step * speeds + ROOM
        for k, island in enumerate(world.islands):
            radius = world.shapes.radius[island.rows]
            places, rates = columns.position[island.rows][radius > 0.0], columns.velocity[island.rows][radius > 0.0]
            if not len(places):
                continue
            margin = radius[radius > 0.0] + HASTE * step * np.linalg.norm(rates, axis=1)
            low, high = (places - margin[:, None]).min(axis=0), (places + margin[:, None]).max(axis=0)
            away = np.maximum(np.maximum(low - spots, spots - high), 0.0)
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
        guests.append(Guest(row, kind, shapes.size[row], mass, inertia, friction, bounce, height))
        speeds.append(0.0)
    for m, row in enumerate(constants.mover_body.tolist()):
        legs = constants.leg_velocity[constants.mover_first[m] : constants.mover_last[m] + 1]
        kind = ShapeKind(int(shapes.kind[row]))
        guests.append(Guest(row, kind, shapes.size[row], np.inf, np.inf, SMOOTH, 0.0, None))
        speeds.append(float(np.linalg.norm(legs, axis=1).max(initial=0.0)))
    rows = np.array([guest.row for guest in guests], np.int64)
    return Fleet(rows, guests, shapes.radius[rows], np.array(speeds))


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
    parties : list of (Company, Met)

    Raises
    ------
    StepError
        If the solver fails; the Snapshot is then as it was.
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
        for k, island in enumerate(world.islands):
            state, mind = island.rows_of(snapshot), island.mind_of(snapshot)
            if k in near:
                company = fleet.company(world, k, near[k])
                met = company.meet(state, mind, before[near[k]], states_of(snapshot, fleet.rows[near[k]]), step)
                take_back(world, snapshot, company, met)
                parties.append((company, met))
                states.append(met.state)
                minds.append(met.mind)
            else:
                path, thoughts = island.follow(state, mind, step, 1)
                states.append(path[0])
                minds.append(thoughts[0])
    except StepError:
        for block, old in zip(snapshot.blocks, kept, strict=True):
            block[:] = old
        raise
    return contacts, (np.concatenate(states)[None], np.concatenate(minds)[None]), parties


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
    rows = [
        (time, company.guests[guest].row, company.island.rows[body], *place, *normal, closing, impulse, depth)
        for company, met in parties
        for guest, body, time, place, normal, closing, impulse, depth in met.touches
    ]
    models = len(world.constants.tracked_body) - world.layout.vehicles
    first, partner = world.layout.bodies - models, snapshot.columns.partner
    known = (partner >= first).any() or (partner[-models:] >= 0).any()
    if not rows and not known:
        return NO_CONTACTS
    table = np.array(rows, float).reshape(-1, NO_CONTACTS.shape[1])
    pairs: NDArray[np.int64] = table[:, 1:3].astype(np.int64)
    fresh = np.zeros(len(pairs), np.bool_)
    columns, end = snapshot.columns, ways[0][0]
    columns.position[first:], columns.orientation[first:] = end[:, :3], end[:, 6:10]
    with wrapping():
        note_models(world.pack, world.layout.sizes, *snapshot.blocks, pairs, fresh)
    return table[fresh]
