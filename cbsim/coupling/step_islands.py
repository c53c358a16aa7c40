"""`encounters`: one step of a World in which somebody is near a model, and what is done where it has no solution.

A group is taken through the step together, in finer parts where the solver finds none. Who is in a model too deep to be
pushed out passes through it. Where there is no step still, what does as it is told is left out, and passes; what stands
never does. Where there is none even so, though models by themselves could go on, all of the group stay where they are
for this step. Every step of the last two kinds is told of.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.coupling.candidates import Fleet, Group, fleet_of, states_of
from cbsim.coupling.contact_island import Gathering, Plan, gather
from cbsim.coupling.contact_recorder import Encounter
from cbsim.coupling.diagnostics import Remark
from cbsim.coupling.finite import require_finite
from cbsim.coupling.instance_steps import follow
from cbsim.coupling.penetration import DEEP, Overlap
from cbsim.coupling.solve_island import Ends, Met, meet, who_overlaps
from cbsim.errors import StepError
from cbsim.geometry.linear import times
from cbsim.geometry.pose import heading, heading_quaternion, multiply, rotate
from cbsim.world.snapshot import Snapshot
from cbsim.world.tables import Floats, Ints
from cbsim.world.world import World

__all__ = ["Begun", "Party", "encounters"]

Traffic = Callable[[World, Snapshot, int, Ints], tuple[NDArray[np.uint64], Floats, Floats]]
Ways = tuple[Floats, Floats]
"""States (n, bodies of models, 13) and minds (n, m) after each step."""

TRIES = (1, 1), (4, 1), (16, 1), (4, 2), (16, 4)  # parts of steps, and manners of the solver for each, tried in turn
KEPT = 4  # gatherings of the same models that are kept: those of the newest steps


class Party(NamedTuple):
    """What came of a step of a group.

    Attributes
    ----------
    group : Group
    touches : list of Encounter
    passing : list of (int, int)
        Rows of a body that is not kept out of a model, and number of the model.
    """

    group: Group
    touches: list[Encounter]
    passing: list[tuple[int, int]]


@dataclass
class Gatherings:
    """Gatherings of what stands somewhere, by their plans; any thread may ask."""

    _known: dict[tuple[tuple[int, ...], tuple[int, ...]], dict[Plan, Gathering]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, world: World, fleet: Fleet, plan: Plan) -> Gathering:
        """Look up a gathering, or make it."""
        with self._lock:
            of_models = self._known.setdefault((plan.instances, plan.carried), {})
            found = of_models.pop(plan, None)
            if found is None:
                found = gather(plan, world.instances, fleet.guests, fleet.things, world.step)
            of_models[plan] = found
            while len(of_models) > KEPT:
                del of_models[next(iter(of_models))]
            while len(self._known) > KEPT * len(world.instances):
                del self._known[next(iter(self._known))]
        return found


def encounters(
    world: World, snapshot: Snapshot, rows: Ints, traffic: Traffic, remarks: list[Remark] | None = None
) -> tuple[Floats, Ways, list[Party]] | None:
    """Run one step of everything in which somebody is near a model; None, and nothing done, where nobody is.

    Parameters
    ----------
    world, snapshot, rows, traffic
        As `cbsim.simulation.model_steps.advance_models`. Rows of models are left as they are.
    remarks : list of Remark, optional
        Takes what is to be told of the step.

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
    fleet = fleet_of(world, snapshot)
    groups = fleet.groups(world, snapshot)
    if not groups:
        return None
    kept = [block.copy() for block in snapshot.blocks]
    begun = Begun(world, snapshot, fleet)
    contacts = traffic(world, snapshot, 1, rows)[2]
    try:
        parties = [begun.go(snapshot, group) for group in groups]
        begun.follow_the_rest()
        require_finite(world, snapshot, begun.states, begun.time)
    except StepError:
        for block, old in zip(snapshot.blocks, kept, strict=True):
            block[:] = old
        raise
    if remarks is not None:
        remarks += begun.remarks
    states, minds = ([table[k] for k in range(len(world.instances))] for table in (begun.states, begun.minds))
    return contacts, (np.concatenate(states)[None], np.concatenate(minds)[None]), parties


class Begun:
    """A step of the World that has begun: where all were, and what has become of models so far."""

    def __init__(self, world: World, snapshot: Snapshot, fleet: Fleet) -> None:
        self.world, self.fleet, self.step, self.time = world, fleet, snapshot.step, snapshot.time
        self.gatherings: Gatherings = world.static_caches.of(snapshot).kept.setdefault("gatherings", Gatherings())
        self.old = [
            (instance.rows_of(snapshot), instance.controller_state_of(snapshot)) for instance in world.instances
        ]
        self.before = states_of(snapshot, fleet.rows)
        self.states: dict[int, Floats] = {}
        self.minds: dict[int, Floats] = {}
        self.remarks: list[Remark] = []

    def alone(self, k: int) -> None:
        """Take a model through the step by itself, once."""
        if k not in self.states:
            states, minds = follow(self.world.instances[k], *self.old[k], self.step, 1, self.remarks)
            self.states[k], self.minds[k] = states[0], minds[0]

    def follow_the_rest(self) -> None:
        """Take all models through the step that nobody met."""
        for k in range(len(self.world.instances)):
            self.alone(k)

    def go(self, snapshot: Snapshot, group: Group) -> Party:
        """Take a group through the step: in finer and finer parts, else without what does as it is told, else not."""
        for k in group.carried:
            self.alone(k)
        whole = self.plan(group)
        found = self.overlaps(snapshot, whole)
        plan, passing = self._apart(whole, found)
        told = [g for g in plan.guests if self._is_told("guest", g)]
        chosen = [plan, self._without(plan, told)] if told or plan.carried else [plan]
        for one, (parts, manners) in itertools.product(chosen, TRIES):
            try:
                overlapping = found if one is plan else self.overlaps(snapshot, one)
                met = self._meet(snapshot, one._replace(parts=parts), overlapping, manners)
            except StepError:
                continue
            self.remarks += [Remark("loose", self.time, self._models(group), ())] * met.loose
            if one is not plan:
                passing += self._pass(group, told)
            return Party(group, met.touches, passing)
        return Party(group, [], passing + self._hold(snapshot, group))

    def overlaps(self, snapshot: Snapshot, plan: Plan) -> list[Overlap]:
        """Find who of a plan is in whom; models that are moved without dynamics have gone their way."""
        return who_overlaps(self.gatherings.get(self.world, self.fleet, plan), self._ends(snapshot, plan))

    def _meet(self, snapshot: Snapshot, plan: Plan, overlapping: list[Overlap], manners: int) -> Met:
        gathering = self.gatherings.get(self.world, self.fleet, plan)
        met = meet(gathering, self._ends(snapshot, plan), self.step, self.time, overlapping, manners)
        self.states |= met.states
        self.minds |= met.minds
        take_back(self.world, snapshot, gathering, met)
        return met

    def plan(self, group: Group) -> Plan:
        """Plan the gathering of a group, all of it."""
        level = not len(self.world.constants.ground_triangles)
        levels = tuple(
            float(self.before[g, 2]) if level and not self.before[g, 7:9].any() else None for g in group.guests
        )
        return Plan(*group, levels)

    def _without(self, plan: Plan, told: list[int]) -> Plan:
        """Leave what does as it is told out."""
        kept = [(g, level) for g, level in zip(plan.guests, plan.levels, strict=True) if g not in told]
        guests, levels = tuple(g for g, _ in kept), tuple(level for _, level in kept)
        present = {("model", k) for k in plan.instances} | {("guest", g) for g in guests}
        present |= {("thing", t) for t in plan.things}
        apart = frozenset(pair for pair in plan.apart if {pair[:2], pair[2:]} <= present)
        return Plan(plan.instances, (), guests, plan.things, levels, apart)

    def _ends(self, snapshot: Snapshot, plan: Plan) -> Ends:
        chosen = list(plan.guests)
        states = {k: self.old[k][0] for k in (*plan.instances, *plan.carried)}
        minds, goals = {k: self.old[k][1] for k in plan.instances}, {k: self.states[k] for k in plan.carried}
        return Ends(states, minds, goals, self.before[chosen], states_of(snapshot, self.fleet.rows[chosen]))

    def _apart(self, plan: Plan, found: list[Overlap]) -> tuple[Plan, list[tuple[int, int]]]:
        """Let pass what is deep in what does as it is told; rows of bodies that pass, and numbers of the models."""
        deep = [each for each in found if each.depth > DEEP]
        pairs = {(*each.one, *each.other) for each in deep if self._is_told(*each.one) or self._is_told(*each.other)}
        passing = []
        for kind, k, other, place in sorted(pairs):
            if kind == "model":  # vehicles and movers see to that among themselves
                rows = self.world.instances[place].rows.tolist() if other == "model" else [self.fleet.guests[place].row]
                passing += [(row, k) for row in rows]
        return plan._replace(apart=frozenset(pairs)), passing

    def _is_told(self, kind: str, number: int) -> bool:
        """Whether something does as it is told: a literal mover, or a model that is moved without dynamics."""
        if kind == "guest":
            return bool(np.isinf(self.fleet.guests[number].mass))
        return kind == "model" and self.world.instances[number].motion is not None

    def _hold(self, snapshot: Snapshot, group: Group) -> list[tuple[int, int]]:
        """Let a group go on as one body for this step, or stand still where there is what it might run into.

        What does as it is told passes, as `_pass` has it. A model that cannot go on by itself, with nothing about that
        moves, is at fault itself.
        """
        driven = [g for g in group.guests if not self._is_told("guest", g)]
        told = [g for g in group.guests if g not in driven]
        cars, walls = self.before[driven], [t for t in group.things if not self.fleet.things[t].is_ground]
        models = {k: self.old[k][0] for k in group.instances}
        if not cars[:, 3:6].any() and len(models) < 2 and not told and not group.carried:
            for k in models:
                self.alone(k)
        masses = {k: self.world.instances[k].masses for k in group.instances}
        weights = np.array([self.fleet.guests[g].mass for g in driven])
        stops = bool(walls or told or group.carried or cars[:, 7:9].any())
        speed = np.zeros(3) if stops else _common(models, masses, cars, weights)
        for k, state in models.items():
            self.states[k], self.minds[k] = _carried(state, speed, self.world.step), self.old[k][1]
        columns = snapshot.columns
        for row, state in zip(self.fleet.rows[driven].tolist(), _carried(cars, speed, self.world.step), strict=True):
            columns.position[row], columns.orientation[row] = state[:3], state[6:10]
            columns.velocity[row], columns.angular_velocity[row] = state[3:6], 0.0
            _remember(self.world, snapshot, row)
        what = "joined" if speed.any() else "held"
        self.remarks.append(Remark(what, self.time, self._models(group), self._driven(group)))
        return self._pass(group, told)

    def _models(self, group: Group) -> tuple[str, ...]:
        return tuple(self.world.instances[k].name for k in group.instances)

    def _name(self, guest: int) -> str:
        return self.world.bodies[self.fleet.guests[guest].row].name

    def _driven(self, group: Group) -> tuple[str, ...]:
        """Names of the vehicles of a group."""
        return tuple(self._name(g) for g in group.guests if np.isfinite(self.fleet.guests[g].mass))

    def _pass(self, group: Group, told: list[int]) -> list[tuple[int, int]]:
        """Tell that what does as it is told passes; give rows and models of whom that concerns."""
        instances, guests = self.world.instances, self.fleet.guests
        if not told and not group.carried:
            return []
        others = *(self._name(g) for g in told), *(instances[k].name for k in group.carried)
        models = self._models(group) + (self._driven(group) if group.carried else ())
        self.remarks.append(Remark("passed", self.time, models, others))
        rows = [guests[g].row for g in told] + [int(row) for k in group.carried for row in instances[k].rows]
        found = [(row, k) for row in rows for k in group.instances]
        return found + [(guests[g].row, k) for k in group.carried for g in group.guests if np.isfinite(guests[g].mass)]


def _common(models: dict[int, Floats], masses: dict[int, Floats], cars: Floats, weights: Floats) -> Floats:
    """Give the level velocity (3,) [m/s] at which models and vehicles have the momentum that they have now."""
    parts = [times(masses[k], state[:, 3:5]) for k, state in models.items()]
    total = sum(float(mass.sum()) for mass in masses.values()) + float(weights.sum())
    x, y = (np.sum(parts, axis=0) + times(weights, cars[:, 3:5])) / total
    return np.array([x, y, 0.0])


def _carried(state: Floats, velocity: Floats, time: float) -> Floats:
    """Give states (n, 13) after a time [s] at a velocity (3,) [m/s] that all have, without turning."""
    out = state.copy()
    out[:, :3] += time * velocity
    out[:, 3:6], out[:, 10:] = velocity, 0.0
    return out


def take_back(world: World, snapshot: Snapshot, gathering: Gathering, met: Met) -> None:
    """Write what became of vehicles that were touched: on their ground, upright or leaning as that wants it."""
    columns, vehicles = snapshot.columns, {int(row) for row in world.constants.vehicle_body}
    for guest, moved, state in zip(gathering.guests, met.moved, met.guests, strict=True):
        row = guest.row
        if not moved or row not in vehicles:
            continue
        attitude = columns.orientation[row].copy()
        turn = float(heading(state[6:10]) - heading(attitude))
        columns.orientation[row] = multiply(heading_quaternion(turn), attitude)
        up = rotate(columns.orientation[row], np.array([0.0, 0.0, 1.0]))
        columns.position[row, 2] -= times(up[:2], state[:2] - columns.position[row, :2]) / up[2]
        columns.position[row, :2] = state[:2]
        columns.velocity[row] = state[3:6] - times(state[3:6], up) * up
        columns.angular_velocity[row, 2] = state[12]
        _remember(world, snapshot, row)


def _remember(world: World, snapshot: Snapshot, row: int) -> None:
    """Write where a vehicle is to the memory that sensors look back with."""
    columns, memory = snapshot.columns, world.constants.memory
    if memory:
        v = int(np.flatnonzero(world.constants.vehicle_body == row)[0])
        past = columns.pose_history[v * memory + snapshot.step % memory]
        past[:3], past[3:7] = columns.position[row], columns.orientation[row]
        past[7:10], past[10] = columns.velocity[row], columns.angular_velocity[row, 2]
