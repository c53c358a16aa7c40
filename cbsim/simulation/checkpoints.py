"""Memory of planners: taken at checkpoints of a run, and given back where a run continues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from cbsim.errors import UsageError
from cbsim.planner import Driver, Operator, PlannerError
from cbsim.recording.checkpoints import CheckpointRow
from cbsim.simulation.seat_view import SeatView
from cbsim.world.snapshot import Snapshot

__all__ = [
    "AFRESH",
    "NONE_PASSED",
    "NO_MEMORIES",
    "Continued",
    "Memories",
    "Passed",
    "checkpoints_at",
    "give_back",
    "memory_of",
    "until_asked",
]

Memories = Mapping[str, bytes]
Passed = Mapping[str, int]
NO_MEMORIES: Memories = MappingProxyType({})
NONE_PASSED: Passed = MappingProxyType({})


class Continued(NamedTuple):
    """From where a run continues.

    Attributes
    ----------
    memories : mapping
        Object name → memory of its planner.
    passed : mapping
        Object name → checkpoints of its mission that it has passed.
    """

    memories: Memories = NO_MEMORIES
    passed: Passed = NONE_PASSED


AFRESH = Continued()
MOST_BYTES = 16 << 20  # of one planner's memory


def save(planner: Any) -> object:
    """Call a planner's ``save``."""
    return planner.save()


def restore(planner: Any, memory: bytes) -> None:
    """Call a planner's ``restore``."""
    planner.restore(memory)


def until_asked(driver: Driver | Operator, step: int) -> int:
    """Count the steps until a planner is asked again, or its memory is taken."""
    left = driver.period - step % driver.period
    if isinstance(driver, Driver) and driver.checkpoint:
        left = min(left, driver.checkpoint - step % driver.checkpoint)
    return left


def checkpoints_at(
    snapshot: Snapshot, drivers: Sequence[Driver | Operator], views: Mapping[str, SeatView]
) -> list[CheckpointRow]:
    """Take the memory of planners whose checkpoint is due, before they are asked, and how far their vehicles are.

    Raises
    ------
    PlannerError
        If a planner's `save` fails, or returns what is no `bytes`, or too many.
    """
    rows = []
    for driver in drivers:
        if not isinstance(driver, Driver) or not driver.checkpoint or snapshot.step % driver.checkpoint:
            continue
        memories, passed = memory_of(snapshot, [driver], views)
        row = driver.name, memories[driver.name], snapshot.to_bytes(), passed[driver.name]
        rows.append(CheckpointRow(snapshot.step, *row))
    return rows


def memory_of(snapshot: Snapshot, drivers: Sequence[Driver], views: Mapping[str, SeatView]) -> Continued:
    """Take the memory of planners between two steps, and how far their vehicles are.

    Raises
    ------
    PlannerError
        If a planner's `save` fails, or returns what is no `bytes`, or too many.
    """
    memories, passed = dict[str, bytes](), dict[str, int]()
    for driver in drivers:
        name = type(driver.planner).__name__
        memory = driver.isolation.call(name, snapshot.time, driver.deadline, save, driver.planner)
        if not isinstance(memory, bytes):
            raise PlannerError(name, snapshot.time, f"save() returned {type(memory).__name__}, expected bytes")
        if len(memory) > MOST_BYTES:
            raise PlannerError(name, snapshot.time, f"save() returned {len(memory)} bytes, more than {MOST_BYTES}")
        memories[driver.name], passed[driver.name] = memory, views[driver.name].note(snapshot)
    return Continued(memories, passed)


def give_back(
    since: Continued, drivers: Sequence[Driver | Operator], views: Mapping[str, SeatView], time: float
) -> None:
    """Give planners their memory back, by the names of the objects that they drive, and views their progress.

    Raises
    ------
    UsageError
        If there is no such planner, or it has no `restore`.
    PlannerError
        If its `restore` fails.
    """
    known = {driver.name: driver for driver in drivers}
    for name, passed in since.passed.items():
        views[name].progress.resume(passed)
    for name, memory in since.memories.items():
        driver = known.get(name)
        if driver is None or not callable(getattr(driver.planner, "restore", None)):
            reason = "there is no such planner" if driver is None else "its planner has no method restore"
            raise UsageError(f"memory of '{name}' cannot be given back: {reason}")
        planner = type(driver.planner).__name__
        driver.isolation.call(planner, time, driver.deadline, restore, driver.planner, memory)
