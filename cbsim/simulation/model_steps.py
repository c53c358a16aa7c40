"""Steps of models: every instance advances through a batch, then the Snapshot stores its states and is hashed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats
from cbsim.collision.contacts import NO_CONTACTS
from cbsim.coupling.contact_notes import note_contacts
from cbsim.coupling.diagnostics import Diagnostic
from cbsim.coupling.finite import is_sound, model_error
from cbsim.coupling.instance_steps import follow
from cbsim.coupling.step_islands import IslandResult, step_islands
from cbsim.errors import StepError
from cbsim.jit import wrapping
from cbsim.simulation.kernels import settle_into
from cbsim.world.motion import MOTION_WIDTH
from cbsim.world.snapshot import Snapshot
from cbsim.world.traffic.tables import BODY, HIT, PHASE
from cbsim.world.world import World

__all__ = ["advance_models"]

Advanced = tuple[NDArray[np.uint64], Floats, Floats]
Traffic = Callable[[World, Snapshot, int, NDArray[np.int64]], Advanced]


def advance_models(
    world: World,
    snapshot: Snapshot,
    steps: int,
    rows: NDArray[np.int64],
    traffic: Traffic,
    diagnostics: list[Diagnostic] | None = None,
) -> Advanced:
    """Run quiet steps of a World with models in place.

    Parameters
    ----------
    world, snapshot, steps, rows
        As `cbsim.simulation.advance.advance`.
    traffic : callable
        Runs steps of everything but models.
    diagnostics : list of Diagnostic, optional
        Receives those of the steps.

    Raises
    ------
    StepError
        If the first step of a model has no solution. If a later one has none, the steps before it are returned.
    """
    alone = not (world.scene.actors or world.layout.cars or world.layout.events)
    if alone and len(world.instances) < 2:
        return (*_settle(world, snapshot, _trajectories(world, snapshot, steps, diagnostics), 1, rows), NO_CONTACTS)
    parts: list[Advanced] = []
    for _ in range(steps):
        try:
            parts.append(_among_others(world, snapshot, rows, traffic, diagnostics))
        except StepError:
            if not parts:
                raise
            break
    hashes, motion, found = (np.concatenate(part) for part in zip(*parts, strict=True))
    return hashes, motion, found


def _among_others(
    world: World, snapshot: Snapshot, rows: NDArray[np.int64], traffic: Traffic, diagnostics: list[Diagnostic] | None
) -> Advanced:
    """Run one step: isolated models by themselves, others in contact islands."""
    met = step_islands(world, snapshot, rows, traffic, diagnostics)
    if met is None:
        trajectories = _trajectories(world, snapshot, 1, diagnostics)
        contacts = traffic(world, snapshot, 1, rows)[2]
        results: list[IslandResult] = []
    else:
        contacts, trajectories, results = met
    touches = note_contacts(world, snapshot, trajectories, results)
    if len(touches):
        _stop_hit_cars(world, snapshot, touches)
        contacts = np.concatenate([contacts, touches])
        contacts = contacts[np.lexsort((contacts[:, 2], contacts[:, 1], contacts[:, 0]))]
    return (*_settle(world, snapshot, trajectories, 0, rows), contacts)


def _stop_hit_cars(world: World, snapshot: Snapshot, touches: Floats) -> None:
    """Note which reactive cars models have touched: they brake and stand for good."""
    hit = np.isin(world.traffic.road.car_rows[:, BODY], touches[:, 1:3].astype(np.int64))
    snapshot.state.intent[hit, PHASE] = HIT


def _trajectories(
    world: World, snapshot: Snapshot, steps: int, diagnostics: list[Diagnostic] | None = None
) -> tuple[Floats, Floats]:
    """States (n, bodies of models, 13) and controller states (n, m) after each step that all models solve."""
    found_here: list[Diagnostic] = []
    found = [
        follow(
            instance,
            instance.rows_of(snapshot),
            instance.controller_state_of(snapshot),
            snapshot.step,
            steps,
            found_here,
        )
        for instance in world.instances
    ]
    made = min(_finite_steps(world, k, states, snapshot) for k, (states, _) in enumerate(found))
    if diagnostics is not None:
        end = (snapshot.step + made) * world.step * (1.0 - 1e-12)  # repeated steps are reported by the next batch
        diagnostics += [one for one in found_here if one.time < end or made == steps]
    paths, controller_states = zip(*found, strict=True)
    states, values = ([each[:made] for each in parts] for parts in (paths, controller_states))
    return np.concatenate(states, axis=1), np.concatenate(values, axis=1)


def _finite_steps(world: World, number: int, states: Floats, snapshot: Snapshot) -> int:
    """Count the steps of a model before the first that is not finite, or leaves a body too low.

    Raises
    ------
    StepError
        If that is the first.
    """
    sound = is_sound(states).all(axis=1)
    if sound.all():
        return len(states)
    made = int(sound.argmin())
    if not made:
        raise model_error(world, number, states[0], snapshot.time)
    return made


def _with_massless_links(world: World, states: Floats) -> Floats:
    """Add massless links to states (n, bodies of models, 13)."""
    if all(instance.massless_links is None for instance in world.instances):
        return states
    ends = np.cumsum([len(instance.rows) for instance in world.instances])
    parts = np.split(states, ends[:-1], axis=1)
    return np.concatenate(
        [one.with_massless_links(part) for one, part in zip(world.instances, parts, strict=True)], axis=1
    )


def _settle(
    world: World, snapshot: Snapshot, trajectories: tuple[Floats, Floats], ticks: int, rows: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], Floats]:
    """Store states in the Snapshot; return the hash after each step, and the motion of some bodies."""
    static_caches = world.static_caches
    leaves = static_caches.of(snapshot).leaves.copy()
    bodies = np.concatenate([instance.all_rows for instance in world.instances])
    trajectories = _with_massless_links(world, trajectories[0]), trajectories[1]
    count, memory = len(trajectories[0]), world.constants.memory
    hashes, motion = np.empty(count, np.uint64), np.empty((count, len(rows), MOTION_WIDTH))
    with wrapping():
        blocks = *snapshot.blocks, leaves, static_caches.live
        settle_into(world.layout.sizes, blocks, memory, *trajectories, bodies, ticks, rows, hashes, motion)
    return hashes, motion
