"""`Recording`: read access to the data of a run, in memory or in an MCAP file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from mcap.records import Attachment, Channel, Message, Metadata
from numpy.typing import NDArray

from cbsim.collision.contacts import Contact
from cbsim.errors import RecordingError, UsageError, did_you_mean
from cbsim.geometry.pose import heading, rotate
from cbsim.recording.batch import FORMAT_VERSION, Batch, Header
from cbsim.recording.container import DamageError, TruncatedError, records
from cbsim.recording.messages import Fault, batches_of
from cbsim.recording.recorder import FileRecorder, MemoryRecorder, checksum_of
from cbsim.sensing import READINGS, Reading, Scan
from cbsim.spec.drawing import Drawing
from cbsim.world.motion import MOTION, MOTION_WIDTH
from cbsim.world.sensors import beam_directions
from cbsim.world.tables import Floats

__all__ = ["Recording"]


class Recording:
    """A finished run; of a truncated or damaged file, all up to its last intact chunk.

    Build it with `cbsim.run` or `Recording.open`. Accessors that take a name read the recording once and keep only
    what was asked for, so a file may be larger than memory.

    Attributes
    ----------
    header : Header
        Scenario, step, seed, objects, sensors and versions.
    snapshot : bytes
        The first Snapshot; empty if the file ends before it.
    sources : dict
        Path → bytes of every source file.
    """

    def __init__(self, memory: MemoryRecorder | None = None, path: Path | None = None) -> None:
        self._memory = memory
        self.path = path
        self._broken = False
        self._damage = ""
        self.snapshot = b""
        self.sources: dict[str, bytes] = {}
        if memory is not None and memory.header is not None:
            self.header, self.snapshot, self.sources = memory.header, memory.snapshot, memory.sources
        self._steps: NDArray[np.int64] | None = None
        self._hashes: NDArray[np.uint64] | None = None
        self._faults: list[Fault] | None = None

    @classmethod
    def open(cls, path: str | Path) -> Recording:
        """Open an MCAP file.

        Raises
        ------
        FileError
            If it is missing or not an MCAP file.
        RecordingError
            If it was not written by cbsim, or has another version.
        """
        recording = cls(path=Path(path))
        recording._read_head()
        return recording

    def _read_head(self) -> None:
        """Read header, sources and first Snapshot."""
        header, topics = None, dict[int, str]()
        with self._noting():
            for record in self._records():
                if isinstance(record, Metadata) and record.name == "cbsim":
                    header = self._parse_header(record)
                elif isinstance(record, Attachment):
                    self.sources[record.name] = record.data
                elif isinstance(record, Channel):
                    topics[record.id] = record.topic
                elif isinstance(record, Message) and topics.get(record.channel_id) == "/snapshot":
                    self.snapshot = record.data
                    break
        if header is None:
            raise RecordingError(f"{self.path}: error: {self._headless()}")
        self.header = header

    def _headless(self) -> str:
        if self._damage:
            return f"the recording is damaged before its header: {self._damage}"
        if self._broken:
            return "the recording is truncated before its header"
        return "this MCAP file was not written by cbsim: it has no header"

    def _parse_header(self, record: Metadata) -> Header:
        try:
            text = record.metadata["header"]
            if record.metadata.get("crc32", checksum_of(text)) != checksum_of(text):
                raise ValueError("its checksum is wrong")
            header = Header.from_json(text)
        except (KeyError, TypeError, ValueError, RecursionError) as reason:
            raise RecordingError(f"{self.path}: error: the header is damaged: {reason}") from None
        if header.version != FORMAT_VERSION:
            raise RecordingError(
                f"{self.path}: error: recording version {header.version}, this cbsim reads {FORMAT_VERSION}"
            )
        return header

    @property
    def complete(self) -> bool:
        """False if the file is truncated or damaged; reads the file to its end unless that was done before."""
        return not self.ending

    @property
    def damage(self) -> str:
        """Description of the damage with its byte offset; empty if the file is intact or merely truncated."""
        self._to_the_end()
        return self._damage

    @property
    def ending(self) -> str:
        """Description of a premature end: ``is truncated after step 40``; empty if the recording is complete."""
        self._to_the_end()
        steps = self.steps
        where = f"after step {steps[-1]}" if len(steps) else "before its first step"
        if self._damage:
            return f"is damaged {where}: {self._damage}"
        return f"is truncated {where}" if self._broken else ""

    def _to_the_end(self) -> None:
        if self._memory is None and self._steps is None:
            self._index()

    def _records(self) -> Iterator[Any]:
        assert self.path is not None
        return records(self.path)

    @contextmanager
    def _noting(self) -> Iterator[None]:
        """End where the file is truncated or damaged, and note that it is."""
        try:
            yield
        except TruncatedError:
            self._broken = True
        except DamageError as reason:
            self._damage = str(reason)

    def batches(self) -> Iterator[Batch]:
        """Iterate over the batches, up to where the file ends or is damaged."""
        if self._memory is not None:
            yield from self._memory.batches
        else:
            found: list[Fault] = []
            with self._noting():
                yield from batches_of(self._records(), len(self.header.moving), found)
            self._faults = found

    @property
    def faults(self) -> list[Fault]:
        """Failures of planners themselves, which ended the run."""
        if self._memory is not None:
            return self._memory.faults
        if self._faults is None:
            self._index()
        return self._faults or []

    def _index(self) -> None:
        hashes, steps = [np.zeros(0, np.uint64)], [np.zeros(0, np.int64)]
        for batch in self.batches():
            hashes.append(batch.hashes)
            steps.append(batch.steps)
        self._steps, self._hashes = np.concatenate(steps), np.concatenate(hashes)

    @property
    def steps(self) -> NDArray[np.int64]:
        """Step numbers (T,), from 0, the state before the first step."""
        if self._steps is None:
            self._index()
        assert self._steps is not None
        return self._steps

    @property
    def times(self) -> Floats:
        """Times (T,) [s]."""
        return np.asarray(self.steps * self.header.step)

    @property
    def hashes(self) -> NDArray[np.uint64]:
        """Hash (T,) of each Snapshot."""
        if self._hashes is None:
            self._index()
        assert self._hashes is not None
        return self._hashes

    @property
    def names(self) -> list[str]:
        """Names of all objects, in row order."""
        return [item["name"] for item in self.header.objects]

    @property
    def bodies(self) -> list[str]:
        """Names of all bodies of models, in row order; in a scenario, ``model/body``."""
        return [item["name"] for item in self.header.objects if item.get("type") == "model"]

    def positions(self, name: str) -> Floats:
        """Positions (T, 3) of an object's centre [m]."""
        return self.motion(name)[:, MOTION["position"]]

    def orientations(self, name: str) -> Floats:
        """Quaternions (T, 4) of an object, scalar first, body to world."""
        return self.motion(name)[:, MOTION["orientation"]]

    def velocities(self, name: str) -> Floats:
        """Velocities (T, 3) of an object's centre in the world [m/s]."""
        return self.motion(name)[:, MOTION["velocity"]]

    def headings(self, name: str) -> Floats:
        """Headings (T,) of an object [rad], 0 = north, counter-clockwise positive."""
        return heading(self.orientations(name))

    def speeds(self, name: str) -> Floats:
        """Speeds (T,) along an object's forward axis [m/s]."""
        motion = self.motion(name)
        forward = rotate(motion[:, MOTION["orientation"]], np.array([0.0, 1.0, 0.0]))
        return np.asarray((forward * motion[:, MOTION["velocity"]]).sum(axis=1))

    def motion(self, name: str) -> Floats:
        """All recorded columns (T, 13) of an object: position, orientation, velocity, angular velocity."""
        row = self._row(name)
        if row not in self.header.moving:
            item = self.header.objects[row]
            still = np.array([*item["position"], *item["orientation"], *np.zeros(6)])
            return np.tile(still, (len(self.steps), 1))
        column = self.header.moving.index(row)
        parts = [batch.motion[:, column] for batch in self.batches()]
        return np.concatenate(parts) if parts else np.zeros((0, MOTION_WIDTH))

    def scans(self, key: str) -> list[Scan]:
        """All scans of a sensor in order of time, equal to those of `cbsim.sense`.

        Parameters
        ----------
        key : str
            ``<object name>/<conf file stem>``.
        """
        sensor = self._sensor(key, lasers=True)
        angles = np.array(sensor["angles"])
        directions = beam_directions(angles, tuple(sensor["pitches"]))
        nothing = sensor["max_range"] if sensor["no_return"] == "max" else np.inf
        rows = (row for batch in self.batches() for row in batch.scans if row.key == key)
        return [row.scan(angles, directions, nothing) for row in rows]

    def readings(self, key: str) -> list[Reading]:
        """All readings of a sensor other than a laser in order of time, equal to those of `cbsim.sense`.

        Parameters
        ----------
        key : str
            ``<object name>/<conf file stem>``.

        Raises
        ------
        RecordingError
            If a reading has the wrong number of values for the type of its sensor.
        """
        kind = self._sensor(key, lasers=False)["type"]
        rows = (row for batch in self.batches() for row in batch.readings if row.key == key)
        try:
            return [row.reading(kind) for row in rows]
        except ValueError as reason:
            raise RecordingError(f"a reading of '{key}' is damaged: {reason}") from None

    def _sensor(self, key: str, *, lasers: bool) -> dict[str, Any]:
        """Find a laser, or a sensor of another type, in the header."""
        known = {
            sensor["key"]: sensor for sensor in self.header.sensors if (sensor.get("type") not in READINGS) == lasers
        }
        if key not in known:
            raise _unknown("laser" if lasers else "sensor other than a laser", key, list(known))
        return known[key]

    def commands(self) -> list[tuple[int, int, tuple[float, ...]]]:
        """All commands: the step after which they took effect, the vehicle's row, and the numbers of `Command.row`."""
        return [command for batch in self.batches() for command in batch.commands]

    def controls(self) -> list[tuple[int, str, float]]:
        """All controls of models that were set: the step after which they took effect, their names and values."""
        names = {place: name for name, place in self.header.controls.items()}
        rows = (row for batch in self.batches() for row in batch.controls)
        return [(step, names.get(place, str(place)), value) for step, place, value in rows]

    def contacts(self) -> list[Contact]:
        """All contacts, in the order of time."""
        rows = (row for batch in self.batches() for row in batch.contacts)
        return [Contact.of(row, self.names) for row in rows]

    def drawings(self) -> list[tuple[float, tuple[Drawing, ...]]]:
        """All annotations of planners in order of time: start [s], and all drawings visible from then on."""
        step = self.header.step
        return [(row.step * step, row.drawings) for batch in self.batches() for row in batch.drawings]

    def save(self, path: str | Path, recorder_of: Callable[[str | Path], FileRecorder] = FileRecorder) -> None:
        """Write the recording to an MCAP file.

        An existing file is replaced only when the new one is complete, so a recording may be saved over its own file.

        Parameters
        ----------
        path : path
        recorder_of : callable
            Makes the recorder that writes it.

        Raises
        ------
        RecordingError
            If the recording ends before its first Snapshot.
        UsageError
            If the file cannot be written.
        """
        self.require_snapshot()
        target = Path(path).resolve()
        if (target.exists() and not target.is_file()) or not target.parent.is_dir():
            self._write(recorder_of(path))  # raises with the reason
            return
        part = target.with_name(f"{target.name}.{os.getpid()}.part")
        recorder = recorder_of(part)
        try:
            self._write(recorder)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)

    def _write(self, recorder: FileRecorder) -> None:
        try:
            recorder.begin(self.header, self.snapshot, self.sources)
            for batch in self.batches():
                recorder.take(batch)
            for fault in self.faults:
                recorder.fault(*fault)
        finally:
            recorder.end()

    def require_snapshot(self) -> None:
        """Raise RecordingError if the recording ends before its first Snapshot."""
        if not self.snapshot:
            how = f"is damaged ({self._damage})" if self._damage else "is truncated"
            raise RecordingError(f"{self.path}: error: the recording {how} before its first snapshot")

    def _row(self, name: str) -> int:
        if name not in self.names:
            raise _unknown("object", name, self.names)
        return self.names.index(name)

    def __len__(self) -> int:
        return len(self.steps)

    def __repr__(self) -> str:
        return f"Recording({self.header.scenario!r}, {max(len(self) - 1, 0)} steps, {len(self.names)} objects)"


def _unknown(what: str, name: str, known: list[str]) -> UsageError:
    hint = did_you_mean(name, known)
    listed = ", ".join(known) or "none"
    return UsageError(f"no {what} '{name}' in this recording; there is {listed}" + (f" ({hint})" if hint else ""))
