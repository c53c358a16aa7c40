"""Messages of a recording: encoding of batches (`messages_of`) and decoding (`batches_of`).

A message holds all entries of its topic in one batch; commands, controls, contacts, scans, readings and drawings
precede the batch that they belong to. All numbers are little-endian.
"""

from __future__ import annotations

import itertools
import json
import math
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

import numpy as np
from mcap.records import Channel, Message

from cbsim.arrays import Floats, Ints
from cbsim.collision.contacts import CONTACT, NO_CONTACTS
from cbsim.recording.batch import Batch, ReadingRow, ScanRow, TakenScans
from cbsim.recording.checkpoints import CheckpointRow, checkpoint_rows_of
from cbsim.recording.container import DamageError
from cbsim.recording.drawings import DrawingRow, rows_of
from cbsim.world.motion import MOTION_WIDTH
from cbsim.world.traffic.events import EVENT, HAPPENED, KINDS, NO_EVENTS

__all__ = ["FAULTS", "SCHEMAS", "SIMULATOR", "Fault", "Packed", "batches_of", "messages_of"]

BATCH_HEAD = struct.Struct("<qqq")  # first step, steps, bodies; then rows (u32), hashes (u64), motion (f64)
COMMAND = struct.Struct("<qq6d")  # step, vehicle, command row
CONTROL = struct.Struct("<qqd")  # step, place, value
READING_HEAD = struct.Struct("<dq")  # time, numbers; then numbers (f64)
SCAN_HEAD = struct.Struct("<d7dqqdq")  # time, pose, layers, beams, scan time, poses; then ranges and poses (f64)
SCAN_TIME, SCAN_SHAPE = struct.Struct("<d"), struct.Struct("<qqdq")  # its parts before and after the pose

SCHEMAS = {
    "/batch": "int64 first_step, steps, bodies; if that is negative there are -1 - bodies, and uint32 row[bodies] "
    "follow, filled up to a multiple of 8 bytes; uint64 hash[steps]; "
    f"float64 motion[steps][bodies][{MOTION_WIDTH}] = position 3, orientation 4, velocity 3, angular velocity 3",
    "/commands": "of each: int64 step, vehicle; "
    "float64 throttle, steering, left lever, right lever, reverse, handbrake",
    "/controls": "of each: int64 step, row in the column `controller_state`; float64 value",
    "/contacts": f"of each: float64 {', '.join(CONTACT)}",
    "/drawings": "of each: int64 step; uint32 drawings; of each of them: uint8 kind (0 line, 1 dots, 2 text), closed, "
    "coloured, red, green, blue, 2 x 0; float32 size; uint32 points, letters; float32 point[points][3]; text in UTF-8",
    "/checkpoints": "of each: int64 step; uint64 bytes of name, memory, snapshot; these, one after another",
    "/faults": "JSON: name, time, message of what a driver, or the simulator itself, failed with",
    "/traffic": f"of each: int64 {', '.join(EVENT)}; kinds are, from 0 on, {', '.join(KINDS)}",
    "/reading": "of each: float64 time; int64 numbers; float64 values[numbers], as the type of the sensor has them",
    "/scan": "of each: float64 time, position[3], orientation[4]; int64 layers, beams; float64 scan_time; int64 poses; "
    "float64 ranges[layers][beams], pose[poses][7], one for each beam if the scan took time",
    "/snapshot": "cbsim snapshot: magic, world digest, bodies, vehicles, movers, history_rows, moving, followers, "
    "delay_rows, controller_values, float64 block, int64 block",
}

FAULTS = "/faults"
SIMULATOR = "simulator"  # name of a fault of the simulator itself: a step that cannot be solved
MOST = 1_000_000  # rows of a kind in one batch
LARGEST = 512 * 2**20  # [bytes] of one batch without its motion
Row = TypeVar("Row")
CommandRow = tuple[int, int, tuple[float, ...]]
ControlRow = tuple[int, int, float]


class Packed(NamedTuple):
    """One message: its topic, which of `SCHEMAS` it has, its step or time, and its bytes."""

    topic: str
    schema: str
    time: float
    data: bytes | memoryview


class Fault(NamedTuple):
    """A failure of a planner itself: name of the check, time [s] and message."""

    name: str
    time: float
    message: str

    def to_bytes(self) -> bytes:
        """Write as JSON."""
        return json.dumps(self._asdict()).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Fault:
        """Read the bytes of `to_bytes`.

        Raises
        ------
        DamageError
            If the bytes are malformed.
        """
        try:
            fault = cls(**json.loads(data))
            sound = isinstance(fault.name, str) and isinstance(fault.message, str) and math.isfinite(fault.time)
        except (TypeError, ValueError, RecursionError):
            sound = False
        if not sound:
            raise DamageError(f"a fault of {len(data)} bytes is none")
        return fault


def messages_of(batch: Batch, step: float) -> Iterator[Packed]:
    """Encode a batch, given the length of a step [s]."""
    if batch.commands:
        rows = b"".join(COMMAND.pack(number, vehicle, *row) for number, vehicle, row in batch.commands)
        yield Packed("/commands", "/commands", batch.commands[0][0] * step, rows)
    if batch.controls:
        rows = b"".join(CONTROL.pack(*control) for control in batch.controls)
        yield Packed("/controls", "/controls", batch.controls[0][0] * step, rows)
    by_key = attrgetter("key")
    if isinstance(batch.scans, TakenScans):
        for key, parts in sorted(batch.scans.parts.items()):
            data = parts[0].data.cast("B") if len(parts) == 1 else b"".join(map(_buffer, parts))
            yield Packed(f"/scan/{key}", "/scan", float(parts[0][0]), data)
    else:
        for key, scans in itertools.groupby(sorted(batch.scans, key=by_key), key=by_key):
            kept = list(scans)
            data = b"".join(itertools.chain.from_iterable(map(_scan_parts, kept)))
            yield Packed(f"/scan/{key}", "/scan", kept[0].time, data)
    for key, readings in itertools.groupby(sorted(batch.readings, key=by_key), key=by_key):
        told = list(readings)
        yield Packed(f"/reading/{key}", "/reading", told[0].time, b"".join(map(_reading_bytes, told)))
    if len(batch.contacts):
        yield Packed("/contacts", "/contacts", float(batch.contacts[0, 0]), batch.contacts.tobytes())
    if batch.drawings:
        rows = b"".join(row.to_bytes() for row in batch.drawings)
        yield Packed("/drawings", "/drawings", batch.drawings[0].step * step, rows)
    if batch.checkpoints:
        rows = b"".join(row.to_bytes() for row in batch.checkpoints)
        yield Packed("/checkpoints", "/checkpoints", batch.checkpoints[0].step * step, rows)
    if len(batch.events):
        yield Packed("/traffic", "/traffic", float(batch.events[0, 0]) * step, batch.events.tobytes())
    bodies = batch.motion.shape[1]
    head = BATCH_HEAD.pack(batch.first_step, len(batch.hashes), bodies if batch.rows is None else -1 - bodies)
    rows = b"" if batch.rows is None else _row_bytes(batch.rows)
    body = b"".join((head, rows, batch.hashes.tobytes(), _buffer(batch.motion)))
    yield Packed("/batch", "/batch", (batch.first_step + len(batch.hashes) - 1) * step, body)


def _row_bytes(rows: Ints) -> bytes:
    """Encode rows as 32-bit numbers, filled up to a multiple of 8 bytes."""
    data = rows.astype("<u4").tobytes()
    return data + b"\0" * (-len(data) % 8)


def _scan_parts(scan: ScanRow) -> tuple[Any, ...]:
    """Parts of the bytes of a scan, as `SCAN_HEAD` has them; arrays are copied where they are joined."""
    layers, beams = scan.ranges.shape
    sweep, pose = scan.sweep, scan.pose
    poses = 0 if sweep is None else len(sweep)
    parts = SCAN_TIME.pack(scan.time), _buffer(pose), SCAN_SHAPE.pack(layers, beams, scan.scan_time, poses)
    return (*parts, _buffer(scan.ranges)) if sweep is None else (*parts, _buffer(scan.ranges), _buffer(sweep))


def _buffer(array: Floats) -> Any:
    """Return an array of which the bytes are in order, so that they can be joined."""
    return array if array.flags.c_contiguous else array.tobytes()


def _reading_bytes(reading: ReadingRow) -> bytes:
    return READING_HEAD.pack(reading.time, len(reading.values)) + reading.values.tobytes()


def batches_of(records: Iterable[Any], moving: Sequence[int], faults: list[Fault]) -> Iterator[Batch]:
    """Assemble the batches of a file from its messages.

    Parameters
    ----------
    records : iterable
        Of `cbsim.recording.container.records`.
    moving : sequence of int
        Rows that can move, as the header says.
    faults : list of Fault
        Faults that are found are appended.

    Raises
    ------
    DamageError
        If the size of a message contradicts its counts, or steps are missing between two batches.
    """
    topics: dict[int, str] = {}
    all_rows, gathered = np.array(moving, np.int64), _Gathered()
    following: int | None = None
    waiting = 0
    for record in records:
        if isinstance(record, Channel):
            topics[record.id] = record.topic
        if not isinstance(record, Message):
            continue
        topic = topics.get(record.channel_id, "")
        waiting = 0 if topic == "/batch" else waiting + len(record.data)
        if waiting > LARGEST and topic != "/snapshot":
            raise DamageError(f"more than {LARGEST} bytes stand before the batch that they belong to")
        if topic == FAULTS:
            _take(faults, iter([Fault.from_bytes(record.data)]))
        elif topic == "/batch":
            batch = gathered.given_to(_batch(record.data, all_rows))
            if following not in (None, batch.first_step):
                raise DamageError(f"step {batch.first_step} stands where step {following} is due")
            following = batch.first_step + len(batch.hashes)
            yield batch
            gathered = _Gathered()
        else:
            gathered.take(topic, record.data, all_rows)


@dataclass(slots=True)
class _Gathered:
    """What stands before a batch and belongs to it."""

    commands: list[CommandRow] = field(default_factory=list)
    controls: list[ControlRow] = field(default_factory=list)
    scans: list[ScanRow] = field(default_factory=list)
    readings: list[ReadingRow] = field(default_factory=list)
    drawings: list[DrawingRow] = field(default_factory=list)
    checkpoints: list[CheckpointRow] = field(default_factory=list)
    contacts: list[Floats] = field(default_factory=list)
    events: list[Ints] = field(default_factory=list)

    def take(self, topic: str, data: bytes, moving: Ints) -> None:
        """Decode the message of a topic; those of others are skipped."""
        if topic == "/commands":
            _take(self.commands, _commands(data))
        elif topic == "/controls":
            _take(self.controls, _controls(data))
        elif topic.startswith("/scan/"):
            _take(self.scans, _scans(topic.removeprefix("/scan/"), data))
        elif topic.startswith("/reading/"):
            _take(self.readings, _readings(topic.removeprefix("/reading/"), data))
        elif topic == "/contacts":
            _take(self.contacts, iter([_contacts(data)]))
        elif topic == "/drawings":
            _take(self.drawings, rows_of(data))
        elif topic == "/checkpoints":
            _take(self.checkpoints, checkpoint_rows_of(data))
        elif topic == "/traffic":
            _take(self.events, iter([_events(data, moving)]))

    def given_to(self, batch: Batch) -> Batch:
        """Put it into its batch."""
        return replace(
            batch,
            commands=self.commands,
            controls=self.controls,
            scans=self.scans,
            readings=self.readings,
            drawings=self.drawings,
            checkpoints=self.checkpoints,
            contacts=np.concatenate(self.contacts) if self.contacts else NO_CONTACTS,
            events=np.concatenate(self.events) if self.events else NO_EVENTS,
        )


def _take(rows: list[Row], found: Iterator[Row]) -> None:
    """Append rows, but no more than `MOST`: a chunk of zeros decodes to millions."""
    rows.extend(itertools.islice(found, MOST + 1 - len(rows)))
    if len(rows) > MOST:
        raise DamageError(f"more than {MOST} rows of one kind stand before the batch that they belong to")


def _batch(data: bytes, moving: Ints) -> Batch:
    first, steps, bodies = _unpack("a batch", BATCH_HEAD, data)
    some = bodies < 0
    bodies = -1 - bodies if some else bodies
    if bodies > len(moving) or (bodies < len(moving) and not some):
        raise DamageError(f"a batch has {bodies} bodies, the header {len(moving)}")
    start = BATCH_HEAD.size + (8 * ((bodies + 1) // 2) if some else 0)
    if first < 0 or steps < 1 or len(data) != start + 8 * steps * (1 + bodies * MOTION_WIDTH):
        raise DamageError(f"a batch has {len(data)} bytes for {steps} steps of {bodies} bodies")
    rows = _rows(data, bodies, moving) if some else None
    hashes = np.frombuffer(data, "<u8", steps, start)
    motion = np.frombuffer(data, "<f8", steps * bodies * MOTION_WIDTH, start + 8 * steps)
    return Batch(first, hashes, motion.reshape(steps, bodies, MOTION_WIDTH), rows=rows)


def _rows(data: bytes, bodies: int, moving: Ints) -> Ints:
    """Read the rows of a batch, which are some of those that can move, in order."""
    rows = np.frombuffer(data, "<u4", bodies, BATCH_HEAD.size).astype(np.int64)
    if bodies and not ((np.diff(rows) > 0).all() and np.isin(rows, moving).all()):
        raise DamageError("the rows of a batch are out of order, or cannot move")
    return rows


def _events(data: bytes, moving: Ints) -> Ints:
    if not data or len(data) % (8 * len(EVENT)):
        raise DamageError(f"events of {8 * len(EVENT)} bytes each have {len(data)} together")
    events = np.frombuffer(data, "<i8").reshape(-1, len(EVENT)).astype(np.int64)
    kinds, rows = events[:, 1], events[:, 2]
    named = (kinds >= HAPPENED) & (rows >= 0)  # the number of an event of the scenario in place of a row
    if not ((np.isin(rows, moving) | named).all() and ((kinds >= 0) & (kinds < len(KINDS))).all()):
        raise DamageError("an event of traffic is of an unknown kind, or of something that cannot move")
    return events


def _commands(data: bytes) -> Iterator[CommandRow]:
    if not data or len(data) % COMMAND.size:
        raise DamageError(f"commands of {COMMAND.size} bytes each have {len(data)} together")
    return ((step, vehicle, tuple(row)) for step, vehicle, *row in COMMAND.iter_unpack(data))


def _controls(data: bytes) -> Iterator[ControlRow]:
    if not data or len(data) % CONTROL.size:
        raise DamageError(f"controls of {CONTROL.size} bytes each have {len(data)} together")
    return CONTROL.iter_unpack(data)


def _contacts(data: bytes) -> Floats:
    if not data or len(data) % (8 * len(CONTACT)):
        raise DamageError(f"contacts of {8 * len(CONTACT)} bytes each have {len(data)} together")
    return np.frombuffer(data, "<f8").reshape(-1, len(CONTACT))


def _scans(key: str, data: bytes) -> Iterator[ScanRow]:
    at, what = 0, f"a scan of '{key}'"
    while at < len(data) or not data:
        time, *pose, layers, beams, scan_time, poses = _unpack(what, SCAN_HEAD, data, at)
        first = at + SCAN_HEAD.size
        last = first + 8 * layers * beams
        at = last + 8 * 7 * poses
        if min(layers, beams) < 0 or poses not in (0, beams) or at > len(data):
            raise DamageError(f"{what} has {layers} layers of {beams} beams and {poses} poses in {len(data)} bytes")
        ranges = np.frombuffer(data, "<f8", layers * beams, first).reshape(layers, beams)
        sweep = np.frombuffer(data, "<f8", 7 * poses, last).reshape(-1, 7) if poses else None
        yield ScanRow(key, time, np.array(pose), ranges, scan_time, sweep)


def _readings(key: str, data: bytes) -> Iterator[ReadingRow]:
    at, what = 0, f"a reading of '{key}'"
    while at < len(data) or not data:
        time, count = _unpack(what, READING_HEAD, data, at)
        first = at + READING_HEAD.size
        at = first + 8 * count
        if count < 0 or at > len(data):
            raise DamageError(f"{what} has {count} numbers in {len(data)} bytes")
        yield ReadingRow(key, time, np.frombuffer(data, "<f8", count, first))


def _unpack(what: str, form: struct.Struct, data: bytes, at: int = 0) -> tuple[Any, ...]:
    if len(data) - at < form.size:
        raise DamageError(f"{what} has {len(data) - at} bytes, expected {form.size} at least")
    return form.unpack_from(data, at)
