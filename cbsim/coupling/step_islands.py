"""Coupled step of a World: advances all contact islands, with fallbacks where an island has no solution.

Kinematic pairs that penetrate too deeply are excluded from contact. An island is then solved with finer substeps and
looser tolerances, as `TRIES` says. If the solve still fails, kinematic actors are removed from the island for this
step; static obstacles never are. As a last resort the island moves as one rigid body, or is frozen. Every fallback is
reported as a `Diagnostic`.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.coupling.candidates import Group, InteractionCandidates, candidates_of, states_of
from cbsim.coupling.contact_island import ContactIsland, Plan, build_island
from cbsim.coupling.contact_recorder import ContactEvent
from cbsim.coupling.diagnostics import Diagnostic
from cbsim.coupling.finite import require_finite
from cbsim.coupling.instance_steps import follow
from cbsim.coupling.penetration import DEEP, Overlap
from cbsim.coupling.solve_island import BoundaryStates, IslandSolution, island_overlaps, solve_island
from cbsim.errors import StepError
from cbsim.geometry.linear import times
from cbsim.geometry.pose import heading, heading_quaternion, multiply, rotate
from cbsim.world.snapshot import Snapshot
from cbsim.world.tables import Floats, Ints
from cbsim.world.world import World

__all__ = ["CoupledStep", "IslandResult", "step_islands"]

Traffic = Callable[[World, Snapshot, int, Ints], tuple[NDArray[np.uint64], Floats, Floats]]
ModelTrajectories = tuple[Floats, Floats]
"""States (n, bodies of models, 13) and controller states (n, m) after each step."""

TRIES = (1, 1), (4, 1), (16, 1), (4, 2), (16, 4)  # substeps and number of solver settings, tried in order
KEPT = 4  # cached islands of the same models, the last used ones


class IslandResult(NamedTuple):
    """Result of a step of a group.

    Attributes
    ----------
    group : Group
    events : list of ContactEvent
    interpenetrations : list of (int, int)
        Row of a body without contact to a model that it may penetrate, and the number of the model.
    """

    group: Group
    events: list[ContactEvent]
    interpenetrations: list[tuple[int, int]]


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


def step_islands(
    world: World, snapshot: Snapshot, rows: Ints, traffic: Traffic, diagnostics: list[Diagnostic] | None = None
) -> tuple[Floats, ModelTrajectories, list[IslandResult]] | None:
    """Take one step of a World in which something is near a model; return None, without effect, if nothing is.

    Parameters
    ----------
    world, snapshot, rows, traffic
        As `cbsim.simulation.model_steps.advance_models`. Rows of models are not written.
    diagnostics : list of Diagnostic, optional
        Receives those of the step.

    Returns
    -------
    contacts : ndarray, shape (n, 12)
        Of everything but models.
    trajectories : (ndarray, ndarray)
        Of all models, one step.
    results : list of IslandResult

    Raises
    ------
    StepError
        If a model fails even by itself; the Snapshot is then unchanged.
    """
    candidates = candidates_of(world, snapshot)
    groups = candidates.groups(world, snapshot)
    if not groups:
        return None
    kept = [block.copy() for block in snapshot.blocks]
    coupled = CoupledStep(world, snapshot, candidates)
    contacts = traffic(world, snapshot, 1, rows)[2]
    try:
        results = [coupled.advance(snapshot, group) for group in groups]
        coupled.advance_remaining()
        require_finite(world, snapshot, coupled.states, coupled.time)
    except StepError:
        for block, old in zip(snapshot.blocks, kept, strict=True):
            block[:] = old
        raise
    if diagnostics is not None:
        diagnostics += coupled.diagnostics
    states, controller_states = (
        [table[k] for k in range(len(world.instances))] for table in (coupled.states, coupled.controller_states)
    )
    return contacts, (np.concatenate(states)[None], np.concatenate(controller_states)[None]), results


class CoupledStep:
    """A step of the World in progress: initial states, and the states of models reached so far."""

    def __init__(self, world: World, snapshot: Snapshot, candidates: InteractionCandidates) -> None:
        self.world, self.candidates, self.step, self.time = world, candidates, snapshot.step, snapshot.time
        self.islands: IslandCache = world.static_caches.of(snapshot).kept.setdefault("contact islands", IslandCache())
        self.old = [
            (instance.rows_of(snapshot), instance.controller_state_of(snapshot)) for instance in world.instances
        ]
        self.before = states_of(snapshot, candidates.rows)
        self.states: dict[int, Floats] = {}
        self.controller_states: dict[int, Floats] = {}
        self.diagnostics: list[Diagnostic] = []

    def advance_alone(self, k: int) -> None:
        """Advance a model by itself, once."""
        if k not in self.states:
            states, controller_states = follow(self.world.instances[k], *self.old[k], self.step, 1, self.diagnostics)
            self.states[k], self.controller_states[k] = states[0], controller_states[0]

    def advance_remaining(self) -> None:
        """Advance all models that are in no island."""
        for k in range(len(self.world.instances)):
            self.advance_alone(k)

    def advance(self, snapshot: Snapshot, group: Group) -> IslandResult:
        """Advance a group: with finer substeps, else without kinematic actors, else locked together."""
        for k in group.kinematic_models:
            self.advance_alone(k)
        whole = self.plan(group)
        found = self.overlaps(snapshot, whole)
        plan, interpenetrations = self._exclude_penetrating(whole, found)
        kinematic = [g for g in plan.actors if self._is_kinematic("actor", g)]
        chosen = [plan, self._without(plan, kinematic)] if kinematic or plan.kinematic_models else [plan]
        for one, (substeps, solver_fallbacks) in itertools.product(chosen, TRIES):
            try:
                overlapping = found if one is plan else self.overlaps(snapshot, one)
                solution = self._solve(snapshot, one._replace(substeps=substeps), overlapping, solver_fallbacks)
            except StepError:
                continue
            self.diagnostics += [Diagnostic("relaxed", self.time, self._models(group), ())] * solution.relaxed
            if one is not plan:
                interpenetrations += self._report_interpenetrating(group, kinematic)
            return IslandResult(group, solution.events, interpenetrations)
        return IslandResult(group, [], interpenetrations + self._lock_together(snapshot, group))

    def overlaps(self, snapshot: Snapshot, plan: Plan) -> list[Overlap]:
        """Find penetrating pairs of a plan; kinematic models have been advanced before."""
        return island_overlaps(self.islands.get(self.world, self.candidates, plan), self._boundary(snapshot, plan))

    def _solve(
        self, snapshot: Snapshot, plan: Plan, overlapping: list[Overlap], solver_fallbacks: int
    ) -> IslandSolution:
        island = self.islands.get(self.world, self.candidates, plan)
        solution = solve_island(
            island, self._boundary(snapshot, plan), self.step, self.time, overlapping, solver_fallbacks
        )
        self.states |= solution.states
        self.controller_states |= solution.controller_states
        write_vehicles(self.world, snapshot, island, solution)
        return solution

    def plan(self, group: Group) -> Plan:
        """Plan the island of a whole group."""
        level = not len(self.world.constants.ground_triangles)
        ground_heights = tuple(
            float(self.before[g, 2]) if level and not self.before[g, 7:9].any() else None for g in group.actors
        )
        return Plan(*group, ground_heights)

    def _without(self, plan: Plan, kinematic: list[int]) -> Plan:
        """Remove kinematic actors from a plan."""
        kept = [(g, level) for g, level in zip(plan.actors, plan.ground_heights, strict=True) if g not in kinematic]
        actors, ground_heights = tuple(g for g, _ in kept), tuple(level for _, level in kept)
        present = {("model", k) for k in plan.instances} | {("actor", g) for g in actors}
        present |= {("obstacle", t) for t in plan.obstacles}
        apart = frozenset(pair for pair in plan.excluded if {pair[:2], pair[2:]} <= present)
        return Plan(plan.instances, (), actors, plan.obstacles, ground_heights, apart)

    def _boundary(self, snapshot: Snapshot, plan: Plan) -> BoundaryStates:
        chosen = list(plan.actors)
        states = {k: self.old[k][0] for k in (*plan.instances, *plan.kinematic_models)}
        controller_states, goals = (
            {k: self.old[k][1] for k in plan.instances},
            {k: self.states[k] for k in plan.kinematic_models},
        )
        return BoundaryStates(
            states, controller_states, goals, self.before[chosen], states_of(snapshot, self.candidates.rows[chosen])
        )

    def _exclude_penetrating(self, plan: Plan, found: list[Overlap]) -> tuple[Plan, list[tuple[int, int]]]:
        """Exclude deep penetrations of kinematic actors from contact; return rows and models of the pairs."""
        deep = [each for each in found if each.depth > DEEP]
        pairs = {
            (*each.one, *each.other)
            for each in deep
            if self._is_kinematic(*each.one) or self._is_kinematic(*each.other)
        }
        interpenetrations = []
        for kind, k, other, place in sorted(pairs):
            if kind == "model":  # vehicles and movers see to that among themselves
                rows = (
                    self.world.instances[place].rows.tolist()
                    if other == "model"
                    else [self.candidates.actors[place].row]
                )
                interpenetrations += [(row, k) for row in rows]
        return plan._replace(excluded=frozenset(pairs)), interpenetrations

    def _is_kinematic(self, kind: str, number: int) -> bool:
        """Whether the motion of something is prescribed: a literal mover, or a model with a motion."""
        if kind == "actor":
            return bool(np.isinf(self.candidates.actors[number].mass))
        return kind == "model" and self.world.instances[number].motion is not None

    def _lock_together(self, snapshot: Snapshot, group: Group) -> list[tuple[int, int]]:
        """Move a group as one rigid body for this step, or freeze it next to obstacles.

        Kinematic actors interpenetrate, as in `_report_interpenetrating`. If a single model fails with nothing moving
        near it, its own error is raised.
        """
        driven = [g for g in group.actors if not self._is_kinematic("actor", g)]
        kinematic = [g for g in group.actors if g not in driven]
        actor_rows, walls = (
            self.before[driven],
            [t for t in group.obstacles if not self.candidates.obstacles[t].is_ground],
        )
        models = {k: self.old[k][0] for k in group.instances}
        if not actor_rows[:, 3:6].any() and len(models) < 2 and not kinematic and not group.kinematic_models:
            for k in models:
                self.advance_alone(k)
        masses = {k: self.world.instances[k].masses for k in group.instances}
        weights = np.array([self.candidates.actors[g].mass for g in driven])
        stops = bool(walls or kinematic or group.kinematic_models or actor_rows[:, 7:9].any())
        speed = np.zeros(3) if stops else _common_velocity(models, masses, actor_rows, weights)
        for k, state in models.items():
            self.states[k], self.controller_states[k] = _drifted(state, speed, self.world.step), self.old[k][1]
        columns = snapshot.columns
        for row, state in zip(
            self.candidates.rows[driven].tolist(), _drifted(actor_rows, speed, self.world.step), strict=True
        ):
            columns.position[row], columns.orientation[row] = state[:3], state[6:10]
            columns.velocity[row], columns.angular_velocity[row] = state[3:6], 0.0
            _write_pose_history(self.world, snapshot, row)
        what = "locked_together" if speed.any() else "frozen"
        self.diagnostics.append(Diagnostic(what, self.time, self._models(group), self._vehicles(group)))
        return self._report_interpenetrating(group, kinematic)

    def _models(self, group: Group) -> tuple[str, ...]:
        return tuple(self.world.instances[k].name for k in group.instances)

    def _name(self, actor: int) -> str:
        return self.world.bodies[self.candidates.actors[actor].row].name

    def _vehicles(self, group: Group) -> tuple[str, ...]:
        """Names of the vehicles of a group."""
        return tuple(self._name(g) for g in group.actors if np.isfinite(self.candidates.actors[g].mass))

    def _report_interpenetrating(self, group: Group, kinematic: list[int]) -> list[tuple[int, int]]:
        """Report kinematic actors that pass through a group; return their rows with numbers of models."""
        instances, actors = self.world.instances, self.candidates.actors
        if not kinematic and not group.kinematic_models:
            return []
        others = *(self._name(g) for g in kinematic), *(instances[k].name for k in group.kinematic_models)
        models = self._models(group) + (self._vehicles(group) if group.kinematic_models else ())
        self.diagnostics.append(Diagnostic("interpenetrating", self.time, models, others))
        rows = [actors[g].row for g in kinematic] + [
            int(row) for k in group.kinematic_models for row in instances[k].rows
        ]
        found = [(row, k) for row in rows for k in group.instances]
        return found + [
            (actors[g].row, k) for k in group.kinematic_models for g in group.actors if np.isfinite(actors[g].mass)
        ]


def _common_velocity(
    models: dict[int, Floats], masses: dict[int, Floats], actor_rows: Floats, weights: Floats
) -> Floats:
    """Horizontal velocity (3,) [m/s] at which models and vehicles have their total momentum."""
    parts = [times(masses[k], state[:, 3:5]) for k, state in models.items()]
    total = sum(float(mass.sum()) for mass in masses.values()) + float(weights.sum())
    x, y = (np.sum(parts, axis=0) + times(weights, actor_rows[:, 3:5])) / total
    return np.array([x, y, 0.0])


def _drifted(state: Floats, velocity: Floats, time: float) -> Floats:
    """States (n, 13) after a time [s] at a common velocity (3,) [m/s], without rotation."""
    out = state.copy()
    out[:, :3] += time * velocity
    out[:, 3:6], out[:, 10:] = velocity, 0.0
    return out


def write_vehicles(world: World, snapshot: Snapshot, island: ContactIsland, solution: IslandSolution) -> None:
    """Write the states of vehicles that were touched: on their ground, with the attitude that it gives them."""
    columns, vehicles = snapshot.columns, {int(row) for row in world.constants.vehicle_body}
    for actor, moved, state in zip(island.actors, solution.moved, solution.actors, strict=True):
        row = actor.row
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
        _write_pose_history(world, snapshot, row)


def _write_pose_history(world: World, snapshot: Snapshot, row: int) -> None:
    """Write the pose of a vehicle to the history used by sensors."""
    columns, memory = snapshot.columns, world.constants.memory
    if memory:
        v = int(np.flatnonzero(world.constants.vehicle_body == row)[0])
        past = columns.pose_history[v * memory + snapshot.step % memory]
        past[:3], past[3:7] = columns.position[row], columns.orientation[row]
        past[7:10], past[10] = columns.velocity[row], columns.angular_velocity[row, 2]
