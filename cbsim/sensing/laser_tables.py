"""Tables of a World's lasers for the kernels, and their scratch arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple
from weakref import WeakKeyDictionary, ref

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats, Ints
from cbsim.sensing.kernels.fan import Fan, fan_of
from cbsim.sensing.kernels.noise import Noises
from cbsim.sensing.kernels.scans import Lasers, ScanScratch
from cbsim.sensing.kernels.standing import Scenery
from cbsim.sensing.kernels.still import scratch_for
from cbsim.sensing.noise import noises_of
from cbsim.sensing.scenery import StaticGroups, static_scenery_of
from cbsim.spec.sensor import SensorConf
from cbsim.world.packed import Pack, pack
from cbsim.world.static_cache import StaticCache
from cbsim.world.streams import stream_key
from cbsim.world.world import Sensor, World

__all__ = ["HEAD", "BatchLayout", "LaserTables", "acquire_scratch", "laser_tables_of", "release_scratch"]

NAME = "scans"  # key of the scratch in a `StaticCache`
SEEDS = 64  # number of seeds whose keys are cached
LAYOUTS = 256  # number of cached layouts
HEAD = 12  # words of a scan before its readings: time, pose, layers, beams, scan time, poses of its sweep


class Beams(NamedTuple):
    """What all scans of a laser have in common, for planners.

    Attributes
    ----------
    azimuths, directions : (beams,) [rad], (layers, beams, 3)
        Arrays that nobody can write to.
    shape : (int, int)
        Layers and beams.
    rate, scan_time : float
        [1/s], [s].
    """

    azimuths: Floats
    directions: Floats
    shape: tuple[int, int]
    rate: float
    scan_time: float


@dataclass(frozen=True, slots=True, eq=False)
class BatchLayout:
    """Layout of the output of scans that are taken in one call.

    Attributes
    ----------
    jobs : (n, 7) int64
        Argument of `scans_into`.
    rates : (n,)
        [1/s].
    rows, out, sweep, seen : list of int
        Rows of the lasers; where readings, poses of sweeps and returns of each begin; -1 for no sweep.
    inexact : list of int
        Indices of lasers with errors of azimuth.
    rays, swept : int
        Total number of beams, and of numbers of the poses of sweeps.
    has_heads : bool
        Whether scans are written as they are recorded: places count from where those of their laser begin.
    grow : (lasers,) int64
        Words that the scans of each laser take then.
    numbers : int
        Numbers that are recorded.
    newest : dict
        Key of each laser → index of the last of its scans.
    """

    jobs: Ints
    rates: Floats
    rows: list[int]
    out: list[int]
    sweep: list[int]
    seen: list[int]
    inexact: list[int]
    rays: int
    swept: int
    has_heads: bool
    grow: Ints
    numbers: int
    newest: dict[str, int]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class LaserTables:
    """Tables of the lasers of a World, for the kernels.

    Attributes
    ----------
    table : Lasers
        One row per laser.
    names : list of str
        Keys of the lasers.
    rows : dict
        Key → row of the table.
    sizes, rays : list of int
        Padded number of directions, and number of beams, of each.
    noises : Noises
        Noise parameters of each.
    pack : Pack
        `table` and `noises` in two blocks.
    groups : StaticGroups
        Groups of static bodies.
    confs : list of SensorConf
        Confs of the lasers.
    may_freeze : bool
        Whether any may show an earlier scan.
    begins : (lasers,) int64
        Zeros: where the places of a call without heads count from.
    """

    table: Lasers
    names: list[str]
    rows: dict[str, int]
    sizes: list[int]
    rays: list[int]
    noises: Noises
    pack: Pack
    groups: StaticGroups
    confs: list[SensorConf]
    may_freeze: bool
    begins: Ints
    _keys: dict[int, NDArray[np.uint64]] = field(default_factory=dict)
    _layouts: dict[tuple[tuple[str, ...], bool], BatchLayout] = field(default_factory=dict)
    _told: dict[str, Beams] = field(default_factory=dict)

    def told(self, sensor: Sensor) -> Beams:
        """Return what all scans of a laser have in common."""
        found = self._told.get(sensor.key)
        if found is None:
            one, two = (np.ndarray(a.shape, float, a.tobytes()) for a in (sensor.azimuths, sensor.directions))
            layers, beams = two.shape[:2]
            found = Beams(one, two, (layers, beams), sensor.conf.rate, sensor.conf.scan_time)
            self._told[sensor.key] = found
        return found

    def layout(self, key: tuple[str, ...], has_heads: bool = False) -> BatchLayout:
        """Return the layout of one call for lasers with some keys, with heads or without."""
        found = self._layouts.get((key, has_heads))
        if found is None:
            if len(self._layouts) >= LAYOUTS:
                self._layouts.clear()
            found = self._layouts[key, has_heads] = self._layout(key, has_heads)
        return found

    def _layout(self, keys: tuple[str, ...], has_heads: bool) -> BatchLayout:
        rows = [self.rows[key] for key in keys]
        jobs: list[tuple[int, ...]] = []
        rays = swept = wrong = 0
        grow = [0] * len(self.names)
        for n, row in enumerate(rows):
            conf, count = self.confs[row], self.rays[row]
            off, sweeps = (wrong if conf.angle_sigma > 0.0 else -1), conf.scan_time > 0.0
            if has_heads:
                head, out = grow[row], grow[row] + HEAD
                places = out, off, (out + count if sweeps else -1), head, rays
                grow[row] += self.length(row)
            else:
                places = rays, off, (swept if sweeps else -1), -1, rays
                swept += 7 * conf.beams if sweeps else 0
            jobs.append((row, n, *places))
            rays += count
            wrong += conf.beams if off >= 0 else 0
        rates = np.array([self.confs[row].rate for row in rows], float)
        table = np.array(jobs, np.int64).reshape(-1, 7)
        inexact = np.flatnonzero(table[:, 3] >= 0).tolist()
        out, swept_at, seen = (table[:, column].tolist() for column in (2, 4, 6))
        newest = {key: n for n, key in enumerate(keys)}
        words = np.array(grow, np.int64)
        return BatchLayout(
            *(table, rates, rows, out, swept_at, seen, inexact, rays, swept),
            has_heads=has_heads,
            grow=words,
            numbers=sum(grow) if has_heads else rays + swept,
            newest=newest,
        )

    def length(self, row: int) -> int:
        """Words of a recorded scan of a laser: its head, its readings, and the poses of its sweep."""
        conf = self.confs[row]
        return HEAD + self.rays[row] + (7 * conf.beams if conf.scan_time > 0.0 else 0)

    def keys(self, seed: int) -> NDArray[np.uint64]:
        """Keys (lasers, 2) of the lasers' random streams."""
        found = self._keys.get(seed)
        if found is None:
            if len(self._keys) >= SEEDS:
                self._keys.clear()
            keys = [stream_key(seed, "laser", name) for name in self.names]
            found = self._keys[seed] = np.array(keys, np.uint64).reshape(-1, 2)
        return found


_tables: WeakKeyDictionary[World, LaserTables] = WeakKeyDictionary()
_newest: list[tuple[ref[World], ref[LaserTables]]] = []  # of the last call: a look-up takes 2 µs


def laser_tables_of(world: World) -> LaserTables:
    """Return the tables of a World, cached."""
    if _newest:
        last, kept = _newest[0]
        found = kept()
        if found is not None and last() is world:
            return found
    found = _tables.get(world)
    if found is None:
        found = _tables[world] = _laser_tables(world)
    _newest[:] = [(ref(world), ref(found))]
    return found


def _laser_tables(world: World) -> LaserTables:
    sensors = [sensor for sensor in world.sensors if sensor.conf.type == "ladar"]
    fans = [fan_of(s.azimuths, s.directions, np.asarray(s.conf.layer_pitches, float)) for s in sensors]
    azimuths = [
        np.tile(np.pad(s.azimuths, (0, fan.width - fan.beams), mode="edge"), fan.layers)
        for s, fan in zip(sensors, fans, strict=True)
    ]
    sizes = [fan.layers * fan.width for fan in fans]
    layers = [fan.layers for fan in fans]
    firsts, at, row = _places(fans, azimuths)
    shared = [fans[k] for k in firsts]
    table = Lasers(
        body=np.array([s.body for s in sensors], np.int64),
        layers=np.array(layers, np.int64),
        beams=np.array([fan.beams for fan in fans], np.int64),
        width=np.array([fan.width for fan in fans], np.int64),
        mount=np.array([[*s.mount.position, *s.mount.orientation] for s in sensors], float).reshape(-1, 7),
        reach=np.array([s.conf.max_range for s in sensors], float),
        scan_time=np.array([s.conf.scan_time for s in sensors], float),
        first=np.array([fan.first for fan in fans], float),
        step=np.array([fan.step for fan in fans], float),
        slack=np.array([fan.slack for fan in fans], float),
        at=at,
        row=row,
        azimuths=_chain([azimuths[k] for k in firsts]),
        east=_chain([fan.east for fan in shared]),
        north=_chain([fan.north for fan in shared]),
        up=_chain([fan.up for fan in shared]),
        slopes=_chain([fan.slopes for fan in shared]),
        order=np.concatenate([np.zeros(0, np.int64), *(fan.order for fan in shared)]),
    )
    rows = {s.key: row for row, s in enumerate(sensors)}
    rays = [fan.layers * fan.beams for fan in fans]
    noises, groups = noises_of(sensors), StaticGroups(world, table.body)
    confs = [s.conf for s in sensors]
    freezes = bool(world.events.faults) or any(conf.freezes for conf in confs)
    begins, packed = np.zeros(len(sensors), np.int64), pack((*table, *noises))
    return LaserTables(table, list(rows), rows, sizes, rays, noises, packed, groups, confs, freezes, begins)


def _places(fans: list[Fan], azimuths: list[Floats]) -> tuple[list[int], Ints, Ints]:
    """Find the first laser of each kind of fan, and the offsets of each laser's fan in the tables of fans.

    Lasers of the same kind share their directions, which leaves more of the CPU caches to the scene.
    """
    known: dict[bytes, tuple[int, int]] = {}
    firsts, places, at, row = [], [], 0, 0
    for k, (fan, angles) in enumerate(zip(fans, azimuths, strict=True)):
        key = b"".join(part.tobytes() for part in (angles, fan.east, fan.north, fan.up, fan.slopes, fan.order))
        if key not in known:
            known[key] = at, row
            firsts.append(k)
            at, row = at + fan.layers * fan.width, row + fan.layers
        places.append(known[key])
    table = np.array(places, np.int64).reshape(-1, 2)
    return firsts, table[:, 0].copy(), table[:, 1].copy()


def acquire_scratch(world: World, standing: StaticCache) -> Pack:
    """Acquire scratch of `scans_into`, a `ScanScratch`; return it by `release_scratch`."""
    found: Pack | None = standing.take(NAME)
    return _scratch(world, standing) if found is None else found


def release_scratch(scratch: Pack, standing: StaticCache) -> None:
    """Return scratch for reuse."""
    standing.give(NAME, scratch)


def _scratch(world: World, standing: StaticCache) -> Pack:
    tables = laser_tables_of(world)
    _, whole = static_scenery_of(world, standing, tables.groups)
    first = 2 * Scenery._fields.index("loose")  # where it begins and ends
    loose = int(whole[first + 1] - whole[first])
    sensors = [sensor for sensor in world.sensors if sensor.key in tables.rows]
    sweeps = any(sensor.conf.scan_time > 0.0 for sensor in sensors)
    errors = any(sensor.conf.angle_sigma > 0.0 for sensor in sensors)
    bodies, largest = len(world) if sweeps else 0, max(tables.sizes)
    beams = int(tables.table.beams.max()) if sweeps else 0
    floats, ints = scratch_for(len(world), len(tables.groups.plain))
    made = ScanScratch(
        loose_positions=np.empty((loose, 3)),
        loose_orientations=np.empty((loose, 4)),
        positions=np.empty((bodies, 3)),
        orientations=np.empty((bodies, 4)),
        floats=floats,
        ints=ints,
        beams=np.empty(3 * largest if errors else 0),
        aims=np.empty(6 * largest if sweeps else 0),
        swept=np.empty((beams, 3)),
        turned=np.empty((beams, 4)),
        words=np.empty(largest, np.int64),
        draws=np.empty(largest),
        ranges=np.empty(largest),
    )
    return pack(made, writeable=True)


def _chain(parts: list[Floats]) -> Floats:
    return np.concatenate([np.zeros(0), *parts])
