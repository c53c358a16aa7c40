"""Sensors: readings from a World and a Snapshot, one module per sensor."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from cbsim.sensing.event_faults import sensors_at
from cbsim.sensing.faults import in_outage, newest_index, reading_indices
from cbsim.sensing.laser import Scan, scan, scans
from cbsim.sensing.objects import ObjectList, take_objects
from cbsim.sensing.odometry import Odometry, take_odometry
from cbsim.sensing.position import Fix, take_gps, take_ins
from cbsim.sensing.reading import Reading
from cbsim.world.snapshot import Snapshot
from cbsim.world.world import Sensor, World, expect_world

__all__ = [
    "READINGS", "SENSORS", "Fix", "ObjectList", "Odometry", "Reading", "Scan", "newest_between", "readings_between",
    "scans", "sense", "take",
]  # fmt: skip


def take_scan(world: World, snapshot: Snapshot, sensor: Sensor, index: int) -> Scan | None:
    """Take the scan with a number; None in an outage."""
    return None if in_outage(sensor.conf, index) else scan(world, snapshot, sensor, index)


SENSORS: dict[str, Callable[[World, Snapshot, Sensor, int], Scan | Reading | None]] = {
    "ladar": take_scan,
    "gps": take_gps,
    "ins": take_ins,
    "odometry": take_odometry,
    "objects": take_objects,
    "radar": take_objects,
}
"""Type of a conf → function that takes reading number n, at time n / rate; None in an outage."""

READINGS: dict[str, type[Reading]] = {
    "gps": Fix,
    "ins": Fix,
    "odometry": Odometry,
    "objects": ObjectList,
    "radar": ObjectList,
}
"""Type of a conf → class of its readings; those of lasers are `Scan`."""


def sense(world: World, snapshot: Snapshot) -> dict[str, Scan | Reading]:
    """Read every sensor at a Snapshot: the newest reading that has been delivered by then.

    Parameters
    ----------
    world : World
    snapshot : Snapshot

    Returns
    -------
    dict
        ``<object name>/<conf file stem>`` → `Scan`, `Fix`, `Odometry` or `ObjectList`. Sensors in an outage, and those
        whose latency has not passed yet, are absent.
    """
    expect_world(world, "sense").require(snapshot)
    time = snapshot.time
    sensors = sensors_at(world, snapshot)
    newest = [(sensor, index) for sensor in sensors if (index := newest_index(sensor.conf, time)) >= 0]
    if any(sensor.conf.type != "ladar" or sensor.conf.outages for sensor, _ in newest):
        return {key: taken for key, taken in _taken(world, snapshot, newest) if taken is not None}
    return {sensor.key: taken for (sensor, _), taken in zip(newest, scans(world, snapshot, newest), strict=True)}


def readings_between(world: World, snapshot: Snapshot, after: float) -> Iterator[tuple[str, Scan | Reading | None]]:
    """Take all readings delivered in (after, the Snapshot's time], sensor by sensor, ordered by time.

    Yields
    ------
    str, Scan or Reading or None
        Key and reading; None in an outage.
    """
    world.require(snapshot)
    due = [(s, index) for s in sensors_at(world, snapshot) for index in reading_indices(s, after, snapshot.time)]
    yield from _taken(world, snapshot, due)


def newest_between(world: World, snapshot: Snapshot, after: float) -> list[tuple[Sensor, int | None]]:
    """Find the newest reading of each sensor that is delivered in (after, the Snapshot's time], without taking it.

    Returns
    -------
    list of (Sensor, int or None)
        Sensors and numbers of readings, in the order of the World's sensors; None for a scan in an outage.
    """
    world.require(snapshot)
    time, found = snapshot.time, list[tuple[Sensor, int | None]]()
    for sensor in sensors_at(world, snapshot):
        conf = sensor.conf
        index = newest_index(conf, time)
        if index >= 0 and index > newest_index(conf, after):
            lost = conf.type == "ladar" and in_outage(conf, index)
            found.append((sensor, None if lost else index))
    return found


def take(world: World, snapshot: Snapshot, sensor: Sensor, index: int) -> Scan | Reading | None:
    """Take the reading with a number, whose time must not be later than the Snapshot's; None in an outage."""
    return SENSORS[sensor.conf.type](world, snapshot, sensor, index)


def _taken(
    world: World, snapshot: Snapshot, due: list[tuple[Sensor, int]]
) -> Iterator[tuple[str, Scan | Reading | None]]:
    """Take readings by number; all scans among them in one call."""
    lasers = [each for each in due if each[0].conf.type == "ladar" and not in_outage(each[0].conf, each[1])]
    taken = scans(world, snapshot, lasers)
    scanned = iter(taken)
    for sensor, index in due:
        if sensor.conf.type == "ladar":
            yield sensor.key, None if in_outage(sensor.conf, index) else next(scanned)
        else:
            yield sensor.key, SENSORS[sensor.conf.type](world, snapshot, sensor, index)
