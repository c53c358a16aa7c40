"""`Header` and `Batch`: the data of a run, shared by recorders, judges and readers."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import cbsim
from cbsim.collision.contacts import NO_CONTACTS
from cbsim.geometry.pose import Pose
from cbsim.recording.drawings import DrawingRow
from cbsim.recording.objects import MOST_CARS, Objects, PoolEntry
from cbsim.sensing import READINGS, Reading, Scan
from cbsim.world.motion import ABSENT_MOTION
from cbsim.world.tables import Floats, Ints
from cbsim.world.traffic.events import NO_EVENTS
from cbsim.world.world import Sensor, World

__all__ = [
    "FORMAT_VERSION", "READABLE", "Batch", "Header", "ReadingRow", "RecordedTraffic", "ScanRow", "header_of",
    "motion_of_rows",
]  # fmt: skip

FORMAT_VERSION = 4
READABLE = (3, 4)  # versions that are read; 3 has no pools, and all moving rows in every batch
HEADER_TYPES: dict[str, type] = {
    "version": int,
    "scenario": str,
    "step": float,
    "seed": int,
    "world_digest": str,
    "objects": Objects,
    "moving": list,
    "sensors": list,
    "software": dict,
    "request": dict,
    "controls": dict,
    "traffic": str,
    "named": list,
    "radius": float,
}


@dataclass(frozen=True, slots=True)
class Header:
    """Metadata of a recording.

    Attributes
    ----------
    version : int
        Version of the recording format.
    scenario : str
        Its name.
    step : float
        [s].
    seed : int
        Of the run.
    world_digest : str
        64 bits in hexadecimal.
    objects : Objects
        Name, type, shape, size [m], start position [m] and orientation of every body, in row order. Cars of pools are
        described when they are asked for; the header holds pools.
    moving : list of int
        Rows that can move, in order; all others stay where they start.
    sensors : list of dict
        Key, type and rate of every sensor; layers, beams and azimuths of lasers.
    software : dict
        Versions of cbsim, Python, numba and numpy, and the CPU type; the bits of a run depend on them.
    request : dict
        Arguments of `cbsim.load`.
    controls : dict
        Name of each control of a model → its row in the column `controller_state`.
    traffic : str
        Whose motion is recorded of dynamic objects and cars of pools: ``all``, ``near`` or ``none``.
    named : list of int
        Of these, the rows that are always recorded, because a rule of the scenario names them.
    radius : float
        Distance from autonomous objects in which traffic is recorded if that is ``near`` [m].
    """

    version: int
    scenario: str
    step: float
    seed: int
    world_digest: str
    objects: Objects
    moving: list[int]
    sensors: list[dict[str, Any]]
    software: dict[str, str]
    request: dict[str, Any] = field(default_factory=dict)
    controls: dict[str, int] = field(default_factory=dict)
    traffic: str = "all"
    named: list[int] = field(default_factory=list)
    radius: float = 0.0

    def __post_init__(self) -> None:
        if isinstance(self.objects, list):
            object.__setattr__(self, "objects", Objects(self.objects))

    @property
    def pools(self) -> tuple[PoolEntry, ...]:
        """Pools of cars."""
        return self.objects.pools

    @property
    def recorded(self) -> str:
        """What the recording holds of traffic, for messages."""
        also = "cars that the scenario's rules name" if self.named else "nobody"
        if self.traffic == "near":
            return f"traffic within {self.radius:g} m of autonomous objects, and besides these {also}"
        return "all traffic" if self.traffic == "all" else f"no traffic, and of it {also}"

    def is_recorded(self, row: int) -> bool:
        """Whether the motion of a row is recorded at every step."""
        return self.traffic == "all" or row in self.named or row not in self.moving or not self.is_traffic(row)

    def is_traffic(self, row: int) -> bool:
        """Whether a row is that of a dynamic object or of a car of a pool."""
        return self.objects.in_pool(row) or self.objects[row].get("type") == "dynamic"

    @property
    def first_model(self) -> int:
        """Row of the first body of a model; the number of bodies where there is none."""
        single = enumerate(self.objects.single)
        rows = (self.objects.row_of(k) for k, item in single if item.get("type") == "model")
        return next(rows, len(self.objects))

    def to_json(self) -> str:
        """Write as JSON."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        moving, in_pool = self.moving, self.objects.in_pool
        return json.dumps(
            values
            | {
                "objects": list(self.objects.single),
                "moving": [row for row in moving if not in_pool(row)] if self.pools else moving,
                "pools": [pool.to_dict() for pool in self.pools],
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Header:
        """Read the text of `to_json`.

        Raises
        ------
        ValueError, TypeError, KeyError, AttributeError or RecursionError
            If it is anything else.
        """
        values = json.loads(text)
        pools = [PoolEntry.of(pool) for pool in values.pop("pools", [])]
        _check_rows(values, pools)
        header = cls(**values | {"objects": Objects(values["objects"], pools)})
        header._check()
        return header

    def _check(self) -> None:
        for name, kind in HEADER_TYPES.items():
            if not isinstance(getattr(self, name), kind):
                raise TypeError(f"'{name}' is {getattr(self, name)!r:.40}")
        if not (math.isfinite(self.step) and self.step > 0.0):
            raise ValueError(f"the step is {self.step!r} s")
        for item in self.objects.single:
            placed = _numbers(item["position"], 3) and _numbers(item["orientation"], 4)
            if not (placed and isinstance(item["name"], str)):
                raise ValueError(f"an object is {item!r:.40}")
        for rows in (self.moving, self.named):
            if not all(type(row) is int and 0 <= row < len(self.objects) for row in rows):
                raise ValueError("a moving row has no object")
        if not all(isinstance(sensor["key"], str) for sensor in self.sensors):
            raise ValueError("a sensor has no key")
        if not all(type(place) is int for place in self.controls.values()):
            raise ValueError("the row of a control is not a number")


def _check_rows(values: dict[str, Any], pools: list[PoolEntry]) -> None:
    """Check that the rows of pools follow each other among those of objects, and add them to the moving ones."""
    if not isinstance(values.get("objects"), list) or not isinstance(values.get("moving"), list):
        raise TypeError("'objects' or 'moving' is not a list")
    if not pools:
        return
    stop = pools[0].first
    for pool in pools:
        if pool.first != stop:
            raise ValueError(f"the rows of pool '{pool.name:.40}' begin at {pool.first}, expected {stop}")
        stop = pool.stop
    if pools[0].first > len(values["objects"]) or stop - pools[0].first > MOST_CARS:
        raise ValueError(f"pools have rows {pools[0].first} to {stop}")
    values["moving"] = sorted([*values["moving"], *range(pools[0].first, stop)])


def _numbers(value: object, count: int) -> bool:
    return isinstance(value, list) and len(value) == count and all(isinstance(number, float) for number in value)


@dataclass(frozen=True, slots=True)
class ScanRow:
    """A recorded scan: time [s], sensor pose (7,), ranges (layers, beams) [m]; of a sweep, its duration and poses."""

    key: str
    time: float
    pose: Floats
    ranges: Floats
    scan_time: float = 0.0
    sweep: Floats | None = None

    @classmethod
    def of(cls, scan: Scan) -> ScanRow:
        """Make the row of a scan."""
        pose = np.concatenate([scan.pose.position, scan.pose.orientation])
        return cls(scan.key, scan.time, pose, scan.ranges, scan.scan_time, scan.sweep)

    def scan(self, angles: Floats, directions: Floats, nothing: float) -> Scan:
        """Rebuild the scan.

        Parameters
        ----------
        angles, directions : (beams,) [rad], (layers, beams, 3)
            Of the sensor's beams.
        nothing : float
            Range of a beam without return.
        """
        returned = np.isfinite(self.ranges) & (self.ranges != nothing)
        pose = Pose(self.pose[:3], self.pose[3:])
        sweep = self.scan_time, self.sweep
        return Scan(self.key, self.time, self.ranges, angles, pose, directions, returned, *sweep)


@dataclass(frozen=True, slots=True)
class ReadingRow:
    """A recorded reading of a sensor other than a laser: time [s] and values (n,)."""

    key: str
    time: float
    values: Floats

    @classmethod
    def of(cls, reading: Reading) -> ReadingRow:
        """Make the row of a reading."""
        return cls(reading.key, reading.time, reading.values())

    def reading(self, kind: str) -> Reading:
        """Rebuild the reading, given the type of its sensor; raises ValueError if the number of values is wrong."""
        return READINGS[kind].of(self.key, self.time, self.values)


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive steps of a run.

    Attributes
    ----------
    first_step : int
        Number of the first; 0 is the state before any step.
    hashes : (steps,) uint64
        Hash of each Snapshot.
    motion : (steps, recorded, 13)
        Position, orientation, velocity and angular velocity of each recorded body, as in `cbsim.world.motion.MOTION`.
        The centre of a car that is absent is below `cbsim.world.motion.ABSENT_BELOW`.
    commands : list of (step, vehicle, row)
        Commands that took effect in the step after that number; row as `Command.row`.
    scans : list of ScanRow
        Scans delivered in these steps.
    contacts : (n, 12)
        One row per begin of touching, columns as in `cbsim.collision.contacts.CONTACT`.
    readings : list of ReadingRow
        Readings of all other sensors, delivered in these steps.
    controls : list of (step, place, value)
        Controls of models that were set before the step after that number; row in the column `controller_state`.
    drawings : list of DrawingRow
        Annotations of planners that have a method ``draw``, taken after they planned.
    rows : (recorded,) int64 or None
        Rows whose motion it holds, in order; None for all moving rows of the header.
    events : (n, 4) int64
        What cars of traffic did, columns as in `cbsim.world.traffic.events.EVENT`.
    """

    first_step: int
    hashes: NDArray[np.uint64]
    motion: Floats
    commands: list[tuple[int, int, tuple[float, ...]]] = field(default_factory=list)
    scans: list[ScanRow] = field(default_factory=list)
    contacts: Floats = field(default_factory=lambda: NO_CONTACTS)
    readings: list[ReadingRow] = field(default_factory=list)
    controls: list[tuple[int, int, float]] = field(default_factory=list)
    drawings: list[DrawingRow] = field(default_factory=list)
    rows: Ints | None = None
    events: Ints = field(default_factory=lambda: NO_EVENTS)

    @property
    def steps(self) -> Ints:
        """Step numbers (steps,)."""
        return np.arange(self.first_step, self.first_step + len(self.hashes))

    @classmethod
    def joined(cls, batches: Sequence[Batch]) -> Batch:
        """Put consecutive batches together; a row that one of them does not hold is absent there."""
        if len(batches) == 1:
            return batches[0]
        rows, motion = _joined_motion(batches)
        return cls(
            batches[0].first_step,
            np.concatenate([batch.hashes for batch in batches]),
            motion,
            [command for batch in batches for command in batch.commands],
            [scan for batch in batches for scan in batch.scans],
            np.concatenate([batch.contacts for batch in batches]),
            [reading for batch in batches for reading in batch.readings],
            [control for batch in batches for control in batch.controls],
            [row for batch in batches for row in batch.drawings],
            rows,
            np.concatenate([batch.events for batch in batches]),
        )

    def part(self, start: int, stop: int | None = None) -> Batch:
        """Return hashes and motion of some steps, counted from the first, without commands, scans and contacts."""
        return Batch(self.first_step + start, self.hashes[start:stop], self.motion[start:stop], rows=self.rows)

    def of_rows(self, rows: Ints, moving: Ints) -> Floats:
        """Motion (steps, n, 13) of some rows of a run, given all its moving rows; absent where it is not held."""
        return motion_of_rows(self.motion, moving if self.rows is None else self.rows, rows)


def motion_of_rows(motion: Floats, held: Ints, rows: Ints) -> Floats:
    """Select columns of motion (steps, held, 13) by rows, both in order; absent for rows that are not held."""
    if len(held) == len(rows) and np.array_equal(held, rows):
        return motion
    found = np.tile(ABSENT_MOTION, (len(motion), len(rows), 1))
    if len(held):
        at = np.minimum(np.searchsorted(held, rows), len(held) - 1)
        known = held[at] == rows
        found[:, known] = motion[:, at[known]]
    return found


def _joined_motion(batches: Sequence[Batch]) -> tuple[Ints | None, Floats]:
    """Rows and motion of consecutive batches."""
    first = batches[0].rows
    if all(batch.rows is first for batch in batches):
        return first, np.concatenate([batch.motion for batch in batches])
    held = [batch.rows for batch in batches]
    known = [rows for rows in held if rows is not None]
    if len(known) < len(held):
        raise ValueError("batches of all rows and batches of some cannot be joined")
    rows = np.unique(np.concatenate(known))
    return rows, np.concatenate([motion_of_rows(b.motion, r, rows) for b, r in zip(batches, known, strict=True)])


def _described(sensor: Sensor) -> dict[str, Any]:
    """Describe a sensor for a header."""
    conf = sensor.conf
    said: dict[str, Any] = {"key": sensor.key, "type": conf.type, "rate": float(conf.rate)}
    if conf.type in READINGS:
        return said
    return said | {
        "layers": sensor.directions.shape[0],
        "beams": sensor.directions.shape[1],
        "angles": sensor.azimuths.tolist(),
        "pitches": [float(p) for p in conf.layer_pitches],
        "no_return": conf.no_return,
        "max_range": float(conf.max_range),
    }


def software() -> dict[str, str]:
    """Return the versions and the compile target that the bits of a run depend on, and the CPU of this machine."""
    import numba

    from cbsim.jit import cpu_name, target_name

    return {
        "cbsim": cbsim.__version__,
        "python": platform.python_version(),
        "numba": numba.__version__,
        "numpy": np.__version__,
        "cpu": cpu_name(),
        "target": target_name(),
    }


def header_of(world: World, seed: int, recorded: RecordedTraffic | None = None) -> Header:
    """Describe a run of a World, whose recording holds all traffic, or that which is said."""
    start = world.start.columns
    objects = [
        {
            "name": body.name,
            "type": str(body.kind),
            "shape": body.shape.name.lower(),
            "size": body.size.tolist(),
            "position": start.position[body.row].tolist(),
            "orientation": start.orientation[body.row].tolist(),
        }
        for body in world.bodies.single
    ]
    sensors = [_described(sensor) for sensor in world.sensors]
    return Header(
        FORMAT_VERSION,
        world.name,
        float(world.constants.step),
        seed,
        f"{world.digest:016x}",
        Objects(objects, _pools_of(world)),
        world.moving.tolist(),
        sensors,
        software(),
        dict(world.scene.request),
        dict(world.controls),
        *(recorded or RecordedTraffic()),
    )


class RecordedTraffic(NamedTuple):
    """What a recording holds of traffic; fields as of `Header`."""

    traffic: str = "all"
    named: list[int] = []  # noqa: RUF012
    radius: float = 0.0


def _pools_of(world: World) -> list[PoolEntry]:
    """Describe the pools of a World."""
    start, flows = world.start.columns, {pool.name for pool in world.scene.pools if not pool.count}
    found = []
    for pool in world.bodies.pools:
        x, y, _ = start.position[pool.first].tolist()
        width, length, height = pool.size.tolist()
        size = width, length, height
        found.append(PoolEntry(pool.name, pool.first, pool.stop - pool.first, size, pool.name in flows, (x, y)))
    return found
