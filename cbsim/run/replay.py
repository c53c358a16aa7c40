"""`replay`: load what a recording carries, step it again, and prove every hash; `diff`: where two recordings part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cbsim.errors import RecordingError
from cbsim.paths import StoredFiles
from cbsim.run.batch import COLUMNS, Batch
from cbsim.run.load import load_scene
from cbsim.run.recording import Recording
from cbsim.run.request import Request
from cbsim.run.simulation import advance
from cbsim.world.compile import compile_world
from cbsim.world.world import World

__all__ = ["Divergence", "diff", "replay", "world_of"]


@dataclass(frozen=True, slots=True)
class Divergence:
    """First place where two runs part.

    Attributes
    ----------
    step : int
    time : float
        [s].
    object : str
        The body that differs most there; empty if only hidden state differs.
    column : str
        ``position``, ``orientation``, ``velocity``, ``angular_velocity``, or ``hash``.
    difference : float
        Largest absolute difference of that column there.
    """

    step: int
    time: float
    object: str
    column: str
    difference: float

    def __str__(self) -> str:
        where = f"object '{self.object}', |Δ {self.column}| = {self.difference:.3g}" if self.object else "hidden state"
        return f"first at step {self.step} (t={self.time:.3f} s): {where}"


def world_of(recording: Recording) -> World:
    """Compile the World that a recording was made in, from the files it carries.

    Raises
    ------
    RecordingError
        If it carries none, or another World comes out of them.
    """
    recording.require_snapshot()
    if not recording.sources:
        raise RecordingError("this recording carries no source files: it was made of a World built by hand")
    request = Request(**recording.header.request)
    scene = load_scene(request, files=StoredFiles(recording.sources, request.environment))
    world = compile_world(scene)
    if f"{world.digest:016x}" != recording.header.world_digest:
        made = recording.header.software
        raise RecordingError(f"the same files give another world with this software; it was recorded with {made}")
    return world


def replay(recording: Recording, world: World | None = None) -> Divergence | None:
    """Step a recording again with its commands and compare every hash.

    Parameters
    ----------
    recording : Recording
    world : World, optional
        The World it was made in; by default compiled from the files that it carries.

    Returns
    -------
    Divergence or None
        None if every hash is the same.

    Raises
    ------
    RecordingError
        If the recording lacks its first Snapshot or its files.
    """
    recording.require_snapshot()
    world = world_of(recording) if world is None else world
    snapshot = world.restore(recording.snapshot)
    for batch in recording.batches():
        for step, vehicle, row in batch.commands:
            if step != snapshot.step or not 0 <= vehicle < world.layout.vehicles:
                raise RecordingError(f"a command of step {step} stands at step {snapshot.step}")
            snapshot.state.command[vehicle] = row
        if batch.first_step == snapshot.step:  # the state before the first step
            again = Batch(batch.first_step, np.array([snapshot.hash], np.uint64), batch.motion)
        else:
            hashes, motion = advance(world, snapshot, len(batch.hashes), world.moving)
            again = Batch(batch.first_step, hashes, motion)
        found = _first_difference(batch, again, recording)
        if found is not None:
            return found
    return None


def diff(one: Recording, other: Recording) -> Divergence | None:
    """Find the first step at which two recordings differ.

    Raises
    ------
    RecordingError
        If they are not of the same objects and step.
    """
    if one.header.step != other.header.step or one.names != other.names:
        raise RecordingError("the recordings have different steps or different objects")
    if not np.array_equal(one.steps[: len(other.steps)], other.steps[: len(one.steps)]):
        raise RecordingError("the recordings begin at different steps")
    count = min(len(one), len(other))
    apart = np.flatnonzero(one.hashes[:count] != other.hashes[:count])
    if len(apart):
        return _describe(one, other, int(apart[0]))
    if len(one) != len(other):
        step = int(max(one.steps[-1], other.steps[-1]))
        raise RecordingError(
            f"the recordings agree up to step {count - 1}, where one ends; the other goes on to {step}"
        )
    return None


def _describe(one: Recording, other: Recording, index: int) -> Divergence:
    worst = ("", "hash", 0.0)
    for name in one.names:
        gap = np.abs(one.motion(name)[index] - other.motion(name)[index])
        for column, part in COLUMNS.items():
            if gap[part].max() > worst[2]:
                worst = (name, column, float(gap[part].max()))
    return Divergence(int(one.steps[index]), float(one.times[index]), *worst)


def _first_difference(batch: Batch, again: Batch, recording: Recording) -> Divergence | None:
    apart = np.flatnonzero(batch.hashes != again.hashes)
    if not len(apart):
        return None
    index = int(apart[0])
    worst = ("", "hash", 0.0)
    for column, part in COLUMNS.items():
        gap = np.abs(batch.motion[index][:, part] - again.motion[index][:, part]).max(axis=1, initial=0.0)
        if len(gap) and gap.max() > worst[2]:
            body = recording.header.moving[int(gap.argmax())]
            worst = (recording.names[body], column, float(gap.max()))
    step = batch.first_step + index
    return Divergence(step, step * recording.header.step, *worst)
