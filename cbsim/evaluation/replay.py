"""`replay`: verification of a recording by stepping it again; `diff`: first difference of two recordings."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from cbsim.arrays import Ints
from cbsim.errors import RecordingError
from cbsim.evaluation.judge import scene_of
from cbsim.recording.batch import Batch
from cbsim.recording.divergence import Divergence, first_difference
from cbsim.recording.recording import Recording
from cbsim.simulation.advance import advance
from cbsim.world.command_queue import tell
from cbsim.world.compile import compile_world
from cbsim.world.motion import motion_of
from cbsim.world.snapshot import Snapshot
from cbsim.world.world import World, expect_world

__all__ = ["Divergence", "diff", "replay", "world_of"]


def world_of(recording: Recording) -> World:
    """Compile the World of a recording from its source files.

    Raises
    ------
    RecordingError
        If it has none, or they give another World.
    """
    world = compile_world(scene_of(recording))
    if f"{world.digest:016x}" != recording.header.world_digest:
        made = recording.header.software
        raise RecordingError(f"the same files give another world with this software; it was recorded with {made}")
    return world


def replay(recording: Recording | str | Path, world: World | None = None) -> Divergence | None:
    """Step a recording again with its commands, and compare all hashes and motion bit for bit.

    Parameters
    ----------
    recording : Recording or path
        A path is opened.
    world : World, optional
        The World of the run; by default compiled from the recording's source files.

    Returns
    -------
    Divergence or None
        None if all bits are equal.

    Raises
    ------
    RecordingError
        If the recording lacks its first Snapshot or its files, or does not fit the World.
    """
    recording = recording if isinstance(recording, Recording) else Recording.open(recording)
    recording.require_snapshot()
    world = world_of(recording) if world is None else expect_world(world, "replay")
    if recording.header.moving != world.moving.tolist():
        raise RecordingError("other bodies move in the recording than in this world")
    snapshot = world.restore(recording.snapshot)
    due = snapshot.step
    for batch in recording.batches():
        if batch.first_step != due:
            raise RecordingError(f"step {batch.first_step} stands where step {due} is due")
        found = first_difference(recording.header, batch, recording.header, _again(world, snapshot, batch))
        if found is not None:
            return found
        due = snapshot.step + 1
    return None


def _again(world: World, snapshot: Snapshot, batch: Batch) -> Batch:
    """Repeat the steps of a batch with its commands, advancing the Snapshot; step 0 is the state before any."""
    pieces, last = [], batch.first_step + len(batch.hashes) - 1
    rows = _read_only(world.moving if batch.rows is None else batch.rows)
    if batch.first_step == snapshot.step:
        start = np.array([snapshot.hash], np.uint64)
        pieces.append(Batch(snapshot.step, start, motion_of(snapshot, rows)[None]))
    told: list[tuple[int, int, tuple[float, ...] | float]] = [*batch.commands, *batch.controls]
    for step, orders in itertools.groupby(sorted(told, key=_step_of), key=_step_of):
        if not snapshot.step <= step < last:
            raise RecordingError(f"a command of step {step} stands among steps {snapshot.step} to {last}")
        pieces += _steps(world, snapshot, step - snapshot.step, rows)
        for _, place, value in orders:
            _obey(world, snapshot, place, value)
    whole = Batch.joined(pieces + _steps(world, snapshot, last - snapshot.step, rows))
    return replace(whole, rows=batch.rows)


def _step_of(order: tuple[int, int, tuple[float, ...] | float]) -> int:
    return order[0]


def _obey(world: World, snapshot: Snapshot, place: int, value: tuple[float, ...] | float) -> None:
    """Apply a command of a vehicle, or a control of a model."""
    row, what = ("controller_state", "control") if isinstance(value, float) else ("command", "vehicle")
    column = getattr(snapshot.columns, row)
    if not 0 <= place < len(column):
        raise RecordingError(f"a command of step {snapshot.step} is for {what} {place}, which does not exist")
    if isinstance(value, float):
        column[place] = value
    else:
        tell(world.queues, snapshot, place, value, world.step)


def _read_only(rows: Ints) -> Ints:
    """Rows of a batch with the one type that kernels are compiled for."""
    view = rows.view()
    view.flags.writeable = False
    return view


def _steps(world: World, snapshot: Snapshot, count: int, rows: Ints) -> list[Batch]:
    """Advance quiet steps; yields one batch or none."""
    first = snapshot.step + 1
    return [Batch(first, *advance(world, snapshot, count, rows)[:2])] if count else []


def diff(one: Recording, other: Recording) -> Divergence | None:
    """Find the first difference of two recordings; both are read once, batch by batch.

    Returns
    -------
    Divergence or None
        None if they are equal. A recording that ends earlier differs at its end; recordings with different step
        lengths differ from the start.

    Raises
    ------
    RecordingError
        If they have different objects, or one has no steps.
    """
    ours, theirs = one.header.objects.names, other.header.objects.names
    if ours != theirs:
        raise RecordingError(f"the recordings have different objects: {_differing(ours, theirs)}")
    if one.header.step != other.header.step:
        return Divergence(0, 0.0, "", "step", abs(one.header.step - other.header.step))
    last = -1
    for a, b in _side_by_side(one, other):
        if a is None or b is None:
            if last < 0:
                raise RecordingError("one of the recordings has no steps")
            return _early_end(one if a is None else other, "first" if a is None else "second", last)
        if a.first_step != b.first_step:
            raise RecordingError("the recordings begin at different steps")
        found = first_difference(one.header, a, other.header, b)
        if found is not None:
            return found
        last = int(a.steps[-1])
    if last < 0:
        raise RecordingError("the recordings have no steps")
    return None


def _differing(one: Sequence[str], other: Sequence[str]) -> str:
    """Describe the first object that only one recording has, or a different order."""
    for name in (*one, *other):
        if (name in one) != (name in other):
            return f"'{name}' is in the {'first' if name in one else 'second'} alone"
    return "they are in another order"


def _early_end(recording: Recording, which: str, step: int) -> Divergence:
    ended = f"the {which} recording {recording.ending or f'ends after step {step}'}"
    return Divergence(step, step * recording.header.step, "", "end", 0.0, ended)


def _side_by_side(one: Recording, other: Recording) -> Iterator[tuple[Batch | None, Batch | None]]:
    """Iterate over two recordings in batches of equal lengths; None for the one that ended earlier."""
    left, right = one.batches(), other.batches()
    a, b = next(left, None), next(right, None)
    while a is not None and b is not None:
        n = min(len(a.hashes), len(b.hashes))
        yield a.part(0, n), b.part(0, n)
        a = a.part(n) if n < len(a.hashes) else next(left, None)
        b = b.part(n) if n < len(b.hashes) else next(right, None)
    if a is not b:
        yield a, b
