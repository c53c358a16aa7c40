"""Commands in flight: given by a planner and not acting yet, in the column `command_queue` of a Snapshot.

Commands of one vehicle act in the order in which they are given. What a latency is follows from the seed, the name of
the vehicle and the step for which the command is given, so that a restored Snapshot continues with the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from cbsim.arrays import Floats
from cbsim.spec.planner import DEVIATIONS, Seat, in_flight
from cbsim.spec.traffic import Spread
from cbsim.world.forks import branch_at_step, occasion
from cbsim.world.snapshot import Snapshot
from cbsim.world.streams import normals, stream_key

__all__ = ["ACTS", "USED", "CommandQueue", "latency_steps", "queues_of", "release", "steps_until_release", "tell"]

USED, ACTS, COMMAND = 0, 1, 2  # columns: 1 if the row is in use; the step in which it acts; six numbers
NEVER = 1 << 62
STREAM = "command latency"


class CommandQueue(NamedTuple):
    """Rows of one vehicle in the column `command_queue`.

    Attributes
    ----------
    name : str
        Of the object.
    vehicle : int
        Row in the table of vehicles.
    first, last : int
        First row, and that after the last.
    latency : Spread
        [s].
    """

    name: str
    vehicle: int
    first: int
    last: int
    latency: Spread


def queues_of(seats: Mapping[int, tuple[str, Seat]], step: float) -> tuple[CommandQueue, ...]:
    """Lay out the queues of vehicles whose commands act later than they are given.

    Parameters
    ----------
    seats : mapping
        Row in the table of vehicles → name of the object, and its seat.
    step : float
        [s].
    """
    queues, first = [], 0
    for vehicle, (name, seat) in sorted(seats.items()):
        count = in_flight(seat, step)
        if count:
            queues.append(CommandQueue(name, vehicle, first, first + count, seat.latency))
            first += count
    return tuple(queues)


def latency_steps(queue: CommandQueue, seed: int, asked: int, step: float, branch: int = 0) -> int:
    """Count the steps after which a command acts, rounded up to whole ones.

    Parameters
    ----------
    queue : CommandQueue
    seed : int
        Of the run.
    asked : int
        Step for which it is given.
    step : float
        [s].
    branch : int
        Of the run at that step.
    """
    latency = queue.latency.mean
    if queue.latency.deviation > 0.0:
        drawn = float(normals(stream_key(seed, STREAM, queue.name), occasion(asked, branch), 1)[0])
        latency += queue.latency.deviation * max(-DEVIATIONS, min(DEVIATIONS, drawn))
    return max(0, math.ceil(latency / step - 1e-9))


def tell(
    queues: tuple[CommandQueue, ...], snapshot: Snapshot, vehicle: int, command: tuple[float, ...], step: float
) -> None:
    """Give a command (6,) to a vehicle, by its row in the table of vehicles: it acts now, or is put in flight."""
    queue = next((one for one in queues if one.vehicle == vehicle), None) if queues else None
    if queue is None:
        snapshot.tell(vehicle, command)
        return
    rows = snapshot.columns.command_queue[queue.first : queue.last]
    used = int(rows[:, USED].sum())
    now = snapshot.step
    acts = now + latency_steps(queue, snapshot.seed, now, step, branch_at_step(snapshot, now))
    if used:
        acts = max(acts, int(rows[used - 1, ACTS]))
    if used == len(rows):  # only where commands are given more often than the rate says: the newest counts
        used -= 1
    rows[used, USED], rows[used, ACTS], rows[used, COMMAND:] = 1.0, acts, command


def release(queues: tuple[CommandQueue, ...], snapshot: Snapshot) -> None:
    """Let the commands act that are due in the next step."""
    columns, now = snapshot.columns, snapshot.step
    for queue in queues:
        rows = columns.command_queue[queue.first : queue.last]
        due = _due(rows, now)
        if due:
            columns.command[queue.vehicle] = rows[due - 1, COMMAND:]
            rows[: len(rows) - due] = rows[due:].copy()
            rows[len(rows) - due :] = 0.0


def steps_until_release(queues: tuple[CommandQueue, ...], snapshot: Snapshot) -> int:
    """Count the steps that can be taken before another command acts; call `release` first."""
    found = NEVER
    for queue in queues:
        row = snapshot.columns.command_queue[queue.first]
        if row[USED]:
            found = min(found, int(row[ACTS]) - snapshot.step)
    return found


def _due(rows: Floats, now: int) -> int:
    """Count the first rows that are due; they stand in the order in which they act."""
    count = 0
    while count < len(rows) and rows[count, USED] and rows[count, ACTS] <= now:
        count += 1
    return count
