"""`Header` and `Batch`: the data of a run, shared by recorders, judges and readers."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cbsim
from cbsim.collision.contacts import NO_CONTACTS
from cbsim.geometry.pose import Pose
from cbsim.recording.drawings import DrawingRow
from cbsim.sensing import READINGS, Reading, Scan
from cbsim.world.tables import Floats, Ints
from cbsim.world.world import Sensor, World

__all__ = ["FORMAT_VERSION", "Batch", "Header", "ScanRow", "header_of"]

FORMAT_VERSION = 3
HEADER_TYPES: dict[str, type] = {
    "version": int,
    "scenario": str,
    "step": float,
    "seed": int,
    "world_digest": str,
    "objects": list,
    "moving": list,
    "sensors": list,
    "software": dict,
    "request": dict,
    "controls": dict,
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
    objects : list of dict
        Name, type, shape, size [m], start position [m] and orientation of every body, in row order.
    moving : list of int
        Rows whose motion is recorded; all others stay where they start.
    sensors : list of dict
        Key, type and rate of every sensor; layers, beams and azimuths of lasers.
    software : dict
        Versions of cbsim, Python, numba and numpy, and the CPU type; the bits of a run depend on them.
    request : dict
        Arguments of `cbsim.load`.
    controls : dict
        Name of each control of a model → its row in the column `controller_state`.
    """

    version: int
    scenario: str
    step: float
    seed: int
    world_digest: str
    objects: list[dict[str, Any]]
    moving: list[int]
    sensors: list[dict[str, Any]]
    software: dict[str, str]
    request: dict[str, Any] = field(default_factory=dict)
    controls: dict[str, int] = field(default_factory=dict)

    @property
    def first_model(self) -> int:
        """Row of the first body of a model; the number of bodies where there is none."""
        rows = (row for row, item in enumerate(self.objects) if item.get("type") == "model")
        return next(rows, len(self.objects))

    def to_json(self) -> str:
        """Write as JSON."""
        return json.dumps({field.name: getattr(self, field.name) for field in fields(self)})

    @classmethod
    def from_json(cls, text: str) -> Header:
        """Read the text of `to_json`; raises ValueError, TypeError, KeyError or RecursionError on anything else."""
        header = cls(**json.loads(text))
        header._check()
        return header

    def _check(self) -> None:
        for name, kind in HEADER_TYPES.items():
            if not isinstance(getattr(self, name), kind):
                raise TypeError(f"'{name}' is {getattr(self, name)!r:.40}")
        if not (math.isfinite(self.step) and self.step > 0.0):
            raise ValueError(f"the step is {self.step!r} s")
        for item in self.objects:
            placed = _numbers(item["position"], 3) and _numbers(item["orientation"], 4)
            if not (placed and isinstance(item["name"], str)):
                raise ValueError(f"an object is {item!r:.40}")
        if not all(type(row) is int and 0 <= row < len(self.objects) for row in self.moving):
            raise ValueError("a moving row has no object")
        if not all(isinstance(sensor["key"], str) for sensor in self.sensors):
            raise ValueError("a sensor has no key")
        if not all(type(place) is int for place in self.controls.values()):
            raise ValueError("the row of a control is not a number")


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
    motion : (steps, moving, 13)
        Position, orientation, velocity and angular velocity of each moving body, as in `cbsim.world.motion.MOTION`.
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

    @property
    def steps(self) -> Ints:
        """Step numbers (steps,)."""
        return np.arange(self.first_step, self.first_step + len(self.hashes))

    @classmethod
    def joined(cls, batches: Sequence[Batch]) -> Batch:
        """Put consecutive batches together."""
        if len(batches) == 1:
            return batches[0]
        return cls(
            batches[0].first_step,
            np.concatenate([batch.hashes for batch in batches]),
            np.concatenate([batch.motion for batch in batches]),
            [command for batch in batches for command in batch.commands],
            [scan for batch in batches for scan in batch.scans],
            np.concatenate([batch.contacts for batch in batches]),
            [reading for batch in batches for reading in batch.readings],
            [control for batch in batches for control in batch.controls],
            [row for batch in batches for row in batch.drawings],
        )

    def part(self, start: int, stop: int | None = None) -> Batch:
        """Return hashes and motion of some steps, counted from the first, without commands, scans and contacts."""
        return Batch(self.first_step + start, self.hashes[start:stop], self.motion[start:stop])


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


def header_of(world: World, seed: int) -> Header:
    """Describe a run of a World."""
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
        for body in world.bodies
    ]
    sensors = [_described(sensor) for sensor in world.sensors]
    return Header(
        FORMAT_VERSION,
        world.name,
        float(world.constants.step),
        seed,
        f"{world.digest:016x}",
        objects,
        [int(row) for row in world.moving],
        sensors,
        software(),
        dict(world.scene.request),
        dict(world.controls),
    )
