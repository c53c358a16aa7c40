"""`resume`: whether planners continue from their checkpoints as they did in the whole run."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from cbsim.errors import RecordingError
from cbsim.evaluation.replay import world_of
from cbsim.recording.batch import Batch
from cbsim.recording.checkpoints import CheckpointRow
from cbsim.recording.recorder import MemoryRecorder
from cbsim.recording.recording import Recording
from cbsim.simulation.loop import Run, drive
from cbsim.world.world import World

__all__ = ["PlannerDifference", "resume"]


class PlannerDifference(NamedTuple):
    """The first command that a planner gives otherwise when it continues from a checkpoint.

    Attributes
    ----------
    name : str
        Of the object that it drives; empty if no command differs, but the World does.
    checkpoint, time : float
        Of the checkpoint, and of the command or step [s].
    """

    name: str
    checkpoint: float
    time: float

    def __str__(self) -> str:
        who = f"the planner of '{self.name}'" if self.name else "the run"
        return f"{who} differs at {self.time:g} s when it continues from the checkpoint at {self.checkpoint:g} s"


def resume(
    recording: Recording, planners: Callable[[], object] | None = None, world: World | None = None
) -> PlannerDifference | None:
    """Continue a recorded run from each checkpoint to the next one, with the planners and their memory.

    Parameters
    ----------
    recording : Recording
    planners : callable, optional
        Makes the planners anew, as `cbsim.run` takes them; by default those that the scenario names.
    world : World, optional
        The World of the run; by default compiled from the recording's source files.

    Returns
    -------
    PlannerDifference or None
        None if all bits are those of the whole run.

    Raises
    ------
    RecordingError
        If the recording has no checkpoints.
    """
    world = world_of(recording) if world is None else world
    batches = list(recording.batches())
    rows = [row for batch in batches for row in batch.checkpoints]
    if not rows:
        raise RecordingError("there are no checkpoints in the recording: 'checkpoint' of a planner records them")
    hashes = {k: int(h) for batch in batches for k, h in zip(batch.steps.tolist(), batch.hashes, strict=True)}
    commands = [command for batch in batches for command in batch.commands]
    groups = [list(group) for _, group in itertools.groupby(rows, key=lambda row: row.step)]
    ends = [group[0].step for group in groups[1:]] + [max(hashes)]
    for group, end in zip(groups, ends, strict=True):
        first = group[0].step
        if end <= first:
            continue
        found = _continued(world, group, end - first, None if planners is None else planners())
        expected = np.array([hashes[k] for k in range(first, end + 1)], np.uint64)
        made = np.concatenate([batch.hashes for batch in found])
        if np.array_equal(made, expected):
            continue
        given = [command for batch in found for command in batch.commands]
        recorded = [command for command in commands if first <= command[0] < end]
        return _difference(world, first, (given, recorded), int(np.argmax(made != expected)) + first)
    return None


def _continued(world: World, group: list[CheckpointRow], steps: int, planners: object) -> list[Batch]:
    """Run from a checkpoint."""
    memory = MemoryRecorder()
    memories: Mapping[str, bytes] = {row.name: row.memory for row in group}
    passed = {row.name: row.passed for row in group}
    run = Run(world, world.restore(group[0].snapshot), [], [memory])
    drive(run, steps, planner=planners, memories=memories, passed=passed)
    return list(Recording(memory).batches())


def _difference(
    world: World, first: int, commands: tuple[list[tuple[int, int, tuple[float, ...]]], ...], step: int
) -> PlannerDifference:
    """Name the planner whose command differs first."""
    names = {vehicle: world.bodies[body].name for body, vehicle in world.vehicle_rows.items()}
    for one, other in itertools.zip_longest(*commands):
        if one != other:
            known = one if other is None or (one is not None and one[0] <= other[0]) else other
            return PlannerDifference(names.get(known[1], ""), first * world.step, known[0] * world.step)
    return PlannerDifference("", first * world.step, step * world.step)
