"""The messages of a recording, unpacked: `batches_of` gathers commands, scans and contacts into their batches."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from mcap.records import Channel, Message

from cbsim.run.batch import CONTACT, NO_CONTACTS, WIDTH, Batch, ReadingRow, ScanRow
from cbsim.run.container import DamageError
from cbsim.run.recorder import BATCH_HEAD, COMMAND, CONTACTS_HEAD, READING_HEAD, SCAN_HEAD, SWEEP
from cbsim.world.tables import Floats

__all__ = ["batches_of"]

CommandRow = tuple[int, int, tuple[float, ...]]


def batches_of(records: Iterable[Any], moving: int) -> Iterator[Batch]:
    """Put the messages of a file together.

    Parameters
    ----------
    records : iterable
        Of `cbsim.run.container.records`.
    moving : int
        Bodies in each batch, as the header says.

    Raises
    ------
    DamageError
        If a message has another size than its numbers say, or steps are missing between two batches.
    """
    topics: dict[int, str] = {}
    commands: list[CommandRow] = []
    scans: list[ScanRow] = []
    readings: list[ReadingRow] = []
    contacts = NO_CONTACTS
    following: int | None = None
    for record in records:
        if isinstance(record, Channel):
            topics[record.id] = record.topic
        if not isinstance(record, Message):
            continue
        topic = topics.get(record.channel_id, "")
        if topic == "/commands":
            commands.append(_command(record.data))
        elif topic.startswith("/scan/"):
            scans.append(_scan(topic.removeprefix("/scan/"), record.data))
        elif topic.startswith("/reading/"):
            readings.append(_reading(topic.removeprefix("/reading/"), record.data))
        elif topic == "/contacts":
            contacts = np.concatenate([contacts, _contacts(record.data)])
        elif topic == "/batch":
            batch = _batch(record.data, moving)
            batch = replace(batch, commands=commands, scans=scans, readings=readings, contacts=contacts)
            if following not in (None, batch.first_step):
                raise DamageError(f"step {batch.first_step} stands where step {following} is due")
            following = batch.first_step + len(batch.hashes)
            yield batch
            commands, scans, readings, contacts = [], [], [], NO_CONTACTS


def _batch(data: bytes, moving: int) -> Batch:
    first, steps, bodies = _unpack("a batch", BATCH_HEAD, data)
    if bodies != moving:
        raise DamageError(f"a batch has {bodies} bodies, the header {moving}")
    if first < 0 or steps < 1 or len(data) != BATCH_HEAD.size + 8 * steps * (1 + moving * WIDTH):
        raise DamageError(f"a batch has {len(data)} bytes for {steps} steps")
    hashes = np.frombuffer(data, "<u8", steps, BATCH_HEAD.size)
    motion = np.frombuffer(data, "<f8", steps * moving * WIDTH, BATCH_HEAD.size + 8 * steps)
    return Batch(first, hashes, motion.reshape(steps, moving, WIDTH))


def _command(data: bytes) -> CommandRow:
    step, vehicle, *row = _unpack("a command", COMMAND, data)
    if len(data) != COMMAND.size:
        raise DamageError(f"a command has {len(data)} bytes, expected {COMMAND.size}")
    return step, vehicle, tuple(row)


def _contacts(data: bytes) -> Floats:
    (count,) = _unpack("a list of contacts", CONTACTS_HEAD, data)
    if count < 0 or len(data) != CONTACTS_HEAD.size + 8 * len(CONTACT) * count:
        raise DamageError(f"a list of {count} contacts has {len(data)} bytes")
    return np.frombuffer(data, "<f8", count * len(CONTACT), CONTACTS_HEAD.size).reshape(count, len(CONTACT))


def _scan(key: str, data: bytes) -> ScanRow:
    time, *pose, layers, beams = _unpack(f"a scan of '{key}'", SCAN_HEAD, data)
    end = SCAN_HEAD.size + 8 * layers * beams
    whole = end + SWEEP.size + 8 * 7 * beams
    if layers < 0 or beams < 0 or len(data) not in (end, whole):
        raise DamageError(f"a scan of '{key}' has {len(data)} bytes for {layers} layers of {beams} beams")
    ranges = np.frombuffer(data, "<f8", layers * beams, SCAN_HEAD.size).reshape(layers, beams)
    if len(data) == end:
        return ScanRow(key, time, np.array(pose), ranges)
    (scan_time,) = SWEEP.unpack_from(data, end)
    sweep = np.frombuffer(data, "<f8", 7 * beams, end + SWEEP.size).reshape(beams, 7)
    return ScanRow(key, time, np.array(pose), ranges, scan_time, sweep)


def _reading(key: str, data: bytes) -> ReadingRow:
    time, count = _unpack(f"a reading of '{key}'", READING_HEAD, data)
    if count < 0 or len(data) != READING_HEAD.size + 8 * count:
        raise DamageError(f"a reading of '{key}' has {len(data)} bytes for {count} numbers")
    return ReadingRow(key, time, np.frombuffer(data, "<f8", count, READING_HEAD.size))


def _unpack(what: str, form: struct.Struct, data: bytes) -> tuple[Any, ...]:
    if len(data) < form.size:
        raise DamageError(f"{what} has {len(data)} bytes, expected {form.size} at least")
    return form.unpack_from(data)
