"""Readings of a run that is recorded: all that are delivered, for listeners and for planners."""

from __future__ import annotations

from cbsim.recording.batch import ReadingRow, ScanRow, scan_rows
from cbsim.sensing import Scan, readings_between
from cbsim.sensing.laser import take_scans
from cbsim.simulation.batch_builder import BatchBuilder
from cbsim.simulation.newest_readings import NewestReadings
from cbsim.world.snapshot import Snapshot
from cbsim.world.world import World

__all__ = ["take_readings"]


def take_readings(
    world: World, snapshot: Snapshot, after: float, newest: NewestReadings, gathered: BatchBuilder
) -> int:
    """Take all readings delivered in (after, the Snapshot's time], and count their numbers.

    Parameters
    ----------
    world : World
    snapshot : Snapshot
    after : float
        [s].
    newest : NewestReadings
        Gets the newest of each sensor.
    gathered : BatchBuilder
        Gets all of them as rows.
    """
    if newest.clocks:  # lasers without faults alone
        due = newest.due_between(after, snapshot.time)
        if not due:
            return 0
        batch = take_scans(world, snapshot, due, gathered.store)
        if batch.layout.has_heads:
            gathered.calls.append(batch)
        else:
            gathered.scans += scan_rows(batch)
        newest.hold(batch)
        return batch.layout.numbers
    numbers = 0
    for key, taken in readings_between(world, snapshot, after):
        newest.set(key, taken)  # in an outage, the previous one is no longer current
        if isinstance(taken, Scan):
            gathered.scans.append(ScanRow.of(taken))
            numbers += taken.ranges.size
        elif taken is not None:
            row = ReadingRow.of(taken)
            gathered.readings.append(row)
            numbers += row.values.size
    return numbers
