"""A coupled step of a World in progress: its initial states, the islands of its groups, and the states reached so far.

Nothing is written to the Snapshot: `cbsim.coupling.step_islands` writes all rows once, when all groups have a result.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats
from cbsim.coupling.candidates import Group, InteractionCandidates, states_of
from cbsim.coupling.contact_island import ContactIsland, Plan, build_island
from cbsim.coupling.contact_recorder import ContactEvent
from cbsim.coupling.diagnostics import Diagnostic
from cbsim.coupling.instance_steps import follow
from cbsim.coupling.penetration import DEEP, Overlap
from cbsim.coupling.solve_island import BoundaryStates, IslandSolution, island_overlaps
from cbsim.geometry.linear import times
from cbsim.geometry.pose import heading, heading_quaternion, multiply, rotate
from cbsim.world.snapshot import Snapshot
from cbsim.world.world import World

__all__ = ["CoupledStep", "GroupStates"]

KEPT = 4  # cached islands of the same models, the last used ones

Pair = tuple[str, int, str, int]
"""Kinds and numbers in a plan."""


class GroupStates(NamedTuple):
    """States of a group after a step, in the World.

    Attributes
    ----------
    states, controller_states : dict of int → ndarray
        Of dynamic models by their numbers: (bodies, 13) and (m,).
    vehicles : dict of int → ndarray
        Row in the table of bodies → state (13,) of the vehicles that models touched.
    events : list of ContactEvent
        First contact of each pair.
    """

    states: dict[int, Floats]
    controller_states: dict[int, Floats]
    vehicles: dict[int, Floats]
    events: list[ContactEvent]


@dataclass
class IslandCache:
    """Contact islands of one static scene by their plans; thread-safe."""

    _known: dict[tuple[tuple[int, ...], tuple[int, ...]], dict[Plan, ContactIsland]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, world: World, candidates: InteractionCandidates, plan: Plan) -> ContactIsland:
        """Find an island, or build it."""
        with self._lock:
            of_models = self._known.setdefault((plan.instances, plan.kinematic_models), {})
            found = of_models.pop(plan, None)
            if found is None:
                found = build_island(plan, world.instances, candidates.actors, candidates.obstacles, world.step)
            of_models[plan] = found
            while len(of_models) > KEPT:
                del of_models[next(iter(of_models))]
            while len(self._known) > KEPT * len(world.instances):
                del self._known[next(iter(self._known))]
        return found


class CoupledStep:
    """A step of the World in progress.

    Parameters
    ----------
    world : World
    snapshot : Snapshot
        Before the step.
    candidates : InteractionCandidates

    Attributes
    ----------
    number, time : int, float
        Of the step; its beginning [s].
    old : list of (ndarray, ndarray)
        States (bodies, 13) and controller states (m,) of the models before it.
    before, after : ndarray, shape (actors, 13)
        States of the actors before it, and after it without contacts with models; those are set by `end_at`.
    states, controller_states : dict of int → ndarray
        Of the models that have been advanced.
    vehicles : dict of int → ndarray
        As in `GroupStates`.
    diagnostics : list of Diagnostic
    """

    def __init__(self, world: World, snapshot: Snapshot, candidates: InteractionCandidates) -> None:
        self.world, self.candidates, self.number, self.time = world, candidates, snapshot.step, snapshot.time
        self._islands: IslandCache = world.static_caches.of(snapshot).kept.setdefault("contact islands", IslandCache())
        self._overlaps: dict[Plan, list[Overlap]] = {}
        self.old = [
            (instance.rows_of(snapshot), instance.controller_state_of(snapshot)) for instance in world.instances
        ]
        self.before = self.after = states_of(snapshot, candidates.rows)
        self.states: dict[int, Floats] = {}
        self.controller_states: dict[int, Floats] = {}
        self.vehicles: dict[int, Floats] = {}
        self.diagnostics: list[Diagnostic] = []

    def end_at(self, snapshot: Snapshot) -> None:
        """Read the states of actors after the step from a Snapshot in which models have not moved."""
        self.after = states_of(snapshot, self.candidates.rows)

    def take(self, reached: GroupStates) -> None:
        """Add the states of a group."""
        self.states |= reached.states
        self.controller_states |= reached.controller_states
        self.vehicles |= reached.vehicles

    def advance_alone(self, k: int) -> None:
        """Advance a model by itself, once."""
        if k not in self.states:
            states, controller_states = follow(self.world.instances[k], *self.old[k], self.number, 1, self.diagnostics)
            self.states[k], self.controller_states[k] = states[0], controller_states[0]

    # --- members of a group -------------------------------------------------------------------------------------------
    def kinematic_actors(self, group: Group) -> list[int]:
        """Literal movers of a group."""
        return [g for g in group.actors if np.isinf(self.candidates.actors[g].mass)]

    def driven_actors(self, group: Group) -> list[int]:
        """Vehicles of a group."""
        return [g for g in group.actors if np.isfinite(self.candidates.actors[g].mass)]

    def has_kinematic(self, group: Group) -> bool:
        """Whether the motion of some member is prescribed."""
        return bool(group.kinematic_models or self.kinematic_actors(group))

    def _is_kinematic(self, kind: str, number: int) -> bool:
        """Whether the motion of something is prescribed: a literal mover, or a model with a motion."""
        if kind == "actor":
            return bool(np.isinf(self.candidates.actors[number].mass))
        return kind == "model" and self.world.instances[number].motion is not None

    # --- islands ------------------------------------------------------------------------------------------------------
    def plan(self, group: Group) -> Plan:
        """Plan the island of a whole group."""
        level = not len(self.world.constants.ground_triangles)
        ground_heights = tuple(
            float(self.before[g, 2]) if level and not self.before[g, 7:9].any() else None for g in group.actors
        )
        return Plan(*group, ground_heights)

    def without_kinematic(self, plan: Plan) -> Plan:
        """Remove literal movers and kinematic models from a plan."""
        kept = [
            (g, level)
            for g, level in zip(plan.actors, plan.ground_heights, strict=True)
            if not self._is_kinematic("actor", g)
        ]
        actors, ground_heights = tuple(g for g, _ in kept), tuple(level for _, level in kept)
        present = {("model", k) for k in plan.instances} | {("actor", g) for g in actors}
        present |= {("obstacle", t) for t in plan.obstacles}
        apart = frozenset(pair for pair in plan.excluded if {pair[:2], pair[2:]} <= present)
        return Plan(plan.instances, (), actors, plan.obstacles, ground_heights, apart)

    def island(self, plan: Plan) -> ContactIsland:
        """Find or build an island."""
        return self._islands.get(self.world, self.candidates, plan)

    def overlaps(self, plan: Plan) -> list[Overlap]:
        """Find penetrating pairs of a plan before the step; its kinematic models have been advanced."""
        if plan not in self._overlaps:
            self._overlaps[plan] = island_overlaps(self.island(plan), self.boundary(plan))
        return self._overlaps[plan]

    def deep_pairs(self, group: Group) -> frozenset[Pair]:
        """Pairs of a group without contact: kinematic actors that are penetrated too deeply."""
        return frozenset(
            (*each.one, *each.other)
            for each in self.overlaps(self.plan(group))
            if each.depth > DEEP and (self._is_kinematic(*each.one) or self._is_kinematic(*each.other))
        )

    def boundary(self, plan: Plan) -> BoundaryStates:
        """Gather the states of a plan's members before the step, and after it where they are given."""
        chosen = list(plan.actors)
        states = {k: self.old[k][0] for k in (*plan.instances, *plan.kinematic_models)}
        controller_states = {k: self.old[k][1] for k in plan.instances}
        goals = {k: self.states[k] for k in plan.kinematic_models}
        return BoundaryStates(states, controller_states, goals, self.before[chosen], self.after[chosen])

    # --- results ------------------------------------------------------------------------------------------------------
    def states_after(self, island: ContactIsland, solution: IslandSolution) -> GroupStates:
        """Turn the solution of an island into states; vehicles stay on their ground, in the attitude that it gives."""
        vehicles = {}
        for actor, g, moved, state in zip(
            island.actors, island.plan.actors, solution.moved, solution.actors, strict=True
        ):
            if moved and np.isfinite(actor.mass):
                vehicles[actor.row] = _on_ground(self.after[g], state)
        return GroupStates(solution.states, solution.controller_states, vehicles, solution.events)

    def states_drifted(self, group: Group, velocity: Floats) -> GroupStates:
        """Return states of a group that moves at a common velocity (3,) [m/s], without rotation."""
        step, driven = self.world.step, self.driven_actors(group)
        states = {k: _drifted(self.old[k][0], velocity, step) for k in group.instances}
        controller_states = {k: self.old[k][1] for k in group.instances}
        moved = _drifted(self.before[driven], velocity, step)
        vehicles = {self.candidates.actors[g].row: state for g, state in zip(driven, moved, strict=True)}
        return GroupStates(states, controller_states, vehicles, [])

    def interpenetrations(self, group: Group, *, all_kinematic: bool) -> list[tuple[int, int]]:
        """Rows of bodies without contact to a model, with the number of the model.

        Those of `deep_pairs`, and with ``all_kinematic`` of all kinematic members of a group.
        """
        instances, actors = self.world.instances, self.candidates.actors
        found = []
        for kind, k, other, place in sorted(self.deep_pairs(group)):
            if kind == "model":  # vehicles and movers see to that among themselves
                rows = instances[place].rows.tolist() if other == "model" else [actors[place].row]
                found += [(row, k) for row in rows]
        if not all_kinematic:
            return found
        rows = [actors[g].row for g in self.kinematic_actors(group)]
        rows += [int(row) for k in group.kinematic_models for row in instances[k].rows]
        found += [(row, k) for row in rows for k in group.instances]
        return found + [(actors[g].row, k) for k in group.kinematic_models for g in self.driven_actors(group)]

    # --- diagnostics --------------------------------------------------------------------------------------------------
    def report(self, what: str, group: Group) -> None:
        """Add the diagnostics of a fallback that solved the step of a group."""
        models = tuple(self.world.instances[k].name for k in group.instances)
        vehicles = tuple(self._name(g) for g in self.driven_actors(group))
        if what != "interpenetrating":
            others = vehicles if what in {"locked_together", "frozen"} else ()
            self.diagnostics.append(Diagnostic(what, self.time, models, others))
        if what in {"interpenetrating", "frozen"} and self.has_kinematic(group):
            kinematic = tuple(self._name(g) for g in self.kinematic_actors(group))
            kinematic += tuple(self.world.instances[k].name for k in group.kinematic_models)
            models += vehicles if group.kinematic_models else ()
            self.diagnostics.append(Diagnostic("interpenetrating", self.time, models, kinematic))

    def _name(self, actor: int) -> str:
        return self.world.bodies[self.candidates.actors[actor].row].name


def _drifted(state: Floats, velocity: Floats, time: float) -> Floats:
    """States (n, 13) after a time [s] at a common velocity (3,) [m/s], without rotation."""
    out = state.copy()
    out[:, :3] += time * velocity
    out[:, 3:6], out[:, 10:] = velocity, 0.0
    return out


def _on_ground(given: Floats, state: Floats) -> Floats:
    """Move a vehicle (13,) in the plane of its ground to where an island puts it."""
    out = given.copy()
    turn = float(heading(state[6:10]) - heading(given[6:10]))
    out[6:10] = multiply(heading_quaternion(turn), given[6:10])
    up = rotate(out[6:10], np.array([0.0, 0.0, 1.0]))
    out[2] -= times(up[:2], state[:2] - given[:2]) / up[2]
    out[:2] = state[:2]
    out[3:6] = state[3:6] - times(state[3:6], up) * up
    out[12] = state[12]
    return out
