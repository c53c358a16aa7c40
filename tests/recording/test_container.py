"""Chunks of recordings are unpacked within bounds, whatever they claim."""

from __future__ import annotations

import struct
import zlib

import lz4.frame
import pytest
import zstandard
from mcap.records import Channel, Chunk, Message

from cbsim.recording import container, messages
from cbsim.recording.container import DamageError, unpacked
from cbsim.recording.messages import batches_of


def chunk(data: bytes, compression: str, size: int | None = None) -> Chunk:
    packed = {"lz4": lz4.frame.compress, "zstd": zstandard.compress, "": bytes}[compression](data)
    return Chunk(compression, packed, 0, 0, zlib.crc32(data), len(data) if size is None else size)


@pytest.mark.parametrize("compression", ["", "lz4", "zstd"])
def test_an_honest_chunk_is_unpacked(compression):
    data = bytes(range(256)) * 100
    assert unpacked(chunk(data, compression)) == data


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
@pytest.mark.parametrize("size", [None, 0, 1 << 20, 1 << 62])
def test_a_chunk_that_inflates_is_refused(compression, size):
    with pytest.raises(DamageError, match=r"hold"):
        unpacked(
            chunk(bytes(1 << 26), compression, size if size is not None else 1 << 26 if compression == "zstd" else 5)
        )


def test_a_chunk_of_a_wrong_checksum_or_an_unknown_compression_is_refused():
    honest = chunk(b"abc", "lz4")
    honest.uncompressed_crc = 1
    with pytest.raises(DamageError, match="checksum"):
        unpacked(honest)
    with pytest.raises(DamageError, match="compression"):
        unpacked(Chunk("rar", b"", 0, 0, 0, 0))


def test_records_of_a_chunk_come_one_at_a_time():
    body = struct.pack("<HIQQ", 0, 0, 0, 0)
    data = (struct.pack("<BQ", 5, len(body)) + body) * 100_000
    found = container._records_of(data)
    assert isinstance(next(found), Message)
    assert sum(1 for _ in found) == 99_999
    with pytest.raises(DamageError, match="cut"):
        list(container._records_of(data[:-1]))


def test_rows_that_wait_for_their_batch_are_bounded(monkeypatch):
    monkeypatch.setattr(messages, "MOST", 1000)
    rows = Message(channel_id=1, data=bytes(24 * 600), log_time=0, publish_time=0, sequence=0)
    channel = Channel(id=1, topic="/controls", message_encoding="", metadata={}, schema_id=0)
    with pytest.raises(DamageError, match="more than 1000 rows"):
        list(batches_of([channel, rows, rows], [], []))
