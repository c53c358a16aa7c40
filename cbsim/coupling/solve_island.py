"""Solution of a contact island over one step of the World.

The drive of a vehicle has been computed before, without contacts; here it acts as a constant force during the step. A
behaviour is queried when a step of its model begins, and its output is held until the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.coupling.actor_proxies import Member
from cbsim.coupling.contact_island import ContactIsland
from cbsim.coupling.contact_margin import ContactMargin
from cbsim.coupling.contact_recorder import ContactEvent, ContactRecorder
from cbsim.coupling.instance_steps import clamp_spin, take_step
from cbsim.coupling.penetration import Overlap, overlaps, soften_contacts
from cbsim.dynamics.failure import step_error
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.workspaces import SolverWorkspaces
from cbsim.geometry.pose import conjugate, multiply, rotate
from cbsim.spec.mechanism.state import step_quaternion
from cbsim.world.model_instances import SolverFallbacks
from cbsim.world.tables import Floats

__all__ = ["BoundaryStates", "IslandSolution", "island_overlaps", "solve_island"]

SLIP = 1e-6  # relative speed error of a kinematic body that triggers a correcting force
MAX_TURN = 1.4  # [rad] largest rotation of a body in a step of its model: beyond √2 the next step has no solution
MAX_LOOKS = 4  # solutions of a step, each with at least twice the contact margin of the one before


class BoundaryStates(NamedTuple):
    """States at the beginning of a step of the World, and its end without contacts, in the World.

    Attributes
    ----------
    states, controller_states : dict of int → ndarray
        Of models by their numbers: (bodies, 13) and (m,), before the step.
    goals : dict of int → ndarray
        States of kinematic models after it.
    before, after : ndarray, shape (actors, 13)
    """

    states: dict[int, Floats]
    controller_states: dict[int, Floats]
    goals: dict[int, Floats]
    before: Floats
    after: Floats


class IslandSolution(NamedTuple):
    """Result of a step of the World for one island.

    Attributes
    ----------
    states, controller_states : dict of int → ndarray
        Of the dynamic models by their numbers, in the World.
    actors : (actors, 13)
        In the World.
    moved : (actors,) bool
        Whether a model touched the actor, directly or through others.
    events : list of ContactEvent
        First contact of each pair.
    relaxed : int
        Number of solutions with fallback settings.
    """

    states: dict[int, Floats]
    controller_states: dict[int, Floats]
    actors: Floats
    moved: NDArray[np.bool_]
    events: list[ContactEvent]
    relaxed: int


def island_overlaps(island: ContactIsland, boundary: BoundaryStates) -> list[Overlap]:
    """Find penetrating pairs at the beginning of the step."""
    workspace = island.take_workspace()
    found = overlaps(island, workspace, _start(island, boundary)[0])
    island.return_workspace(workspace)
    return found


def solve_island(
    island: ContactIsland,
    boundary: BoundaryStates,
    step: int,
    start: float,
    overlapping: Sequence[Overlap] = (),
    solver_fallbacks: int = 4,
) -> IslandSolution:
    """Advance an island by one step of the World.

    Parameters
    ----------
    island : ContactIsland
    boundary : BoundaryStates
        Not written.
    step, start : int, float
        Number and time [s] of the World's step.
    overlapping : sequence of Overlap
        Penetrating pairs, whose contacts are softened.
    solver_fallbacks : int
        Number of solver settings to try in turn for each step of the island.

    Raises
    ------
    StepError
        If none of them solves a step.
    """
    workspace, h, actor_rows = island.take_workspace(), island.spec.timestep, island.actor_rows
    z, pushes, turns = _start(island, boundary)
    controller_states = {member.number: boundary.controller_states[member.number].copy() for member in island.members}
    recorder, masses, inertias = ContactRecorder(island, start), island.masses[:, None], island.inertias
    inputs = np.zeros((1, max(1, island.compiled.inputs)))
    relaxed = 0
    external, driven = np.zeros((len(z), 6)), np.zeros((len(z), 6))
    margin = ContactMargin(workspace, len(z), soften_contacts(island, overlapping))
    solver = _Solver(island, workspace, margin, island.solver_fallbacks[:solver_fallbacks])
    for n in range(island.steps):
        for member in island.members:
            if member.begins(n):
                _query_behaviour(
                    member, step, member.at(n), z, controller_states[member.number], inputs[0, member.inputs], driven
                )
        external[:] = driven
        for member in (*island.members, *island.kinematic_models):
            external[member.rows, :3] += rotate(conjugate(z[member.rows, 6:10]), member.weight)
        external[actor_rows, :3] = rotate(conjugate(z[actor_rows, 6:10]), masses * (pushes - island.spec.gravity))
        external[actor_rows, 5] = inertias * turns
        was, free = z.copy(), z.copy()
        free[actor_rows, 3:6] += h * pushes
        free[actor_rows, 12] += h * turns
        relaxed += solver.advance(z, free, inputs, external, start + n * h)
        given = rotate(was[actor_rows, 6:10], external[actor_rows, :3]) + masses * island.spec.gravity
        impulses = masses * (z[actor_rows, 3:6] - was[actor_rows, 3:6]) - h * given
        twists = inertias * (z[actor_rows, 12] - was[actor_rows, 12]) - h * external[actor_rows, 5]
        recorder.record(workspace, was, impulses, n)
        free[actor_rows, 3:6] += impulses * island.mass_ratios[:, None] / masses
        free[actor_rows, 12] += twists * island.mass_ratios / inertias
        free[:, :3] += h * free[:, 3:6]
        free[:, 6:10] = multiply(free[:, 6:10], step_quaternion(free[:, 10:], h))
        z[island.kinematic] = free[island.kinematic]
        for member in island.members:
            if member.begins(n + 1):
                clamp_spin(z[member.rows], min(member.instance.most_turn, MAX_TURN) / member.instance.spec.timestep)
    margin.restore()
    island.return_workspace(workspace)
    states = {member.number: island.frame.to_world(z[member.rows]) for member in island.members}
    return IslandSolution(
        states, controller_states, island.frame.to_world(z[actor_rows]), recorder.moved, recorder.events, relaxed
    )


def _query_behaviour(
    member: Member, step: int, n: int, z: Floats, controller_state: Floats, inputs: Floats, forces: Floats
) -> None:
    """Query the behaviour of a model, in its own frame and units, for its next step."""
    behaviour, instance, frame = member.instance.behaviour, member.instance, member.frame
    if behaviour is None:
        return
    inputs[:], forces[member.rows] = 0.0, 0.0
    behaviour.act(
        instance.time(step, n), frame.to_model(z[member.rows]).copy(), controller_state, inputs, forces[member.rows]
    )
    inputs *= member.input_scales
    if frame.scale != 1.0 or frame.weight != 1.0:
        forces[member.rows, :3] *= frame.weight * frame.scale
        forces[member.rows, 3:] *= frame.work


def _start(island: ContactIsland, boundary: BoundaryStates) -> tuple[Floats, Floats, Floats]:
    """Return initial states (bodies, 13), and accelerations (actors, 3) and (actors,) of the actors' drives."""
    frame, length = island.frame, island.steps * island.spec.timestep
    parts = [frame.to_model(boundary.states[member.number]) for member in island.members]
    for member in island.kinematic_models:
        own, goal = frame.to_model(boundary.states[member.number]), frame.to_model(boundary.goals[member.number])
        parts.append(_prescribed(own, goal, length))
    start, goal = frame.to_model(boundary.before), frame.to_model(boundary.after)
    kinematic = np.isinf([actor.mass for actor in island.actors])
    if kinematic.any():
        start[kinematic] = _prescribed(start[kinematic], goal[kinematic], length)
    gain = np.where(kinematic[:, None], 0.0, (goal[:, 3:6] - start[:, 3:6]) / length)
    turn = np.where(kinematic, 0.0, (goal[:, 12] - start[:, 12]) / length)
    return np.concatenate([*parts, island.world_states, start]), gain, turn


def _prescribed(start: Floats, goal: Floats, length: float) -> Floats:
    """States (n, 13) in uniform motion from one to the other within a time [s], oriented as at its end."""
    out = start.copy()
    out[:, 3:6] = (goal[:, :3] - start[:, :3]) / length
    out[:, 6:10], out[:, 10:] = goal[:, 6:10], 0.0
    return out


class _Solver(NamedTuple):
    """Steps of an island, with the first settings that solve them."""

    island: ContactIsland
    workspace: SolverWorkspaces
    margin: ContactMargin
    solver_fallbacks: SolverFallbacks

    def advance(self, z: Floats, free: Floats, inputs: Floats, external: Floats, time: float) -> int:
        """Take one step; return the number of solutions with fallback settings.

        Kinematic bodies are kept on their prescribed motion by a force, from their deviation in a first solution.
        """
        was, kinematic = z.copy(), self.island.kinematic
        relaxed = self.solve(z, inputs, external, time)
        slowed, turned = z[kinematic, 3:6] - free[kinematic, 3:6], z[kinematic, 10:] - free[kinematic, 10:]
        if not (np.abs(slowed) > SLIP * (1.0 + np.abs(free[kinematic, 3:6]))).any():
            return relaxed
        spec = self.island.spec
        bodies = [body for body, is_kinematic in zip(spec.bodies, kinematic, strict=True) if is_kinematic]
        mass, inertia = np.array([body.mass for body in bodies]), np.array([body.inertia for body in bodies])
        external[kinematic, :3] -= rotate(conjugate(was[kinematic, 6:10]), mass[:, None] * slowed / spec.timestep)
        external[kinematic, 3:] -= np.einsum("bij,bj->bi", inertia, turned) / spec.timestep
        z[:] = was
        return relaxed + self.solve(z, inputs, external, time)

    def solve(self, z: Floats, inputs: Floats, external: Floats, time: float) -> int:
        """Solve a step with a sufficient contact margin; return 1 if it took fallback settings, else 0."""
        was, farther, spec, report = z.copy(), 0.0, self.island.spec, np.zeros(c.REPORT)
        try:
            for _ in range(MAX_LOOKS):
                fallback = take_step(self.workspace, self.solver_fallbacks, z, inputs, external, report)
                if not fallback:
                    break
                fastest = self.margin.exceeding_speed(was, z, spec.timestep, farther)
                if not fastest:
                    return int(fallback > 1)
                farther = max(fastest, 2.0 * farther)
                z[:] = was
                self.margin.widen(z, farther)
            workspace = self.workspace
            raise step_error(spec, self.island.compiled, z, workspace.others, report, time, workspace.other_colliders)
        finally:
            self.margin.narrow()
