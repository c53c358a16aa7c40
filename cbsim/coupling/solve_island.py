"""Solution of a contact island over one step of the World.

The drive of a vehicle has been computed before, without contacts; here it acts as a constant force during the step. A
behaviour is queried when a step of its model begins, and its output is held until the next. Every step of the island is
solved with the same settings; `cbsim.coupling.fallbacks` says which are tried in turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats, Ints
from cbsim.coupling.actor_proxies import Member
from cbsim.coupling.contact_island import ContactIsland
from cbsim.coupling.contact_margin import exceeding_speed
from cbsim.coupling.contact_recorder import ContactEvent, ContactRecorder
from cbsim.coupling.instance_steps import NO_PATH, clamp_spin
from cbsim.coupling.penetration import Overlap, overlaps, soften_contacts
from cbsim.dynamics.active_contacts import contact_impulses
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.workspaces import SolverWorkspaces
from cbsim.errors import StepError
from cbsim.geometry.pose import conjugate, rotate

__all__ = ["BoundaryStates", "IslandSolution", "island_overlaps", "solve_island"]

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
    """

    states: dict[int, Floats]
    controller_states: dict[int, Floats]
    actors: Floats
    moved: NDArray[np.bool_]
    events: list[ContactEvent]


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
    solver_settings: int = 0,
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
    solver_settings : int
        Which of the island's settings solve its steps.

    Raises
    ------
    StepError
        If a step has no solution with them.
    """
    workspace, h = island.take_workspace(), island.spec.timestep
    z, pushes, turns = _start(island, boundary)
    controller_states = {member.number: boundary.controller_states[member.number].copy() for member in island.members}
    recorder, settings = ContactRecorder(island, start), island.solver_fallbacks[solver_settings]
    inputs = np.zeros((1, max(1, island.compiled.inputs)))
    external, driven = np.zeros((len(z), 6)), np.zeros((len(z), 6))
    with workspace.using(soften_contacts(island, overlapping)):
        for n in range(island.steps):
            for member in island.members:
                if member.begins(n):
                    state = controller_states[member.number]
                    _query_behaviour(member, step, member.at(n), z, state, inputs[0, member.inputs], driven)
            external[:] = driven
            for member in island.members:
                external[member.rows, :3] += rotate(conjugate(z[member.rows, 6:10]), member.weight)
            _push_actors(island, z, pushes, turns, external)
            was = z.copy()
            _advance(island, workspace, settings, z, inputs, external, start + n * h)
            recorder.record(workspace, was, _take_impulses(island, workspace, was, z, external), n)
            for member in island.members:
                if member.begins(n + 1):
                    clamp_spin(z[member.rows], min(member.instance.most_turn, MAX_TURN) / member.instance.spec.timestep)
    island.return_workspace(workspace)
    states = {member.number: island.frame.to_world(z[member.rows]) for member in island.members}
    actors = island.frame.to_world(z[island.actor_rows])
    return IslandSolution(states, controller_states, actors, recorder.moved, recorder.events)


def _push_actors(island: ContactIsland, z: Floats, pushes: Floats, turns: Floats, external: Floats) -> None:
    """Let the drives of actors act in a step: as forces, on kinematic vehicles by their velocities."""
    rows, h = island.actor_rows, island.spec.timestep
    kinematic, actors = island.kinematic[rows], z[rows]
    actors[kinematic, 3:6] += h * pushes[kinematic]
    actors[kinematic, 12] += h * turns[kinematic]
    force, moved = external[rows], ~kinematic
    masses, inertias = island.masses[moved], island.inertias[moved]
    push = masses[:, None] * (pushes[moved] - island.spec.gravity)
    force[moved, :3], force[moved, 5] = rotate(conjugate(actors[moved, 6:10]), push), inertias * turns[moved]


def _take_impulses(
    island: ContactIsland, workspace: SolverWorkspaces, was: Floats, z: Floats, external: Floats
) -> Floats:
    """Return the contact impulses (actors, 3) of a step, which change the velocities of kinematic vehicles after it."""
    rows, h = island.actor_rows, island.spec.timestep
    kinematic, actors, before, force = island.kinematic[rows], z[rows], was[rows], external[rows]
    masses, inertias = island.masses[:, None], island.inertias
    impulses, moved = np.zeros((len(actors), 3)), ~kinematic
    given = rotate(before[moved, 6:10], force[moved, :3]) + masses[moved] * island.spec.gravity
    impulses[moved] = masses[moved] * (actors[moved, 3:6] - before[moved, 3:6]) - h * given
    if kinematic.any():
        found = contact_impulses(workspace, z)[rows][kinematic]
        impulses[kinematic] = found[:, :3]
        changes = found[:, :3] / masses[kinematic]
        changes[island.on_ground[kinematic], 2] = 0.0  # the ground holds it
        actors[kinematic, 3:6] += changes
        actors[kinematic, 12] += rotate(conjugate(actors[kinematic, 6:10]), found[:, 3:])[:, 2] / inertias[kinematic]
    return impulses


def _advance(
    island: ContactIsland, workspace: SolverWorkspaces, settings: tuple[Floats, Ints], z: Floats, inputs: Floats,
    external: Floats, time: float,
) -> None:  # fmt: skip
    """Take one step of the core, repeated with a larger contact margin while a body exceeds it.

    Raises
    ------
    StepError
        If the step has no solution with these settings, or no margin suffices.
    """
    was, margin, report, h = z.copy(), 0.0, np.zeros(c.REPORT), island.spec.timestep
    for _ in range(MAX_LOOKS):
        workspace.advance(z, inputs, external, *settings, 1, NO_PATH, report, own=False, margin=margin)
        if report[c.STATUS] != c.SOLVED:
            break
        fastest = exceeding_speed(island.arms, was, z, h, margin)
        if not fastest:
            return
        margin = max(2.0 * h * fastest, 2.0 * margin)
        z[:] = was
    # nobody reads it: other settings come next, and to find the worst part would take as long as the step
    raise StepError("no solution with these settings", time=time)


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
