"""Rows whose motion a run records: all that move, or without the traffic that is far from every autonomous object."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats, Ints
from cbsim.collision.kernels.workspace import HORIZON
from cbsim.recording.batch import RecordedTraffic
from cbsim.road.lanelets.limits import UNKNOWN_LIMIT
from cbsim.spec.objects import Kind
from cbsim.world.events.actions import APPEARANCES
from cbsim.world.motion import ABSENT_BELOW
from cbsim.world.snapshot import Snapshot
from cbsim.world.traffic.tables import ABSENT, BODY, FIRST_CAR, LAST_CAR, LIMIT, ORIGIN, PHASE, PIECE
from cbsim.world.world import World

__all__ = ["FEW", "PERIOD", "RecordedRows"]

FEW = 1000  # dynamic objects and cars of pools, up to which all are recorded unless the scenario says otherwise
NEAR, AHEAD = 200.0, 12.0  # [m], [s] at the highest limit: within the larger of these traffic is near
PERIOD = 1.0  # [s] after which it is asked anew who is near, about
LONGEST = 2.0  # [s]
HOUR = 3600.0  # [s]
FASTER = 10.0  # [m/s²] both together by which speeds grow in that time
NEXT = 8  # cars of a flow that may appear within a period: they need a headway, and room for their length


class RecordedRows:
    """Which rows a run records, as its scenario says.

    Who is near is asked at the start and at every multiple of a period of about a second. The radius then has the way
    added that both can go until the next time, so that a recording holds at least whoever comes within the radius.

    Parameters
    ----------
    world : World

    Attributes
    ----------
    traffic : str
        ``all``, ``near`` or ``none``.
    named : list of int
        Rows of traffic that rules of the scenario name.
    radius : float
        [m]
    period : int
        Steps after which it is asked anew.
    may_change : bool
        Whether it is asked anew.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        moving = world.moving
        is_traffic = np.isin(moving, _traffic_of(world), assume_unique=True)
        self.traffic = world.settings.record_traffic or ("near" if _count(world) > FEW else "all")
        self.period = _period(world.step)
        self.radius = 0.0
        self.named: list[int] = []
        self._summoned = np.isin(moving, _summoned_in(world))
        self._last: Ints | None = None
        pools = world.traffic.demand.pool_rows
        self._flows = pools[pools[:, ORIGIN] >= 0]
        self._egos = _rows_of_kind(world, Kind.AUTONOMOUS)
        self.may_change = self.traffic == "near" or (self.traffic == "all" and len(self._flows) > 0)
        if self.traffic == "all":
            return
        named = np.isin(moving, _named_in(world))
        self.named = moving[is_traffic & named].tolist()
        self._always = ~is_traffic | named
        if self.traffic == "near":
            self.radius = max(NEAR, AHEAD * _highest_limit(world))

    @property
    def header(self) -> RecordedTraffic:
        """What the header of a recording says of it."""
        return RecordedTraffic(self.traffic, self.named, self.radius)

    @property
    def misses_all(self) -> bool:
        """Whether traffic is left out for want of an autonomous object that it could be near to."""
        return self.traffic == "near" and not len(self._egos)

    def steps_left(self, step: int) -> int:
        """Count the steps from a step on in which the rows stay the same."""
        return self.period - step % self.period if self.may_change else 2**62

    def at(self, snapshot: Snapshot) -> Ints | None:
        """Rows to record from a Snapshot on, in order; None for all that move."""
        moving = self._world.moving
        if self.traffic == "all":
            if not len(self._flows):
                return None
            kept = self._present(snapshot) | np.isin(moving, self._next(snapshot, self._flows)) | self._summoned
        else:
            kept = self._always
            if self.traffic == "near" and len(self._egos):
                kept = kept | self._near(snapshot) | self._summoned
        rows = moving[kept]
        if self._last is None or not np.array_equal(rows, self._last):
            rows.flags.writeable = False  # as rows of a World are: another type would compile the step twice
            self._last = rows
        return self._last

    def _near(self, snapshot: Snapshot) -> NDArray[np.bool_]:
        """Which moving rows are near an autonomous object, or stay so until it is asked again."""
        moving, columns = self._world.moving, snapshot.columns
        time = self.period * self._world.step
        places, speeds = columns.position[moving], _speeds(columns.velocity[moving])
        slack = self.radius + 0.5 * FASTER * time * time
        found = self._within(snapshot, places, slack + time * speeds, time) & self._present(snapshot)
        road, origins = self._world.traffic.road, self._flows[:, ORIGIN]
        near = self._within(snapshot, road.pieces[road.links[origins, PIECE]], slack, time)
        return found | np.isin(moving, self._next(snapshot, self._flows[near]))

    def _present(self, snapshot: Snapshot) -> NDArray[np.bool_]:
        """Which moving rows are not those of absent cars."""
        return np.asarray(snapshot.columns.position[self._world.moving, 2] > ABSENT_BELOW)

    def _within(self, snapshot: Snapshot, places: Floats, reach: Floats | float, time: float) -> NDArray[np.bool_]:
        """Which places (n, 2 or 3) [m] come within reach [m] of an autonomous object in some time [s]."""
        columns, found = snapshot.columns, np.zeros(len(places), bool)
        for ego in self._egos.tolist():
            far = reach + time * float(_speeds(columns.velocity[ego : ego + 1])[0])
            along, across = places[:, 0] - columns.position[ego, 0], places[:, 1] - columns.position[ego, 1]
            found |= along * along + across * across <= far * far
        return found

    def _next(self, snapshot: Snapshot, flows: Ints) -> list[int]:
        """Rows of the cars that appear next in flows, rows of `Demand.pool_rows`."""
        columns, road, found = snapshot.columns, self._world.traffic.road, list[int]()
        for first, last in flows[:, [FIRST_CAR, LAST_CAR]].tolist():
            absent = np.flatnonzero(columns.intent[first : last + 1, PHASE] == ABSENT)[:NEXT]
            found += road.car_rows[first + absent, BODY].tolist()
        return found


def _period(step: float) -> int:
    """Count the steps after which it is asked anew: if short, a multiple of those that collision candidates last."""
    if step * HORIZON <= LONGEST:
        return HORIZON * max(1, round(PERIOD / (step * HORIZON)))
    return max(1, round(PERIOD / step))


def _rows_of_kind(world: World, kind: Kind) -> Ints:
    """Rows of single objects of a kind."""
    return np.array([body.row for body in world.bodies.single if body.kind is kind], np.int64)


def _traffic_of(world: World) -> Ints:
    """Rows of dynamic objects and of cars of pools."""
    pools = [np.arange(pool.first, pool.stop) for pool in world.bodies.pools]
    return np.sort(np.concatenate([_rows_of_kind(world, Kind.DYNAMIC), *pools]))


def _count(world: World) -> int:
    """Count dynamic objects, cars of pools, and cars of flows that are expected in a run, but no more than fit."""
    total, duration, flows = len(_rows_of_kind(world, Kind.DYNAMIC)), world.settings.duration, world.scene.pools
    for rows in world.bodies.pools:
        pool = next(one for one in flows if one.name == rows.name)
        span = max(0.0, min(pool.until, duration) - pool.begin)
        total += min(rows.stop - rows.first, math.ceil(pool.flow / HOUR * span)) if pool.flow else pool.count
    return total


def _named_in(world: World) -> Ints:
    """Rows that rules of the scenario name."""
    subjects = (
        dict(one.arguments).get("object") for one in (*world.scene.expectations, *world.scene.score.expectations)
    )
    names = [name for name in subjects if isinstance(name, str)]
    flows = {one.name for one in world.scene.pools if one.flow}
    cars = {name.rpartition(" ")[0] for name in names} & flows  # a car of a flow may be in any of its rows
    pools = [np.arange(pool.first, pool.stop) for pool in world.bodies.pools if pool.name in cars]
    rows = (world.bodies.row(name) for name in names)
    return np.unique(np.concatenate([np.array([row for row in rows if row is not None], np.int64), *pools]))


def _summoned_in(world: World) -> list[int]:
    """Rows of bodies that an event makes appear, or puts in the way."""
    named = {str(do["object"]) for one in world.scene.events for do in one.do if do.kind in APPEARANCES}
    return [row for name in named if (row := world.bodies.row(name)) is not None]


def _highest_limit(world: World) -> float:
    """Highest speed limit of the network [m/s]."""
    limits = world.traffic.road.lanelets[:, LIMIT]
    if len(limits):
        return float(limits.max())
    mission, roadmap = world.scene.mission, world.scene.roadmap
    given = [] if mission is None else [limit.maximum for limit in mission.speed_limits or ()]
    if roadmap is not None:
        given += [segment.speed_limit for segment in roadmap.network.segments if segment.speed_limit]
    return max([UNKNOWN_LIMIT, *given])


def _speeds(velocity: Floats) -> Floats:
    return np.asarray(np.sqrt((velocity * velocity).sum(axis=1)))
