"""`Recording`: what happened in a run, from memory or from an MCAP file; read, never stepped."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from mcap.records import Attachment, Channel, Message, Metadata
from mcap.stream_reader import StreamReader
from numpy.typing import NDArray

from cbsim.errors import FileError, Location, Problem, RecordingError, Severity, UsageError, did_you_mean
from cbsim.geometry.pose import heading, rotate
from cbsim.run.batch import COLUMNS, FORMAT_VERSION, WIDTH, Batch, Header, ScanRow
from cbsim.run.recorder import BATCH_HEAD, COMMAND, SCAN_HEAD, FileRecorder, MemoryRecorder
from cbsim.world.tables import Floats

__all__ = ["Recording"]

MAGIC = b"\x89MCAP0\r\n"
RECORD_LIMIT = 2**30  # [bytes]


class Recording:
    """A finished run, or a broken-off one up to its last whole chunk.

    Build it with `cbsim.run` or `Recording.open`. Accessors that take a name pass over the recording and keep only
    what was asked for, so a file may be larger than memory.

    Attributes
    ----------
    header : Header
        Scenario, step, seed, objects, sensors, versions.
    complete : bool
        False if the file breaks off.
    """

    def __init__(self, memory: MemoryRecorder | None = None, path: Path | None = None) -> None:
        self._memory = memory
        self.path = path
        self.complete = True
        self.snapshot = b""
        self.sources: dict[str, bytes] = {}
        if memory is not None and memory.header is not None:
            self.header, self.snapshot, self.sources = memory.header, memory.snapshot, memory.sources
        self._steps: NDArray[np.int64] | None = None
        self._hashes: NDArray[np.uint64] | None = None

    @classmethod
    def open(cls, path: str | Path) -> Recording:
        """Open an MCAP file.

        Raises
        ------
        FileError
            If it is missing or not an MCAP file.
        RecordingError
            If cbsim did not write it, or another version did.
        """
        recording = cls(path=Path(path))
        recording._read_head()
        return recording

    def _read_head(self) -> None:
        assert self.path is not None
        header = None
        for record in self._records():
            if isinstance(record, Metadata) and record.name == "cbsim":
                header = self._parse_header(record)
            elif isinstance(record, Attachment):
                self.sources[record.name] = record.data
            elif isinstance(record, Message):
                self.snapshot = record.data
                break
        if header is None:
            raise RecordingError(f"{self.path}: error: this MCAP file was not written by cbsim: it has no header")
        self.header = header

    def _parse_header(self, record: Metadata) -> Header:
        try:
            header = Header.from_json(record.metadata["header"])
        except (KeyError, TypeError, ValueError) as reason:
            raise RecordingError(f"{self.path}: error: the header is damaged: {reason}") from None
        if header.version != FORMAT_VERSION:
            raise RecordingError(
                f"{self.path}: error: recording version {header.version}, this cbsim reads {FORMAT_VERSION}"
            )
        return header

    def _records(self) -> Iterator[Any]:
        """Walk the file's records; stops without a word where it breaks off."""
        assert self.path is not None
        with _open_mcap(self.path) as stream:
            try:
                yield from StreamReader(stream, record_size_limit=RECORD_LIMIT).records
            except Exception:  # the reader raises whatever struct, lz4 or its own checks raise on damaged bytes
                self.complete = False

    def batches(self) -> Iterator[Batch]:
        """Walk the recording batch by batch, with commands and scans."""
        if self._memory is not None:
            yield from self._memory.batches
            return
        topics: dict[int, str] = {}
        commands: list[tuple[int, int, tuple[float, ...]]] = []
        scans: list[ScanRow] = []
        for record in self._records():
            if isinstance(record, Channel):
                topics[record.id] = record.topic
            elif isinstance(record, Message):
                topic = topics.get(record.channel_id, "")
                if topic == "/commands":
                    step, vehicle, *row = COMMAND.unpack(record.data)
                    commands.append((step, vehicle, tuple(row)))
                elif topic.startswith("/scan/"):
                    scans.append(_scan_row(topic.removeprefix("/scan/"), record.data))
                elif topic == "/batch":
                    yield _batch(record.data, commands, scans)
                    commands, scans = [], []

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

    def positions(self, name: str) -> Floats:
        """Positions (T, 3) of an object's centre [m]."""
        return self.motion(name)[:, COLUMNS["position"]]

    def orientations(self, name: str) -> Floats:
        """Quaternions (T, 4) of an object, scalar first, body to world."""
        return self.motion(name)[:, COLUMNS["orientation"]]

    def velocities(self, name: str) -> Floats:
        """Velocities (T, 3) of an object's centre in the world [m/s]."""
        return self.motion(name)[:, COLUMNS["velocity"]]

    def headings(self, name: str) -> Floats:
        """Headings (T,) of an object [rad], 0 = north, counter-clockwise positive."""
        return heading(self.orientations(name))

    def speeds(self, name: str) -> Floats:
        """Speeds (T,) along an object's forward axis [m/s]."""
        motion = self.motion(name)
        forward = rotate(motion[:, COLUMNS["orientation"]], np.array([0.0, 1.0, 0.0]))
        return np.asarray((forward * motion[:, COLUMNS["velocity"]]).sum(axis=1))

    def motion(self, name: str) -> Floats:
        """All recorded columns (T, 13) of an object: position, orientation, velocity, angular velocity."""
        row = self._row(name)
        if row not in self.header.moving:
            item = self.header.objects[row]
            still = np.array([*item["position"], *item["orientation"], *np.zeros(6)])
            return np.tile(still, (len(self.steps), 1))
        column = self.header.moving.index(row)
        parts = [batch.motion[:, column] for batch in self.batches()]
        return np.concatenate(parts) if parts else np.zeros((0, WIDTH))

    def scans(self, key: str) -> list[ScanRow]:
        """All scans of a sensor, in the order of time.

        Parameters
        ----------
        key : str
            ``<object name>/<conf file stem>``.
        """
        known = [sensor["key"] for sensor in self.header.sensors]
        if key not in known:
            raise _unknown("sensor", key, known)
        return [scan for batch in self.batches() for scan in batch.scans if scan.key == key]

    def commands(self) -> list[tuple[int, int, tuple[float, ...]]]:
        """All commands: the step they took effect after, the vehicle's row, and the numbers as `Command.row`."""
        return [command for batch in self.batches() for command in batch.commands]

    def save(self, path: str | Path) -> None:
        """Write the recording to an MCAP file."""
        recorder = FileRecorder(path)
        recorder.begin(self.header, self.snapshot, self.sources)
        for batch in self.batches():
            recorder.take(batch)
        recorder.end()

    def _row(self, name: str) -> int:
        if name not in self.names:
            raise _unknown("object", name, self.names)
        return self.names.index(name)

    def __len__(self) -> int:
        return len(self.steps)

    def __repr__(self) -> str:
        return f"Recording({self.header.scenario!r}, {len(self)} steps, {len(self.names)} objects)"


def _unknown(what: str, name: str, known: list[str]) -> UsageError:
    hint = did_you_mean(name, known)
    listed = ", ".join(known) or "none"
    return UsageError(f"no {what} '{name}' in this recording; there is {listed}" + (f" ({hint})" if hint else ""))


def _open_mcap(path: Path) -> IO[bytes]:
    """Open a file that begins like MCAP."""
    try:
        stream = path.open("rb")
    except OSError as reason:
        place = Location(str(path))
        message = f"cannot open the recording: {reason.strerror}"
        raise FileError(Problem(Severity.ERROR, "E014", message, place)) from None
    if stream.read(len(MAGIC)) != MAGIC:
        stream.close()
        place = Location(str(path))
        raise FileError(Problem(Severity.ERROR, "E030", "not an MCAP recording", place))
    stream.seek(0, io.SEEK_SET)
    return stream


def _batch(data: bytes, commands: list[tuple[int, int, tuple[float, ...]]], scans: list[ScanRow]) -> Batch:
    first, steps, moving = BATCH_HEAD.unpack_from(data)
    if steps < 0 or moving < 0 or len(data) != BATCH_HEAD.size + 8 * steps * (1 + moving * WIDTH):
        raise RecordingError(f"a batch of the recording is damaged: {len(data)} bytes for {steps} steps")
    hashes = np.frombuffer(data, "<u8", steps, BATCH_HEAD.size)
    motion = np.frombuffer(data, "<f8", steps * moving * WIDTH, BATCH_HEAD.size + 8 * steps)
    return Batch(first, hashes, motion.reshape(steps, moving, WIDTH), commands, scans)


def _scan_row(key: str, data: bytes) -> ScanRow:
    time, *pose, layers, beams = SCAN_HEAD.unpack_from(data)
    if layers < 0 or beams < 0 or len(data) != SCAN_HEAD.size + 8 * layers * beams:
        raise RecordingError(f"a scan of '{key}' in the recording is damaged")
    ranges = np.frombuffer(data, "<f8", layers * beams, SCAN_HEAD.size).reshape(layers, beams)
    return ScanRow(key, time, np.array(pose), ranges)
