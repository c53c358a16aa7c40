"""Steps of models: every instance advances through a batch, then the Snapshot stores its states and is hashed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cbsim.collision.contacts import NO_CONTACTS
from cbsim.coupling.contact_notes import note_touches
from cbsim.coupling.diagnostics import Remark
from cbsim.coupling.finite import model_error
from cbsim.coupling.instance_steps import follow
from cbsim.coupling.step_islands import Party, encounters
from cbsim.errors import StepError
from cbsim.jit import wrapping
from cbsim.simulation.kernels import settle_into
from cbsim.world.motion import MOTION_WIDTH
from cbsim.world.snapshot import Snapshot
from cbsim.world.tables import Floats
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
    remarks: list[Remark] | None = None,
) -> Advanced:
    """Run quiet steps of a World with models in place.

    Parameters
    ----------
    world, snapshot, steps, rows
        As `cbsim.simulation.advance.advance`.
    traffic : callable
        Runs steps of everything else.
    remarks : list of Remark, optional
        Takes what is to be told of the steps.

    Raises
    ------
    StepError
        If a model cannot make the first of the steps. If it cannot make a later one, those before are returned.
    """
    if not world.scene.actors and len(world.instances) < 2:
        return (*_settle(world, snapshot, _ways(world, snapshot, steps, remarks), 1, rows), NO_CONTACTS)
    parts: list[Advanced] = []
    for _ in range(steps):
        try:
            parts.append(_among_others(world, snapshot, rows, traffic, remarks))
        except StepError:
            if not parts:
                raise
            break
    hashes, motion, found = (np.concatenate(part) for part in zip(*parts, strict=True))
    return hashes, motion, found


def _among_others(
    world: World, snapshot: Snapshot, rows: NDArray[np.int64], traffic: Traffic, remarks: list[Remark] | None
) -> Advanced:
    """Run one step; models that nobody is near go by themselves, others together with who is near."""
    met = encounters(world, snapshot, rows, traffic, remarks)
    if met is None:
        ways = _ways(world, snapshot, 1, remarks)
        contacts = traffic(world, snapshot, 1, rows)[2]
        parties: list[Party] = []
    else:
        contacts, ways, parties = met
    touches = note_touches(world, snapshot, ways, parties)
    if len(touches):
        contacts = np.concatenate([contacts, touches])
        contacts = contacts[np.lexsort((contacts[:, 2], contacts[:, 1], contacts[:, 0]))]
    return (*_settle(world, snapshot, ways, 0, rows), contacts)


def _ways(world: World, snapshot: Snapshot, steps: int, remarks: list[Remark] | None = None) -> tuple[Floats, Floats]:
    """States (n, bodies of models, 13) and minds (n, m) after each step, as many as all models can make."""
    told: list[Remark] = []
    found = [
        follow(instance, instance.rows_of(snapshot), instance.controller_state_of(snapshot), snapshot.step, steps, told)
        for instance in world.instances
    ]
    made = min(_finite_steps(world, k, states, snapshot) for k, (states, _) in enumerate(found))
    if remarks is not None:
        end = (snapshot.step + made) * world.step * (1.0 - 1e-12)  # of steps that are taken again, the next batch tells
        remarks += [one for one in told if one.time < end or made == steps]
    paths, minds = zip(*found, strict=True)
    return np.concatenate([path[:made] for path in paths], axis=1), np.concatenate([m[:made] for m in minds], axis=1)


def _finite_steps(world: World, number: int, states: Floats, snapshot: Snapshot) -> int:
    """Count the steps of a model until one is not made of finite numbers.

    Raises
    ------
    StepError
        If that is the first.
    """
    if np.isfinite(states).all():
        return len(states)
    made = int(np.isfinite(states).all(axis=(1, 2)).argmin())
    if not made:
        raise model_error(world, number, states[0], snapshot.time)
    return made


def _with_riders(world: World, states: Floats) -> Floats:
    """Add to states (n, bodies of models, 13) what models carry along."""
    if all(instance.riders is None for instance in world.instances):
        return states
    ends = np.cumsum([len(instance.rows) for instance in world.instances])
    parts = np.split(states, ends[:-1], axis=1)
    return np.concatenate([one.with_riders(part) for one, part in zip(world.instances, parts, strict=True)], axis=1)


def _settle(
    world: World, snapshot: Snapshot, ways: tuple[Floats, Floats], ticks: int, rows: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], Floats]:
    """Take states and minds into the Snapshot; the hash after each, and the motion of some bodies."""
    static_caches = world.static_caches
    leaves = static_caches.of(snapshot).leaves.copy()
    bodies = np.concatenate([instance.all_rows for instance in world.instances])
    ways = _with_riders(world, ways[0]), ways[1]
    count, memory = len(ways[0]), world.constants.memory
    hashes, motion = np.empty(count, np.uint64), np.empty((count, len(rows), MOTION_WIDTH))
    with wrapping():
        settle_into(
            world.layout.sizes,
            *snapshot.blocks,
            leaves,
            static_caches.live,
            memory,
            *ways,
            bodies,
            ticks,
            rows,
            hashes,
            motion,
        )
    return hashes, motion
