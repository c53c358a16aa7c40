"""Sensors: World and Snapshot to readings, one file per sensor."""

from __future__ import annotations

from collections.abc import Iterator

from cbsim.sensing.laser import Scan, scan, scan_indices
from cbsim.world.snapshot import Snapshot
from cbsim.world.world import World

__all__ = ["Scan", "scans_between", "sense"]


def sense(world: World, snapshot: Snapshot) -> dict[str, Scan]:
    """Read every sensor as it stands at a Snapshot: its newest scan that has been delivered by then.

    Parameters
    ----------
    world : World
    snapshot : Snapshot

    Returns
    -------
    dict
        ``<object name>/<conf file stem>`` → `Scan`. A sensor whose latency has not passed yet is absent.
    """
    world.require(snapshot)
    readings = {}
    for sensor in world.sensors:
        newest = scan_indices(sensor, -1.0, snapshot.time)
        if newest:
            readings[sensor.key] = scan(world, snapshot, sensor, newest[-1])
    return readings


def scans_between(world: World, snapshot: Snapshot, after: float) -> Iterator[Scan]:
    """Take every scan delivered in (after, the Snapshot's time], sensor by sensor in the order of time."""
    world.require(snapshot)
    for sensor in world.sensors:
        for index in scan_indices(sensor, after, snapshot.time):
            yield scan(world, snapshot, sensor, index)
