"""`Header`: metadata of a recording, which any reader needs before its batches."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np

import cbsim
from cbsim.recording.objects import MOST_CARS, Objects, PoolEntry, unknown_name
from cbsim.sensing import READINGS
from cbsim.world.events.run_control import NO_RUN_CONTROL, RunControl
from cbsim.world.world import Sensor, World

__all__ = ["FORMAT_VERSION", "READABLE", "Header", "RecordedTraffic", "header_of", "software"]

FORMAT_VERSION = 6
READABLE = (3, 4, 5, 6)  # versions that are read
"""Version 3 has no pools, and all moving rows in every batch; 4 has no events, 5 no run control."""
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
    "events": list,
    "run_control": RunControl,
    "latencies": dict,
    "forks": list,
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
    events : list of str
        Names of the events of the scenario, by their numbers in the recording.
    run_control : RunControl
        Which of them set run states of vehicles, or let a mission begin anew.
    latencies : dict
        Name of each object whose commands act late → its row in the table of vehicles, and mean and deviation [s].
    forks : list of list of int
        Step and branch of each fork of the run, in order; in the file only where there are any.
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
    events: list[str] = field(default_factory=list)
    run_control: RunControl = NO_RUN_CONTROL
    latencies: dict[str, list[float]] = field(default_factory=dict)
    forks: list[list[int]] = field(default_factory=list)

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

    def sensor(self, key: str, *, lasers: bool) -> dict[str, Any]:
        """Find a laser, or a sensor of another type; raises UsageError if there is none of that name."""
        known = {sensor["key"]: sensor for sensor in self.sensors if (sensor.get("type") not in READINGS) == lasers}
        if key not in known:
            raise unknown_name("laser" if lasers else "sensor other than a laser", key, list(known))
        return known[key]

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
        if not self.forks:
            del values["forks"]
        moving, in_pool = self.moving, self.objects.in_pool
        return json.dumps(
            values
            | {
                "objects": list(self.objects.single),
                "moving": [row for row in moving if not in_pool(row)] if self.pools else moving,
                "pools": [pool.to_dict() for pool in self.pools],
                "run_control": self.run_control.to_dict(),
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
        control = RunControl.from_dict(values.get("run_control", {}))
        header = cls(**values | {"objects": Objects(values["objects"], pools), "run_control": control})
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
        if not all(isinstance(name, str) for name in self.events):
            raise ValueError("the name of an event is not a text")
        if not all(isinstance(sensor["key"], str) for sensor in self.sensors):
            raise ValueError("a sensor has no key")
        if not all(_numbers(one, 3) for one in self.latencies.values()):
            raise ValueError("a latency is not three numbers")
        if not all(isinstance(one, list) and [type(number) for number in one] == [int, int] for one in self.forks):
            raise ValueError("a fork is not a step and a branch")
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


def header_of(
    world: World, seed: int, recorded: RecordedTraffic | None = None, forks: Sequence[tuple[int, int]] = ()
) -> Header:
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
        events=list(world.events.names),
        run_control=world.run_control,
        latencies={queue.name: [float(queue.vehicle), *queue.latency] for queue in world.queues},
        forks=[list(one) for one in forks],
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
