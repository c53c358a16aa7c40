"""`NewestReadings`: the newest reading of each sensor, for planners; scans are taken when somebody looks at them."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, Mapping, ValuesView
from functools import partial
from math import floor
from typing import NamedTuple
from weakref import ref

from cbsim.planner.read_only import ReadOnlyReadings
from cbsim.sensing import Reading, Scan, newest_between, take
from cbsim.sensing.faults import SLACK, newest_index
from cbsim.sensing.laser import ScanBatch, take_scans
from cbsim.world.snapshot import Snapshot
from cbsim.world.world import Sensor, World

__all__ = ["NewestReadings", "Sensed"]

Taken = Scan | Reading
FASTER = 1e-6  # [readings] in a step beyond one, more than times are rounded by


class Clock(NamedTuple):
    """Lasers whose scans are delivered together.

    Attributes
    ----------
    rate, latency : float
        [1/s], [s].
    is_fast : bool
        Whether every step brings a scan, which takes the place of the one before.
    sensors : list of Sensor
    """

    rate: float
    latency: float
    is_fast: bool
    sensors: list[Sensor]

    def newest(self, time: float) -> int:
        """As `newest_index`."""
        return floor((time - self.latency) * self.rate + SLACK)


def clocks_of(world: World) -> list[Clock]:
    """Group the sensors of a World; nothing where they have faults, or are no lasers, so that each is looked at."""
    if world.events.faults or any(one.conf.type != "ladar" or one.conf.outages for one in world.sensors):
        return []
    found: dict[tuple[float, float], Clock] = {}
    for sensor in world.sensors:
        timing = sensor.conf.rate, sensor.conf.latency
        is_fast = sensor.conf.rate * world.step > 1.0 + FASTER
        found.setdefault(timing, Clock(*timing, is_fast, [])).sensors.append(sensor)
    return list(found.values())


class NewestReadings(Mapping[str, Taken]):
    """Newest reading of each sensor of a World, by key.

    A scan depends on nothing but the World, the Snapshot at which it is delivered, and its number. So it is taken when
    it is first looked at, or before that Snapshot changes if anybody may still look at it: somebody keeps an
    observation, or no newer scan takes its place in the next step. Scans that nobody sees are not taken.

    Parameters
    ----------
    world : World
    taken : mapping, optional
        Readings at the start.
    """

    def __init__(self, world: World, taken: Mapping[str, Taken] | None = None) -> None:
        self._world = world
        self._taken: dict[str, Taken] = {}
        self._due: dict[str, tuple[Sensor, int]] = {}
        self._held: dict[str, Callable[[str], Scan]] = {}  # of scans that have been taken, but not been read yet
        self._copies = ReadOnlyReadings()
        self._snapshot: Snapshot | None = None
        self._views: list[ref[Sensed]] = []
        lasers = {sensor.key for sensor in world.sensors if sensor.conf.type == "ladar"}
        self._keys = {
            row: (tuple([key for key in keys if key in lasers]), tuple([key for key in keys if key not in lasers]))
            for row, keys in world.carried.items()
        }
        self._count = len(world.sensors)
        self.clocks = clocks_of(world)
        self._slow = [clock for clock in self.clocks if not clock.is_fast]
        clock_of = {one.key: k for k, clock in enumerate(self.clocks) for one in clock.sensors}
        self._timed = [(one, clock_of[one.key]) for one in world.sensors if one.key in clock_of]
        for key, one in (taken or {}).items():
            self.set(key, one)

    def __getitem__(self, key: str) -> Taken:
        if key in self._due:
            self._take(list(self._due))
        if key in self._held:
            self._taken[key] = self._held.pop(key)(key)
        return self._taken[key]

    def __iter__(self) -> Iterator[str]:
        return iter((*self._taken, *self._due, *self._held))

    def __len__(self) -> int:
        return len(self._taken) + len(self._due) + len(self._held)

    def __contains__(self, key: object) -> bool:
        return key in self._taken or key in self._due or key in self._held

    def set(self, key: str, taken: Taken | None) -> None:
        """Put the newest reading of a sensor in its place; None in an outage, when there is none."""
        self._due.pop(key, None)
        self._held.pop(key, None)
        if isinstance(taken, Scan):  # a recorder has the same arrays
            self._taken.pop(key, None)
            self._held[key] = partial(self._copies, reading=taken)
        elif taken is None:
            self._taken.pop(key, None)
        else:
            self._taken[key] = taken

    def hold(self, batch: ScanBatch) -> None:
        """Put scans in their places that have been taken; the last of each sensor holds."""
        newest, taken = batch.layout.newest, self._taken
        for key in newest:
            taken.pop(key, None)
        self._held.update(dict.fromkeys(newest, batch.told_newest))

    def due_between(self, after: float, time: float) -> list[tuple[Sensor, int]]:
        """List lasers and numbers of the scans that are delivered in (after, time], if none has faults."""
        numbers = []
        for rate, latency, _, _ in self.clocks:  # `Clock.newest` spelled out: asked for in every step
            first = floor((after - latency) * rate + SLACK) + 1
            numbers.append(range(first if first > 0 else 0, floor((time - latency) * rate + SLACK) + 1))
        return [(sensor, number) for sensor, clock in self._timed for number in numbers[clock]]

    def deliver(self, snapshot: Snapshot, after: float) -> None:
        """Put the readings in their places that are delivered in (after, the Snapshot's time], without taking scans."""
        self._snapshot = snapshot
        if self.clocks:
            self._deliver_together(snapshot.time, after)
            return
        for sensor, index in newest_between(self._world, snapshot, after):
            if index is None or sensor.conf.type == "ladar":
                self.set(sensor.key, None)
                if index is not None:
                    self._due[sensor.key] = sensor, index
            else:
                self.set(sensor.key, take(self._world, snapshot, sensor, index))

    def _deliver_together(self, time: float, after: float) -> None:
        """Put the scans of all lasers in their places that are delivered in (after, time], without taking them."""
        taken, due, held = self._taken, self._due, self._held
        for rate, latency, is_fast, sensors in self.clocks:  # `Clock.newest` spelled out: asked for in every step
            index = floor((time - latency) * rate + SLACK)
            if index < 0 or not (is_fast or index > floor((after - latency) * rate + SLACK)):
                continue
            for sensor in sensors:
                due[sensor.key] = sensor, index
        if taken or held:
            for key in due:
                taken.pop(key, None)
                held.pop(key, None)

    def of_body(self, row: int) -> tuple[Mapping[str, Taken], Mapping[str, Taken]]:
        """Return the scans, and the other readings, of the sensors of a body, as they are now."""
        lasers, others = self._keys.get(row, ((), ()))
        if len(self._taken) + len(self._due) + len(self._held) < self._count:  # some are silent
            lasers = tuple([key for key in lasers if key in self])
        scans = Sensed(self, lasers)
        self._views.append(ref(scans))
        return scans, {key: self._taken[key] for key in others if key in self._taken} if others else {}

    def steps_until_due(self, now: int, asked: int) -> int:
        """Count the steps from a step on that can be taken in one, until a planner is asked.

        A scan that the planner may look at is taken at the Snapshot at which it is delivered, so that steps end there.
        """
        if not self.clocks:
            return 1
        step, end = self._world.step, asked
        for clock in self.clocks:
            index = clock.newest(asked * step)
            if index > clock.newest(now * step):
                while clock.newest((end - 1) * step) >= index:
                    end -= 1
        return end - now

    def settle(self, asked: int) -> None:
        """Take the scans that may be looked at later, given the step in which a planner is asked.

        Called before the Snapshot changes.
        """
        if self._views:
            views, self._views = self._views, []
            for view in views:
                kept = view()
                if kept is not None:
                    kept.look()
        if not self._due or self._snapshot is None:
            return
        following = asked * self._world.step
        if self.clocks:
            time = self._snapshot.time
            last = [
                sensor.key
                for rate, latency, _, sensors in self._slow
                if floor((following - latency) * rate + SLACK) <= floor((time - latency) * rate + SLACK)
                for sensor in sensors
                if sensor.key in self._due
            ]
        else:
            last = [key for key, (one, index) in self._due.items() if newest_index(one.conf, following) <= index]
        if last:
            self._take(last)

    def _take(self, keys: list[str]) -> None:
        """Take scans that are due, all in one call."""
        assert self._snapshot is not None
        batch = take_scans(self._world, self._snapshot, [self._due.pop(key) for key in keys])
        for n, key in enumerate(keys):
            self._taken[key] = batch.told(n)


class Sensed(Mapping[str, Taken]):
    """Scans of one observation, with read-only arrays; they stay what they were, however late they are looked at.

    Parameters
    ----------
    newest : NewestReadings
    keys : tuple of str
    """

    __slots__ = ("__weakref__", "_keys", "_newest", "_values")
    is_read_only = True

    def __init__(self, newest: NewestReadings, keys: tuple[str, ...]) -> None:
        self._newest: NewestReadings | None = newest
        self._keys = keys

    def look(self) -> None:
        """Take all scans that have not been taken."""
        if self._newest is not None:
            self._values: dict[str, Taken] = {key: self._newest[key] for key in self._keys}
            self._newest = None

    def __getitem__(self, key: str) -> Taken:
        self.look()
        return self._values[key]

    def items(self) -> ItemsView[str, Taken]:
        """Return keys and scans."""
        self.look()
        return self._values.items()

    def values(self) -> ValuesView[Taken]:
        """Return the scans."""
        self.look()
        return self._values.values()

    def __repr__(self) -> str:
        return repr(dict(self))

    def __reduce__(self) -> tuple[object, ...]:
        return dict, (dict(self),)  # a copy, or a pickle, holds the scans and nothing of the run

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._keys
