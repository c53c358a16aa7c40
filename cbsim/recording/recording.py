"""`Recording`: read access to the data of a run, in memory or in an MCAP file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Never

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats
from cbsim.collision.contacts import Contact
from cbsim.errors import RecordingError, UsageError
from cbsim.geometry.pose import heading
from cbsim.recording.batch import Batch
from cbsim.recording.checkpoints import CheckpointRow
from cbsim.recording.container import DamageError, TruncatedError, records
from cbsim.recording.frames import frame_of, write_parquet
from cbsim.recording.head import Head
from cbsim.recording.messages import Fault, batches_of
from cbsim.recording.object_motion import ObjectMotion, TrafficEvent, forward_speeds
from cbsim.recording.recorder import FileRecorder, MemoryRecorder
from cbsim.recording.roster import Roster, named_events
from cbsim.recording.saving import write_recording
from cbsim.sensing import Reading, Scan
from cbsim.spec.drawing import Drawing
from cbsim.world.motion import ABSENT_BELOW, MOTION, MOTION_WIDTH
from cbsim.world.sensors import beam_directions

if TYPE_CHECKING:
    import pandas as pd

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
        self._roster: Roster | None = None

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
        head = Head(str(self.path))
        with self._noting():
            any(head.is_complete_with(record) for record in self._records())
        self.sources, self.snapshot = head.sources, head.snapshot
        if head.header is None:
            raise RecordingError(f"{self.path}: error: {self._headless()}")
        self.header = head.header

    def _headless(self) -> str:
        if self._damage:
            return f"the recording is damaged before its header: {self._damage}"
        if self._broken:
            return "the recording is truncated before its header"
        return "this MCAP file was not written by cbsim: it has no header"

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
                yield from batches_of(self._records(), self.header.moving, found)
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
        roster = Roster(self.header.objects)
        for batch in self.batches():
            hashes.append(batch.hashes)
            steps.append(batch.steps)
            roster.take(batch.events)
        self._roster = roster
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
    def roster(self) -> Roster:
        """Which cars the rows of flows hold at which steps."""
        if self._roster is None:
            self._index()
        assert self._roster is not None
        return self._roster

    @property
    def names(self) -> list[str]:
        """Names of all objects, in row order; of a flow, one for each car that may be there at once."""
        return list(self.header.objects.names)

    @property
    def bodies(self) -> list[str]:
        """Names of all bodies of models, in row order; in a scenario, ``model/body``."""
        return [item["name"] for item in self.header.objects.single if item.get("type") == "model"]

    def __getitem__(self, name: str) -> ObjectMotion:
        """Motion of an object, or of the car of a pool, at the steps at which it is recorded and there.

        Parameters
        ----------
        name : str
            Cars of a flow go by the order in which they appear: ``recording["west 17"]``.
        """
        motion = self.motion(name)
        there = np.isfinite(motion[:, 2])
        return ObjectMotion(name, self.times[there], motion[there])

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
        return forward_speeds(self.motion(name))

    def motion(self, name: str) -> Floats:
        """All recorded columns (T, 13) of an object: position, orientation, velocity, angular velocity.

        They are nan where a car of traffic is absent, or not recorded.

        Raises
        ------
        UsageError
            If there is no such object, or it is recorded at no step.
        """
        row, first, stop = self.roster.require(name)
        if row not in self.header.moving:
            item = self.header.objects[row]
            still = np.array([*item["position"], *item["orientation"], *np.zeros(6)])
            return np.tile(still, (len(self.steps), 1))
        wanted, moving = np.array([row]), np.array(self.header.moving, np.int64)
        parts = [batch.of_rows(wanted, moving)[:, 0] for batch in self.batches()]
        found = np.concatenate([np.zeros((0, MOTION_WIDTH)), *parts])
        if not self.header.is_traffic(row):
            return found
        absent = (found[:, 2] < ABSENT_BELOW) | (self.steps < first) | (self.steps >= stop)
        if len(found) and absent.all() and not self.header.is_recorded(row):
            raise UsageError(f"'{name}' is recorded at no step: the recording holds {self.header.recorded}")
        return np.where(absent[:, None], np.nan, found)

    def to_frame(self) -> pd.DataFrame:
        """Return the motion of everybody recorded as a tidy pandas table; needs the extra `frames`.

        Returns
        -------
        pandas.DataFrame
            A row for each step and each body that can move, is recorded and is there, in the order of time, with the
            columns ``time`` [s], ``object`` (its name), ``x``, ``y`` (of the centre) [m], ``heading`` [rad], ``speed``
            (along its forward axis) [m/s], ``length`` and ``width`` [m].

        Raises
        ------
        UsageError
            If pandas is not installed.
        """
        frame: pd.DataFrame = frame_of(self.header, self.batches())
        return frame

    def to_parquet(self, path: str | Path) -> None:
        """Write the table of `to_frame` as a Parquet file, batch by batch; needs the extra `frames`.

        Raises
        ------
        UsageError
            If pyarrow is not installed, or the file cannot be written.
        """
        write_parquet(self.header, self.batches(), path)

    def events(self) -> list[TrafficEvent]:
        """List what cars of traffic did, recorded or not, and events of the scenario that came true, in order of time.

        Cars appear, leave, and make mistakes.
        """
        rows = (row for batch in self.batches() for row in batch.events.tolist())
        return named_events(rows, self.header, self.roster)

    def scans(self, key: str) -> list[Scan]:
        """All scans of a sensor in order of time, equal to those of `cbsim.sense`.

        Parameters
        ----------
        key : str
            ``<object name>/<conf file stem>``.
        """
        sensor = self.header.sensor(key, lasers=True)
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
        kind = self.header.sensor(key, lasers=False)["type"]
        rows = (row for batch in self.batches() for row in batch.readings if row.key == key)
        try:
            return [row.reading(kind) for row in rows]
        except ValueError as reason:
            raise RecordingError(f"a reading of '{key}' is damaged: {reason}") from None

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
        return [Contact.of(row, self.names_at(float(row[0]))) for row in rows]

    def names_at(self, time: float) -> Sequence[str]:
        """Names of all objects by their rows at a time [s]: rows of flows hold one car after another."""
        return self.roster.names_at(round(time / self.header.step))

    def drawings(self) -> list[tuple[float, tuple[Drawing, ...]]]:
        """All annotations of planners in order of time: start [s], and all drawings visible from then on."""
        step = self.header.step
        return [(row.step * step, row.drawings) for batch in self.batches() for row in batch.drawings]

    def checkpoints(self) -> list[CheckpointRow]:
        """Checkpoints of planners, in the order of time."""
        return [row for batch in self.batches() for row in batch.checkpoints]

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
        write_recording(path, recorder_of, self)

    def require_snapshot(self) -> None:
        """Raise RecordingError if the recording ends before its first Snapshot."""
        if not self.snapshot:
            how = f"is damaged ({self._damage})" if self._damage else "is truncated"
            raise RecordingError(f"{self.path}: error: the recording {how} before its first snapshot")

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Never:
        """Raise TypeError: a recording is read by name, by time, or in batches."""
        raise TypeError("a Recording has no items to iterate over: use its 'times', 'names' or 'batches()'")

    def __repr__(self) -> str:
        return f"Recording({self.header.scenario!r}, {max(len(self) - 1, 0)} steps, {len(self.header.objects)} objects)"
