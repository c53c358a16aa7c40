"""`advance`: quiet steps in place, inside one kernel; it returns the arrays of a batch."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats
from cbsim.collision.contacts import NO_CONTACTS
from cbsim.coupling.diagnostics import Diagnostic
from cbsim.coupling.finite import vehicle_error
from cbsim.errors import StepError
from cbsim.jit import cause_of, wrapping
from cbsim.simulation.kernels import advance_into
from cbsim.simulation.step_workspace import return_step_workspace, take_step_workspace
from cbsim.traffic.notes import NO_NOTES, TrafficNotes
from cbsim.world.command_queue import release, steps_until_release
from cbsim.world.motion import MOTION_WIDTH
from cbsim.world.snapshot import Snapshot
from cbsim.world.world import World

__all__ = ["NO_OUTCOMES", "NO_ROWS", "Advanced", "advance"]

NO_ROWS = np.zeros(0, np.int64)
NO_ROWS.setflags(write=False)  # as `World.moving` is: another type would compile `advance_into` twice
NO_OUTCOMES = np.zeros((0, 3), np.int64)

Advanced = tuple[NDArray[np.uint64], Floats, Floats]
Room = tuple[NDArray[np.uint64], Floats]


def advance(
    world: World,
    snapshot: Snapshot,
    steps: int,
    rows: NDArray[np.int64] = NO_ROWS,
    diagnostics: list[Diagnostic] | None = None,
    notes: TrafficNotes | None = None,
    room: Room | None = None,
) -> Advanced:
    """Run quiet steps in place, inside one kernel; models in kernels of their own.

    Parameters
    ----------
    world : World
    snapshot : Snapshot
        Written.
    steps : int
    rows : ndarray, shape (r,)
        Bodies whose motion is returned.
    diagnostics : list of Diagnostic, optional
        Receives those of steps solved with fallback settings.
    notes : TrafficNotes, optional
        Takes what cars of traffic do.
    room : (ndarray, ndarray), optional
        Where hashes and motion may be written, and are returned then.

    Returns
    -------
    hashes : ndarray of uint64, shape (steps,)
    motion : ndarray, shape (steps, r, 13)
    contacts : ndarray, shape (n, 12)
        One row per contact that begins, columns as in `cbsim.collision.contacts.CONTACT`.

    Raises
    ------
    StepError
        If the first step has no solution or a non-finite result. If a later one fails, the steps before it are
        returned. Without models, a single failed step leaves the Snapshot in an undefined state.
    """
    if rows.flags.writeable or not rows.flags.c_contiguous:  # of one type, or the step is compiled anew
        rows = np.array(rows, np.int64)
        rows.setflags(write=False)
    if world.queues:
        return _advance_with_queues(world, snapshot, steps, rows, diagnostics, notes, room)
    if world.instances:
        return _advance_models(world, snapshot, steps, rows, diagnostics, notes)
    return _advance_traffic(world, snapshot, steps, rows, notes, room)


def _advance_with_queues(
    world: World,
    snapshot: Snapshot,
    steps: int,
    rows: NDArray[np.int64],
    diagnostics: list[Diagnostic] | None,
    notes: TrafficNotes | None,
    room: Room | None,
) -> Advanced:
    """Run steps, as `advance`, and let commands in flight act when they are due."""
    parts: list[Advanced] = []
    done = 0
    while done < steps:
        release(world.queues, snapshot)
        count = min(steps - done, steps_until_release(world.queues, snapshot))
        try:
            if world.instances:
                parts.append(_advance_models(world, snapshot, count, rows, diagnostics, notes))
            else:
                parts.append(_advance_traffic(world, snapshot, count, rows, notes, room if count == steps else None))
        except StepError:
            if not parts:
                raise
            break
        done += len(parts[-1][0])
        if len(parts[-1][0]) < count:
            break
    if len(parts) == 1:
        return parts[0]
    hashes, motion, contacts = (np.concatenate(part) for part in zip(*parts, strict=True))
    return hashes, motion, contacts


def _advance_models(
    world: World,
    snapshot: Snapshot,
    steps: int,
    rows: NDArray[np.int64],
    diagnostics: list[Diagnostic] | None,
    notes: TrafficNotes | None,
) -> Advanced:
    """Run steps of a World with models in which no command in flight becomes due, as `advance`."""
    from cbsim.simulation.model_steps import advance_models

    return advance_models(world, snapshot, steps, rows, partial(_advance_traffic, notes=notes), diagnostics)


def _advance_traffic(
    world: World,
    snapshot: Snapshot,
    steps: int,
    rows: NDArray[np.int64],
    notes: TrafficNotes | None = None,
    room: Room | None = None,
) -> Advanced:
    """Run steps of everything but models; as `advance`."""
    # only vehicles can fail; without any there is nothing to go back to
    kept = snapshot.copy() if (steps > 1 or world.instances) and world.layout.vehicles > 0 else None
    noted = notes.copy() if kept is not None and notes is not None else []
    hashes, motion = room or (np.empty(steps, np.uint64), np.empty((steps, len(rows), MOTION_WIDTH)))
    static_cache = world.static_caches.of(snapshot)
    workspace, done, failed = take_step_workspace(world, static_cache), 0, -1
    contacts: list[Floats] = []
    noting, table = NO_NOTES if notes is None else notes.blocks, workspace.contacts
    blocks = *snapshot.blocks, *workspace.leaves
    try:
        with wrapping():
            while done < steps:
                part = (hashes[done:], motion[done:]) if done else (hashes, motion)
                taken, found, failed = advance_into(
                    *(world.pack, workspace.scratch, world.layout.sizes, blocks, workspace.tables, noting),
                    *(rows, 1, steps - done, (*part, table, NO_OUTCOMES)),
                )
                done += taken
                if found:
                    contacts.append(table[:found].copy())
    except SystemError as error:
        raise cause_of(error) from None
    if failed >= 0:  # the workspace is dropped: its pairs and poses are as undefined as the Snapshot
        if notes is not None and noted:
            notes.restore(noted)
        return _advance_until_failure(world, snapshot, kept, failed, steps, rows, notes)
    return_step_workspace(workspace, static_cache)
    return hashes, motion, np.concatenate(contacts) if contacts else NO_CONTACTS


def _advance_until_failure(
    world: World,
    snapshot: Snapshot,
    kept: Snapshot | None,
    failed: int,
    steps: int,
    rows: NDArray[np.int64],
    notes: TrafficNotes | None,
) -> Advanced:
    """Repeat steps one by one, up to the first with a non-finite vehicle; raise if there is none before it."""
    if kept is None:
        raise vehicle_error(world, failed, None, (snapshot.step - 1) * world.step)
    _restore(snapshot, kept)
    if steps == 1:
        raise vehicle_error(world, failed, kept, kept.time)
    done: list[Advanced] = []
    while len(done) < steps:
        before = snapshot.copy()
        try:
            done.append(_advance_traffic(world, snapshot, 1, rows, notes))
        except StepError as error:
            _restore(snapshot, before)
            if not done:
                error.snapshot = kept
                raise
            break
    hashes, motion, contacts = (np.concatenate(part) for part in zip(*done, strict=True))
    return hashes, motion, contacts


def _restore(snapshot: Snapshot, kept: Snapshot) -> None:
    """Overwrite a Snapshot with another in place."""
    for block, old in zip(snapshot.blocks, kept.blocks, strict=True):
        block[:] = old
